/* SPDX-License-Identifier: BSD-3-Clause */
/* Yielding: the calling ULT goes back to its pool, and others run. */
#ifndef ABTI_RUN_YIELD_H
#define ABTI_RUN_YIELD_H

#include "base/assert.h"
#include "run/budget.h"
#include "run/sched.h"
#include "pool/pool.h"
#include "run/switch.h"

/* Puts the calling ULT back to its pool, and others run. */
int abti_yield_slow(abti_es *es, ABT_pool_context context);

/*
 * Does the same, and handles the common case by itself: a private pool in front whose next unit has only to be resumed.
 * relaxed: this thread alone writes the queue, and queries may see the state late.
 */
ABTI_INLINE int abti_yield(abti_es *es, ABT_pool_context context)
{
    abti_assert(es && es == abti_es_self);
    abti_unit *self = es->cur, *next;
    struct abti_queue *queue = &es->fast->queue;
    if (ABTI_UNLIKELY(es->fast != self->pool || !abti_budget_take(es) || abti_has_requests(self) ||
                      !(next = abti_load_relaxed(&queue->head)) || !abti_is_resumable(next) || abti_switch_is_slow(es)))
        return abti_yield_slow(es, context);
    /* The pool is private: nobody can see the unit in it before the unit has left its stack. */
    abti_queue_rotate_to(queue, self, next);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_set_running(es, next);
    return abti_ctx_switch(&self->ctx, next->ctx);
}

/* Puts the calling ULT back to its pool, and `next`, popped or new, runs. The caller counts the switch. */
int abti_yield_to(abti_es *es, abti_unit *self, abti_unit *next, ABT_pool_context context);

/*
 * For ABT_thread_create_to: whether a ULT may make way for a new one by a start and no more. It is of a private pool,
 * and there is a stack for the new one, which has nothing of its own. A unit with a canary looks at it first. The
 * caller counts the switch.
 */
ABTI_INLINE bool abti_may_yield_to_new(abti_es *es, abti_unit *self)
{
    return abti_pool_is_host(es, self->pool) && abti_cache_top(&es->stacks) && !abti_switch_is_slow(es) &&
           !abti_stack_has_canary(self->stack);
}

/* It does so. As in abti_yield, it may be in its pool before it has left its stack. */
ABTI_INLINE int abti_yield_to_new(abti_es *es, abti_unit *self, abti_unit *unit)
{
    abti_assert(es->cur == self && abti_is_startable(unit) && !(unit->flags & ABTI_UNIT_OWN_STACK));
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY); /* relaxed: queries may see it late */
    abti_queue_push(&self->pool->queue, self);
    abti_unit_set_stack(unit, abti_cache_pop(&es->stacks));
    abti_set_running(es, unit);
    return abti_ctx_start(&self->ctx, abti_stack_top(unit->stack), abti_load_relaxed(&abti_rt.ult_entry), NULL, NULL);
}

#endif
