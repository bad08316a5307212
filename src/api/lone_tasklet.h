/*
 * The quick way to join a lone tasklet, see abti_run_lone: the only unit of the pool in front, which has not started.
 * This does as abti_join does, but for the way through the scheduler.
 */
#ifndef ABTI_API_LONE_TASKLET_H
#define ABTI_API_LONE_TASKLET_H

#include "pool/builtin.h"
#include "pool/wish.h"
#include "run/join.h"
#include "run/sched.h"

/* Registers and pops, if the private pool in front, or the one in place of it, has nothing else. */
ABTI_INLINE bool abti_lone_take_private(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    struct abti_queue *queue = &es->fast->queue;
    /* relaxed: this thread alone writes the queue */
    if (abti_load_relaxed(&queue->head) != unit || queue->last != ABTI_QUEUE_LINK(unit) ||
        !abti_register_unstarted(unit, es->cur, handle, 0))
        return false;
    abti_queue_pop_head(queue, unit);
    return true;
}

/* The same for a shared pool. */
ABTI_INLINE bool abti_lone_take_shared(abti_es *es, abti_pool *front, abti_unit *unit, ABT_thread *handle)
{
    /* A glance comes first. */
    if (abti_ring_size(&front->ring) + abti_queue_size(&front->queue) != 1)
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
 * Whether the running unit is a ULT that may leave at once, under a main scheduler that would run the unit next: no
 * user's function picks. What else there is about them is the general functions'. relaxed: it is a glance.
 */
ABTI_INLINE bool abti_lone_may_be(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    return es->dsched && abti_unit_is_fresh_tasklet(unit) && abti_load_relaxed(&unit->join) == 0 &&
           es->parent->flags & ABTI_UNIT_MAIN_SCHED && abti_sched_is_predefined(es->dsched) &&
           !abti_has_requests(self) && !abti_switches_slowly(es) && !abti_stack_has_canary(self->stack) &&
           (abti_budget_allows(es) || abti_renew_budget(es, es->dsched));
}

/*
 * Registers the running ULT for a lone tasklet and pops that. True: the caller leaves by abti_lone_switch. False: the
 * unit is none, and nothing has been done.
 */
ABTI_INLINE bool abti_lone_take(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (!abti_lone_may_be(es, unit))
        return false;
    abti_pool *front = es->dsched->front;
    if (!(front ? abti_lone_take_shared(es, front, unit, handle) : abti_lone_take_private(es, unit, handle)))
        return false;
    abti_budget_count(es);
    abti_pool_count_entered(es, es->cur->pool);
    return true;
}

/* Runs the tasklet. The result is ABT_SUCCESS. */
ABTI_INLINE int abti_lone_switch(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    abti_assert(es->parent && !es->handoff);
    /* relaxed: the only waker is the unit, which runs on this very thread when the joiner has left its stack */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    return abti_ctx_switch_after(&self->ctx, es->parent->ctx, abti_run_lone, unit);
}

#endif
