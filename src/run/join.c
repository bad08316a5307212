/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a unit to terminate. The join word's states are in unit/unit.h. */
#include "run/join.h"

#include "os/clock.h"
#include "run/sched.h"
#include "pool/builtin.h"
#include "pool/request.h"
#include "run/block.h"
#include "run/child.h"
#include "run/end.h"
#include "run/parent.h"
#include "run/yield.h"
#include "unit/joining.h"
#include "wait/external.h"

/*
 * Registers the one joiner that may sleep. False: the unit is done or has a joiner already, and the caller looks at it
 * again.
 */
static bool join_register(abti_unit *unit, void *joiner, uintptr_t tags)
{
    abti_assert(((uintptr_t)joiner & ABTI_JOIN_TAGS) == 0 && joiner != unit);
    uintptr_t none = 0;
    /*
     * release: publishes the joiner to abti_end_ult and abti_publish_end. acquire: of no use, as a caller that fails
     * looks at the unit by abti_unit_is_done
     */
    return abti_cas_word(&unit->join, &none, (uintptr_t)joiner | tags);
}

_Static_assert(_Alignof(struct abti_sleeper) > ABTI_JOIN_TAGS, "room for the tags");

/* The native thread waits; `self` is the unit that runs on it, while deadlocks are looked for, or NULL. */
static void join_natively(abti_unit *self, abti_unit *unit)
{
    struct abti_sleeper sleeper = {.word = ABTI_AWAKE};
    abti_external_note();
    abti_sleeper_prepare(&sleeper);
    if (self)
        abti_joining_note(self, unit, true);
    if (join_register(unit, &sleeper, ABTI_JOIN_EXTERNAL)) {
        /*
         * The ending unit's thread stores DONE before it wakes. So no read of the unit is needed, which may be freed by
         * now.
         */
        (void)abti_sleeper_sleep(&sleeper, ABTI_CLOCK_NEVER);
        return;
    }
    abti_spin_until(abti_unit_is_done(unit));
}

static void join_native(abti_es *es, abti_unit *unit)
{
    abti_assert(es == abti_es_self);
    abti_unit *self = es && abti_rt.config.deadlock_check != ABTI_DEADLOCK_OFF ? es->cur : NULL;
    join_natively(self, unit);
    if (self)
        abti_joining_end(self);
}

int abti_free_done(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    abti_assert(abti_unit_is_done(unit));
    abti_annotate_acquire(unit);
    abti_tool_event_join(unit);
    if (handle) {
        abti_tool_event_free(unit);
        abti_unit_dispose(es, unit);
        *handle = ABT_THREAD_NULL;
    }
    return ABT_SUCCESS;
}

/* Looks at the unit again and again, since somebody else sleeps on it already. */
static ABTI_COLD int join_poll(abti_unit *unit, ABT_thread *handle)
{
    abti_unit *self = abti_es_self->cur;
    while (!abti_unit_is_done(unit)) {
        abti_es *es = abti_es_self;
        if (abti_rt.config.deadlock_check != ABTI_DEADLOCK_OFF)
            abti_joining_note(self, unit, false);
        abti_tool_event_yield(es, ABT_SYNC_EVENT_TYPE_THREAD_JOIN, unit);
        abti_yield_slow(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP);
    }
    if (abti_rt.config.deadlock_check != ABTI_DEADLOCK_OFF)
        abti_joining_end(self);
    return abti_free_done(abti_es_self, unit, handle);
}

/*
 * join_ult, where switches take their slow form. While the ES is observed, a ULT that only joins comes back here, to
 * report that. A unit that is to be freed is left to the ULT, and abti_leftover_free reports its join.
 */
static ABTI_COLD int join_ult_observed(abti_es *es, abti_unit *self, abti_unit *unit, ABT_thread *handle)
{
    abti_assert(es == abti_es_self && es->cur == self);
    bool observed = abti_es_is_observed(es);
    abti_wait_for(self, handle ? (const void *)handle : unit);
    if (!join_register(unit, self, handle ? ABTI_JOIN_FREE : 0))
        return join_poll(unit, handle);
    if (observed)
        abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_THREAD_JOIN, unit);
    abti_pool_count_entered(es, self->pool);
    (void)abti_leave_to(es, self, observed ? NULL : abti_pick_next(es, NULL), abti_after_suspend, self);
    abti_annotate_acquire(unit); /* its address: the unit may be gone */
    if (observed && !handle)
        abti_tool_event_join(unit);
    return ABT_SUCCESS;
}

