/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/sched.h"

#include <stdlib.h>
#include <string.h>
#include "os/annotate.h"
#include "os/clock.h"
#include "pool/blocked.h"
#include "pool/builtin.h"
#include "pool/stolen.h"
#include "pool/request.h"
#include "rt/timers.h"
#include "unit/exceptions.h"
#include "unit/ledger.h"

bool abti_sched_uses(abti_sched *sched, abti_pool *pool)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (sched->pools[i] == pool)
            return true;
    }
    return false;
}

void abti_sched_enter_pools(abti_es *es, abti_sched *sched)
{
    abti_assert(es == abti_es_self); /* it may have entered them: a main scheduler that cannot finish runs again */
    if (sched->kind == ABT_SCHED_RANDWS && sched->num_pools > 0 && abti_num_nodes > 1)
        abti_robber_note_node(sched->order[0]);
    if (!sched->has_private)
        return;
    for (int i = 0; i < sched->num_pools; i++) {
        if (abti_pool_is_private(sched->pools[i]))
            abti_pool_enter_host(es, sched->pools[i], sched);
    }
    bool is_fast = sched->direct && !abti_annotate_on;
    sched->fast = is_fast && abti_pool_is_host(es, sched->order[0]) ? sched->order[0] : NULL;
}

void abti_sched_leave_pools(abti_es *es, abti_sched *sched)
{
    if (!sched->has_private)
        return;
    sched->fast = NULL;
    for (int i = 0; i < sched->num_pools; i++) {
        if (abti_pool_is_private(sched->pools[i]))
            abti_pool_leave_host(es, sched->pools[i], sched);
    }
}

/* The body of both forms, with the lock held. The biased form has seen that nobody asks for a unit. */
ABTI_INLINE abti_unit *pick_body(abti_es *es, abti_sched *sched, abti_pool *front, abti_unit *self, bool biased)
{
    abti_assert(es == abti_es_self && front == sched->front);
    abti_unit *unit = biased ? abti_pool_take_head_locked(front) : abti_pool_fetch_head_locked(front);
    if (!biased) {
        abti_pool_answer_locked(front);
        sched->finds = unit != NULL;
    }
    abti_pool_leave(es, front, biased);
    return ABTI_LIKELY(unit != NULL) ? unit : sched->ops->pick(sched, self);
}

static ABTI_NOINLINE abti_unit *pick_shared_slow(abti_es *es, abti_sched *sched, abti_unit *self)
{
    abti_pool *front = sched->front;
    abti_assert(front && !sched->fast);
    /*
     * A racy read comes first: an empty pool costs no access that others would notice. But while there are units others
     * take and push them, and the read would fetch the line, which the lock fetches again.
     */
    if (!sched->finds && abti_pool_looks_empty(front))
        return sched->ops->pick(sched, self);
    abti_pool_lock(es, front);
    return pick_body(es, sched, front, self, false);
}

ABTI_HOT abti_unit *abti_sched_pick_shared(abti_sched *sched, abti_unit *self)
{
    abti_es *es = abti_es_self;
    abti_pool *front = sched->front;
    if (ABTI_UNLIKELY(abti_pool_is_asked(front) || !abti_bias_enter(&front->lock, es->bias)))
        return pick_shared_slow(es, sched, self);
    return pick_body(es, sched, front, self, true);
}

void abti_sched_pass_wake(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_parking_settle(&sched->parkings[i], sched->pools[i]);
        abti_parking_pass(sched->pools[i]);
    }
}

void abti_sched_request(abti_sched *sched, unsigned request)
{
    /*
     * A stacked scheduler may end, and be freed, as soon as it sees the request. No ES sleeps in it. acquire: pairs
     * with the compare-and-swap in abti_sched_claim.
     */
    bool stacked = abti_load_acquire(&sched->use) == ABTI_SCHED_STACKED;
    /*
     * seq_cst: pairs with the ES's look at the requests before it sleeps (abti_es_park). One of the two sees the other
     */
    atomic_fetch_or(&sched->requests, (uint8_t)request);
    if (stacked)
        return;
    abti_es *es = atomic_load(&sched->es); /* seq_cst: pairs with the stores in stream/xstream.c and main.c */
    if (es)
        abti_es_wake(es);
}

/* An ES leaves the list under rt.lock before it and its scheduler are freed (abti_es_leave_list). */
void abti_sched_request_from_outside(abti_sched *sched, unsigned request)
{
    abti_spin_lock(&abti_rt.lock);
    abti_sched_request(sched, request);
    abti_spin_unlock(&abti_rt.lock);
}

bool abti_sched_claim(abti_sched *sched, enum abti_sched_use use)
{
    abti_assert(use != ABTI_SCHED_UNUSED);
    uint8_t unused = ABTI_SCHED_UNUSED;
    /* acquire: pairs with the release in abti_sched_release. release: pairs with the acquire in abti_sched_request */
    return abti_cas_acq_rel(&sched->use, &unused, (uint8_t)use);
}

