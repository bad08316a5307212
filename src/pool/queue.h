/*
 * Intrusive first-in first-out list of units. The pointer to the last link makes a push free of branches. It also says
 * where the list ends: the last link itself is not written, as a store less is what a push is made of.
 */
#ifndef ABTI_POOL_QUEUE_H
#define ABTI_POOL_QUEUE_H

#include "base/assert.h"
#include "unit/unit.h"

/*
 * Guarded by whatever guards its pool. `head` and `size` are atomic only so that others may glance at them; the
 * guard orders everything else.
 */
struct abti_queue {
    _Atomic(abti_unit *) head;
    _Atomic(abti_unit *) *last; /* the link that ends the list, of any content but in an empty queue: head, NULL */
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

/* Pushes units that are linked from the first to the last; `num` of them, at least 1. */
ABTI_INLINE void abti_queue_push_chain(struct abti_queue *q, abti_unit *first, abti_unit *last, uint64_t num)
{
    abti_assert(first && last && num > 0);
    abti_store_relaxed(q->last, first);
    q->last = ABTI_QUEUE_LINK(last);
    abti_cpu_add(&q->size, num);
}

/* The unit behind this one, NULL: it is the last. Under the guard. */
ABTI_INLINE abti_unit *abti_queue_next(struct abti_queue *q, abti_unit *unit)
{
    return q->last == ABTI_QUEUE_LINK(unit) ? NULL : unit->next;
}

/* Pops the head, which is known, but leaves the size to the caller. */
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

/* Pushes `unit` and pops the head: never empty, and the size stays. */
ABTI_INLINE abti_unit *abti_queue_rotate(struct abti_queue *q, abti_unit *unit)
{
    abti_unit *head = abti_load_relaxed(&q->head);
    if (ABTI_UNLIKELY(!head))
        return unit;
    abti_store_relaxed(q->last, unit);
    q->last = ABTI_QUEUE_LINK(unit);
    abti_store_relaxed(&q->head, head->next); /* not the last one: `unit` stands behind it */
    return head;
}

/* The same when the head is known to be there: `unit` goes to the tail and the head, another unit, is popped. */
ABTI_INLINE void abti_queue_rotate_to(struct abti_queue *q, abti_unit *unit, abti_unit *head)
{
    abti_assert(unit && head && unit != head && abti_load_relaxed(&q->head) == head);
    abti_store_relaxed(q->last, unit);
    q->last = ABTI_QUEUE_LINK(unit);
    abti_store_relaxed(&q->head, head->next); /* `unit`, if nobody stood in between */
}

/* Takes `unit` out wherever it stands; false when it is not there. Linear. */
bool abti_queue_remove(struct abti_queue *q, abti_unit *unit);

#endif
