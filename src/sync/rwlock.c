/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/rwlock.h"

#include "sync/mutex.h"

void abti_rwlock_init(ABT_rwlock rwlock)
{
    *rwlock = (struct ABT_rwlock_opaque){.readers = 0};
}

/* relaxed, here and below: the lock is held. A read without it is racy. */
ABTI_INLINE bool has_writer(ABT_rwlock rwlock)
{
    return abti_load_relaxed(&rwlock->writer) != NULL;
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
    while (has_writer(rwlock))
        wait_for_unlock(rwlock);
    rwlock->readers++;
    abti_spin_unlock(&rwlock->lock);
}

void abti_rwlock_wrlock(ABT_rwlock rwlock)
{
    abti_spin_lock(&rwlock->lock);
    while (has_writer(rwlock) || rwlock->readers > 0)
        wait_for_unlock(rwlock);
    abti_store_relaxed(&rwlock->writer, abti_mutex_self()); /* relaxed: see has_writer */
    abti_spin_unlock(&rwlock->lock);
}

void abti_rwlock_unlock(ABT_rwlock rwlock)
{
    struct abti_waiter *rest = NULL;
    abti_spin_lock(&rwlock->lock);
    if (has_writer(rwlock))
        abti_store_relaxed(&rwlock->writer, NULL); /* relaxed: see has_writer */
    else if (rwlock->readers > 0)
        rwlock->readers--;
    if (rwlock->readers == 0)
        rest = abti_waitq_wake_here(&rwlock->waiters);
    abti_spin_unlock(&rwlock->lock);
    abti_waiter_wake_all(rest);
}
