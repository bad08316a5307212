/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inline part of the shared built-in kinds, FIFO and RANDWS: where their units are. A FIFO has them in the
 * pool's inbox. RANDWS has them in the ring, and those for which there was no memory in the inbox, which then is
 * behind the ring's tail. The caller holds the pool's lock where a name ends in _locked.
 */
#ifndef ABTI_POOL_BUILTIN_H
#define ABTI_POOL_BUILTIN_H

#include "base/assert.h"
#include "pool/pool.h"

/* Returns the unit that is next in a shared built-in pool, or NULL if there is none. relaxed: the lock orders it. */
ABTI_INLINE abti_unit *abti_pool_head_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    return abti_ring_size(&pool->ring) > 0 ? abti_ring_at(&pool->ring, 0) : abti_load_relaxed(&pool->inbox.head);
}

/* Returns how many units are in a built-in pool. If it is private, its own thread sleeps. */
ABTI_INLINE size_t abti_pool_num_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool) && !abti_pool_is_user(pool));
    return abti_ring_size(&pool->ring) + abti_queue_size(&pool->queue) + abti_queue_size(&pool->inbox);
}

/* Pops the unit that abti_pool_head_locked has returned. */
ABTI_INLINE void abti_pool_pop_head_locked(abti_pool *pool, abti_unit *head)
{
    abti_assert(abti_pool_is_locked(pool) && abti_pool_head_locked(pool) == head);
    if (abti_ring_size(&pool->ring) > 0)
        abti_ring_pop(&pool->ring, false);
    else
        abti_queue_pop_head(&pool->inbox, head);
}

/* Whether the pool has no unit, by a racy read without the lock. Of a FIFO this touches the lock's cache line only. */
ABTI_INLINE bool abti_pool_looks_empty(abti_pool *pool)
{
    return (abti_pool_is_shared_fifo(pool) || abti_ring_size(&pool->ring) == 0) && abti_queue_is_empty(&pool->inbox);
}

/*
 * Whether the unit may be the next one, by a racy read without the lock. In a RANDWS pool any unit may be. relaxed: the
 * caller looks again under the lock.
 */
ABTI_INLINE bool abti_pool_may_be_head(abti_pool *pool, const abti_unit *unit)
{
    return !abti_pool_is_shared_fifo(pool) || abti_load_relaxed(&pool->inbox.head) == unit;
}

/* Pops the unit that is next, or returns NULL if there is none. */
ABTI_INLINE abti_unit *abti_pool_take_head_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    return abti_ring_size(&pool->ring) > 0 ? abti_ring_pop(&pool->ring, false) : abti_queue_pop(&pool->inbox);
}

/* The same where other streams push, too. */
ABTI_INLINE abti_unit *abti_pool_fetch_head_locked(abti_pool *pool)
{
    abti_unit *head = abti_pool_head_locked(pool);
    if (ABTI_LIKELY(head != NULL)) {
        abti_unit_fetch(head);
        abti_pool_pop_head_locked(pool, head);
    }
    return head;
}

/* Pops the head and pushes `unit`, which yields. In a RANDWS pool it goes to the tail. */
ABTI_INLINE void abti_pool_rotate_locked(abti_pool *pool, abti_unit *unit, abti_unit *head)
{
    abti_assert(abti_pool_is_locked(pool) && abti_pool_head_locked(pool) == head);
    if (ABTI_LIKELY(abti_pool_is_shared_fifo(pool))) {
        abti_queue_rotate_to(&pool->inbox, unit, head);
        return;
    }
    abti_pool_pop_head_locked(pool, head);
    if (ABTI_LIKELY(abti_queue_is_empty(&pool->inbox)))
        abti_ring_push(&pool->ring, unit, false); /* The ring has room: it has just lost a unit, or is empty. */
    else
        abti_queue_push(&pool->inbox, unit);
}

/* In these contexts a unit is pushed to the head of a RANDWS pool, so that its owner takes it first. */
enum {
    ABTI_POOL_TO_HEAD = ABT_POOL_CONTEXT_OP_THREAD_CREATE | ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO |
                        ABT_POOL_CONTEXT_OP_THREAD_REVIVE | ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO
};

/*
 * Each operation on a shared pool in front has two forms, which share an inline body and differ by its constant
 * argument `biased`. The biased form is for the ES that has the lock's bias: it touches only memory of its own and the
 * pool's. The other form takes the lock in any way and does what may come in between. It is out of line, so that the
 * biased form saves no registers for it.
 */

/* Ends a body: it releases the lock as it was taken. */
ABTI_INLINE void abti_pool_leave(abti_es *es, abti_pool *pool, bool biased)
{
    if (biased)
        abti_bias_leave(es->bias);
    else
        abti_pool_unlock(es, pool);
}

/* Pushes without the bias. `es` may be NULL. Returns ABT_SUCCESS. */
int abti_pool_lock_and_push(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context);

/*
 * Ends a push for which somebody waits: it answers a request or a hand-off, unlocks, and wakes a sleeper. Returns
 * ABT_SUCCESS.
 */
int abti_pool_end_push(abti_pool *pool);

/* Whether a push needs neither memory nor a search for the end of the units behind the ring. */
ABTI_INLINE bool abti_pool_has_room_locked(abti_pool *pool, bool is_fifo)
{
    abti_assert(abti_pool_is_locked(pool) && is_fifo == abti_pool_is_shared_fifo(pool));
    return is_fifo || ABTI_LIKELY(!abti_ring_is_full(&pool->ring) && abti_queue_is_empty(&pool->inbox));
}

/* The body of a push, with the lock held. The biased form has seen that there is room. */
ABTI_INLINE int abti_pool_push_body(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context,
                                    bool is_fifo, bool biased)
{
    abti_assert(unit && abti_pool_is_locked(pool) && !abti_pool_is_user(pool));
    if (!biased)
        pool->ops->push_locked(pool, unit, context);
    else if (is_fifo)
        abti_queue_push(&pool->inbox, unit);
    else
        abti_ring_push(&pool->ring, unit, (context & ABTI_POOL_TO_HEAD) != 0);
    if (is_fifo ? abti_pool_has_parked(pool) : abti_pool_is_awaited(pool)) /* A FIFO gets no requests. */
        return abti_pool_end_push(pool);
    abti_pool_leave(es, pool, biased);
    return ABT_SUCCESS;
}

/* Pushes a unit to a shared built-in pool, on an ES. Returns ABT_SUCCESS, for the caller to return. */
ABTI_INLINE int abti_pool_push_shared(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context,
                                      bool is_fifo)
{
    abti_assert(es && es == abti_es_self && abti_pool_is_shared(pool));
    if (ABTI_UNLIKELY(!abti_bias_enter(&pool->lock, es->bias)))
        return abti_pool_lock_and_push(es, pool, unit, context);
    if (!abti_pool_has_room_locked(pool, is_fifo)) {
        abti_bias_leave(es->bias);
        return abti_pool_lock_and_push(es, pool, unit, context);
    }
    return abti_pool_push_body(es, pool, unit, context, is_fifo, true);
}

#endif
