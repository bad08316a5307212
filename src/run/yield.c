/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/yield.h"

#include "pool/builtin.h"
#include "pool/member.h"
#include "run/block.h"
#include "run/end.h"
#include "run/migrate.h"

/* Pushes a ULT when it has left its stack, on which nothing is kept: others may use it from the push on. */
static ABTI_HOT void after_queue(void *unit)
{
    abti_unit *self = unit;
    abti_pool_push(self->pool, self, self->queues_as);
}

/* Says how a ULT that leaves will be pushed. Returns the argument of after_queue. */
ABTI_INLINE void *queue_as(abti_unit *self, ABT_pool_context context)
{
    self->queues_as = context;
    return self;
}

/*
 * Serves requests, or lets the scheduler check events. relaxed: abti_migrate_serve looks at the request again, and
 * queries may see the state late.
 */
static ABTI_COLD int yield_to_parent_slow(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    bool observed = abti_switch_is_slow(es);
    if (abti_unit_is_tasklet(self))
        return ABT_SUCCESS; /* a tasklet runs until it ends */
    if (observed && context == ABT_POOL_CONTEXT_OP_THREAD_YIELD)
        abti_tool_event_yield(es, ABT_SYNC_EVENT_TYPE_USER, NULL); /* a caller that waits in a loop has reported it */
    if (!es->parent) {
        if (observed)
            abti_tool_event_run(es, self, NULL);
        return ABT_SUCCESS; /* a main scheduler has nobody to give its ES to */
    }
    if (abti_unit_is_cancelled(self)) {
        abti_tool_event_cancel(es, self);
        abti_ult_exit_reported();
    }
    if (abti_unit_is_to_migrate(self))
        abti_migrate_serve(self);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    return abti_leave_to(es, self, NULL, after_queue, queue_as(self, context));
}

/*
 * These two are called on the stack that was switched to, by the same native thread, and release a pool's lock as it
 * was taken.
 */
static void leave_bias(void *bias)
{
    abti_bias_leave(bias);
}

static void unlock_pool(void *pool)
{
    abti_pool_unlock(abti_es_self, pool);
}

/* Asks the scheduler, when the quick paths are closed. relaxed: queries may see the state late. */
static ABTI_NOINLINE int yield_by_pick(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    abti_unit *next = abti_sched_pick(es->dsched, self);
    if (next == self)
        return ABT_SUCCESS;
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    return abti_leave_to(es, self, next, after_queue, queue_as(self, context));
}

/*
 * Pushes the ULT and pops the next unit, which has only to be resumed. The ULT's pool is a shared one in front, whose
 * lock is held here and released when the ULT has left its stack. So nobody finds the ULT before that. relaxed: queries
 * may see the state late.
 */
ABTI_INLINE void rotate_locked(abti_es *es, abti_unit *self, abti_pool *pool, abti_unit *next)
{
    abti_assert(es == abti_es_self && next != self);
    abti_pool_rotate_locked(pool, self, next);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_set_running(es, next);
}

/*
 * Whether the ULT may be exchanged for `next`. It may not while a stream sleeps on the pool, which may have the ULT
 * instead. The lock is held.
 */
ABTI_INLINE bool may_rotate_locked(abti_pool *pool, abti_unit *next)
{
    return ABTI_LIKELY(abti_is_resumable(next)) && !abti_pool_has_parked(pool);
}

/* The body of both forms, with the lock held. The lock is released here, or when the ULT has left its stack. */
ABTI_INLINE int yield_body(abti_es *es, abti_unit *self, abti_pool *pool, bool biased)
{
    abti_assert(es->cur == self && self->pool == pool);
    abti_unit *next = abti_pool_head_locked(pool);
    if (ABTI_UNLIKELY(!next)) {
        abti_pool_leave(es, pool, biased);
        return ABT_SUCCESS; /* pick would return the ULT itself */
    }
    if (ABTI_UNLIKELY(!may_rotate_locked(pool, next))) {
        abti_pool_leave(es, pool, biased);
        return yield_by_pick(es, self, ABT_POOL_CONTEXT_OP_THREAD_YIELD); /* all yields are alike to the pool */
    }
    rotate_locked(es, self, pool, next);
    return biased ? abti_ctx_switch_after(&self->ctx, next->ctx, leave_bias, es->bias)
                  : abti_switch(es, self, next, unlock_pool, pool);
}

static ABTI_NOINLINE int yield_shared_slow(abti_es *es, abti_unit *self)
{
    abti_pool_lock(es, self->pool);
    return yield_body(es, self, self->pool, false);
}

