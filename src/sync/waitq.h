/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waiters of one object, first in, first out, guarded by the object's spin lock.
 *
 * Mutexes, condition variables and eventuals live in storage that users align to 4 bytes only and fill with zeros.
 * Everything atomic in them is therefore 4 bytes wide, and pointers are plain ones with a type that says how little
 * they are aligned.
 */
#ifndef ABTI_SYNC_WAITQ_H
#define ABTI_SYNC_WAITQ_H

#include "base/assert.h"
#include "run/block.h"
#include "sync/waiter.h"

typedef struct abti_waiter *abti_waiter_p4 __attribute__((aligned(4)));
typedef abti_pool *abti_pool_p4 __attribute__((aligned(4)));
typedef abti_unit *abti_unit_p4 __attribute__((aligned(4)));

/* The queue is a ring. Zeroed memory is an empty queue. A waiter that is in no queue has no `next`. */
struct abti_waitq {
    abti_waiter_p4 head;
};

_Static_assert(_Alignof(struct abti_waitq) == 4, "fits into the users' storage");

ABTI_INLINE bool abti_waitq_is_empty(const struct abti_waitq *q)
{
    return !q->head;
}

ABTI_INLINE void abti_waitq_push(struct abti_waitq *q, struct abti_waiter *w)
{
    struct abti_waiter *head = q->head;
    if (!head) {
        w->next = w->prev = w;
        q->head = w;
        return;
    }
    w->next = head;
    w->prev = head->prev;
    head->prev->next = w;
    head->prev = w;
}

/* Pushes a waiter that was taken out and has to wait on. */
ABTI_INLINE void abti_waitq_push_front(struct abti_waitq *q, struct abti_waiter *w)
{
    abti_waitq_push(q, w);
    q->head = w;
}

/* Takes a waiter out, if it is there. */
ABTI_INLINE void abti_waitq_remove(struct abti_waitq *q, struct abti_waiter *w)
{
    if (!w->next)
        return;
    abti_assert(w->next->prev == w && w->prev->next == w);
    w->prev->next = w->next;
    w->next->prev = w->prev;
    if (q->head == w)
        q->head = w->next == w ? NULL : w->next;
    w->next = NULL;
}

/* Takes the first waiter out. Returns NULL when there is none. */
ABTI_INLINE struct abti_waiter *abti_waitq_pop(struct abti_waitq *q)
{
    struct abti_waiter *w = q->head;
    if (w)
        abti_waitq_remove(q, w);
    return w;
}

/* Takes the first waiter to wake out and claims it. Waiters that have stopped waiting are dropped on the way. */
ABTI_INLINE struct abti_waiter *abti_waitq_take(struct abti_waitq *q)
{
    struct abti_waiter *w, *claimed = NULL;
    while ((w = abti_waitq_pop(q)) && !(claimed = abti_waiter_claim(w)))
        ;
    return claimed;
}

/*
 * Wakes all that still wait, under the object's lock as far as that takes a few stores only: ULTs of the private pool
 * in front, which run when we leave. Returns the others, for abti_waiter_wake_all without the lock.
 */
ABTI_INLINE struct abti_waiter *abti_waitq_wake_here(struct abti_waitq *q)
{
    struct abti_waiter *w = q->head, *rest = NULL, **last = &rest;
    if (!w)
        return NULL;
    abti_es *es = abti_es_self;
    q->head = NULL;
    w->prev->next = NULL;
    for (struct abti_waiter *next; w; w = next) {
        next = w->next;
        if (ABTI_LIKELY(w->unit && abti_may_unblock_quick(es, w->unit))) {
            abti_unblock_quick(es, w->unit);
            continue;
        }
        w->next = NULL; /* in no queue */
        w = abti_waiter_claim(w);
        if (!w)
            continue;
        w->next = NULL;
        *last = w;
        last = &w->next;
    }
    return rest;
}

/*
 * Ends the way to wait of a ULT that may block quickly, see abti_ctx_leave: with the object's lock held, it fills in
 * the waiter in its room and queues it, releases the lock, and returns where the native thread goes on. `hold` says
 * whether to call abti_waiter_hold.
 */
ABTI_INLINE abti_ctx abti_waitq_leave(struct abti_waitq *q, struct abti_waiter *w, ABT_sync_event_type reason,
                                      const void *object, struct abti_spin *lock, bool hold)
{
    abti_assert(abti_load_relaxed(&lock->word) == 1); /* it is held */
    abti_es *es = abti_es_self;
    abti_waiter_init_ult(w, es->cur, reason, object);
    abti_waitq_push(q, w);
    abti_unit_wait_for(es->cur, w);
    abti_ctx next = abti_block_quick(es, es->cur);
    if (hold)
        abti_waiter_hold(w);
    abti_spin_unlock(lock);
    return next;
}

/* Waits, for a caller that has seen that an object is done, for the thread that made it so to release it. */
ABTI_INLINE void abti_waitq_settle(struct abti_spin *lock)
{
    /* acquire: pairs with abti_spin_unlock, so that the object may be freed */
    while (ABTI_UNLIKELY(abti_load_acquire(&lock->word)))
        (void)abti_spin_wait(lock, 0);
}

#endif
