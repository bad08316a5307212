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

static void collect_inboxes(abti_es *es, abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (abti_pool_is_host(es, pool) && !abti_queue_is_empty(&pool->inbox))
            abti_pool_collect(pool);
    }
}

/* A scheduler that steals owns its first pool only. It takes units from the others as a thief. */
static void recall_stolen(abti_sched *sched)
{
    int num = sched->kind == ABT_SCHED_RANDWS ? 1 : sched->num_pools;
    for (int i = 0; i < num; i++)
        abti_stolen_recall(sched->pools[i]);
}

static void clear_check(abti_es *es)
{
    /* seq_cst: pairs with abti_es_notify; all polls come after this */
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK);
}

static void give_stacks(abti_es *es)
{
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_STACKS); /* seq_cst: pairs with abti_es_notify */
    abti_cache_flush(&es->stacks);
    abti_ownstacks_flush(&es->ownstacks);
}

/* What may be asked of an ES, in the order in which an event check serves it. */
static const struct {
    uint32_t bits;
    bool blocks_sleep;          /* the ES does not sleep before this is served */
    void (*serve)(abti_es *es); /* NULL: the scheduler is asked, by the same bits */
} es_requests[] = {
    {ABTI_ES_REQ_HALT, true, abti_halt_arrive},
    {ABTI_ES_REQ_TELL, true, abti_observe_look}, /* a receiver of events was added or removed */
    {ABTI_ES_REQ_STACKS, true, give_stacks},     /* others want its free stacks */
    {ABTI_ES_REQ_JOIN | ABTI_ES_REQ_CANCEL, true, NULL},
    {ABTI_ES_REQ_CHECK, true, clear_check},          /* it has to look at everything again */
    {ABTI_ES_REQ_RETURN, true, abti_blocking_serve}, /* units come back from blocking regions: it runs them */
    /* Not a request: there are drivers to be called. It is last, since a unit that comes back may bring the ES's own
     * thread, which some of them wait for. */
    {ABTI_ES_REQ_POLL, false, abti_idle_poll},
};
enum { NUM_REQUESTS = sizeof(es_requests) / sizeof(es_requests[0]) };

/* seq_cst: pairs with abti_es_notify and abti_sched_request. The scheduler serves its own requests. */
bool abti_es_is_asked(abti_es *es, abti_sched *sched)
{
    unsigned requests = atomic_load(&es->requests), known = atomic_load(&sched->requests);
    bool asked = false;
    for (int i = 0; i < NUM_REQUESTS && !asked; i++)
        asked = es_requests[i].blocks_sleep && requests & es_requests[i].bits & (es_requests[i].serve ? ~0u : ~known);
    return asked;
}

/* Serves those of the requests that are in `mask`. */
static void serve_events(abti_es *es, abti_sched *sched, uint32_t mask)
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
    unsigned requests = atomic_load(&es->requests) & mask; /* seq_cst: see abti_sched_request */
    if (ABTI_LIKELY(requests == 0))
        return;
    for (int i = 0; i < NUM_REQUESTS; i++) {
        unsigned asked = requests & es_requests[i].bits;
        if (asked && es_requests[i].serve)
            es_requests[i].serve(es);
        else if (asked)
            abti_sched_request(sched, asked);
    }
}

void abti_es_check_events(abti_es *es, abti_sched *sched)
{
    serve_events(es, sched, ~(uint32_t)0);
}

/*
 * The unit that it is about to switch to is in no pool, and the caller goes back to its pool only by that switch: so
 * nothing may switch here. All that is called is the library's own, and callbacks of drivers, which must
 * not wait. The number of switches between two polls varies at random. Else it could be a directed switch each time
 * that finds the budget used up, and never a yield, after which the scheduler runs.
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
    serve_events(es, sched, ~(uint32_t)ABTI_ES_REQ_RETURN);
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
