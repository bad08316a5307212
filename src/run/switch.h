/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switching to the unit that runs next on this ES.
 *
 * A unit runs as the child of a parent ULT, a scheduler. When the parent's scheduler is predefined, a child that
 * yields, blocks or ends picks the next unit itself and switches straight to it (direct dispatch). The parent sees
 * control again when there is nothing to pick, when an event check has something to do, or with a unit in `picked`
 * that must run from the parent's own stack: a tasklet, a unit with a pending request, or a unit that finds no memory
 * for a stack.
 */
#ifndef ABTI_RUN_SWITCH_H
#define ABTI_RUN_SWITCH_H

#include "base/assert.h"
#include "run/observe.h"
#include "rt/rt.h"
#include "run/annotated.h"
#include "unit/saved.h"
#include "unit/overflow.h"
#include "unit/tool_event.h"

/* Marks `unit` as what runs on `es` from now on. The switch to it reports that. */
ABTI_INLINE void abti_set_running(abti_es *es, abti_unit *unit)
{
    abti_assert(es && unit);
    es->cur = unit;
    /*
     * Queries may see the index and the state late, and a thread that resumes or frees the unit synchronises by other
     * words. release: pairs with the acquire of unit->es in default_stack_end (unit/unit.c), which then sees the stack.
     */
    abti_store_release(&unit->running, es->running);
}

ABTI_INLINE bool abti_has_requests(abti_unit *unit)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&unit->requests));
}

/* Whether the unit has started and has nothing to do but to go on. */
ABTI_INLINE bool abti_is_resumable(abti_unit *unit)
{
    return abti_unit_has_started(unit) && !abti_has_requests(unit);
}

/* Whether a unit that gives the ES away can start this one, if there is memory for its stack. */
ABTI_INLINE bool abti_is_startable(abti_unit *unit)
{
    return !abti_unit_has_started(unit) && !(unit->flags & ABTI_UNIT_TASKLET) && !abti_has_requests(unit);
}

/* Takes a stack for a ULT that starts, on the ES that starts it. False when there is no memory. */
ABTI_INLINE bool abti_take_stack(abti_es *es, abti_unit *unit)
{
    abti_assert(!abti_unit_has_started(unit) && !(unit->flags & ABTI_UNIT_TASKLET));
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    abti_unit_set_stack(unit, stack);
    return stack != NULL;
}

/* The same as long as there are free stacks at hand. It calls nothing. */
ABTI_INLINE bool abti_take_cached_stack(abti_es *es, abti_unit *unit)
{
    abti_assert(!abti_unit_has_started(unit) && !(unit->flags & (ABTI_UNIT_TASKLET | ABTI_UNIT_OWN_STACK)));
    if (ABTI_UNLIKELY(!abti_cache_top(&es->stacks)))
        return false;
    abti_unit_set_stack(unit, abti_cache_pop(&es->stacks));
    return true;
}

/* Whether a unit that is to start soon would find a stack. False when there is no memory. */
ABTI_INLINE bool abti_has_stack_for(abti_es *es, abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    if (stack)
        abti_cache_put(&es->stacks, stack);
    return stack != NULL;
}

/*
 * The slow form of the two functions below: for a caller with exceptions in hand, which it has again when it goes on,
 * and for switches that are observed.
 */
int abti_switch_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg, bool starts);

/* The calling unit, es->tool.before, has ended and leaves its stack for good, for one where `to` goes on or starts. */
void abti_depart_observed(abti_unit *to, bool starts) ABTI_NO_SANITIZE;

/* Switches between units that have their state set. `after` may be NULL. */
ABTI_INLINE int abti_switch(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(self && to && self != to);
    if (abti_switch_is_slow(es))
        return abti_switch_slow(es, self, to, after, arg, false);
    if (!after)
        return abti_ctx_switch(&self->ctx, to->ctx);
    return abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
}

/* Switches to a ULT that has not started. */
ABTI_INLINE int abti_start(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(to->stack && !(to->flags & ABTI_UNIT_TASKLET));
    if (abti_switch_is_slow(es))
        return abti_switch_slow(es, self, to, after, arg, true);
    return abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_rt.ult_entry), after, arg);
}

/*
 * Leaves the ES, for `self`, whose state is set, and runs `next`, or the parent if that is NULL. after(arg) runs when
 * self has left its stack. Returns 0 when self runs again, maybe on another ES.
 */
ABTI_INLINE int abti_leave(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    abti_assert(es == abti_es_self && es->parent && self != next);
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    if (ABTI_LIKELY(next != NULL)) {
        if (ABTI_LIKELY(abti_is_resumable(next))) {
            abti_set_running(es, next);
            return abti_switch(es, self, next, after, arg);
        }
        if (abti_is_startable(next) && abti_take_stack(es, next)) {
            abti_set_running(es, next);
            return abti_start(es, self, next, after, arg);
        }
    }
    es->picked = next;
    es->cur = es->parent;
    return abti_switch(es, self, es->parent, after, arg);
}

/* abti_leave, out of line. */
int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

/* Where ULTs begin, in run/begin.c. Sets abti_rt.ult_entry, in ABT_init and in the child of a fork. */
void abti_entry_choose(void);

/* Calls the functions of units, the running one's first. It is where ULTs begin, but for programs with TSan. */
void abti_ult_main(void);

#endif
