#include "sync/barrier.h"

void abti_barrier_init(ABT_barrier barrier, uint32_t num)
{
    *barrier = (struct ABT_barrier_opaque){.num = num};
}

int abti_barrier_meet(ABT_barrier barrier)
{
    barrier->arrived = 0;
    struct abti_waiter *rest = abti_waitq_wake_here(&barrier->waiters);
    abti_spin_unlock(&barrier->lock);
    if (ABTI_UNLIKELY(rest != NULL))
        abti_waiter_wake_all(rest);
    return ABT_SUCCESS;
}

abti_ctx abti_barrier_leave(void *room, void *barrier_, void *unused)
{
    (void)unused;
    ABT_barrier barrier = barrier_;
    struct abti_waiter *w = room;
    abti_es *es = abti_es_self;
    abti_waiter_init_ult(w, es->cur, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    abti_waitq_push(&barrier->waiters, w);
    abti_ctx next = abti_block_quickly(es, es->cur);
    abti_spin_unlock(&barrier->lock);
    return next;
}

int abti_barrier_wait_slow(ABT_barrier barrier)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    abti_spin_lock(&barrier->lock);
    if (++barrier->arrived == barrier->num)
        return abti_barrier_meet(barrier);
    abti_waitq_push(&barrier->waiters, &w);
    abti_waiter_park_in_crowd(&w, &barrier->lock, barrier->num);
    return ABT_SUCCESS;
}
