/*
 * Who runs next on this ES, and getting there.
 *
 * A unit runs as the child of a parent ULT, a scheduler. When the parent's scheduler is predefined, a child that
 * yields, blocks or ends picks the next unit itself and switches straight to it (direct dispatch); the parent sees
 * control again when there is nothing to pick, when an event check has something to do, or with a unit in `handoff`
 * that must run from the parent's own stack: a tasklet, a unit with a pending request, a unit that finds no memory for
 * a stack.
 */
#ifndef ABTI_RUN_SWITCH_H
#define ABTI_RUN_SWITCH_H

#include "base/assert.h"
#include "run/annotated.h"
#include "run/overflow.h"
#include "run/tool_event.h"

/* Marks `unit` as what runs on `es` from now on. */
ABTI_INLINE void abti_set_running(abti_es *es, abti_unit *unit)
{
    abti_assert(es && unit);
    abti_unit *before = es->cur;
    es->cur = unit;
    /* Queries may see them late; whoever resumes or frees the unit synchronises by other words. release: who sees
       that it has started sees the stack, see abti_unit_stack_end. */
    abti_store_release(&unit->running, es->running);
    abti_tool_event_run(es, unit, before);
}

ABTI_INLINE bool abti_has_requests(abti_unit *unit)
{
    /* relaxed: a request takes effect at the next look, whenever it becomes visible */
    return ABTI_UNLIKELY(abti_cpu_is_set(&unit->requests));
}

/* Started, and nothing to do but to go on. */
ABTI_INLINE bool abti_is_resumable(abti_unit *unit)
{
    return abti_unit_has_started(unit) && !abti_has_requests(unit);
}

/* It can be run by whoever gives the ES away, if there is memory for its stack. */
ABTI_INLINE bool abti_is_startable(abti_unit *unit)
{
    return !abti_unit_has_started(unit) && !(unit->flags & ABTI_UNIT_TASKLET) && !abti_has_requests(unit);
}

/* A stack for a ULT that starts, on the ES that starts it. False when there is no memory. */
ABTI_INLINE bool abti_take_stack(abti_es *es, abti_unit *unit)
{
    abti_assert(!abti_unit_has_started(unit) && !(unit->flags & ABTI_UNIT_TASKLET));
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    abti_unit_set_stack(unit, stack);
    return stack != NULL;
}

/* One that is to start soon would find a stack. False when there is no memory. */
ABTI_INLINE bool abti_has_stack_for(abti_es *es, abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    if (stack)
        abti_cache_put(&es->stacks, stack);
    return stack != NULL;
}

/* A switch for units that have their state set; after may be NULL. Instrumented programs take the slow form. */
ABTI_INLINE int abti_switch(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(self && to && self != to);
    if (ABTI_UNLIKELY(abti_annotate_on))
        return abti_switch_annotated(self, to, after, arg);
    if (!after)
        return abti_ctx_switch(&self->ctx, to->ctx);
    return abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
}

/*
 * First function of every ULT on a stack of its own: one that just calls the unit's, or, while stack use is sampled,
 * one that watches it. Written by abti_entry_watch; relaxed: a unit that starts in the other way is as good, and who
 * asks for samples sees them soon.
 */
extern _Atomic(void (*)(void)) abti_ult_entry;

/* The same to a ULT that has not started. */
ABTI_INLINE int abti_start(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(to->stack && !(to->flags & ABTI_UNIT_TASKLET));
    if (ABTI_UNLIKELY(abti_annotate_on))
        return abti_start_annotated(self, to, after, arg);
    return abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_ult_entry), after, arg);
}

/*
 * `self` leaves the ES, its state set, and `next` runs (NULL: the parent). after(arg) runs when self has left its
 * stack. Returns 0 when self runs again, maybe on another ES.
 */
ABTI_INLINE int abti_leave(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    abti_assert(es == abti_es_self && es->parent && self != next);
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    if (ABTI_LIKELY(next != NULL)) {
        if (ABTI_LIKELY(abti_is_resumable(next))) {
            abti_set_running(es, next);
            return abti_switch(self, next, after, arg);
        }
        if (abti_is_startable(next) && abti_take_stack(es, next)) {
            abti_set_running(es, next);
            return abti_start(self, next, after, arg);
        }
    }
    es->handoff = next;
    es->cur = es->parent;
    return abti_switch(self, es->parent, after, arg);
}

/* The same out of line. */
int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

#endif
