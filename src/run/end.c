/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How units end: a joiner is resumed, and the ES goes on with another unit, from a stack that nobody comes back to.
 * Each word has one meaning here:
 *
 *   end       the unit's function has returned, or the ULT exits: all that follows, up to the next unit
 *   exit      a ULT ends by a call instead of a return
 *   discard   a unit that has been popped ends without running on (run/child)
 *   publish   the join word becomes DONE, or the descriptor is freed for a joiner that frees; from then on the unit may
 *             be gone. The joiner is left, a blocked ULT, or NULL
 *   resume    the joiner goes to its pool
 *   continue  the joiner goes on at once, as it slept on this ES: no pool knows of it
 *   leave     the ES goes on from another stack, and nobody comes back to this one
 *   finish    the tools' word for an end: only their event has this name
 */
#include "run/end.h"

#include <stdlib.h>
#include "base/assert.h"
#include "run/sched.h"
#include "pool/leftover.h"
#include "rt/rt.h"
#include "run/block.h"
#include "run/join.h"

/* --- Leaving --- */

ABTI_NO_SANITIZE ABTI_NORETURN ABTI_INLINE void end_jump(abti_unit *to)
{
    if (abti_observe_is_on())
        abti_depart_observed(to, false);
    abti_ctx_jump(to->ctx);
}

ABTI_NO_SANITIZE ABTI_NORETURN static void jump_after(abti_unit *to, void (*after)(void *), void *arg)
{
    if (!after)
        end_jump(to);
    if (abti_observe_is_on())
        abti_depart_observed(to, false);
    abti_ctx_jump_after(to->ctx, after, arg);
}

ABTI_NO_SANITIZE ABTI_NORETURN static void end_restart(abti_unit *to)
{
    if (abti_observe_is_on())
        abti_depart_observed(to, true);
    abti_ctx_restart(abti_stack_top(to->stack), abti_load_relaxed(&abti_rt.ult_entry), NULL, NULL);
}

static void after_end_in_place(void *joiner)
{
    abti_resume_joiner(joiner);
}

/* Publishes the end of a unit that keeps its stack, when it has left that. The stack may be freed with the unit. */
static void after_end_own_stack(void *arg)
{
    abti_unit *unit = arg;
    abti_assert(unit->flags & ABTI_UNIT_OWN_STACK && abti_es_self->cur != unit);
    if (unit->stack->kind == ABTI_STACK_USER)
        abti_stack_open(unit->stack);
    abti_unit *joiner = abti_publish_end(abti_es_self, unit);
    if (joiner)
        abti_resume_joiner(joiner);
}

/* Whether a ULT of the pool may go on here without a pass through its pool. */
ABTI_INLINE bool may_run_here(abti_es *es, abti_pool *pool)
{
    return ABTI_LIKELY(abti_pool_is_keeper(es, pool)) || abti_is_served_below(es, es->parent, pool);
}

/* Whether the joiner slept on this ES. relaxed: the index is this ES's only if this thread has stored it. */
ABTI_INLINE bool slept_here(abti_es *es, abti_unit *joiner)
{
    return joiner && abti_load_relaxed(&joiner->es) == es->index;
}

/* Whether it also may go on at once, since nothing is asked of it. */
ABTI_INLINE bool can_continue_joiner(abti_es *es, abti_unit *joiner)
{
    return slept_here(es, joiner) && !abti_has_requests(joiner) && may_run_here(es, joiner->pool);
}

ABTI_INLINE void take_joiner(abti_es *es, abti_unit *joiner)
{
    abti_assert(es == abti_es_self && joiner->pool);
    abti_pool_count_left(es, joiner->pool, 1);
    abti_set_running(es, joiner);
}

/* Goes on with `next`, or with the parent, from a stack that nobody comes back to. */
ABTI_NORETURN static void leave_stack(abti_es *es, abti_unit *next, void (*after)(void *), void *arg)
{
    abti_assert(es == abti_es_self && es->parent);
    if (next && (abti_is_resumable(next) || (!after && abti_is_startable(next) && abti_take_stack(es, next)))) {
        bool fresh = !abti_unit_has_started(next);
        abti_set_running(es, next);
        if (fresh)
            end_restart(next);
        jump_after(next, after, arg);
    }
    es->picked = next;
    es->cur = es->parent;
    jump_after(es->parent, after, arg);
}

