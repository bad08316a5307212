#include "core/pool.h"

#include <stdlib.h>
#include "core/rt.h"

void abti_pool_count_entered_slow(abti_pool *pool)
{
    abti_es *es = abti_es_self, *none = NULL;
    struct abti_blocked *b = &pool->blocked;
    /* relaxed: the pair that the owner gets has been untouched since a lock-protected abti_pool_disown, or ever */
    if (es && !abti_load_relaxed(&b->owner) && abti_cas_relaxed(&b->owner, &none, es))
        abti_store_release(&b->own_entered, abti_load_relaxed(&b->own_entered) + 1);
    else
        atomic_fetch_add_explicit(&b->shared_entered, 1, memory_order_release);
}

void abti_pool_count_left_slow(abti_pool *pool)
{
    atomic_fetch_add_explicit(&pool->blocked.shared_left, 1, memory_order_release);
}

/*
 * A unit is counted as entered before anybody can wake it, and as left after it was pushed. So whoever reads the left
 * counts first and the entered ones and the size after them never misses a unit; it may count one twice that is on its
 * way between the two. When nothing has changed around the reading of the size, the sum is exact: that is tried for a
 * few times, since the counts stand still most of the time.
 */
static uint64_t blocked_left(struct abti_blocked *b)
{
    return abti_load_acquire(&b->own_left) + abti_load_acquire(&b->shared_left);
}

static uint64_t blocked_entered(struct abti_blocked *b)
{
    return abti_load_acquire(&b->own_entered) + abti_load_acquire(&b->shared_entered);
}

size_t abti_pool_num_blocked(abti_pool *pool)
{
    uint64_t left = blocked_left(&pool->blocked);
    uint64_t entered = blocked_entered(&pool->blocked);
    return entered > left ? (size_t)(entered - left) : 0;
}

size_t abti_pool_total_size(abti_pool *pool)
{
    enum { TRIES = 8 };
    struct abti_blocked *b = &pool->blocked;
    size_t total = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t left = blocked_left(b), entered = blocked_entered(b);
        size_t size = pool->ops->size(pool);
        total = size + (entered > left ? (size_t)(entered - left) : 0);
        atomic_thread_fence(memory_order_acquire);
        if (blocked_left(b) == left && blocked_entered(b) == entered)
            break;
    }
    return total;
}

void abti_pool_disown(abti_pool *pool, abti_es *es)
{
    struct abti_blocked *b = &pool->blocked;
    if (abti_load_relaxed(&b->owner) != es)
        return;
    /* Entered first: a reader in between sees too many rather than too few. */
    atomic_fetch_add_explicit(&b->shared_entered, abti_load_relaxed(&b->own_entered), memory_order_release);
    abti_store_release(&b->own_entered, 0);
    atomic_fetch_add_explicit(&b->shared_left, abti_load_relaxed(&b->own_left), memory_order_release);
    abti_store_release(&b->own_left, 0);
    abti_store_release(&b->owner, NULL);
}

abti_pool *abti_pool_alloc(const struct abti_pool_ops *ops)
{
    abti_pool *pool = aligned_alloc(ABTI_CACHE_LINE, (sizeof(*pool) + ABTI_CACHE_LINE - 1) / ABTI_CACHE_LINE * ABTI_CACHE_LINE);
    if (!pool)
        return NULL;
    *pool = (abti_pool){.ops = ops};
    abti_queue_init(&pool->queue);
    abti_spin_lock(&abti_rt.lock);
    pool->id = abti_rt.next_pool_id++;
    pool->next = abti_rt.pools;
    if (pool->next)
        pool->next->prev = pool;
    abti_rt.pools = pool;
    abti_spin_unlock(&abti_rt.lock);
    return pool;
}

void abti_pool_destroy(abti_pool *pool)
{
    if (pool->ops->fini)
        pool->ops->fini(pool);
    abti_spin_lock(&abti_rt.lock);
    if (pool->next)
        pool->next->prev = pool->prev;
    if (pool->prev)
        pool->prev->next = pool->next;
    else
        abti_rt.pools = pool->next;
    abti_spin_unlock(&abti_rt.lock);
    free(pool);
}

void abti_pool_retain(abti_pool *pool)
{
    abti_fetch_add_relaxed(&pool->num_scheds, 1);
}

void abti_pool_drop(abti_pool *pool)
{
    /* acq_rel: the last to drop sees what the others did to the pool */
    if (abti_fetch_sub_acq_rel(&pool->num_scheds, 1) == 1 && pool->automatic)
        abti_pool_destroy(pool);
}
