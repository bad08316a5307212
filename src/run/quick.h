/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick paths to create a work unit, and to revive one: an ES makes one without attributes, which is reported to
 * nobody. They are inline, for callers that keep everything in registers; run/create.h has the general path.
 */
#ifndef ABTI_RUN_QUICK_H
#define ABTI_RUN_QUICK_H

#include "base/assert.h"
#include "pool/builtin.h"
#include "pool/member.h"
#include "rt/handle.h"

/* Whether an ES creates a unit in a pool, and has a descriptor for it. */
ABTI_INLINE bool abti_create_may_be_quick(abti_es *es, ABT_pool pool)
{
    return es && !abti_handle_is_to_check(pool) && abti_cache_top(&es->units);
}

/*
 * Creation for an ES and a private pool has two halves: the first says whether the case is simple, the second creates.
 * The first one asks what abti_create_may_be_quick asks, but looks at the kind of the pool before the descriptor. That
 * saves 2 instructions here, and 7 where the pool is a shared one. A thread that is no ES is the host of no pool.
 */
ABTI_INLINE bool abti_create_is_quick(abti_es *es, ABT_pool pool)
{
    return !abti_handle_is_to_check(pool) && abti_load_relaxed(&pool->quick_host) == es && abti_cache_top(&es->units);
}

/* The second half, but for the push: for a unit to which the caller switches. */
ABTI_INLINE abti_unit *abti_create_unqueued_quick(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg,
                                                  unsigned flags)
{
    abti_assert(es == abti_es_self && abti_cache_top(&es->units));
    abti_unit *unit = abti_cache_pop(&es->units);
    abti_unit_init(unit, func, arg, pool, flags);
    return unit;
}

ABTI_INLINE abti_unit *abti_create_quick(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags)
{
    abti_assert(abti_pool_is_host(es, pool));
    abti_unit *unit = abti_create_unqueued_quick(es, pool, func, arg, flags);
    abti_queue_push(&pool->queue, unit);
    return unit;
}

/* Creation has the same two halves for another built-in pool, which is guarded by a lock. */
ABTI_INLINE bool abti_create_is_quick_shared(abti_es *es, ABT_pool pool)
{
    return abti_create_may_be_quick(es, pool) && abti_load_relaxed(&pool->quick_shared);
}

ABTI_INLINE int abti_create_quick_shared(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags,
                                         ABT_thread *handle)
{
    abti_assert(abti_pool_is_shared(pool) && handle);
    abti_unit *unit = abti_create_unqueued_quick(es, pool, func, arg, flags);
    *handle = unit; /* this comes before the push: the unit may run at once */
    return abti_pool_push_shared(es, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE, abti_pool_is_shared_fifo(pool));
}

/*
 * Revival has the same two halves, for a private pool: the unit has ended, and is plain. The caller has seen that its
 * handle is none that is to be looked at.
 */
ABTI_INLINE bool abti_revive_is_quick(abti_es *es, ABT_pool pool, abti_unit *unit)
{
    return !abti_handle_is_to_check(pool) && abti_unit_is_done(unit) && abti_load_relaxed(&pool->quick_host) == es &&
           !(abti_load_relaxed(&unit->what) & (ABTI_UNIT_OWN_STACK | ABTI_WHAT_COLD));
}

ABTI_INLINE void abti_revive_quick(abti_pool *pool, abti_unit *unit, void (*func)(void *), void *arg)
{
    abti_unit_set_pool(unit, pool);
    abti_unit_renew(unit, func, arg);
    abti_queue_push(&pool->queue, unit);
}

#endif