/*
 * Calls the user's functions for a unit that keeps its stack and frees itself. It frees itself when it has left that
 * stack, on another one, and these functions are to be called before that.
 */
static void call_back_on_own_stack(abti_unit *unit)
{
    if (!(unit->flags & ABTI_UNIT_NAMED))
        abti_unit_call_back(unit);
}

/*
 * The primary ULT of the child of a fork, see abti_end_with_process: the function of the unit that has forked has
 * returned. There is nothing to go on with, as when the last thread of a process ends.
 */
static ABTI_COLD void end_child_if_primary(const abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_PRIMARY)
        exit(EXIT_SUCCESS); /* NOLINT: there is one thread */
}

ABTI_NORETURN static ABTI_NOINLINE void end_on_own_stack(abti_unit *unit)
{
    end_child_if_primary(unit);
    call_back_on_own_stack(unit);
    abti_es *es = abti_es_self;
    leave_stack(es, abti_pick_next(es, NULL), after_end_own_stack, unit);
}

/*
 * Ends a unit in place. The stack is the joiner's, which is registered and can go on nowhere before we have left.
 * Returns the joiner if it is to go on here and now. relaxed: the joiner registered before the unit started.
 */
ABTI_INLINE abti_unit *end_on_joiner_stack(abti_es *es, abti_unit *unit)
{
    abti_assert(es->cur == unit && abti_unit_runs_in_place(unit));
    if (ABTI_UNLIKELY(abti_es_is_observed(es)))
        abti_ult_exit_to(NULL);
    abti_unit *joiner = abti_publish_end_to_joiner(es, unit, abti_load_relaxed(&unit->join));
    if (ABTI_UNLIKELY(!can_continue_joiner(es, joiner)))
        leave_stack(es, abti_pick_next(es, NULL), after_end_in_place, joiner);
    take_joiner(es, joiner);
    return joiner;
}

static ABTI_NOINLINE void end_child_on_joiner_stack(abti_es *es, abti_unit *unit)
{
    end_child_if_primary(unit);
    end_on_joiner_stack(es, unit);
}

/* As can_continue_joiner, but that the joiner may have a unit left to free. */
static bool goes_on_here(abti_es *es, abti_unit *joiner)
{
    return slept_here(es, joiner) && !(abti_load_relaxed(&joiner->requests) & ~(unsigned)ABTI_REQ_FREE) &&
           may_run_here(es, joiner->pool);
}

/* Such a joiner is to go on at once. Returns what is left to it, or NULL. */
static abti_unit *take_joiner_and_rest(abti_es *es, abti_unit *joiner)
{
    abti_assert(es == abti_es_self && joiner->pool);
    bool frees = abti_load_relaxed(&joiner->requests) & ABTI_REQ_FREE; /* relaxed: its own ES has stored it */
    abti_unit *left = frees ? abti_leftover_take(joiner) : NULL;
    abti_tool_event_resume(joiner);
    take_joiner(es, joiner);
    return left;
}

/*
 * The joiner's context is not to be jumped to: its frames are the caller's. relaxed: the joiner registered before the
 * unit started.
 */
int abti_end_in_place_slow(abti_es *es, abti_unit *unit)
{
    if (es != abti_es_self)
        exit(EXIT_SUCCESS); /* NOLINT: one thread. A lone tasklet that forked returns, see abti_end_with_process */
    end_child_if_primary(unit);
    if (ABTI_UNLIKELY(abti_es_is_observed(es))) {
        abti_tool_event_finish(es, unit);
        abti_unit *joiner = abti_publish_end(es, unit); /* the unit may be gone */
        if (!goes_on_here(es, joiner))
            return abti_leave_to(es, joiner, NULL, after_end_in_place, joiner);
        abti_unit *left = take_joiner_and_rest(es, joiner);
        abti_tool_event_run(es, joiner, unit);
        if (left)
            abti_leftover_free(left);
        return ABT_SUCCESS;
    }
    abti_unit *joiner = abti_publish_end_to_joiner(es, unit, abti_load_relaxed(&unit->join));
    if (ABTI_UNLIKELY(!can_continue_joiner(es, joiner)))
        return abti_leave_to(es, joiner, abti_pick_next(es, NULL), after_end_in_place, joiner);
    take_joiner(es, joiner);
    return ABT_SUCCESS;
}

