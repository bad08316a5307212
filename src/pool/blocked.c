#include "pool/blocked.h"

#include "base/assert.h"
#include "pool/wish.h"

void abti_pool_count_entered_slow(abti_pool *pool)
{
    abti_es *es = abti_es_self, *none = NULL;
    struct abti_blocked *b = &pool->blocked;
    /* acquire: pairs with the release at the end of abti_pool_disown, which has emptied the pair that the owner gets */
    if (es && !abti_load_relaxed(&b->owner) && abti_cas_acq_rel(&b->owner, &none, es))
        abti_store_release(&b->own_entered, abti_load_relaxed(&b->own_entered) + 1);
    else
        abti_fetch_add_release(&b->shared_entered, 1);
}

void abti_pool_count_left_slow(abti_pool *pool)
{
    abti_fetch_add_release(&pool->blocked.shared_left, 1);
}

/*
 * A unit is counted as entered before anybody can wake it. In a built-in pool it is counted as left in the same
 * critical section that pushes it, and the sum is taken under the same lock: the size and the left counts then stand
 * still but for units that are switched to without a pool (abti_take_blocked), and no unit is counted twice or missed.
 *
 * A user-defined pool has a lock of its own. There a unit is counted as left after it has been pushed. Whoever reads
 * the left counts first, then the entered ones and then the size never misses a unit; it may count one twice that is on
 * its way between the two.
 *
 * While abti_pool_disown moves an owner's counts, a reader may count too many, never too few: what has left is taken
 * out of the one pair before it is added to the other, and read the other way round; what has entered the other way.
 * Such a sum is taken again, and so is one around which the counts have changed, a few times.
 */
static uint32_t blocked_left(struct abti_blocked *b)
{
    uint64_t shared = abti_load_acquire(&b->shared_left);
    return (uint32_t)(shared + abti_load_acquire(&b->own_left));
}

static uint32_t blocked_entered(abti_pool *pool)
{
    uint64_t own = abti_load_acquire(&pool->blocked.own_entered);
    return (uint32_t)(own + abti_load_acquire(&pool->blocked.shared_entered)) + abti_pool_num_in_place(pool);
}

static size_t blocked(uint32_t entered, uint32_t left)
{
    int32_t num = (int32_t)(entered - left);
    return num > 0 ? (size_t)num : 0;
}

size_t abti_pool_num_blocked(abti_pool *pool)
{
    uint32_t left = blocked_left(&pool->blocked);
    return blocked(blocked_entered(pool), left);
}

void abti_pool_in_place_grant(abti_pool *pool, int32_t num)
{
    abti_assert(num >= 0);
    struct abti_blocked *b = &pool->blocked;
    /* Two loads, as one half has just been stored; one store: for a reader nothing has changed. */
    uint32_t more = (uint32_t)num - (uint32_t)abti_load_relaxed(&b->remain);
    uint32_t granted = abti_load_relaxed(&b->granted) + more;
    abti_store_release(&b->in_place, (uint64_t)granted << 32 | (uint32_t)num);
}

/* No counts are on the move: an even number, which changes when they are. */
static uint32_t wait_for_moves(struct abti_blocked *b)
{
    uint32_t moves;
    abti_spin_until(!((moves = abti_load_acquire(&b->moves)) & 1));
    return moves;
}

/* One attempt; *exact: nothing has moved around the reading of the size. */
static size_t take_sum(abti_pool *pool, bool *exact)
{
    struct abti_blocked *b = &pool->blocked;
    uint32_t moves = wait_for_moves(b);
    uint32_t left = blocked_left(b);
    uint32_t entered = blocked_entered(pool);
    size_t size = pool->ops->size(pool);
    abti_fence_acquire();
    *exact = blocked_left(b) == left && blocked_entered(pool) == entered && abti_load_relaxed(&b->moves) == moves;
    return size + blocked(entered, left);
}

size_t abti_pool_total_size(abti_pool *pool)
{
    enum { TRIES = 8 };
    bool exact = false;
    size_t total = 0;
    if (!pool->user_defined)
        abti_pool_lock(abti_es_self, pool);
    for (int i = 0; i < TRIES && !exact; i++)
        total = take_sum(pool, &exact);
    if (!pool->user_defined)
        abti_pool_unlock(abti_es_self, pool);
    return total;
}

void abti_pool_disown(abti_pool *pool, abti_es *es)
{
    struct abti_blocked *b = &pool->blocked;
    if (abti_load_relaxed(&b->owner) != es)
        return;
    uint64_t entered = abti_load_relaxed(&b->own_entered), left = abti_load_relaxed(&b->own_left);
    abti_pool_in_place_grant(pool, 0); /* another scheduler may look at events more often */
    abti_fetch_add_acq_rel(&b->moves, 1);
    /* Entered first, and the order of the stores: see above. acq_rel keeps each behind the one before. */
    abti_fetch_add_acq_rel(&b->shared_entered, entered);
    abti_store_release(&b->own_entered, 0);
    abti_store_release(&b->own_left, 0);
    abti_fetch_add_acq_rel(&b->shared_left, left);
    abti_fetch_add_acq_rel(&b->moves, 1);
    abti_store_release(&b->owner, NULL);
}

void abti_pool_push_unblocked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_assert(unit && unit->pool == pool);
    abti_es *es = abti_es_self;
    bool inbox = pool->priv_fifo && !abti_pool_is_owner(es, pool);
    if (!inbox && !pool->ops->push_locked) {
        abti_pool_push(pool, unit, context);
        abti_pool_count_left(es, pool);
        return;
    }
    if (pool->ops->answers && abti_pool_give(es, pool, unit, context))
        return;
    abti_pool_lock(abti_es_self, pool);
    if (inbox)
        abti_queue_push(&pool->inbox, unit); /* it blocked on the pool's thread, which therefore is the owner */
    else
        pool->ops->push_locked(pool, unit, context);
    abti_pool_count_left(es, pool);
    abti_wakeup wakeup = abti_parking_claim_locked(pool);
    abti_pool_unlock(abti_es_self, pool);
    abti_wakeup_send(wakeup);
}
