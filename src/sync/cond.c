#include "sync/cond.h"

/* Queues the waiter, with the lock held on return. False, without the lock, when the cond is another mutex's. */
static bool cond_enter(ABT_cond cond, ABT_mutex mutex, struct abti_waiter *w)
{
    abti_waiter_init(w, ABT_SYNC_EVENT_TYPE_COND, cond);
    abti_spin_lock(&cond->lock);
    if (!cond->mutex)
        cond->mutex = mutex;
    if (cond->mutex != mutex) {
        abti_spin_unlock(&cond->lock);
        return false;
    }
    abti_waitq_push(&cond->waiters, w);
    /* relaxed: see is_waited */
    abti_store_relaxed(&cond->waited, 1);
    return true;
}

int abti_cond_wait(ABT_cond cond, ABT_mutex mutex)
{
    struct abti_waiter w;
    if (!cond_enter(cond, mutex, &w))
        return ABT_ERR_INV_MUTEX;
    abti_waiter_park(&w, &cond->lock, abti_mutex_release(mutex));
    return abti_mutex_lock(mutex);
}

int abti_cond_wait_until(ABT_cond cond, ABT_mutex mutex, uint64_t deadline_ns)
{
    struct abti_waiter w;
    if (!cond_enter(cond, mutex, &w))
        return ABT_ERR_INV_MUTEX;
    bool woken = abti_waiter_park_until(&w, &cond->lock, abti_mutex_release(mutex), deadline_ns);
    if (!woken) {
        abti_spin_lock(&cond->lock);
        abti_waitq_remove(&cond->waiters, &w);
        abti_store_relaxed(&cond->waited, !abti_waitq_is_empty(&cond->waiters));
        abti_spin_unlock(&cond->lock);
    }
    abti_mutex_lock(mutex);
    return woken ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

/*
 * Relaxed is enough: who signals a waiter knows of it, by the mutex or otherwise, so that its queueing happened before;
 * who does not know of it might as well have come earlier.
 */
static bool is_waited(ABT_cond cond)
{
    return abti_load_relaxed(&cond->waited) != 0;
}

void abti_cond_signal(ABT_cond cond)
{
    if (!is_waited(cond))
        return;
    abti_spin_lock(&cond->lock);
    struct abti_waiter *w = abti_waitq_take(&cond->waiters);
    abti_store_relaxed(&cond->waited, !abti_waitq_is_empty(&cond->waiters));
    abti_spin_unlock(&cond->lock);
    if (w)
        abti_waiter_wake(w);
}

void abti_cond_broadcast(ABT_cond cond)
{
    if (!is_waited(cond))
        return;
    abti_spin_lock(&cond->lock);
    struct abti_waiter *all = abti_waitq_take_all(&cond->waiters);
    abti_store_relaxed(&cond->waited, 0);
    abti_spin_unlock(&cond->lock);
    abti_waiter_wake_all(all);
}

bool abti_cond_has_waiters(ABT_cond cond)
{
    abti_spin_lock(&cond->lock);
    bool has = !abti_waitq_is_empty(&cond->waiters);
    abti_spin_unlock(&cond->lock);
    return has;
}
