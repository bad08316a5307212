/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/blocked.h"

#include "pool/request.h"

/* acquire: pairs with the last store in abti_pool_drop_keeper, which has emptied the pair that the keeper gets. */
static bool try_keep(struct abti_blocked *b, abti_es *es)
{
    abti_es *none = NULL;
    return abti_cas_acq_rel(&b->keeper, &none, es);
}

void abti_pool_set_keeper(abti_pool *pool, abti_es *es)
{
    abti_assert(abti_pool_is_private(pool) && abti_pool_is_locked(pool));
    bool keeps = try_keep(&pool->blocked, es);
    abti_assert(keeps);
    (void)keeps;
}

bool abti_es_serves(const abti_es *es, const abti_pool *pool)
{
    abti_assert(es == abti_es_self);
    for (int i = 0; i < es->num_served; i++) {
        if (es->served[i] == pool)
            return true;
    }
    return false;
}

/* relaxed: the racy read of the keeper is decided by try_keep. */
static bool becomes_keeper(abti_es *es, abti_pool *pool)
{
    return es && !abti_pool_is_private(pool) && !abti_load_relaxed(&pool->blocked.keeper) && abti_es_serves(es, pool) &&
           try_keep(&pool->blocked, es);
}

void abti_pool_count_entered_shared(abti_pool *pool)
{
    abti_es *es = abti_es_self;
    struct abti_blocked *b = &pool->blocked;
    /* release: both pair with the acquires in blocked_entered. relaxed: the keeper alone stores own_entered */
    if (becomes_keeper(es, pool))
        abti_store_release(&b->own_entered, abti_load_relaxed(&b->own_entered) + 1);
    else
        abti_fetch_add_release(&b->shared_entered, 1);
}

void abti_pool_count_left_shared(abti_pool *pool, uint64_t num)
{
    abti_fetch_add_release(&pool->blocked.shared_left, num); /* release: pairs with the acquire in blocked_left */
}

/*
 * A unit is counted as entered before anybody can wake it. In a built-in pool it is counted as left in the same
 * critical section that pushes it, and the sum is taken under the same lock. While the lock is held, the size and the
 * left counts change only for units that are switched to without a pool (abti_take_blocked), so that no unit is counted
 * twice or missed.
 *
 * A user-defined pool has a lock of its own. There a unit is counted as left after it has been pushed. A reader that
 * reads the left counts first, then the entered ones and then the size never misses a unit. It may count one twice that
 * is on its way between the two.
 *
 * While abti_pool_drop_keeper moves a keeper's counts, a reader may count too many units, never too few:
 * abti_pool_drop_keeper takes the left count out of the one pair before it adds it to the other, and the reader reads
 * the pairs the other way round; for the entered count both orders are reversed. The reader takes such a sum again, and
 * also one around which the counts have changed, a few times.
 */
static uint32_t blocked_left(struct abti_blocked *b)
{
    /* acquire: pairs with abti_pool_count_left_shared, abti_pool_count_own_left and abti_pool_drop_keeper */
    uint64_t shared = abti_load_acquire(&b->shared_left);
    return (uint32_t)(shared + abti_load_acquire(&b->own_left));
}

static uint32_t blocked_entered(abti_pool *pool)
{
    /* acquire: pairs with abti_pool_count_entered_shared, abti_pool_count_own_entered and abti_pool_drop_keeper */
    uint64_t own = abti_load_acquire(&pool->blocked.own_entered);
    return (uint32_t)(own + abti_load_acquire(&pool->blocked.shared_entered)) + abti_pool_num_in_place(pool);
}

static size_t blocked_between(uint32_t entered, uint32_t left)
{
    int32_t num = (int32_t)(entered - left);
    return num > 0 ? (size_t)num : 0;
}

size_t abti_pool_num_blocked(abti_pool *pool)
{
    uint32_t left = blocked_left(&pool->blocked);
    return blocked_between(blocked_entered(pool), left);
}

void abti_pool_in_place_grant(abti_pool *pool, int32_t num)
{
    abti_assert(num >= 0);
    struct abti_blocked *b = &pool->blocked;
    /*
     * There are two loads, since one half has just been stored, and one store, so that for a reader nothing changes.
     * relaxed: the keeper alone stores them. release: pairs with the acquire in abti_pool_num_in_place.
     */
    uint32_t more = (uint32_t)num - (uint32_t)abti_load_relaxed(&b->remain);
    uint32_t granted = abti_load_relaxed(&b->granted) + more;
    abti_store_release(&b->in_place, (uint64_t)granted << 32 | (uint32_t)num);
}

/*
 * Waits until no counts are on the move, and returns the number of moves. It is even then, and changes when counts
 * move. acquire: pairs with the first and the last count of moves in abti_pool_drop_keeper.
 */
static uint32_t wait_for_moves(struct abti_blocked *b)
{
    uint32_t moves;
    abti_spin_until(!((moves = abti_load_acquire(&b->moves)) & 1));
    return moves;
}

