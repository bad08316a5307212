/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/events.h"

#include "base/assert.h"
#include "stream/blocking.h"
#include "idle/idle.h"
#include "run/observe.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "pool/stolen.h"
#include "stream/halt.h"
#include "sync/lookout.h"
#include "sync/timer.h"
#include "unit/exceptions.h"
#include "unit/ownstack.h"

void abti_es_request(abti_es *es, unsigned requests)
{
    abti_assert(es);
    /* seq_cst: pairs with the load in has_undelivered (stream/park.c), as in abti_sched_request */
    atomic_fetch_or(&es->requests, requests);
    if (requests & ABTI_ES_REQ_JOIN) {
        /*
         * The lock keeps the ES from replacing its scheduler meanwhile, and from freeing the old one. seq_cst: of no
         * use under the lock.
         */
        abti_spin_lock(&es->replace.lock);
        abti_sched_request(atomic_load(&es->main_sched), ABTI_SCHED_REQ_FINISH);
        abti_spin_unlock(&es->replace.lock);
    }
    abti_es_wake(es);
}

static void collect_inboxes(abti_es *es, abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (abti_pool_is_host(es, pool) && !abti_queue_is_empty(&pool->inbox))
            abti_pool_collect(pool);
    }
}

/* Of a scheduler that steals only its own pool, the first, is looked at: to the others it comes as a thief. */
static void recall_stolen(abti_sched *sched)
{
    int num = sched->kind == ABT_SCHED_RANDWS ? 1 : sched->num_pools;
    for (int i = 0; i < num; i++)
        abti_stolen_recall(sched->pools[i]);
}

/* Does all that runs no other unit. */
static void serve_events(abti_es *es, abti_sched *sched)
{
    abti_assert(es && es == abti_es_self && sched);
    if (sched->has_private)
        collect_inboxes(es, sched);
    if (sched->has_ring)
        recall_stolen(sched);
    abti_timers_poll(es);
    abti_lookouts_poll(sched);
    if (ABTI_UNLIKELY(es->cxx.counts_libraries))
        abti_exceptions_look(es);
    unsigned requests = atomic_load(&es->requests); /* seq_cst: see abti_sched_request */
    if (ABTI_LIKELY(requests == 0))
        return;
    if (requests & ABTI_ES_REQ_HALT)
        abti_halt_arrive(es);
    if (requests & ABTI_ES_REQ_TELL)
        abti_observe_look(es);
    if (requests & ABTI_ES_REQ_STACKS) {
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_STACKS);
        abti_cache_flush(&es->stacks);
        abti_ownstacks_flush(&es->ownstacks);
    }
    if (requests & ABTI_ES_REQ_JOIN)
        abti_sched_request(sched, ABTI_SCHED_REQ_FINISH);
    if (requests & ABTI_ES_REQ_CANCEL)
        abti_sched_request(sched, ABTI_SCHED_REQ_EXIT);
    if (requests & ABTI_ES_REQ_CHECK) /* seq_cst: pairs with abti_es_request; all polls come after this */
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK);
    if (requests & ABTI_ES_REQ_POLL)
        abti_idle_poll(es);
}

void abti_es_check_events(abti_es *es, abti_sched *sched)
{
    serve_events(es, sched);
    /* seq_cst: pairs with abti_es_notify */
    if (ABTI_UNLIKELY(atomic_load(&es->requests) & ABTI_ES_REQ_RETURN))
        abti_blocking_serve(es);
}

/*
 * The unit that it is about to switch to is in no pool, and the caller goes back to its pool only by that switch: so
 * nothing may switch here. All that is called is the library's own, and callbacks of drivers, which must
 * not wait. The number of switches between two polls varies at random. Else it could be a directed switch each time
 * that finds the budget used up, and never a yield, by which the scheduler gets its turn.
 */
void abti_direct_check(abti_es *es)
{
    abti_sched *sched = abti_sched_in(es->parent);
    abti_assert(es == abti_es_self && !abti_unit_is_tasklet(es->cur));
    if (!sched)
        sched = atomic_load(&es->main_sched); /* a ULT runs the caller that is no scheduler. seq_cst: of no use */
    abti_budget_fill(es, sched->event_freq);
    es->random = es->random * 1664525 + 1013904223; /* a linear congruential generator, whose high bits are good */
    abti_budget_shorten(es, es->random >> 29);
    serve_events(es, sched);
}

/*
 * Whether there is work. ULTs blocked out of a pool count as work when no other scheduler would wait for them: the pool
 * is private, or only this scheduler uses it.
 */
bool abti_sched_has_work(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        /* relaxed: the program orders how many schedulers use a pool */
        bool counts_blocked = pool->access == ABT_POOL_ACCESS_PRIV || abti_load_relaxed(&pool->num_scheds) == 1;
        /* The blocked ones are counted first: one that is resumed in between is then found in the pool. */
        if (counts_blocked && abti_pool_num_blocked(pool) > 0)
            return true;
        if (!abti_pool_is_empty(pool))
            return true;
    }
    return false;
}

bool abti_sched_has_to_stop(abti_sched *sched)
{
    unsigned requests = atomic_load(&sched->requests); /* seq_cst: see abti_sched_request */
    if (requests & ABTI_SCHED_REQ_EXIT)
        return true;
    bool may_stop = requests != 0 || abti_load_relaxed(&sched->use) == ABTI_SCHED_STACKED;
    return may_stop && !abti_sched_has_work(sched) && !abti_timers_keep(sched);
}