/*
 * Is called when the function of a unit in place has returned, with nothing left on the stack but its joiner's frames.
 * relaxed: the joiner registered before the unit started.
 */
ABTI_HOT int abti_end_in_place(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    uintptr_t join = abti_load_relaxed(&unit->join);
    abti_unit *joiner = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS); /* it is never NULL: it registered before
                                                                             all else */
    abti_pool *pool = joiner->pool;
    if (ABTI_UNLIKELY(!abti_try_publish_end(es, unit, joiner, pool, join)))
        return abti_end_in_place_slow(es, unit);
    abti_return_to_joiner(es, joiner, pool);
    return ABT_SUCCESS;
}

/*
 * Ends a unit of a row. True: the next one is to run, on this very stack. False: it is the joiner's turn, or the unit
 * has come elsewhere. It is out of line for the same reason as order_end (run/begin.c). relaxed: the joiner registered
 * before the unit started.
 */
static ABTI_NOINLINE bool go_on_in_row(struct abti_row *row)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur, *joiner = row->joiner;
    abti_pool *pool = joiner->pool;
    if (ABTI_UNLIKELY(!abti_try_publish_end(es, unit, joiner, pool, abti_load_relaxed(&unit->join)))) {
        end_child_on_joiner_stack(es, unit);
        return false;
    }
    if (abti_row_begin_next(es, row)) {
        abti_cpu_fpu_reset();
        return true;
    }
    abti_return_to_joiner(es, joiner, pool);
    return false;
}

void abti_run_row(void *row_)
{
    struct abti_row *row = row_;
    ABTI_STOPS_EXCEPTIONS();
    do {
        abti_unit *unit = row->unit;
        unit->func(unit->arg);
    } while (go_on_in_row(row));
}

/*
 * Goes on with `next`, or with the parent, from a default stack that is free now. A unit that has not started runs
 * on that stack: then this returns. `quick`: nobody observes it, and there is room for the stack.
 */
ABTI_INLINE void leave_default_stack(abti_es *es, struct abti_stack *stack, abti_unit *next, bool quick)
{
    abti_assert(es == abti_es_self && stack);
    if (ABTI_LIKELY(next && abti_unit_is_fresh_default(next))) {
        abti_unit_set_stack(next, stack);
        abti_set_running(es, next);
        abti_cpu_fpu_reset();
        return;
    }
    if (quick)
        abti_cache_push(&es->stacks, stack);
    else
        abti_cache_put(&es->stacks, stack);
    if (ABTI_UNLIKELY(!next || !abti_is_resumable(next)))
        leave_stack(es, next, NULL, NULL);
    abti_set_running(es, next);
    if (quick)
        abti_ctx_jump(next->ctx);
    end_jump(next);
}

/* The same with the unit that the scheduler picks. */
static ABTI_NOINLINE void leave_and_pick(abti_es *es, struct abti_stack *stack)
{
    leave_default_stack(es, stack, abti_pick_next(es, NULL), false);
}

/* The general form of abti_end_ult. */
static ABTI_NOINLINE void end_ult_slow(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    struct abti_stack *stack = unit->stack;

    if (ABTI_UNLIKELY(abti_es_is_observed(es)))
        abti_ult_exit_to(NULL);
    if (ABTI_UNLIKELY(abti_unit_runs_in_place(unit)))
        end_jump(end_on_joiner_stack(es, unit));
    if (abti_stack_is_overrun(stack))
        abti_overflow_abort(unit);
    if (ABTI_UNLIKELY(unit->flags & ABTI_UNIT_OWN_STACK))
        end_on_own_stack(unit);
    abti_unit *joiner = abti_publish_end(es, unit);
    if (joiner) {
        if (can_continue_joiner(es, joiner)) {
            abti_cache_put(&es->stacks, stack);
            take_joiner(es, joiner);
            end_jump(joiner);
        }
        abti_resume_joiner(joiner);
    }
    leave_and_pick(es, stack);
}

