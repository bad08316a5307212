/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of the units that are blocked out of a pool. */
#ifndef ABTI_POOL_BLOCKED_H
#define ABTI_POOL_BLOCKED_H

#include "base/assert.h"
#include "pool/pool.h"

/*
 * Count a unit that becomes blocked, and one that becomes ready again. The first is called before the unit can be found
 * by its waker, the second after the unit was pushed.
 */
void abti_pool_count_entered_shared(abti_pool *pool);

void abti_pool_count_left_shared(abti_pool *pool, uint64_t num);

/* Whether the main scheduler of the ES, which is the caller's, uses the pool. */
bool abti_es_serves(const abti_es *es, const abti_pool *pool);

/*
 * Whether the ES is the keeper of the pool's own pair of counts. Its main scheduler serves the pool then, or a stacked
 * scheduler that is the host of the pool and runs there now: so the pool, and a scheduler that waits for what is
 * blocked out of it, are there as long as the ES runs units.
 */
ABTI_INLINE bool abti_pool_is_keeper(abti_es *es, abti_pool *pool)
{
    /* relaxed: only the keeper itself finds itself here, and it has stored that */
    return es && ABTI_LIKELY(abti_load_relaxed(&pool->blocked.keeper) == es);
}

/* The keeper's form of abti_pool_count_entered, for a caller that has asked abti_pool_is_keeper. */
ABTI_INLINE void abti_pool_count_own_entered(abti_pool *pool)
{
    abti_assert(abti_pool_is_keeper(abti_es_self, pool));
    abti_cpu_add(&pool->blocked.own_entered, 1); /* release: pairs with the acquire in blocked_entered */
}

/*
 * Counts one more join in place, if one more may come before an event check. If this returns false, or if the join
 * does not come about, the caller gives the join back by abti_pool_in_place_give_back. The caller takes the unit out of
 * the queue, but leaves the queue's size as it is.
 */
ABTI_INLINE bool abti_pool_in_place_take(abti_pool *pool)
{
    abti_assert(abti_pool_is_private(pool) && abti_pool_is_keeper(abti_es_self, pool));
    int32_t left = abti_load_relaxed(&pool->blocked.remain) - 1; /* relaxed: the keeper alone stores the word */
    abti_store_release(&pool->blocked.remain, left); /* release: pairs with the acquire in abti_pool_num_in_place */
    return left > 0;
}

ABTI_INLINE void abti_pool_in_place_give_back(abti_pool *pool)
{
    abti_assert(abti_pool_is_private(pool) && abti_pool_is_keeper(abti_es_self, pool));
    abti_store_relaxed(&pool->blocked.remain, abti_load_relaxed(&pool->blocked.remain) + 1);
}

/*
 * Whether no more joins in place may come before an event check. The last one is left, since abti_pool_in_place_take
 * refuses it.
 */
ABTI_INLINE bool abti_pool_in_place_is_exhausted(abti_pool *pool)
{
    return abti_load_relaxed(&pool->blocked.remain) <= 1; /* relaxed: the keeper asks, which alone stores the word */
}

/*
 * Lets `num` joins in place come from now on, however many were left. The caller is the keeper, or the keeper is no
 * more.
 */
void abti_pool_in_place_grant(abti_pool *pool, int32_t num);

/*
 * Returns how many joins in place there have been. acquire: pairs with the release in abti_pool_in_place_grant and in
 * abti_pool_in_place_take.
 */
ABTI_INLINE uint32_t abti_pool_num_in_place(abti_pool *pool)
{
    uint64_t both = abti_load_acquire(&pool->blocked.in_place);
    return (uint32_t)(both >> 32) - (uint32_t)both;
}

/* The keeper's form of abti_pool_count_left, for `num` units. */
ABTI_INLINE void abti_pool_count_own_left(abti_pool *pool, uint64_t num)
{
    abti_assert(abti_pool_is_keeper(abti_es_self, pool));
    abti_cpu_add(&pool->blocked.own_left, num); /* release: pairs with the acquire in blocked_left */
}

ABTI_INLINE void abti_pool_count_entered(abti_es *es, abti_pool *pool)
{
    if (abti_pool_is_keeper(es, pool))
        abti_pool_count_own_entered(pool);
    else
        abti_pool_count_entered_shared(pool);
}

ABTI_INLINE void abti_pool_count_left(abti_es *es, abti_pool *pool, uint64_t num)
{
    if (abti_pool_is_keeper(es, pool))
        abti_pool_count_own_left(pool, num);
    else
        abti_pool_count_left_shared(pool, num);
}

/*
 * Pushes a unit that was blocked, from any thread, and counts it as left. A reader of a built-in pool's total size sees
 * both or none.
 */
void abti_pool_push_unblocked(abti_pool *pool, abti_unit *unit, ABT_pool_context context);

/*
 * The same for a queue of units of FIFOs, of which the caller is not the host; those of one pool that follow each other
 * at once. The queue is empty then.
 */
void abti_pool_push_all_unblocked(struct abti_queue *units);

/*
 * Waits for threads that have pushed a unit by abti_pool_push_unblocked and are on their way back. After that the pool
 * may be freed, if nothing is blocked out of it and nothing of it runs.
 */
void abti_pool_await_wakers(abti_pool *pool);

/* Returns the number of units that are blocked out of the pool. */
size_t abti_pool_num_blocked(abti_pool *pool);

/* Returns the number of units that are in the pool or blocked out of it. */
size_t abti_pool_total_size(abti_pool *pool);

/*
 * Makes the ES the keeper of the counts. The pool has no keeper, and its lock is held: where it is a private FIFO,
 * whose host alone is the keeper of its counts.
 */
void abti_pool_set_keeper(abti_pool *pool, abti_es *es);

/*
 * Moves what an ES that ends has counted as keeper to the shared pairs. It is called on that ES, or when the ES is no
 * more.
 */
void abti_pool_drop_keeper(abti_pool *pool, abti_es *es);

#endif
