/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double-ended queue for random work stealing. New units go to the head, where their owner takes them first; units
 * that come back (yield, resume) go to the tail, where thieves take.
 *
 * It is the pool's ring, under the pool's lock. A push cannot fail: when there is no memory for the ring to grow, units
 * wait in the pool's inbox, which then is behind the ring's tail.
 */
#include "pool/stolen.h"
#include "pool/pool_impl.h"
#include "pool/request.h"

/* Pushes when the ring is full or has more units behind its tail. It is out of line, since it calls others. */
static ABTI_NOINLINE void push_beside(abti_pool *pool, abti_unit *unit, bool to_head)
{
    bool behind_others = !to_head && !abti_queue_is_empty(&pool->inbox);
    if (behind_others || (abti_ring_is_full(&pool->ring) && !abti_ring_grow(&pool->ring)))
        abti_queue_push(&pool->inbox, unit);
    else
        abti_ring_push(&pool->ring, unit, to_head);
}

static void push_locked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    bool to_head = (context & ABTI_POOL_TO_HEAD) != 0;
    if (abti_pool_has_room_locked(pool, false))
        abti_ring_push(&pool->ring, unit, to_head);
    else
        push_beside(pool, unit, to_head);
}

static abti_unit *pop_locked(abti_pool *pool, ABT_pool_context context)
{
    bool from_tail = (context & ABT_POOL_CONTEXT_OWNER_SECONDARY) != 0;
    if (abti_ring_size(&pool->ring) == 0 || (from_tail && !abti_queue_is_empty(&pool->inbox)))
        return abti_queue_pop(&pool->inbox);
    return abti_ring_pop(&pool->ring, from_tail);
}

static bool randws_is_empty(abti_pool *pool)
{
    /* relaxed: a racy read; abti_parking_enter polls again under the lock */
    return abti_pool_looks_empty(pool) && !(abti_load_relaxed(&pool->request) & ABTI_REQUEST_HANDOFF) &&
           abti_stolen_is_empty(pool);
}

static size_t randws_size(abti_pool *pool)
{
    return abti_ring_size(&pool->ring) + abti_queue_size(&pool->inbox) + abti_stolen_size(pool);
}

static void randws_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_pool_push_shared_form(pool, unit, context, false);
}

abti_unit *abti_randws_steal(abti_pool *pool, struct abti_stolen *box, unsigned more)
{
    abti_es *es = abti_es_self;
    if (!abti_bias_trylock(&pool->lock, es->bias))
        return NULL;
    abti_pool_answer_locked(pool);
    abti_unit *unit = pop_locked(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    if (box && unit)
        abti_stolen_fill_locked(pool, box, more);
    abti_pool_unlock(es, pool);
    return unit;
}

static abti_unit *randws_pop(abti_pool *pool, ABT_pool_context context)
{
    if (randws_is_empty(pool))
        return NULL;
    abti_pool_lock(abti_es_self, pool);
    abti_pool_answer_locked(pool); /* this comes first: a unit that is offered may be the only one */
    abti_unit *unit = pop_locked(pool, context);
    abti_pool_unlock(abti_es_self, pool);
    return unit || abti_stolen_is_empty(pool) ? unit : abti_stolen_find(pool, abti_es_self ? abti_es_self->index : 0);
}

/* Looks for the unit once. Returns whether that has decided it. */
static bool try_remove(abti_pool *pool, abti_unit *unit, bool *found)
{
    bool busy = false;
    abti_pool_lock(abti_es_self, pool);
    *found = abti_ring_remove(&pool->ring, unit) || abti_queue_remove(&pool->inbox, unit) ||
             abti_stolen_remove_locked(pool, unit, &busy);
    abti_pool_unlock(abti_es_self, pool);
    return *found || !busy;
}

static int randws_remove(abti_pool *pool, abti_unit *unit)
{
    bool found;
    abti_spin_until(try_remove(pool, unit, &found));
    return found ? ABT_SUCCESS : ABT_ERR_POOL;
}

static void randws_print_all(abti_pool *pool, void *arg, void (*print)(void *, abti_unit *))
{
    abti_pool_lock_long(abti_es_self, pool);
    for (size_t i = 0; i < abti_ring_size(&pool->ring); i++)
        print(arg, abti_ring_at(&pool->ring, i));
    for (abti_unit *unit = abti_load_relaxed(&pool->inbox.head); unit; unit = abti_queue_next(&pool->inbox, unit))
        print(arg, unit);
    abti_pool_unlock(abti_es_self, pool);
    abti_stolen_print(pool, arg, print);
}

static void randws_fini(abti_pool *pool)
{
    abti_ring_fini(&pool->ring);
    abti_stolen_fini(pool);
}

const struct abti_pool_ops abti_pool_randws_ops = {
    .push = randws_push,
    .push_locked = push_locked,
    .pop = randws_pop,
    .is_empty = randws_is_empty,
    .size = randws_size,
    .push_many = abti_pool_push_at_once,
    .pop_many = abti_pool_pop_each,
    .remove = randws_remove,
    .print_all = randws_print_all,
    .fini = randws_fini,
};
