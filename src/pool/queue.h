/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An intrusive first-in first-out list of units. The pointer to the last link makes a push free of branches. It also
 * says where the list ends: the last link itself is not written, which saves a store in each push.
 */
#ifndef ABTI_POOL_QUEUE_H
#define ABTI_POOL_QUEUE_H

#include "base/assert.h"
#include "unit/unit.h"

/*
 * The queue is guarded by what guards its pool. `head` and `size` are atomic only so that others may read them without
 * the lock. relaxed, everywhere below: the guard orders everything.
 */
struct abti_queue {
    _Atomic(abti_unit *) head;
    _Atomic(abti_unit *) *last; /* the link that ends the list: in an empty queue `head`, which is NULL;
                                   otherwise that of the last unit, which is uninitialised */
    _Atomic(uint64_t) size;
};

#define ABTI_QUEUE_LINK(unit) ((_Atomic(abti_unit *) *)&(unit)->next)

ABTI_INLINE void abti_queue_init(struct abti_queue *q)
{
    abti_store_relaxed(&q->head, NULL);
    q->last = &q->head;
    abti_store_relaxed(&q->size, 0);
}

ABTI_INLINE bool abti_queue_is_empty(struct abti_queue *q)
{
    return !abti_load_relaxed(&q->head);
}

ABTI_INLINE size_t abti_queue_size(struct abti_queue *q)
{
    return abti_load_relaxed(&q->size);
}

ABTI_INLINE void abti_queue_push(struct abti_queue *q, abti_unit *unit)
{
    abti_assert(unit != NULL);
    abti_store_relaxed(q->last, unit);
    q->last = ABTI_QUEUE_LINK(unit);
    abti_cpu_add(&q->size, 1);
}

/* Pushes `num` units, at least 1, that are linked from `first` to `last`. */
ABTI_INLINE void abti_queue_push_chain(struct abti_queue *q, abti_unit *first, abti_unit *last, uint64_t num)
{
    abti_assert(first && last && num > 0);
    abti_store_relaxed(q->last, first);
    q->last = ABTI_QUEUE_LINK(last);
    abti_cpu_add(&q->size, num);
}

/* Returns the unit behind this one, or NULL if it is the last. The caller holds the guard. */
ABTI_INLINE abti_unit *abti_queue_next(struct abti_queue *q, abti_unit *unit)
{
    return q->last == ABTI_QUEUE_LINK(unit) ? NULL : unit->next;
}

/* Pops the head, which the caller knows, and leaves the size to the caller. */
ABTI_INLINE void abti_queue_unlink_head(struct abti_queue *q, abti_unit *head)
{
    abti_assert(head && abti_load_relaxed(&q->head) == head);
    if (ABTI_LIKELY(q->last != ABTI_QUEUE_LINK(head))) {
        abti_store_relaxed(&q->head, head->next);
    } else {
        abti_store_relaxed(&q->head, NULL);
        q->last = &q->head;
    }
}

ABTI_INLINE void abti_queue_pop_head(struct abti_queue *q, abti_unit *head)
{
    abti_queue_unlink_head(q, head);
    abti_cpu_add(&q->size, -1);
}

ABTI_INLINE abti_unit *abti_queue_pop(struct abti_queue *q)
{
    abti_unit *unit = abti_load_relaxed(&q->head);
    if (unit)
        abti_queue_pop_head(q, unit);
    return unit;
}

/* Pushes `unit` and pops the head, another unit, which the caller knows; the size stays. */
ABTI_INLINE void abti_queue_rotate_to(struct abti_queue *q, abti_unit *unit, abti_unit *head)
{
    abti_assert(unit && head && unit != head && abti_load_relaxed(&q->head) == head);
    abti_store_relaxed(q->last, unit);
    q->last = ABTI_QUEUE_LINK(unit);
    abti_store_relaxed(&q->head, head->next); /* this is `unit` if none was in between */
}

/* Takes `unit` out wherever it is; false when it is not there. The time is linear. */
bool abti_queue_remove(struct abti_queue *q, abti_unit *unit);

#endif
