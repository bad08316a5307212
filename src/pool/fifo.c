/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIFO pools, in two forms over lists in the pool itself: one for a single native thread, its host, without any lock or
 * atomic read-modify-write, whose list is `queue`, and one for any number of threads, under the pool's lock, whose list
 * is `inbox`. The private form has that, too, for units that others push. Without a host its queue is under the lock
 * (pool/pool.h).
 */
#include "pool/blocked.h"
#include "pool/pool_impl.h"

/* --- Shared --- */

static void fifo_push_locked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    (void)context;
    abti_queue_push(&pool->inbox, unit);
}

static void fifo_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_pool_push_shared_form(pool, unit, context, true);
}

static abti_unit *fifo_pop(abti_pool *pool, ABT_pool_context context)
{
    (void)context;
    if (abti_queue_is_empty(&pool->inbox))
        return NULL;
    abti_pool_lock(abti_es_self, pool);
    abti_unit *unit = abti_queue_pop(&pool->inbox);
    abti_pool_unlock(abti_es_self, pool);
    return unit;
}

static int fifo_remove(abti_pool *pool, abti_unit *unit)
{
    abti_pool_lock(abti_es_self, pool);
    bool found = abti_queue_remove(&pool->inbox, unit);
    abti_pool_unlock(abti_es_self, pool);
    return found ? ABT_SUCCESS : ABT_ERR_POOL;
}

static void fifo_print_all(abti_pool *pool, void *arg, void (*print)(void *, abti_unit *))
{
    abti_pool_lock_long(abti_es_self, pool);
    /*
     * relaxed: the lock orders them; of a private pool the caller sees to it that its own thread does not use the queue
     * meanwhile
     */
    for (abti_unit *unit = abti_load_relaxed(&pool->queue.head); unit; unit = abti_queue_next(&pool->queue, unit))
        print(arg, unit);
    for (abti_unit *unit = abti_load_relaxed(&pool->inbox.head); unit; unit = abti_queue_next(&pool->inbox, unit))
        print(arg, unit);
    abti_pool_unlock(abti_es_self, pool);
}

static bool fifo_is_empty(abti_pool *pool)
{
    return abti_queue_is_empty(&pool->inbox);
}

static size_t fifo_size(abti_pool *pool)
{
    return abti_queue_size(&pool->inbox);
}

/* --- For a host, whose push and pop are inline, see pool/pool.h, and for others. --- */

/*
 * Whether there is no host, so that the lock guards all. relaxed: it changes under the lock; to a caller without it
 * this is a racy read.
 */
static bool has_no_host(abti_pool *pool)
{
    return abti_load_relaxed(&pool->host) == ABTI_NO_HOST;
}

static void priv_push_locked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    (void)context;
    abti_queue_push(has_no_host(pool) ? &pool->queue : &pool->inbox, unit);
}

static void priv_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_pool_lock_and_push(abti_es_self, pool, unit, context);
}

static void priv_push_many(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    if (abti_pool_is_host(abti_es_self, pool))
        abti_pool_push_each(pool, units, num, context);
    else
        abti_pool_push_at_once(pool, units, num, context);
}

void abti_pool_collect_locked(abti_pool *pool)
{
    for (abti_unit *unit; (unit = abti_queue_pop(&pool->inbox)) != NULL;)
        abti_queue_push(&pool->queue, unit);
}

void abti_pool_collect(abti_pool *pool)
{
    abti_assert(abti_pool_is_private(pool) && abti_pool_is_host(abti_es_self, pool));
    abti_pool_lock(abti_es_self, pool);
    abti_pool_collect_locked(pool);
    abti_pool_unlock(abti_es_self, pool);
}

static abti_unit *priv_pop(abti_pool *pool, ABT_pool_context context)
{
    (void)context;
    if (!has_no_host(pool) || abti_queue_is_empty(&pool->queue))
        return NULL;
    abti_pool_lock(abti_es_self, pool);
    abti_unit *unit = has_no_host(pool) ? abti_queue_pop(&pool->queue) : NULL;
    abti_pool_unlock(abti_es_self, pool);
    return unit;
}

static int priv_remove(abti_pool *pool, abti_unit *unit)
{
    bool found;
    if (abti_pool_is_host(abti_es_self, pool)) {
        abti_pool_collect(pool);
        found = abti_queue_remove(&pool->queue, unit);
    } else {
        abti_pool_lock(abti_es_self, pool);
        found = has_no_host(pool) && abti_queue_remove(&pool->queue, unit);
        abti_pool_unlock(abti_es_self, pool);
    }
    return found ? ABT_SUCCESS : ABT_ERR_POOL;
}

static bool priv_is_empty(abti_pool *pool)
{
    return abti_queue_is_empty(&pool->queue) && abti_queue_is_empty(&pool->inbox);
}

/*
 * The queue's size also counts the units that were joined in place. For another thread their number may change around
 * the load of the size. Such a reader tries again, a few times, and then returns too small a size rather than too large
 * a one. For a moment the number may be one too large, see abti_pool_in_place_give_back.
 */
static size_t priv_size(abti_pool *pool)
{
    enum { TRIES = 8 };
    uint32_t before, with_in_place, in_place = abti_pool_num_in_place(pool);
    int tries = 0;
    do {
        before = in_place;
        with_in_place = (uint32_t)abti_queue_size(&pool->queue);
        /* acquire: pairs with the release in abti_cpu_add, which stores the size: the number is no older than it */
        abti_fence_acquire();
        in_place = abti_pool_num_in_place(pool);
    } while (ABTI_UNLIKELY(in_place != before) && ++tries < TRIES);
    int32_t size = (int32_t)(with_in_place - in_place);
    return (size > 0 ? (size_t)size : 0) + abti_queue_size(&pool->inbox);
}

/* --- Both --- */

const struct abti_pool_ops abti_pool_fifo_ops = {
    .push = fifo_push,
    .push_locked = fifo_push_locked,
    .pop = fifo_pop,
    .is_empty = fifo_is_empty,
    .size = fifo_size,
    .push_many = abti_pool_push_at_once,
    .pop_many = abti_pool_pop_each,
    .remove = fifo_remove,
    .print_all = fifo_print_all,
};

const struct abti_pool_ops abti_pool_fifo_priv_ops = {
    .push = priv_push,
    .push_locked = priv_push_locked,
    .pop = priv_pop,
    .is_empty = priv_is_empty,
    .size = priv_size,
    .push_many = priv_push_many,
    .pop_many = abti_pool_pop_each,
    .remove = priv_remove,
    .print_all = fifo_print_all,
};