/* Takes the sum once. *exact says that nothing has moved around the reading of the size. */
static size_t take_sum(abti_pool *pool, bool *exact)
{
    struct abti_blocked *b = &pool->blocked;
    uint32_t moves = wait_for_moves(b);
    uint32_t left = blocked_left(b);
    uint32_t entered = blocked_entered(pool);
    size_t size = abti_pool_size(pool);
    /* acquire: pairs with the releases in abti_pool_drop_keeper: if `moves` is as before, no count has moved */
    abti_fence_acquire();
    /* relaxed: it comes after the fence, and nothing is read after it */
    *exact = blocked_left(b) == left && blocked_entered(pool) == entered && abti_load_relaxed(&b->moves) == moves;
    return size + blocked_between(entered, left);
}

size_t abti_pool_total_size(abti_pool *pool)
{
    enum { TRIES = 8 };
    bool exact = false;
    size_t total = 0;
    if (!abti_pool_is_user(pool))
        abti_pool_lock(abti_es_self, pool);
    for (int i = 0; i < TRIES && !exact; i++)
        total = take_sum(pool, &exact);
    if (!abti_pool_is_user(pool))
        abti_pool_unlock(abti_es_self, pool);
    return total;
}

void abti_pool_drop_keeper(abti_pool *pool, abti_es *es)
{
    struct abti_blocked *b = &pool->blocked;
    /* relaxed: the caller is the keeper, or has waited until it is no more */
    if (abti_load_relaxed(&b->keeper) != es)
        return;
    uint64_t entered = abti_load_relaxed(&b->own_entered), left = abti_load_relaxed(&b->own_left);
    abti_pool_in_place_grant(pool, 0); /* another scheduler may check events more often */
    /* acquire: the moves below come after it. release: pairs with wait_for_moves */
    abti_fetch_add_acq_rel(&b->moves, 1);
    /*
     * The entered count is moved first, in the order that the comment above says. release: each comes after those
     * before it, and pairs with the acquire in blocked_left, blocked_entered or wait_for_moves, the last one with
     * abti_pool_count_entered_shared. acquire: each comes before those after it.
     */
    abti_fetch_add_acq_rel(&b->shared_entered, entered);
    abti_store_release(&b->own_entered, 0);
    abti_store_release(&b->own_left, 0);
    abti_fetch_add_acq_rel(&b->shared_left, left);
    abti_fetch_add_acq_rel(&b->moves, 1);
    abti_store_release(&b->keeper, NULL);
}

/*
 * To a user-defined pool. The unit may have run to its end, and the pool be freed, as soon as the unit is in it, while
 * the caller is still in the user's function, or has not yet counted: abti_pool_await_wakers waits for that. relaxed:
 * the user's function publishes the unit, and the count with it.
 */
static ABTI_NOINLINE void push_to_user(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_fetch_add_relaxed(&pool->blocked.wakers, 1);
    abti_pool_push(pool, unit, context);
    abti_pool_count_left(abti_es_self, pool, 1);
    abti_fetch_sub_release(&pool->blocked.wakers, 1); /* release: pairs with the acquire in abti_pool_await_wakers */
}

/* acquire: pairs with the release in push_to_user, and the counts of these threads are seen. */
void abti_pool_await_wakers(abti_pool *pool)
{
    for (unsigned step = 0; abti_load_acquire(&pool->blocked.wakers) > 0; step++)
        abti_backoff(step);
}

void abti_pool_push_unblocked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_assert(unit && unit->pool == pool && pool != &abti_no_pool);
    abti_es *es = abti_es_self;
    if (abti_pool_is_user(pool)) {
        push_to_user(pool, unit, context);
        return;
    }
    if (abti_pool_is_host(es, pool)) {
        abti_pool_push(pool, unit, context);
        abti_pool_count_left(es, pool, 1);
        return;
    }
    if (abti_pool_answers(pool) && abti_pool_give(es, pool, unit, context))
        return;
    abti_pool_lock(es, pool);
    pool->ops->push_locked(pool, unit, context);
    abti_pool_count_left(es, pool, 1);
    abti_parking_unlock_and_wake(pool, 1);
}

/*
 * After the unlock the units that were pushed may end, and the pool be freed if they were the last. So as many sleepers
 * are claimed as there are units; where somebody sleeps, they are pushed a few at a time.
 */
void abti_pool_push_all_unblocked(struct abti_queue *units)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = abti_load_relaxed(&units->head); /* relaxed, here and below: the queue is the caller's own */
    while (unit) {
        abti_pool *pool = unit->pool;
        size_t num = 0;
        abti_assert(abti_pool_is_fifo(pool) && !abti_pool_is_host(es, pool));
        abti_pool_lock(es, pool);
        do {
            pool->ops->push_locked(pool, abti_queue_pop(units), ABT_POOL_CONTEXT_OP_THREAD_RESUME);
            unit = abti_load_relaxed(&units->head);
        } while ((++num < ABTI_PARKING_WAKES || !abti_pool_has_parked(pool)) && unit && unit->pool == pool);
        abti_pool_count_left(es, pool, num);
        abti_parking_unlock_and_wake(pool, num);
    }
}
