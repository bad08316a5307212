#include "sync/cond.h"

/* Locks the cond. False, without the lock, when it is another mutex's. */
static bool cond_lock(ABT_cond cond, ABT_mutex mutex)
{
    abti_spin_lock(&cond->lock);
    if (!cond->mutex)
        cond->mutex = mutex;
    if (ABTI_LIKELY(cond->mutex == mutex))
        return true;
    abti_spin_unlock(&cond->lock);
    return false;
}

static void cond_push(ABT_cond cond, struct abti_waiter *w)
{
    abti_waitq_push(&cond->waiters, w);
    /* relaxed: see is_waited */
    abti_store_relaxed(&cond->waited, 1);
}

/* The way to wait of a ULT that may block quickly, see abti_ctx_wait. The lock is held. */
struct cond_waiter {
    struct abti_waiter base;
    ABT_mutex mutex;
};

static abti_ctx cond_leave(void *room, void *cond_, void *mutex)
{
    ABT_cond cond = cond_;
    struct cond_waiter *w = room;
    abti_es *es = abti_es_self;
    abti_waiter_init_ult(&w->base, es->cur, ABT_SYNC_EVENT_TYPE_COND, cond);
    w->mutex = mutex;
    cond_push(cond, &w->base);
    abti_ctx next = abti_block_quickly(es, es->cur);
    abti_spin_unlock(&cond->lock);
    struct abti_waiter *other = abti_mutex_release(mutex);
    if (other)
        abti_waiter_wake(other);
    return next;
}

static int cond_then(void *room)
{
    struct cond_waiter *w = room;
    return abti_mutex_lock(w->mutex);
}

static ABTI_NOINLINE int cond_wait_any(ABT_cond cond, ABT_mutex mutex)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_COND, cond);
    if (!cond_lock(cond, mutex))
        return ABT_ERR_INV_MUTEX;
    cond_push(cond, &w);
    abti_waiter_park(&w, &cond->lock, abti_mutex_release(mutex));
    return abti_mutex_lock(mutex);
}

int abti_cond_wait(ABT_cond cond, ABT_mutex mutex)
{
    abti_es *es = abti_es_self;
    if (!abti_may_block_quickly(es))
        return cond_wait_any(cond, mutex);
    if (!cond_lock(cond, mutex))
        return ABT_ERR_INV_MUTEX;
    return abti_ctx_wait(&es->cur->ctx, cond, mutex, cond_leave, cond_then);
}

int abti_cond_wait_until(ABT_cond cond, ABT_mutex mutex, uint64_t deadline_ns)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_COND, cond);
    if (!cond_lock(cond, mutex))
        return ABT_ERR_INV_MUTEX;
    cond_push(cond, &w);
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
