/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/cond.h"

#include "sync/mutex.h"

/* Locks the cond. False, without the lock, when the cond is tied to another mutex. */
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
    abti_store_relaxed(&cond->waited, 1);
}

struct cond_waiter {
    struct abti_waiter base;
    ABT_mutex mutex;
};

/* Waits, for a ULT that may block quickly, see abti_ctx_wait. The lock is held, and the mutex has been released. */
static abti_ctx cond_leave(void *room, void *cond_, void *mutex)
{
    ABT_cond cond = cond_;
    struct cond_waiter *w = room;
    w->mutex = mutex;
    return abti_waitq_leave(&cond->waiters, &w->base, ABT_SYNC_EVENT_TYPE_COND, cond, &cond->lock, true);
}

static int cond_then(void *room)
{
    struct cond_waiter *w = room;
    return abti_mutex_lock(w->mutex);
}

_Static_assert(sizeof(struct cond_waiter) <= ABTI_CTX_ROOM, "waits there");

static ABTI_NOINLINE int cond_block_as_waiter(ABT_cond cond, ABT_mutex mutex)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_COND, cond);
    if (!cond_lock(cond, mutex))
        return ABT_ERR_INV_MUTEX;
    cond_push(cond, &w);
    abti_waiter_hold(&w);
    abti_waiter_park(&w, &cond->lock, abti_mutex_release(mutex));
    return abti_mutex_lock(mutex);
}

/* Waits, with the lock held and the mutex released. `other` is to be woken for the mutex; NULL: nobody is. */
static ABTI_NOINLINE int cond_wait_locked(ABT_cond cond, ABT_mutex mutex, struct abti_waiter *other)
{
    struct abti_waiter w;
    abti_waiter_init_ult(&w, abti_es_self->cur, ABT_SYNC_EVENT_TYPE_COND, cond);
    abti_waitq_push(&cond->waiters, &w);
    abti_waiter_hold(&w);
    abti_waiter_park(&w, &cond->lock, other);
    return abti_mutex_lock(mutex);
}

/*
 * Waits without a deadline. A ULT of the private pool in front releases the mutex before it queues, so that a ULT that
 * is woken for it can be the next to run. A signal does not miss it: `waited` is set before the release, and the lock
 * is held until it is queued. relaxed: see is_waited.
 */
int abti_cond_wait(ABT_cond cond, ABT_mutex mutex)
{
    abti_es *es = abti_es_self;
    if (!es || es->fast != es->cur->pool || abti_has_requests(es->cur))
        return cond_block_as_waiter(cond, mutex);
    if (!cond_lock(cond, mutex))
        return ABT_ERR_INV_MUTEX;
    abti_store_relaxed(&cond->waited, 1); /* relaxed, here and below: see is_waited */
    struct abti_waiter *other = abti_mutex_release(mutex);
    if (other && !other->next && other->unit && abti_may_unblock_quick(es, other->unit)) {
        abti_unblock_quick(es, other->unit);
        other = NULL;
    }
    if (!other && abti_may_block_quick(es))
        return abti_ctx_wait(&es->cur->ctx, cond, mutex, cond_leave, cond_then);
    return cond_wait_locked(cond, mutex, other);
}

int abti_cond_wait_until(ABT_cond cond, ABT_mutex mutex, uint64_t deadline_ns)
{
    struct abti_waiter w; /* with a deadline the signal wakes it, and it locks the mutex as any caller does */
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
    abti_waiter_finish(&w);
    abti_mutex_lock(mutex);
    return woken ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

/*
 * Whether a waiter may be queued. relaxed: a caller that means to signal a certain waiter knows of it, by the mutex or
 * otherwise, so that its queueing happened before; a caller that does not know of it might as well have come earlier.
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
    if (w && w->unit && abti_may_unblock_quick(abti_es_self, w->unit))
        abti_unblock_quick(abti_es_self, w->unit);
    else if (w)
        abti_waiter_wake(w);
}

void abti_cond_broadcast(ABT_cond cond)
{
    if (!is_waited(cond))
        return;
    abti_spin_lock(&cond->lock);
    struct abti_waiter *rest = abti_waitq_wake_here(&cond->waiters);
    abti_store_relaxed(&cond->waited, 0); /* relaxed: see is_waited */
    abti_spin_unlock(&cond->lock);
    if (rest)
        abti_waiter_wake_all(rest);
}

bool abti_cond_has_waiters(ABT_cond cond)
{
    abti_spin_lock(&cond->lock);
    bool has = !abti_waitq_is_empty(&cond->waiters);
    abti_spin_unlock(&cond->lock);
    return has;
}
