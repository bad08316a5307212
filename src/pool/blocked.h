/* How many units are blocked out of a pool. */
#ifndef ABTI_POOL_BLOCKED_H
#define ABTI_POOL_BLOCKED_H

#include "base/assert.h"
#include "pool/pool.h"

/* A unit becomes blocked, and ready again. Called before the unit can be found by its waker, and after its push. */
void abti_pool_count_entered_slow(abti_pool *pool);

void abti_pool_count_left_slow(abti_pool *pool);

/* The owner's halves, for a caller that has asked abti_pool_is_owner. */
ABTI_INLINE bool abti_pool_is_owner(abti_es *es, abti_pool *pool)
{
    /* relaxed: only the owner itself ever finds itself here */
    return es && ABTI_LIKELY(abti_cpu_is_equal(&pool->blocked.owner, (uintptr_t)es));
}

ABTI_INLINE void abti_pool_owner_entered(abti_pool *pool)
{
    abti_assert(abti_pool_is_owner(abti_es_self, pool));
    abti_cpu_add(&pool->blocked.own_entered, 1);
}

/*
 * One more join in place is counted, if one more may come before a look at events. If none may, or if the join does not
 * come about, the caller gives it back. The caller takes the unit out of the queue, but not out of the queue's size.
 */
ABTI_INLINE bool abti_pool_in_place_take(abti_pool *pool)
{
    abti_assert(pool->priv_fifo && abti_pool_is_owner(abti_es_self, pool));
    return abti_cpu_count_down(&pool->blocked.remain);
}

ABTI_INLINE void abti_pool_in_place_give_back(abti_pool *pool)
{
    abti_assert(pool->priv_fifo && abti_pool_is_owner(abti_es_self, pool));
    abti_store_relaxed(&pool->blocked.remain, abti_load_relaxed(&pool->blocked.remain) + 1);
}

/* No more joins in place may come before a look at events: abti_pool_in_place_take leaves the last one. */
ABTI_INLINE bool abti_pool_in_place_is_exhausted(abti_pool *pool)
{
    return abti_load_relaxed(&pool->blocked.remain) <= 1;
}

/* By the owner, or for one that is no more: so many joins in place may come from now on, however many were left. */
void abti_pool_in_place_grant(abti_pool *pool, int32_t num);

/* How many joins in place there have been. acquire: pairs with the release in abti_pool_in_place_grant */
ABTI_INLINE uint32_t abti_pool_num_in_place(abti_pool *pool)
{
    uint64_t both = abti_load_acquire(&pool->blocked.in_place);
    return (uint32_t)(both >> 32) - (uint32_t)both;
}

ABTI_INLINE void abti_pool_owner_left(abti_pool *pool, uint64_t num)
{
    abti_assert(abti_pool_is_owner(abti_es_self, pool));
    abti_cpu_add(&pool->blocked.own_left, num);
}

ABTI_INLINE void abti_pool_count_entered(abti_es *es, abti_pool *pool)
{
    if (abti_pool_is_owner(es, pool))
        abti_pool_owner_entered(pool);
    else
        abti_pool_count_entered_slow(pool);
}

ABTI_INLINE void abti_pool_count_left(abti_es *es, abti_pool *pool)
{
    if (abti_pool_is_owner(es, pool))
        abti_pool_owner_left(pool, 1);
    else
        abti_pool_count_left_slow(pool);
}

/*
 * Pushes a unit that was blocked, from any thread, and counts it as left: both at once for who looks at the total size
 * of a built-in pool.
 */
void abti_pool_push_unblocked(abti_pool *pool, abti_unit *unit, ABT_pool_context context);

/* Units blocked out of the pool, and together with those in it. */
size_t abti_pool_num_blocked(abti_pool *pool);

size_t abti_pool_total_size(abti_pool *pool);

/* An ES ends: what it counted as owner goes to the shared pairs. Called on that ES, or when it is no more. */
void abti_pool_disown(abti_pool *pool, abti_es *es);

#endif