static ABTI_NOINLINE ABTI_HOT int yield_shared(abti_es *es, abti_unit *self)
{
    abti_pool *pool = self->pool;
    if (abti_switch_is_slow(es) || ABTI_UNLIKELY(!abti_bias_enter(&pool->lock, es->bias)))
        return yield_shared_slow(es, self);
    return yield_body(es, self, pool, true);
}

/*
 * Goes back to a scheduler that the unit cannot ask for the next one, a user-defined one, or that is to check events.
 * Nobody but its host pops units from the queue of a private pool, so that the unit may be in there before it has left
 * its stack. relaxed: queries may see the state late.
 */
static ABTI_NOINLINE ABTI_HOT int yield_to_parent(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    abti_assert(es == abti_es_self && es->cur == self && !es->picked);
    abti_unit *parent = es->parent;
    if (ABTI_UNLIKELY(!parent || abti_load_relaxed(&self->what) & (ABTI_UNIT_TASKLET | ABTI_WHAT_REQUESTS) ||
                      abti_switch_is_slow(es) || abti_stack_has_canary(self->stack)))
        return yield_to_parent_slow(es, self, context);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    es->cur = parent;
    if (!abti_pool_is_host(es, self->pool))
        return abti_ctx_switch_after(&self->ctx, parent->ctx, after_queue, queue_as(self, context));
    abti_queue_push(&self->pool->queue, self);
    return abti_ctx_switch(&self->ctx, parent->ctx);
}

/* Yields to the next unit of the scheduler, which has been counted. */
ABTI_INLINE int yield_counted(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    if (es->dsched->front == self->pool)
        return yield_shared(es, self);
    /* No other unit is in the pool in front: pick would return the ULT itself. */
    if (es->fast == self->pool && abti_queue_is_empty(&es->fast->queue) && abti_queue_is_empty(&es->fast->inbox))
        return ABT_SUCCESS;
    return yield_by_pick(es, self, context);
}

/*
 * Yields when a check of events is due: without the scheduler if there is nothing to check. A ULT that is the only one
 * of a pool at which others look, too, is never in there while it yields, and therefore goes through the scheduler now
 * and then, so that they find it there. So does one that has switch hooks, for whose calls thieves of its forked tasks
 * may wait.
 */
static ABTI_COLD int yield_at_check(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    abti_pool *pool = self->pool;
    bool is_awaited = !abti_pool_is_user(pool) && (es->hooks || !abti_pool_is_private(pool));
    if ((is_awaited && abti_pool_is_empty(pool)) || !abti_renew_budget(es, es->dsched))
        return yield_to_parent(es, self, context);
    return yield_counted(es, self, context);
}

ABTI_HOT int abti_yield_slow(abti_es *es, ABT_pool_context context)
{
    abti_unit *self = es->cur;
    abti_assert(es == abti_es_self);
    if (!es->dsched || abti_has_requests(self))
        return yield_to_parent(es, self, context);
    if (ABTI_UNLIKELY(!abti_budget_take(es)))
        return yield_at_check(es, self, context);
    return yield_counted(es, self, context);
}

static ABTI_NOINLINE ABTI_COLD int yield_to_slow(abti_es *es, abti_unit *self, abti_unit *next,
                                                 ABT_pool_context context)
{
    abti_tool_event_yield(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY); /* relaxed: as in yield_to_queued */
    return abti_leave_to(es, self, next, after_queue, queue_as(self, context));
}

/* The caller goes to its pool when it has left its stack. relaxed: queries may see the state late. */
static ABTI_NOINLINE int yield_to_queued(abti_es *es, abti_unit *self, abti_unit *next, ABT_pool_context context)
{
    abti_assert(es == abti_es_self && es->cur == self && self != next);
    if (ABTI_UNLIKELY(!abti_is_resumable(next) || abti_switch_is_slow(es) || abti_stack_has_canary(self->stack)))
        return yield_to_slow(es, self, next, context);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_set_running(es, next);
    return abti_ctx_switch_after(&self->ctx, next->ctx, after_queue, queue_as(self, context));
}

/* A unit of a private pool may be in there before it has left its stack, as yield_to_parent says. relaxed: as above */
ABTI_HOT int abti_yield_to(abti_es *es, abti_unit *self, abti_unit *next, ABT_pool_context context)
{
    abti_assert(es->cur == self && next && next != self);
    abti_serve_target(next);
    abti_pool *pool = self->pool;
    if (!abti_pool_is_host(es, pool) || abti_switch_is_slow(es))
        return yield_to_queued(es, self, next, context);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_queue_push(&pool->queue, self);
    return abti_leave(es, self, next, NULL, NULL);
}