/*
 * Blocks the calling ULT, without a call, and its parent goes on, with `next` to run, or NULL. Nobody has to look at
 * the stack that is left. The switch stores BLOCKED with release, which pairs with the same acquires as the store in
 * abti_after_suspend.
 */
ABTI_INLINE int block_for_parent(abti_es *es, abti_unit *self, abti_unit *next)
{
    abti_unit *parent = es->parent;
    abti_assert(es->cur == self && parent && !es->picked && !abti_stack_has_canary(self->stack));
    if (next)
        es->picked = next;
    es->cur = parent;
    return abti_ctx_switch_store(&self->ctx, parent->ctx, ABT_THREAD_STATE_BLOCKED, &self->state);
}

/*
 * The calling ULT sleeps until the unit ends. With a handle, its registration asks the ending unit to free itself and
 * to null the user's handle, whose address is stored in the joiner's link. So nothing is left to do here after the
 * switch, which returns straight to the caller of the API function.
 */
static ABTI_NOINLINE int join_ult(abti_es *es, abti_unit *self, abti_unit *unit, ABT_thread *handle)
{
    abti_assert(es->cur == self && es->parent && self != unit);
    if (abti_has_requests(self))
        abti_serve_migration(self);
    if (abti_switch_is_slow(es))
        return join_ult_observed(es, self, unit, handle);
    abti_unit_wait_for_join(self, unit, handle);
    if (ABTI_UNLIKELY(!join_register(unit, self, handle ? ABTI_JOIN_FREE : 0)))
        return join_poll(unit, handle);
    abti_pool_count_entered(es, self->pool);
    abti_unit *next = abti_pick_next(es, NULL);
    if (next && abti_unit_is_fresh_tasklet(next) && !abti_stack_has_canary(self->stack))
        return block_for_parent(es, self, next);
    return abti_leave_to(es, self, next, abti_after_suspend, self);
}

/*
 * The same for a ULT whose scheduler is user-defined, and chooses the next unit. A join that needs more than a
 * registration and a switch is left to abti_join_slow, so that this function calls nothing itself.
 */
static ABTI_NOINLINE ABTI_HOT int join_under_parent(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    abti_unit *self = es->cur;
    if (ABTI_UNLIKELY(!es->parent || abti_load_relaxed(&self->what) & (ABTI_UNIT_TASKLET | ABTI_WHAT_REQUESTS) ||
                      abti_switch_is_slow(es) || abti_stack_has_canary(self->stack) ||
                      !abti_pool_is_keeper(es, self->pool)))
        return abti_join_slow(es, unit, handle);
    abti_unit_wait_for_join(self, unit, handle);
    if (ABTI_UNLIKELY(!join_register(unit, self, handle ? ABTI_JOIN_FREE : 0)))
        return join_poll(unit, handle);
    abti_pool_count_own_entered(self->pool);
    return block_for_parent(es, self, NULL);
}

/*
 * Whether the unit may run in place after all: the ULT has another pool than the one in front, or no more units were to
 * run in place before an event check.
 */
static bool may_join_in_place(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    abti_pool *pool = self->pool;
    if (!es->dsched || !abti_may_run_in_place(self, &es->fast->queue, unit) || !abti_pool_is_keeper(es, pool))
        return false;
    if (pool == es->fast && abti_pool_in_place_is_exhausted(pool)) {
        abti_pool_in_place_grant(pool, (int32_t)es->dsched->event_freq);
        abti_budget_exhaust(es); /* abti_may_pick checks events now; if there is something to do, the scheduler
                                    does it when the ULT has left */
    }
    return abti_may_pick(es);
}

int abti_join_slow(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (es && may_join_in_place(es, unit) && abti_register_unstarted(unit, es->cur, handle, ABTI_JOIN_IN_PLACE)) {
        abti_queue_pop_head(&es->fast->queue, unit);
        abti_pool_count_own_entered(es->cur->pool);
        return abti_run_in_place(es, es->cur, unit);
    }
    if (es && es->parent && !abti_unit_is_tasklet(es->cur))
        return join_ult(es, es->cur, unit, handle);
    join_native(es, unit);
    return abti_free_done(es, unit, handle);
}

