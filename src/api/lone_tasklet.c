/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/lone_tasklet.h"

#include "pool/builtin.h"
#include "pool/wish.h"
#include "run/join.h"
#include "run/sched.h"

/* Registers and pops, if the private pool in front, or the one in place of it, has nothing else. */
ABTI_INLINE bool take_private(abti_es *es, abti_unit *unit, ABT_thread *handle)
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
static ABTI_NOINLINE bool take_shared(abti_es *es, abti_pool *front, abti_unit *unit, ABT_thread *handle)
{
    /* A racy read comes first. */
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
 * Whether the running unit is a ULT that may leave at once, under a main scheduler that would run the tasklet next: no
 * user's function picks. What else there is about them is the general functions'. relaxed: a racy read.
 */
ABTI_INLINE bool may_be_lone(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    return es->dsched && abti_load_relaxed(&unit->join) == 0 && es->parent->flags & ABTI_UNIT_MAIN_SCHED &&
           abti_sched_is_predefined(es->dsched) && !abti_has_requests(self) && !abti_switch_is_slow(es) &&
           !abti_stack_has_canary(self->stack) && (abti_budget_allows(es) || abti_renew_budget(es, es->dsched));
}

ABTI_HOT int abti_join_lone_tasklet(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (!may_be_lone(es, unit))
        return ABT_ERR_OTHER;
    abti_pool *front = es->dsched->front;
    if (!(front ? take_shared(es, front, unit, handle) : take_private(es, unit, handle)))
        return ABT_ERR_OTHER;
    abti_budget_count(es);
    abti_pool_count_entered(es, es->cur->pool);
    return abti_run_lone(es, es->cur, unit);
}
