/*
 * The waiters of one object, first in, first out, guarded by the object's spin lock.
 *
 * Mutexes, condition variables and eventuals live in storage that users align to 4 bytes only and fill with zeros.
 * Everything atomic in them is therefore 4 bytes wide, and pointers are plain ones with a type that says how little they
 * are aligned.
 */
#ifndef ABTI_SYNC_WAITQ_H
#define ABTI_SYNC_WAITQ_H

#include "core/park.h"

typedef struct abti_waiter *abti_waiter_p4 __attribute__((aligned(4)));

struct abti_waitq {
    abti_waiter_p4 head, tail; /* zeroed memory is an empty queue; tail means nothing then */
};

_Static_assert(_Alignof(struct abti_waitq) == 4, "fits into the users' storage");

ABTI_INLINE bool abti_waitq_is_empty(const struct abti_waitq *q)
{
    return !q->head;
}

ABTI_INLINE void abti_waitq_push(struct abti_waitq *q, struct abti_waiter *w)
{
    w->next = NULL;
    w->prev = q->head ? q->tail : NULL;
    if (w->prev)
        w->prev->next = w;
    else
        q->head = w;
    q->tail = w;
}

/* For a waiter that was taken out and has to wait on. */
ABTI_INLINE void abti_waitq_push_front(struct abti_waitq *q, struct abti_waiter *w)
{
    w->next = q->head;
    w->prev = NULL;
    if (w->next)
        w->next->prev = w;
    else
        q->tail = w;
    q->head = w;
}

/* Takes a waiter out, if it is there: the only one without a predecessor that is there is the head. */
ABTI_INLINE void abti_waitq_remove(struct abti_waitq *q, struct abti_waiter *w)
{
    if (w->prev)
        w->prev->next = w->next;
    else if (q->head == w)
        q->head = w->next;
    else
        return;
    if (w->next)
        w->next->prev = w->prev;
    else
        q->tail = w->prev;
    w->next = w->prev = NULL;
}

/* The first one, NULL when there is none. */
ABTI_INLINE struct abti_waiter *abti_waitq_pop(struct abti_waitq *q)
{
    struct abti_waiter *w = q->head;
    if (!w)
        return NULL;
    q->head = w->next;
    if (w->next)
        w->next->prev = NULL;
    w->next = NULL;
    return w;
}

/* The first one that waits still: claimed, to be woken. Those whose time is up are dropped on the way. */
ABTI_INLINE struct abti_waiter *abti_waitq_take(struct abti_waitq *q)
{
    struct abti_waiter *w;
    while ((w = abti_waitq_pop(q)) && !abti_waiter_claim(w))
        ;
    return w;
}

/* All that wait still, for abti_waiter_wake_all. */
ABTI_INLINE struct abti_waiter *abti_waitq_take_all(struct abti_waitq *q)
{
    struct abti_waiter *first = abti_waitq_take(q);
    for (struct abti_waiter *w = first; w; w = w->next)
        w->next = abti_waitq_take(q);
    return first;
}

/* Who has seen that an object is done waits here for the one who made it so to let go of it. */
ABTI_INLINE void abti_waitq_settle(struct abti_spin *lock)
{
    /* acquire: pairs with abti_spin_unlock, so that the object may be freed */
    while (ABTI_UNLIKELY(abti_load_acquire(&lock->word)))
        abti_spin_wait(lock);
}

#endif
