#include "sync/barrier.h"

void abti_barrier_init(ABT_barrier barrier, uint32_t num)
{
    *barrier = (struct ABT_barrier_opaque){.num = num};
}

static void meet(ABT_barrier barrier)
{
    barrier->arrived = 0;
    struct abti_waiter *all = abti_waitq_take_all(&barrier->waiters);
    abti_spin_unlock(&barrier->lock);
    abti_waiter_wake_all(all);
}

void abti_barrier_wait(ABT_barrier barrier)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    abti_spin_lock(&barrier->lock);
    if (++barrier->arrived == barrier->num) {
        meet(barrier);
        return;
    }
    abti_waitq_push(&barrier->waiters, &w);
    abti_waiter_park(&w, &barrier->lock, NULL);
}