/* Whether the running ULT leaves nothing behind but a stack and a descriptor, and nobody observes it. */
ABTI_INLINE bool may_end_quick(abti_es *es, abti_unit *unit)
{
    return !abti_es_is_observed(es) && !abti_observe_is_on() &&
           !(abti_load_relaxed(&unit->what) & (ABTI_UNIT_OWN_STACK | ABTI_WHAT_COLD)) &&
           !abti_stack_has_canary(unit->stack) && !abti_cache_is_full(&es->stacks);
}

/*
 * Goes on with the joiner, which slept on this ES, as abti_end_in_place does on the joiner's own stack. False: that
 * takes more, and nothing has been done.
 */
ABTI_INLINE bool try_end_for_joiner(abti_es *es, abti_unit *unit, uintptr_t join)
{
    abti_unit *joiner = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
    if (ABTI_UNLIKELY(join & (ABTI_JOIN_EXTERNAL | ABTI_JOIN_IN_PLACE)) || abti_has_requests(joiner))
        return false;
    abti_pool *pool = joiner->pool;
    struct abti_stack *stack = unit->stack;
    if (ABTI_UNLIKELY(!abti_try_publish_end(es, unit, joiner, pool, join)))
        return false;
    abti_cache_push(&es->stacks, stack);
    abti_pool_count_own_left(pool, 1);
    abti_set_running(es, joiner);
    abti_ctx_jump(joiner->ctx);
}

/*
 * Whether the unit, of a user-defined pool, is its own handle, has no more than that, and is freed for its joiner. The
 * canary is to be looked at before the user's function is called. relaxed: the thread that frees the unit is alone with
 * it, and the joiner's stores to its second line came with the join word.
 */
ABTI_INLINE bool is_freed_as_handle(abti_unit *unit, uintptr_t join)
{
    return (join & ABTI_JOIN_TAGS) == ABTI_JOIN_FREE && !(unit->flags & ABTI_UNIT_OWN_STACK) &&
           abti_load_relaxed(&unit->cold) == ABTI_COLD_HANDLE && !abti_stack_has_canary(unit->stack);
}

/*
 * Once such a unit is freed as a handle, nothing is left of it but its descriptor. By end_ult_slow alone, creation,
 * join and free in a user-defined pool take 1.11 times as long, 1.13 by the older definition of the pool.
 */
static ABTI_NOINLINE void end_ult_as_handle(void)
{
    abti_es *es = abti_es_self;
    uintptr_t join = abti_load_acquire(&es->cur->join); /* acquire: as in abti_end_ult; a joiner may have come since */
    if (ABTI_LIKELY(!abti_es_is_observed(es) && is_freed_as_handle(es->cur, join))) {
        abti_unit_free_as_handle(es->cur);
        es = abti_es_self; /* that was the user's function */
        if (ABTI_LIKELY(may_end_quick(es, es->cur)))
            (void)try_end_for_joiner(es, es->cur, join); /* it stays as it is, since it has a joiner */
    }
    end_ult_slow();
}

/* All that it calls is called last, so that no register has to be saved. */
ABTI_HOT ABTI_NOINLINE void abti_end_ult(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    struct abti_stack *stack = unit->stack;
    uintptr_t join = abti_load_acquire(&unit->join); /* acquire: as in publish_end, for where the joiner ran last */

    if (ABTI_UNLIKELY(!may_end_quick(es, unit)) || ABTI_UNLIKELY(join && !try_end_for_joiner(es, unit, join)) ||
        ABTI_UNLIKELY(!(unit->flags & ABTI_UNIT_NAMED)) ||
        /* release: pairs with abti_unit_is_done. acquire: of no use, as end_ult_slow looks at the word again */
        ABTI_UNLIKELY(!abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE))) {
        end_ult_as_handle();
        return;
    }
    struct abti_queue *queue = &es->fast->queue;
    abti_unit *next = abti_load_relaxed(&queue->head); /* relaxed: this thread alone writes the queue */
    if (ABTI_UNLIKELY(!next || !abti_budget_take(es))) {
        leave_and_pick(es, stack);
        return;
    }
    abti_queue_pop_head(queue, next);
    leave_default_stack(es, stack, next, true);
}

