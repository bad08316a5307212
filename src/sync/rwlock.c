#include "sync/rwlock.h"

void abti_rwlock_init(ABT_rwlock rwlock)
{
    *rwlock = (struct ABT_rwlock_opaque){.readers = 0};
}

/* Sleeps until the next time nobody is inside. Called and returns with the lock held. */
static ABTI_NOINLINE void wait_for_unlock(ABT_rwlock rwlock)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_RWLOCK, rwlock);
    abti_waitq_push(&rwlock->waiters, &w);
    abti_waiter_park(&w, &rwlock->lock, NULL);
    abti_spin_lock(&rwlock->lock);
}

void abti_rwlock_rdlock(ABT_rwlock rwlock)
{
    abti_spin_lock(&rwlock->lock);
    while (rwlock->writer)
        wait_for_unlock(rwlock);
    rwlock->readers++;
    abti_spin_unlock(&rwlock->lock);
}

void abti_rwlock_wrlock(ABT_rwlock rwlock)
{
    abti_spin_lock(&rwlock->lock);
    while (rwlock->writer || rwlock->readers > 0)
        wait_for_unlock(rwlock);
    rwlock->writer = true;
    abti_spin_unlock(&rwlock->lock);
}

void abti_rwlock_unlock(ABT_rwlock rwlock)
{
    struct abti_waiter *all = NULL;
    abti_spin_lock(&rwlock->lock);
    if (rwlock->writer)
        rwlock->writer = false;
    else if (rwlock->readers > 0)
        rwlock->readers--;
    if (rwlock->readers == 0)
        all = abti_waitq_take_all(&rwlock->waiters);
    abti_spin_unlock(&rwlock->lock);
    abti_waiter_wake_all(all);
}
