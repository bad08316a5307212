/*
 * The shared built-in kinds, FIFO and RANDWS: all that is known inline of where their units are. A FIFO has them in the
 * pool's queue. RANDWS has them in the ring, and those for which there was no memory in the queue, which then stands
 * behind the ring's tail. The caller holds the pool's lock where a name ends in _locked.
 */
#ifndef ABTI_POOL_BUILTIN_H
#define ABTI_POOL_BUILTIN_H

#include "pool/pool.h"

/* Parts of abti_pool_push_new: the whole of it, and with the lock held what follows the push. */
int abti_pool_push_new_slow(abti_pool *pool, abti_unit *unit);
int abti_pool_end_push(abti_pool *pool);

/* Of a shared built-in pool, a FIFO or RANDWS; the caller holds its lock. The unit that is next, NULL: none. */
ABTI_INLINE abti_unit *abti_pool_head_locked(abti_pool *pool)
{
    return abti_ring_size(&pool->ring) > 0 ? abti_ring_at(&pool->ring, 0) : abti_load_relaxed(&pool->queue.head);
}

/* How many are in a built-in pool whose own thread, if it is private, sleeps; the caller holds its lock. */
ABTI_INLINE size_t abti_pool_num_locked(abti_pool *pool)
{
    return abti_ring_size(&pool->ring) + abti_queue_size(&pool->queue) + abti_queue_size(&pool->inbox);
}

/* Pops that unit. */
ABTI_INLINE void abti_pool_pop_head_locked(abti_pool *pool, abti_unit *head)
{
    if (abti_ring_size(&pool->ring) > 0)
        abti_ring_pop(&pool->ring, false);
    else
        abti_queue_pop_head(&pool->queue, head);
}

/*
 * Whether there is none, without the lock, as a glance. Of a FIFO this touches the queue's cache line only: others may
 * be busy with the lock's.
 */
ABTI_INLINE bool abti_pool_looks_empty(abti_pool *pool)
{
    return (pool->shared_fifo || abti_ring_size(&pool->ring) == 0) && abti_queue_is_empty(&pool->queue);
}

/* Whether the unit may be the next one, as a glance. Of a RANDWS pool nothing is looked at. */
ABTI_INLINE bool abti_pool_may_be_head(abti_pool *pool, const abti_unit *unit)
{
    return !pool->shared_fifo || abti_load_relaxed(&pool->queue.head) == unit;
}

/* The unit that is next, taken out; NULL: none. */
ABTI_INLINE abti_unit *abti_pool_take_head_locked(abti_pool *pool)
{
    return abti_ring_size(&pool->ring) > 0 ? abti_ring_pop(&pool->ring, false) : abti_queue_pop(&pool->queue);
}

/* Pops it and pushes one that yields: in a RANDWS pool to the tail. */
ABTI_INLINE void abti_pool_rotate_locked(abti_pool *pool, abti_unit *unit, abti_unit *head)
{
    if (ABTI_LIKELY(pool->shared_fifo)) {
        abti_queue_rotate_to(&pool->queue, unit, head);
        return;
    }
    abti_pool_pop_head_locked(pool, head);
    if (ABTI_LIKELY(abti_queue_is_empty(&pool->queue)))
        abti_ring_push(&pool->ring, unit, false); /* there is room: the ring has just lost one, or is empty */
    else
        abti_queue_push(&pool->queue, unit);
}

/* A new unit is pushed to a shared built-in pool, on an ES. ABT_SUCCESS, for the caller to return. */
ABTI_INLINE int abti_pool_push_new(abti_es *es, abti_pool *pool, abti_unit *unit)
{
    if (ABTI_UNLIKELY(!abti_bias_enter(&pool->lock, es->bias)))
        return abti_pool_push_new_slow(pool, unit);
    if (pool->shared_fifo) {
        abti_queue_push(&pool->queue, unit);
    } else if (ABTI_LIKELY(!abti_ring_is_full(&pool->ring) && abti_queue_is_empty(&pool->queue))) {
        abti_ring_push(&pool->ring, unit, true);
    } else {
        abti_bias_leave(es->bias);
        return abti_pool_push_new_slow(pool, unit);
    }
    if (abti_pool_is_awaited(pool))
        return abti_pool_end_push(pool);
    abti_bias_leave(es->bias);
    return ABT_SUCCESS;
}

#endif