void abti_ult_exit(void)
{
    abti_saved_drop(abti_es_self);
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_end(abti_es_self->cur);
    abti_end_ult();
    end_restart(abti_es_self->cur);
}

/* The general end of the running ULT, which has been reported to those that listen. */
ABTI_NORETURN static void exit_to(abti_es *es, abti_unit *unit, abti_unit *next)
{
    abti_assert(es == abti_es_self && es->cur == unit && !abti_unit_is_tasklet(unit));
    if (abti_stack_is_overrun(unit->stack))
        abti_overflow_abort(unit);
    abti_saved_drop(es);
    es->tool.before = unit;
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_end(unit);
    if (unit->flags & ABTI_UNIT_OWN_STACK) {
        call_back_on_own_stack(unit);
        leave_stack(abti_es_self, next, after_end_own_stack, unit);
    }
    bool in_place = abti_unit_runs_in_place(unit);
    struct abti_stack *stack = unit->stack;
    abti_unit *joiner = abti_publish_end(es, unit); /* the unit may be gone */
    if (!next && goes_on_here(es, joiner)) {
        if (!in_place)
            abti_cache_put(&es->stacks, stack);
        abti_unit *left = take_joiner_and_rest(es, joiner);
        jump_after(joiner, left ? abti_leftover_free : NULL, left);
    }
    if (in_place)
        leave_stack(es, next, after_end_in_place, joiner);
    if (joiner)
        abti_resume_joiner(joiner);
    abti_cache_put(&es->stacks, stack);
    leave_stack(es, next, NULL, NULL);
}

void abti_ult_exit_to(abti_unit *next)
{
    abti_es *es = abti_es_self;
    if (next)
        abti_serve_target(next);
    abti_tool_event_finish(es, es->cur);
    exit_to(es, es->cur, next);
}

void abti_ult_exit_reported(void)
{
    abti_es *es = abti_es_self;
    exit_to(es, es->cur, abti_pick_next(es, NULL));
}

void abti_exit_to_entered(abti_es *es)
{
    abti_assert(es->cur == es->main_unit);
    abti_unit *primary = abti_publish_end(es, es->main_unit);
    abti_assert(primary && primary->flags & ABTI_UNIT_PRIMARY);
    abti_tool_event_resume(primary);
    es->tool.before = es->main_unit;
    es->tool.depth = 1;
    abti_set_running(es, primary);
    end_jump(primary);
}

void abti_end_without_stack(abti_es *es, abti_unit *unit)
{
    if (ABTI_UNLIKELY(es != abti_es_self))
        exit(EXIT_SUCCESS); /* NOLINT: one thread. A tasklet that forked returns, see abti_end_with_process */
    abti_unit *joiner = abti_publish_end(es, unit);
    if (joiner)
        abti_resume_joiner(joiner);
}

abti_unit *abti_end_for_joiner(abti_es *es, abti_unit *unit, const abti_pool *pool)
{
    if (ABTI_UNLIKELY(es != abti_es_self))
        exit(EXIT_SUCCESS); /* NOLINT: as above */
    abti_unit *joiner = abti_publish_end(es, unit);
    if (slept_here(es, joiner) && joiner->pool == pool && !abti_has_requests(joiner))
        return joiner;
    if (joiner)
        abti_resume_joiner(joiner);
    return NULL;
}

/*
 * The ends of units are hot. So the new primary ULT looks like a unit that is not ended quickly, and the slow functions
 * ask what it is.
 */
void abti_end_with_process(abti_unit *primary, abti_unit *forker)
{
    static _Alignas(ABTI_CACHE_LINE) abti_unit nobody; /* runs on no ES: no unit in place goes on with it at once */
    if (forker->flags & ABTI_UNIT_TASKLET)
        forker->flags &= (uint16_t)~ABTI_UNIT_NAMED;
    else if (abti_unit_runs_in_place(forker))
        abti_store_relaxed(&primary->join, (uintptr_t)&nobody | ABTI_JOIN_IN_PLACE); /* relaxed: there is one thread */
    else
        primary->flags |= ABTI_UNIT_OWN_STACK;
}