ABTI_NOINLINE int abti_call_in_place_slow(abti_es *es, abti_unit *self, abti_unit *unit)
{
    struct abti_saved saved = abti_saved_lay_by(es);
    int code = abti_ctx_in_place_to_end(&self->ctx, unit->arg, unit->func);
    abti_saved_pick_up(&saved);
    return code;
}

/*
 * Whether it is worth while to take the lock: the unit may be the next one, by a racy read, and the ULT may run a unit
 * in place.
 */
ABTI_INLINE bool may_join_shared(abti_es *es, abti_pool *front, abti_unit *unit)
{
    abti_unit *self = es->cur;
    if (!abti_pool_may_be_head(front, unit))
        return false;
    return abti_stack_has_room_in_place(self->stack) && !abti_annotate_on && !abti_has_requests(self);
}

/*
 * Registers the joiner under the pool's lock. As long as the unit is queued in the pool, only a request changes it.
 * relaxed: the lock orders the unit's making, and abti_register_unstarted looks again where there may be rivals.
 */
ABTI_INLINE bool register_locked(abti_es *es, abti_pool *front, abti_unit *unit, ABT_thread *handle)
{
    return abti_pool_head_locked(front) == unit && abti_unit_is_fresh_default(unit) &&
           abti_load_relaxed(&unit->join) == 0 && abti_register_unstarted(unit, es->cur, handle, ABTI_JOIN_IN_PLACE);
}

/*
 * The body of both forms, with the lock of `front` held. `own` is the joiner's pool. The biased form has seen that
 * nobody asks for a unit, and that the ES owns the counts of `own`.
 */
ABTI_INLINE int join_body(abti_es *es, abti_pool *front, abti_pool *own, abti_unit *unit, ABT_thread *handle,
                          bool biased)
{
    if (ABTI_UNLIKELY(!register_locked(es, front, unit, handle))) {
        abti_pool_leave(es, front, biased);
        return abti_join_slow(es, unit, handle);
    }
    abti_budget_count(es);
    if (biased)
        abti_pool_count_own_entered(own);
    else
        abti_pool_count_entered(es, own);
    abti_pool_pop_head_locked(front, unit);
    if (!biased)
        abti_pool_answer_locked(front);
    abti_pool_leave(es, front, biased);
    return abti_run_in_place(es, es->cur, unit);
}

static ABTI_NOINLINE int join_shared_slow(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    abti_pool *front = es->dsched->front;
    if (!abti_budget_allows(es) && !abti_renew_budget(es, es->dsched))
        return abti_join_slow(es, unit, handle);
    abti_pool_lock(es, front);
    return join_body(es, front, es->cur->pool, unit, handle, false);
}

/*
 * The biased form needs more than the bias: the ES owns the counts of the joiner's pool, no event check is due, and
 * nobody asks for a unit.
 */
ABTI_HOT int abti_join_shared(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (!es->dsched)
        return join_under_parent(es, unit, handle);
    abti_pool *front = es->dsched->front;
    abti_pool *own = es->cur->pool;
    if (!front || !may_join_shared(es, front, unit))
        return abti_join_slow(es, unit, handle);
    if (ABTI_UNLIKELY(!abti_pool_is_keeper(es, own) || !abti_budget_allows(es) || abti_pool_is_asked(front) ||
                      !abti_bias_enter(&front->lock, es->bias)))
        return join_shared_slow(es, unit, handle);
    return join_body(es, front, own, unit, handle, true);
}

int abti_join_uncounted(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    abti_wait_for(self, unit);
    abti_assert(es == abti_es_self && abti_load_relaxed(&unit->join) == 0);
    /*
     * release: publishes the joiner to abti_publish_end and to may_finish (stream/main.c). There is no other joiner,
     * and the unit waits for this one.
     */
    abti_store_release(&unit->join, (uintptr_t)self);
    return abti_leave_to(es, self, NULL, abti_after_suspend, self);
}

size_t abti_join_row(ABT_thread *handles, size_t num, bool free)
{
    abti_es *es = abti_es_self;
    if (!es)
        return 0;
    if (!abti_budget_allows(es) && es->dsched)
        abti_renew_budget(es, es->dsched);
    abti_unit *self = es->cur;
    abti_assert(!es->picked);
    struct abti_row row = {.joiner = self, .next = handles, .end = handles + num, .free = free};
    if (!abti_row_begin_next(es, &row))
        return 0;
    abti_pool_count_own_entered(self->pool);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED); /* relaxed: as in abti_run_in_place */
    struct abti_saved saved = abti_saved_lay_by(es);
    abti_ctx_in_place(&self->ctx, &row, abti_run_row);
    abti_saved_pick_up(&saved);
    return (size_t)(row.next - handles);
}

