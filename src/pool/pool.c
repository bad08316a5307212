/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/pool.h"

#include <stdlib.h>
#include "base/round.h"
#include "os/annotate.h"
#include "pool/blocked.h"
#include "pool/builtin.h"
#include "pool/pool_impl.h"
#include "pool/request.h"
#include "rt/rt.h"
#include "unit/ledger.h"

static void set_quick_host_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    /* relaxed: the host alone finds itself in either, and its creators that miss a change have created before it */
    abti_store_relaxed(&pool->quick_host, pool->plain_create ? abti_load_relaxed(&pool->host) : ABTI_NO_HOST);
}

void abti_pool_enter_host(abti_es *es, abti_pool *pool, const abti_sched *sched)
{
    abti_assert(es == abti_es_self && abti_pool_is_private(pool));
    if (abti_pool_is_host(es, pool))
        return;
    abti_pool_lock(es, pool);
    if (abti_load_relaxed(&pool->host) == ABTI_NO_HOST) { /* relaxed, here and below: it changes under the lock */
        abti_store_relaxed(&pool->host, es);
        pool->host_sched = sched;
        set_quick_host_locked(pool);
        abti_pool_set_keeper(pool, es);
    }
    abti_pool_unlock(es, pool);
}

void abti_pool_leave_host(abti_es *es, abti_pool *pool, const abti_sched *sched)
{
    abti_assert(es == abti_es_self && abti_pool_is_private(pool));
    if (!abti_pool_is_host(es, pool))
        return;
    abti_pool_lock(es, pool);
    if (pool->host_sched == sched) {
        abti_pool_drop_keeper(pool, es);
        abti_pool_collect_locked(pool);
        abti_store_relaxed(&pool->host, ABTI_NO_HOST); /* relaxed: as above */
        set_quick_host_locked(pool);
    }
    abti_parking_unlock_and_wake(pool, 1); /* what is left is for others now */
}

void abti_pool_set_quick(abti_pool *pool)
{
    /* With strict guards new ULTs take their stacks at once. The general paths report creations, to the tools too. */
    bool quick = !abti_guard_is_strict() && !abti_rt.observed && !abti_ledger_on && !abti_annotate_order;
    /* relaxed: a creator that misses the change has created before it */
    abti_store_relaxed(&pool->quick_shared, quick && abti_pool_is_shared(pool));
    if (!abti_pool_is_private(pool))
        return;
    abti_pool_lock(abti_es_self, pool);
    pool->plain_create = quick;
    set_quick_host_locked(pool);
    abti_pool_unlock(abti_es_self, pool);
}

int abti_pool_foreign_rank(abti_es *es, abti_pool *pool)
{
    abti_pool_lock(es, pool);
    abti_es *host = abti_load_relaxed(&pool->host);
    int rank = host == ABTI_NO_HOST || host == es ? -1 : host->rank;
    abti_pool_unlock(es, pool);
    return rank;
}

abti_pool *abti_pool_alloc(enum abti_pool_form form, const struct abti_pool_ops *ops)
{
    abti_pool *pool = aligned_alloc(ABTI_CACHE_LINE, abti_round_up(sizeof(*pool), ABTI_CACHE_LINE));
    if (!pool)
        return NULL;
    *pool = (abti_pool){.ops = ops, .form = (uint8_t)form};
    atomic_init(&pool->host, ABTI_NO_HOST);
    atomic_init(&pool->quick_host, ABTI_NO_HOST);
    abti_spin_init(&pool->lock.spin, ABTI_RANK_POOL);
    abti_queue_init(&pool->queue);
    abti_queue_init(&pool->inbox);
    abti_lookout_init(&pool->lookout);
    abti_spin_lock(&abti_rt.lock);
    abti_pool_set_quick(pool);
    pool->id = abti_rt_next_id(&abti_rt.next_pool_id);
    pool->next = abti_rt.pools;
    if (pool->next)
        pool->next->prev = pool;
    abti_rt.pools = pool;
    abti_spin_unlock(&abti_rt.lock);
    abti_ledger_made(pool, ABTI_HANDLE_POOL);
    return pool;
}

/*
 * A stream that looks at all pools lists them under locks that also order the removal of their streams. It does not
 * list the pools of a stream that was removed before; a thread that has removed one later sees `lister` here.
 */
static void wait_for_lister(void)
{
    abti_es *lister;
    /* acquire: pairs with the releases in halt_act (stream/halt.c) */
    for (unsigned step = 0; (lister = abti_load_acquire(&abti_rt.lister)) && lister != abti_es_self; step++)
        abti_backoff(step);
}

abti_pool *abti_pool_find(const abti_pool *address)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    abti_pool *pool = abti_rt.pools;
    while (pool && pool != address)
        pool = pool->next;
    return pool;
}

void abti_pool_destroy(abti_pool *pool)
{
    wait_for_lister();
    abti_pool_await_wakers(pool);
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
    abti_annotate_begin_private();
    abti_ledger_free(pool);
    abti_annotate_end_private();
}

void abti_pool_retain(abti_pool *pool)
{
    abti_assert(abti_load_relaxed(&pool->num_scheds) >= 0);
    abti_fetch_add_relaxed(&pool->num_scheds, 1); /* relaxed: the caller has the pool in any case */
}

/* Whether units name the pool that come back to it, or are in it. The units in a user-defined pool are its user's. */
static bool has_units(abti_pool *pool)
{
    abti_pool_await_wakers(pool);
    return abti_pool_num_blocked(pool) > 0 || (!abti_pool_is_user(pool) && !abti_pool_is_empty(pool));
}

void abti_pool_drop(abti_pool *pool)
{
    abti_assert(abti_load_relaxed(&pool->num_scheds) > 0);
    /* release: pairs with the acquire of the last abti_pool_drop, which sees the stores of the others */
    if (abti_fetch_sub_acq_rel(&pool->num_scheds, 1) != 1 || !pool->automatic)
        return;
    if (has_units(pool))
        pool->is_orphan = true;
    else
        abti_pool_destroy(pool);
}

void abti_pool_destroy_orphans(void)
{
    for (abti_pool *pool = abti_rt.pools, *next; pool; pool = next) {
        next = pool->next;
        if (pool->is_orphan && abti_load_relaxed(&pool->num_scheds) == 0) /* relaxed: there is one thread */
            abti_pool_destroy(pool);
    }
}

static bool has_operation(abti_pool *pool, enum abti_pool_option option)
{
    const struct abti_pool_ops *ops = pool->ops;
    switch (option) {
    case ABTI_POOL_POP_WAIT: return ops->pop_wait || !abti_pool_is_user(pool);
    case ABTI_POOL_POP_TIMEDWAIT: return ops->pop_timedwait || !abti_pool_is_user(pool);
    default: return ops->print_all != NULL;
    }
}

bool abti_pool_can(abti_pool *pool, enum abti_pool_option option)
{
    const struct abti_pool_ops *ops = pool->ops;
    return has_operation(pool, option) && !(ops->lacks && ops->lacks(pool, option));
}

abti_pool abti_no_pool = {.host = ABTI_NO_HOST, .quick_host = ABTI_NO_HOST};
