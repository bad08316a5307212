/* SPDX-License-Identifier: BSD-3-Clause */
/* Making built-in pools, and their common part. */
#include <stdlib.h>
#include "base/assert.h"
#include "pool/pool_impl.h"
#include "pool/request.h"

int abti_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, bool automatic, abti_pool **out)
{
    /* FIFO and FIFO_WAIT are one kind: a wait for a unit sleeps in either. */
    enum abti_pool_form form = kind == ABT_POOL_RANDWS          ? ABTI_POOL_RANDWS
                               : access == ABT_POOL_ACCESS_PRIV ? ABTI_POOL_PRIVATE_FIFO
                                                                : ABTI_POOL_SHARED_FIFO;
    static const struct abti_pool_ops *const ops[] = {[ABTI_POOL_RANDWS] = &abti_pool_randws_ops,
                                                      [ABTI_POOL_SHARED_FIFO] = &abti_pool_fifo_ops,
                                                      [ABTI_POOL_PRIVATE_FIFO] = &abti_pool_fifo_priv_ops};
    abti_pool *pool = abti_pool_alloc(form, ops[form]);
    if (!pool)
        return ABT_ERR_MEM;
    pool->kind = kind;
    pool->access = access;
    pool->automatic = automatic;
    if (kind == ABT_POOL_RANDWS && !abti_ring_init(&pool->ring)) {
        abti_pool_destroy(pool);
        return ABT_ERR_MEM;
    }
    *out = pool;
    return ABT_SUCCESS;
}

int abti_pool_end_push(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    abti_pool_answer_locked(pool);
    abti_parking_unlock_and_wake(pool, 1);
    return ABT_SUCCESS;
}

int abti_pool_lock_and_push(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_pool_lock(es, pool);
    return abti_pool_push_body(es, pool, unit, context, false, false);
}

/* Wakes one sleeper for each unit, if as many sleep. One that goes to sleep later sees that the pool is not empty. */
void abti_pool_push_at_once(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    abti_es *es = abti_es_self;
    abti_pool_lock(es, pool);
    for (size_t i = 0; i < num; i++)
        pool->ops->push_locked(pool, units[i], context);
    while ((num = abti_parking_unlock_and_wake(pool, num)) > 0)
        abti_pool_lock(es, pool);
}

void abti_pool_push_each(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    for (size_t i = 0; i < num; i++)
        abti_pool_push(pool, units[i], context);
}

size_t abti_pool_pop_each(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context)
{
    size_t n = 0;
    for (; n < len; n++) {
        abti_unit *unit = abti_pool_pop(pool, context);
        if (!unit)
            break; /* what is behind the last one is not written */
        units[n] = unit;
    }
    return n;
}