/* --- A lone tasklet --- */

/* Registers and pops, if the private pool in front, or the one in place of it, has nothing else. */
ABTI_INLINE bool lone_take_private(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    struct abti_queue *queue = &es->fast->queue;
    if (abti_load_relaxed(&queue->head) != unit || queue->last != ABTI_QUEUE_LINK(unit) ||
        !abti_register_unstarted(unit, es->cur, handle, 0))
        return false;
    abti_queue_pop_head(queue, unit);
    return true;
}

/* The same for a shared pool. */
static ABTI_NOINLINE bool lone_take_shared(abti_es *es, abti_pool *front, abti_unit *unit, ABT_thread *handle)
{
    /* A racy read comes first. */
    if (abti_ring_size(&front->ring) + abti_queue_size(&front->inbox) != 1)
        return false;
    bool biased = !abti_pool_is_asked(front) && abti_bias_enter(&front->lock, es->bias);
    if (!biased)
        abti_pool_lock(es, front);
    bool is_lone = abti_pool_head_locked(front) == unit && abti_pool_num_locked(front) == 1 &&
                   abti_register_unstarted(unit, es->cur, handle, 0);
    if (is_lone)
        abti_pool_pop_head_locked(front, unit);
    if (!biased)
        abti_pool_answer_locked(front);
    abti_pool_leave(es, front, biased);
    return is_lone;
}

/*
 * Whether the running unit is a ULT that may leave at once, under a main scheduler that would run the tasklet next.
 * The general functions do the rest. relaxed: a racy read.
 */
ABTI_INLINE bool may_be_lone(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    return es->dsched && abti_load_relaxed(&unit->join) == 0 && es->parent->flags & ABTI_UNIT_MAIN_SCHED &&
           !abti_has_requests(self) && !abti_switch_is_slow(es) && !abti_stack_has_canary(self->stack) &&
           (abti_budget_allows(es) || abti_renew_budget(es, es->dsched));
}

/*
 * Runs a lone tasklet, the only unit that is to run, which the running ULT `self` joins: it is registered and popped,
 * and its joiner is counted as blocked. It needs the main scheduler's stack, but not the scheduler: it is called below
 * the frames where that sleeps, and ends as a unit in place does. Returns ABT_SUCCESS.
 */
static ABTI_HOT ABTI_NOINLINE int lone_run(abti_es *es, abti_unit *self, abti_unit *unit)
{
    abti_unit *parent = es->parent;
    struct abti_dispatch_scope scope;
    abti_assert(abti_unit_is_tasklet(unit) && !abti_unit_is_tasklet(self));
    abti_assert(es->cur == self && parent && !es->picked);
    void *top = (void *)(((uintptr_t)parent->ctx - ABTI_CTX_BELOW) & ~(uintptr_t)15);
    abti_dispatch_stop(&scope, es);
    abti_set_running(es, unit);
    /* relaxed: the only waker is the unit's end, which comes when the joiner has gone on here */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    (void)abti_ctx_call_on(&self->ctx, unit->arg, unit->func, top);
    abti_dispatch_go_on(&scope);
    /* relaxed: this ULT has registered itself. In the child of a fork the ES is another one, and all ends. */
    if (ABTI_UNLIKELY(es != abti_es_self) || abti_has_requests(self) ||
        ABTI_UNLIKELY(!abti_try_publish_end(es, unit, self, self->pool, abti_load_relaxed(&unit->join))))
        return abti_end_in_place_slow(es, unit);
    abti_return_to_joiner(es, self, self->pool);
    return ABT_SUCCESS;
}

ABTI_HOT int abti_join_lone_tasklet(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (!may_be_lone(es, unit))
        return ABT_ERR_OTHER;
    abti_pool *front = es->dsched->front;
    if (!(front ? lone_take_shared(es, front, unit, handle) : lone_take_private(es, unit, handle)))
        return ABT_ERR_OTHER;
    abti_budget_count(es);
    abti_pool_count_entered(es, es->cur->pool);
    return lone_run(es, es->cur, unit);
}