int abti_sched_alloc(int kind, const struct abti_sched_ops *ops, int num_pools, abti_pool **pools, abti_sched **out)
{
    abti_assert(ops->run && num_pools >= 0);
    abti_sched *sched = calloc(1, sizeof(*sched));
    size_t n = num_pools > 0 ? (size_t)num_pools : 1;
    abti_pool **lists = calloc(n * 2, sizeof(*lists));
    struct abti_parking *parkings = aligned_alloc(ABTI_CACHE_LINE, n * sizeof(*parkings));
    if (!sched || !lists || !parkings) {
        free(sched);
        free(lists);
        free(parkings);
        return ABT_ERR_MEM;
    }
    sched->ops = ops;
    sched->kind = kind;
    sched->event_freq = abti_rt.config.sched_event_freq;
    sched->num_pools = num_pools;
    sched->pools = lists;
    sched->order = lists + n;
    sched->parkings = parkings;
    for (int i = 0; i < num_pools; i++) {
        sched->pools[i] = sched->order[i] = pools[i];
        abti_pool_retain(pools[i]);
        parkings[i] = (struct abti_parking){
            .own = i == 0,
            .may_look_out = true,
            .until_ns = ABTI_CLOCK_NEVER,
            .seeks = abti_sched_is_predefined(sched), /* which unit a user-defined scheduler takes next is not known */
        };
        sched->has_ring = sched->has_ring || abti_pool_answers(pools[i]);
        sched->has_private = sched->has_private || abti_pool_is_private(pools[i]);
    }
    abti_spin_lock(&abti_rt.lock);
    sched->id = abti_rt_next_id(&abti_rt.next_sched_id);
    abti_spin_unlock(&abti_rt.lock);
    sched->robber.random = (uint32_t)sched->id * 2654435761u + 1;
    abti_ledger_made(sched, ABTI_HANDLE_SCHED);
    *out = sched;
    return ABT_SUCCESS;
}

static void sched_dispose(abti_sched *sched)
{
    abti_annotate_begin_private();
    free(sched->pools);
    free(sched->parkings);
    abti_ledger_free(sched);
    abti_annotate_end_private();
}

void abti_sched_unmake(abti_sched *sched)
{
    /* release: pairs with the acquire of the last drop in abti_pool_drop */
    for (int i = 0; i < sched->num_pools; i++)
        abti_fetch_sub_acq_rel(&sched->pools[i]->num_scheds, 1);
    sched_dispose(sched);
}

void abti_sched_destroy(abti_sched *sched)
{
    abti_annotate_acquire(sched);
    if (sched->def.free)
        sched->def.free(sched);
    for (int i = 0; i < sched->num_pools; i++)
        abti_pool_drop(sched->pools[i]);
    sched_dispose(sched);
}

void abti_sched_release(abti_sched *sched)
{
    atomic_store(&sched->es, NULL); /* seq_cst: pairs with the load in abti_sched_request */
    if (sched->automatic) {
        abti_sched_destroy(sched);
        return;
    }
    abti_store_relaxed(&sched->requests, 0);            /* relaxed: they were meant for the use that ends here */
    abti_store_release(&sched->use, ABTI_SCHED_UNUSED); /* release: pairs with the acquire in abti_sched_claim */
}

void abti_sched_stacked_main(void *arg)
{
    abti_sched *sched = arg;
    abti_assert(abti_load_relaxed(&sched->use) == ABTI_SCHED_STACKED);
    sched->ops->run(sched);
    abti_sched_release(sched);
}

/* Whether somebody waits for the ES in the pool. In one that others work on it looks at nothing they write often. */
ABTI_INLINE bool has_news(abti_pool *pool)
{
    if (abti_pool_has_parked(pool) || abti_lookout_is_needed(&pool->lookout))
        return true;
    if (abti_pool_is_private(pool))
        return !abti_queue_is_empty(&pool->inbox);
    abti_stolen_recall(pool);
    return false;
}

/*
 * Looks at what abti_es_check_events, abti_sched_has_to_stop and the loop of stream/sched_loop.c look at. A scheduler
 * that is stacked in a pool stops when its pools are empty, and looks itself.
 */
bool abti_es_has_no_events(abti_es *es, abti_sched *sched)
{
    abti_assert(es == abti_es_self);
    if (ABTI_UNLIKELY(es->cxx.counts_libraries))
        abti_exceptions_look(es);
    /*
     * seq_cst: pairs with abti_es_notify, abti_sched_request and the giving of timers (abti_timer_next). relaxed: the
     * use changes only when the scheduler does not run.
     */
    if (atomic_load(&es->requests) != 0 || atomic_load(&sched->requests) != 0 ||
        abti_timer_next(es) != ABTI_CLOCK_NEVER || abti_load_relaxed(&sched->use) != ABTI_SCHED_MAIN)
        return false;
    for (int i = 0; i < sched->num_pools; i++) {
        if (has_news(sched->pools[i]))
            return false;
    }
    return true;
}

abti_sched *abti_sched_in(abti_unit *unit)
{
    return unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED) ? abti_unit_cold_get(unit)->sched : NULL;
}

bool abti_is_served_below(abti_es *es, abti_unit *parent, abti_pool *pool)
{
    abti_sched *sched = abti_sched_in(parent);
    return (sched && abti_sched_uses(sched, pool)) || abti_es_serves(es, pool);
}

bool abti_serves_only(abti_es *es, abti_pool *pool)
{
    abti_assert(es == abti_es_self);
    abti_sched *sched = es->parent ? abti_sched_in(es->parent) : NULL;
    if (!sched || !abti_sched_is_predefined(sched))
        return false;
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *first = sched->order[i];
        if (first == pool)
            return abti_pool_is_shared_fifo(pool) || abti_pool_is_host(es, pool);
        if (abti_pool_is_user(first) || !abti_pool_is_empty(first))
            return false;
    }
    return false;
}
