/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/overflow.h"

#include <stdlib.h>
#include <unistd.h>
#include "arch/ucontext.h"
#include "base/text.h"
#include "rt/symbol.h"
#include "os/fault.h"
#include "rt/rt.h"
#include "unit/unit.h"

/* The overflow: the unit that runs, and the stack that it runs on. */
struct overflow {
    const abti_es *es; /* NULL: no stream runs it */
    abti_unit *unit;
    const struct abti_stack *stack; /* a tasklet's is its scheduler's */
    bool in_region;                 /* a blocking one */
    uintptr_t sp;                   /* below the stack and its guard; 0: it is not known to be */
};

/* Units may get stacks of default size when they are created, see abti_guard_is_strict. */
static bool has_special_stack(const abti_unit *unit)
{
    return unit->flags & ABTI_UNIT_OWN_STACK &&
           (unit->stack->kind == ABTI_STACK_USER || unit->stack->size != abti_rt.config.thread_stacksize);
}

static void add_remedy(struct abti_text *m, const struct overflow *o)
{
    const abti_unit *unit = o->unit;
    if (unit->flags & (ABTI_UNIT_SCHED | ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_TASKLET))
        abti_text_add(m, "; ABT_SCHED_STACKSIZE raises it");
    else if (has_special_stack(unit))
        abti_text_add(m, "; ABT_thread_attr_set_stacksize or ABT_thread_attr_set_stack gave it that size");
    else
        abti_text_add(m, "; ABT_THREAD_STACKSIZE raises it");
}

static void add_unit(struct abti_text *m, const struct overflow *o)
{
    bool tasklet = abti_unit_is_tasklet(o->unit);
    abti_text_add(m, tasklet ? "tasklet " : "ULT ");
    abti_text_add_number(m, abti_unit_id(o->unit), 10);
    if (o->unit->flags & ABTI_UNIT_MAIN_SCHED) {
        abti_text_add(m, ", a main scheduler");
    } else {
        char code[160];
        abti_text_add(m, ", function ");
        abti_text_add(m, abti_symbol_place_in_handler(code, sizeof(code), (void *)(uintptr_t)o->unit->func));
    }
    if (o->es) {
        abti_text_add(m, ", on stream ");
        abti_text_add_number(m, (uint64_t)o->es->rank, 10);
    }
    abti_text_add(m, o->in_region ? ", in a blocking region" : "");
    abti_text_add(m, tasklet ? ": the stack of its scheduler is " : ": its stack is ");
}

static void add_stack(struct abti_text *m, const struct overflow *o)
{
    abti_text_add_number(m, (uintptr_t)o->stack->base, 16);
    abti_text_add(m, " to ");
    abti_text_add_number(m, (uintptr_t)o->stack->end, 16);
    if (abti_load_relaxed(&o->unit->join) & ABTI_JOIN_IN_PLACE)
        abti_text_add(m, " (shared with the ULT that joins it)");
    /* A default stack has room for units that run in place, too. */
    abti_text_add(m, ", ");
    abti_text_add_number(m, (uint64_t)(o->stack->end - o->stack->base), 10);
    abti_text_add(m, " bytes for a size of ");
    abti_text_add_number(m, o->stack->size, 10);
    if (o->sp) {
        abti_text_add(m, ", and the stack pointer is ");
        abti_text_add_number(m, (uintptr_t)o->stack->base - o->sp, 10);
        abti_text_add(m, " bytes below it");
    }
}

static void overflow_report(const struct overflow *o)
{
    char chars[1024];
    struct abti_text m = {.chars = chars, .size = sizeof(chars)};
    abti_text_add(&m, "libabt: stack overflow in ");
    add_unit(&m, o);
    add_stack(&m, o);
    add_remedy(&m, o);
    abti_text_add(&m, "\n");
    for (size_t done = 0; done < m.len;) {
        ssize_t n = write(STDERR_FILENO, chars + done, m.len - done);
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

/* --- Is it one? In a signal handler --- */

static abti_overflow_region region_of; /* constant while faults are looked at */

static bool is_in_guard(const struct abti_stack *stack, uintptr_t addr)
{
    return stack->guard == ABTI_GUARD_PAGE && addr < (uintptr_t)stack->base &&
           addr >= (uintptr_t)abti_stack_guard_begin(stack);
}

/*
 * The stack pointer is below the stack, and the fault is where a frame there would be: a large frame has jumped over
 * the guard, or there is none. Program code may run on a stack of its own, that of a coroutine, which may be below;
 * other faults there are not taken for an overflow.
 */
static bool is_below(const struct abti_stack *stack, uintptr_t addr, uintptr_t sp)
{
    enum { MOST = 1 << 28, BELOW_SP = 4096 }; /* of a frame; that a function writes to before it moves the pointer */
    uintptr_t base = (uintptr_t)stack->base;
    return sp != 0 && sp < base && base - sp <= MOST && addr < base && addr + BELOW_SP >= sp;
}

static bool has_overflowed(struct overflow *o, const abti_unit *owner, uintptr_t addr, uintptr_t sp)
{
    if (!owner || !owner->stack || owner->flags & ABTI_UNIT_PRIMARY) /* its stack is the program's own */
        return false;
    o->stack = owner->stack;
    if (is_in_guard(o->stack, addr))
        return true;
    o->sp = sp;
    return is_below(o->stack, addr, sp);
}

/* Looks whether the unit that runs on this thread has overflowed its stack. */
static void overflow_look(void *addr_, const void *ucontext)
{
    abti_es *es = abti_es_self;
    uintptr_t addr = (uintptr_t)addr_, sp = abti_ucontext_pushed_sp(ucontext, addr);
    struct overflow o = {.es = es, .unit = es ? es->cur : NULL};
    if (!es) {
        o.unit = region_of(&es);
        o.in_region = true;
    }
    if (!o.unit)
        return;
    bool found = false;
    if (!abti_unit_is_tasklet(o.unit))
        found = has_overflowed(&o, o.unit, addr, sp);
    else /* it runs on the stack of the scheduler that called it, which may be one that is queued in a pool */
        found = has_overflowed(&o, es->parent, addr, sp) || has_overflowed(&o, es->main_unit, addr, sp);
    if (found)
        overflow_report(&o);
}

void abti_overflow_watch(abti_overflow_region in_region)
{
    region_of = in_region;
    if (abti_guard_room() > 0)
        abti_fault_watch(overflow_look);
}

void abti_overflow_unwatch(void)
{
    if (abti_guard_room() > 0)
        abti_fault_unwatch();
}

void abti_overflow_abort(abti_unit *unit)
{
    struct overflow o = {.es = abti_es_self, .unit = unit, .stack = unit->stack};
    overflow_report(&o);
    abort();
}
