/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/stackuse.h"

#include <stdlib.h>
#include "base/hash.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "os/vm.h"
#include "rt/rt.h"

/* What a function may keep below its stack pointer: 128 bytes on x86-64, 288 on POWER, nothing on many others. */
enum { RED_ZONE = 288 };

enum { MOST_FUNCTIONS = 1024, BELOW_SP = 2048 };

/* The pattern is nothing that a program writes often, nor the address of anything. */
static const uint64_t pattern = UINT64_C(0xb10c1e55c0de57ac);

_Atomic(uint32_t) abti_stackuse_every; /* written under the lock */
static _Atomic(bool) sparing;          /* likewise */

static struct abti_spin stackuse_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static struct abti_stack_use *uses; /* stackuse_lock: the place is the hash of the function, or the next free one. NULL:
                                       none yet */
static unsigned num_uses;           /* stackuse_lock */

/* --- What is known --- */

static struct abti_stack_use *find_locked(void (*func)(void *))
{
    unsigned at = (unsigned)(abti_hash((uintptr_t)func) >> 32) % MOST_FUNCTIONS;
    while (uses[at].func && uses[at].func != func)
        at = (at + 1) % MOST_FUNCTIONS;
    return &uses[at];
}

static void stackuse_record(void (*func)(void *), size_t used)
{
    abti_spin_lock(&stackuse_lock);
    struct abti_stack_use *use = uses ? find_locked(func) : NULL;
    if (use && !use->func && num_uses < MOST_FUNCTIONS - 1) { /* a free place ends the search */
        use->func = func;
        num_uses++;
    }
    if (use && use->func) {
        use->samples++;
        use->most = used > use->most ? used : use->most;
    }
    abti_spin_unlock(&stackuse_lock);
}

struct abti_stack_use abti_stackuse_of(void (*func)(void *))
{
    struct abti_stack_use use = {.func = func};
    abti_spin_lock(&stackuse_lock);
    if (uses && find_locked(func)->func)
        use = *find_locked(func);
    abti_spin_unlock(&stackuse_lock);
    return use;
}

bool abti_stackuse_at(unsigned index, struct abti_stack_use *use)
{
    abti_spin_lock(&stackuse_lock);
    bool found = index < num_uses;
    for (unsigned at = 0; found && at < MOST_FUNCTIONS; at++) {
        if (uses[at].func && index-- == 0) {
            *use = uses[at];
            break;
        }
    }
    abti_spin_unlock(&stackuse_lock);
    return found;
}

int abti_stackuse_sample(uint32_t every, bool spare)
{
    int code = ABT_SUCCESS;
    abti_spin_lock(&stackuse_lock);
    if (!uses && every > 0)
        uses = calloc(MOST_FUNCTIONS, sizeof(*uses));
    if (!uses && every > 0)
        code = ABT_ERR_MEM;
    if (code == ABT_SUCCESS) {
        abti_store_relaxed(&sparing, spare);             /* relaxed: it is only how often */
        abti_store_relaxed(&abti_stackuse_every, every); /* relaxed: see abti_stackuse_is_on */
    }
    abti_spin_unlock(&stackuse_lock);
    return code;
}

void abti_stackuse_fini(void)
{
    abti_spin_lock(&stackuse_lock);
    abti_store_relaxed(&abti_stackuse_every, 0); /* relaxed: see abti_stackuse_is_on */
    free(uses);
    uses = NULL;
    num_uses = 0;
    abti_spin_unlock(&stackuse_lock);
}

void abti_stackuse_forget(void)
{
    abti_spin_forget(&stackuse_lock, ABTI_RANK_LEAF);
    uses = NULL;
    abti_stackuse_fini();
}

/* --- Watching a unit --- */

/* Returns how far down the pattern goes. */
static char *stackuse_lowest(struct abti_stack *stack)
{
    char *low = stack->base + (stack->guard == ABTI_GUARD_CANARY ? sizeof(pattern) : 0);
    return (char *)(((uintptr_t)low + 7) & ~(uintptr_t)7);
}

static bool has_turn(abti_es *es)
{
    uint32_t every = abti_load_relaxed(&abti_stackuse_every);
    if (every == 0 || ++es->samples.unsampled < every)
        return false;
    es->samples.unsampled = 0;
    return true;
}

/*
 * The kernel gives a page for each that is filled, and takes them back after that: 40 us for 16 KiB, measured. Sparing
 * samples come so far apart that this is some 2 % of the time, and none of huge stacks, whose memory may not be there.
 */
static bool may_spare(abti_es *es, const struct abti_stack *stack)
{
    enum { HUGE_STACK = 16 << 20, APART_NS_PER_BYTE = 128 };
    uint64_t now = abti_clock_mono_ns();
    if (now < es->samples.spared_ns || stack->size > HUGE_STACK)
        return false;
    es->samples.spared_ns = now + stack->size * APART_NS_PER_BYTE;
    return true;
}

void abti_stackuse_enter(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    if (unit->flags & ABTI_UNIT_SCHED || !has_turn(es))
        return;
    if (abti_load_relaxed(&sparing) && !may_spare(es, unit->stack))
        return;
    abti_stack_watch(unit->stack);
    volatile uint64_t *low = (uint64_t *)stackuse_lowest(unit->stack);
    volatile uint64_t *at = (uint64_t *)(((uintptr_t)abti_cpu_sp() - RED_ZONE) & ~(uintptr_t)7);
    while (at > low)
        *--at = pattern;
}

void abti_stackuse_leave(abti_unit *unit)
{
    struct abti_stack *stack = unit->stack;
    char *top = abti_stack_top(stack), *low = stackuse_lowest(stack);
    abti_stack_unwatch(stack);
    const volatile uint64_t *at = (uint64_t *)low;
    while ((char *)at < top && *at == pattern)
        at++;
    stackuse_record(unit->func, (size_t)(top - (char *)at));
    /*
     * The memory is given back, since otherwise each stack would have all its memory some time. But the caller may run
     * on it, if it is the unit.
     */
    char *sp = abti_cpu_sp(), *high = (char *)at;
    if (sp >= low && sp < top && sp - BELOW_SP < high)
        high = sp - BELOW_SP;
    if (stack->kind != ABTI_STACK_USER && high > low)
        abti_vm_release(low, (size_t)(high - low));
}
