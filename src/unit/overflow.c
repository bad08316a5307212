#include "unit/overflow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/fault.h"
#include "os/symbol.h"
#include "rt/rt.h"
#include "unit/unit.h"

/* A message that a signal handler puts together, without stdio and without allocating memory. */
struct message {
    char text[512];
    size_t len;
};

static void add(struct message *m, const char *text)
{
    while (*text && m->len < sizeof(m->text))
        m->text[m->len++] = *text++;
}

static void add_number(struct message *m, uint64_t number, unsigned base)
{
    char digits[24], *at = digits + sizeof(digits) - 1;
    *at = '\0';
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    add(m, base == 16 ? "0x" : "");
    add(m, at);
}

static void add_entry_function(struct message *m, abti_unit *unit)
{
    const char *name = abti_symbol_of((void *)(uintptr_t)unit->func);
    if (name) {
        add(m, name);
        add(m, " ");
    }
    add(m, "at ");
    add_number(m, (uintptr_t)unit->func, 16);
}

/* Units may get stacks of default size when they are created, see abti_guard_is_strict. */
static bool has_special_stack(const abti_unit *unit)
{
    return unit->flags & ABTI_UNIT_OWN_STACK &&
           (unit->stack->kind == ABTI_STACK_USER || unit->stack->size != abti_rt.config.thread_stacksize);
}

static void add_remedy(struct message *m, abti_unit *unit)
{
    if (unit->flags & (ABTI_UNIT_SCHED | ABTI_UNIT_MAIN_SCHED))
        add(m, "; ABT_SCHED_STACKSIZE raises it");
    else if (has_special_stack(unit))
        add(m, "; ABT_thread_attr_set_stacksize or ABT_thread_attr_set_stack gave it that size");
    else
        add(m, "; ABT_THREAD_STACKSIZE raises it");
}

static void report(abti_unit *unit, const struct abti_stack *stack)
{
    struct message m = {.len = 0};
    add(&m, "libabt: stack overflow in ULT ");
    add_number(&m, abti_unit_id(unit), 10);
    add(&m, ", function ");
    add_entry_function(&m, unit);
    add(&m, ": its stack is ");
    add_number(&m, (uintptr_t)stack->base, 16);
    add(&m, " to ");
    add_number(&m, (uintptr_t)stack->end, 16);
    /* relaxed: the unit runs on this thread */
    if (abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE)
        add(&m, " (shared with the ULT that joins it)");
    add(&m, ", size ");
    add_number(&m, stack->size, 10);
    add_remedy(&m, unit);
    add(&m, "\n");
    for (size_t done = 0; done < m.len;) {
        ssize_t n = write(STDERR_FILENO, m.text + done, m.len - done);
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

/* Looks, in a signal handler, whether the unit that runs on this thread has overflowed its stack. */
static void look(void *addr)
{
    abti_es *es = abti_es_self;
    if (!es || !es->cur)
        return;
    abti_unit *unit = abti_unit_is_tasklet(es->cur) ? es->main_unit : es->cur; /* a tasklet is on its scheduler's
                                                                                  stack */
    const struct abti_stack *stack = unit->stack;
    size_t room = abti_guard_room();
    if (stack->guard == ABTI_GUARD_PAGE && (uintptr_t)addr >= (uintptr_t)stack->base - room &&
        (uintptr_t)addr < (uintptr_t)stack->base)
        report(unit, stack);
}

void abti_overflow_watch(void)
{
    if (abti_guard_room() > 0)
        abti_fault_watch(look);
}

void abti_overflow_unwatch(void)
{
    if (abti_guard_room() > 0)
        abti_fault_unwatch();
}

void abti_overflow_abort(abti_unit *unit)
{
    report(unit, unit->stack);
    abort();
}
