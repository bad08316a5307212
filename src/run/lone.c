/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/lone.h"

#include "run/sched.h"
#include "pool/builtin.h"
#include "pool/request.h"
#include "run/end.h"
#include "run/join.h"
#include "run/parent.h"

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
 * What else there is about them is the general functions'. relaxed: a racy read.
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
    abti_assert(es->cur == self && parent && !es->handoff);
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
