/*
 * A double-ended queue for random work stealing: new units go to the head, where their owner takes them first; units
 * that come back (yield, resume) go to the tail, where thieves take.
 *
 * A ring of pointers under the pool's lock, which doubles when it is full. A push cannot fail: when there is no memory
 * to grow, units wait in the pool's intrusive queue, which then stands behind the ring's tail.
 */
#include "pool/pool_impl.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

/* Guarded by the pool's lock; size also glanced at. */
struct ring {
    abti_unit **slots;
    size_t mask; /* capacity - 1, a power of two less one */
    size_t head; /* index of the head modulo capacity */
    _Atomic(size_t) size;
};

static const ABT_pool_context TO_HEAD = ABT_POOL_CONTEXT_OP_THREAD_CREATE | ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO |
                                        ABT_POOL_CONTEXT_OP_THREAD_REVIVE | ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO;

static bool ring_grow(struct ring *ring, size_t size)
{
    size_t capacity = ring->mask + 1;
    abti_unit **slots = malloc(capacity * 2 * sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < size; i++)
        slots[i] = ring->slots[(ring->head + i) & ring->mask];
    free(ring->slots);
    ring->slots = slots;
    ring->mask = capacity * 2 - 1;
    ring->head = 0;
    return true;
}

static void push_locked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    struct ring *ring = pool->impl;
    size_t size = abti_load_relaxed(&ring->size);
    bool to_head = (context & TO_HEAD) != 0;
    bool behind_others = !to_head && !abti_queue_is_empty(&pool->queue);
    if (behind_others || (size > ring->mask && !ring_grow(ring, size))) {
        abti_queue_push(&pool->queue, unit);
        return;
    }
    if (to_head)
        ring->slots[--ring->head & ring->mask] = unit;
    else
        ring->slots[(ring->head + size) & ring->mask] = unit;
    abti_store_relaxed(&ring->size, size + 1);
}

static abti_unit *pop_locked(abti_pool *pool, ABT_pool_context context)
{
    struct ring *ring = pool->impl;
    size_t size = abti_load_relaxed(&ring->size);
    bool from_tail = (context & ABT_POOL_CONTEXT_OWNER_SECONDARY) != 0;
    if (size == 0 || (from_tail && !abti_queue_is_empty(&pool->queue)))
        return abti_queue_pop(&pool->queue);
    abti_store_relaxed(&ring->size, size - 1);
    if (from_tail)
        return ring->slots[(ring->head + size - 1) & ring->mask];
    return ring->slots[ring->head++ & ring->mask];
}

static abti_unit *head_locked(abti_pool *pool)
{
    struct ring *ring = pool->impl;
    if (abti_load_relaxed(&ring->size) == 0)
        return abti_load_relaxed(&pool->queue.head);
    return ring->slots[ring->head & ring->mask];
}

static void pop_head_locked(abti_pool *pool)
{
    pop_locked(pool, 0);
}

static bool randws_is_empty(abti_pool *pool)
{
    struct ring *ring = pool->impl;
    return abti_load_relaxed(&ring->size) == 0 && abti_queue_is_empty(&pool->queue);
}

static size_t randws_size(abti_pool *pool)
{
    struct ring *ring = pool->impl;
    return abti_load_relaxed(&ring->size) + abti_queue_size(&pool->queue);
}

static void randws_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!es || !abti_bias_enter(&pool->lock, es->bias))) {
        abti_pool_push_slow(es, pool, unit, context);
        return;
    }
    push_locked(pool, unit, context);
    if (abti_pool_has_parked(pool))
        abti_parking_unlock_and_wake(pool);
    else
        abti_bias_leave(es->bias);
}

static abti_unit *randws_pop(abti_pool *pool, ABT_pool_context context)
{
    if (randws_is_empty(pool))
        return NULL;
    abti_pool_lock(abti_es_self, pool);
    abti_unit *unit = pop_locked(pool, context);
    abti_pool_unlock(abti_es_self, pool);
    return unit;
}

static int remove_locked(abti_pool *pool, abti_unit *unit)
{
    struct ring *ring = pool->impl;
    size_t size = abti_load_relaxed(&ring->size), i = 0;
    while (i < size && ring->slots[(ring->head + i) & ring->mask] != unit)
        i++;
    if (i == size)
        return abti_queue_remove(&pool->queue, unit) ? ABT_SUCCESS : ABT_ERR_POOL;
    for (; i + 1 < size; i++)
        ring->slots[(ring->head + i) & ring->mask] = ring->slots[(ring->head + i + 1) & ring->mask];
    abti_store_relaxed(&ring->size, size - 1);
    return ABT_SUCCESS;
}

static int randws_remove(abti_pool *pool, abti_unit *unit)
{
    abti_pool_lock(abti_es_self, pool);
    int code = remove_locked(pool, unit);
    abti_pool_unlock(abti_es_self, pool);
    return code;
}

static void randws_print_all(abti_pool *pool, void *arg, void (*print)(void *, abti_unit *))
{
    struct ring *ring = pool->impl;
    abti_pool_lock_long(abti_es_self, pool);
    for (size_t i = 0; i < abti_load_relaxed(&ring->size); i++)
        print(arg, ring->slots[(ring->head + i) & ring->mask]);
    for (abti_unit *unit = abti_load_relaxed(&pool->queue.head); unit; unit = abti_queue_next(&pool->queue, unit))
        print(arg, unit);
    abti_pool_unlock(abti_es_self, pool);
}

int abti_pool_randws_init(abti_pool *pool)
{
    struct ring *ring = calloc(1, sizeof(*ring));
    pool->impl = ring;
    if (!ring)
        return ABT_ERR_MEM;
    ring->mask = FIRST_CAPACITY - 1;
    ring->slots = malloc(FIRST_CAPACITY * sizeof(*ring->slots));
    return ring->slots ? ABT_SUCCESS : ABT_ERR_MEM;
}

static void randws_fini(abti_pool *pool)
{
    struct ring *ring = pool->impl;
    if (ring)
        free(ring->slots);
    free(ring);
}

const struct abti_pool_ops abti_pool_randws_ops = {
    .push = randws_push,
    .push_locked = push_locked,
    .head_locked = head_locked,
    .pop_head_locked = pop_head_locked,
    .pop = randws_pop,
    .is_empty = randws_is_empty,
    .size = randws_size,
    .push_many = abti_pool_push_at_once,
    .pop_many = abti_pool_pop_each,
    .pop_wait = abti_pool_pop_wait,
    .pop_timedwait = abti_pool_pop_timedwait,
    .remove = randws_remove,
    .print_all = randws_print_all,
    .fini = randws_fini,
};
