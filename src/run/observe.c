/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/observe.h"

#include <pthread.h>
#include "os/annotate.h"
#include "os/clock.h"
#include "run/budget.h"
#include "run/sched.h"
#include "pool/pool.h"
#include "rt/rt.h"
#include "unit/exceptions.h"

_Atomic(bool) abti_observe_on;

/* One thread at a time changes the mode, and waits for the others to take it over. No unit switches with it. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

void abti_observe_look(abti_es *es)
{
    abti_assert(es == abti_es_self);
    /* acquire: pairs with abti_es_notify, so that the mode is looked at after the request is taken back */
    abti_fetch_and_acq_rel(&es->requests, ~(uint32_t)ABTI_ES_REQ_TELL);
    abti_spin_lock(&abti_rt.lock);
    bool observed = abti_rt.observed;
    abti_store_relaxed(&es->observed, observed); /* relaxed: others look under the lock */
    abti_spin_unlock(&abti_rt.lock);
    abti_cache_close(&es->units, observed);
    abti_es_set_dsched(es, es->dsched);
    abti_switch_choose(es);
    if (observed)
        abti_budget_exhaust(es); /* so that a loop over tasklets ends, too, if the caller is one of them */
}

/* rt.lock held. */
static void set_mode(bool observed)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    abti_rt.observed = observed;
    abti_store_relaxed(&abti_observe_on, observed || abti_annotate_on || abti_rt.config.watch_waits);
    for (abti_pool *pool = abti_rt.pools; pool; pool = pool->next)
        abti_pool_set_quick(pool);
}

/* A stream that runs nothing takes the mode over when it begins to. */
static bool all_have_looked(void)
{
    bool all = true;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && all; es = es->next)
        /* acquire: pairs with the release in es_thread (stream/xstream.c); relaxed: the lock is held */
        all = abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED || abti_load_relaxed(&es->observed);
    abti_spin_unlock(&abti_rt.lock);
    return all;
}

static void change_mode(bool observed, uint64_t patience_ns)
{
    abti_spin_lock(&abti_rt.lock);
    bool changes = abti_rt.observed != observed;
    if (changes)
        set_mode(observed);
    for (abti_es *es = abti_rt.xstreams; es && changes; es = es->next)
        abti_es_notify(es, ABTI_ES_REQ_TELL);
    abti_spin_unlock(&abti_rt.lock);
    if (abti_es_self)
        abti_observe_look(abti_es_self);
    uint64_t until = abti_clock_mono_ns() + patience_ns;
    for (unsigned step = 0; changes && observed && !all_have_looked() && abti_clock_mono_ns() < until; step++)
        abti_backoff(step);
}

void abti_observe_listen(enum abti_listener listener, const struct abti_tool *tool)
{
    enum { PATIENCE_NS = 500000000 };
    abti_observe_listen_for(listener, tool, PATIENCE_NS);
}

void abti_observe_listen_for(enum abti_listener listener, const struct abti_tool *tool, uint64_t patience_ns)
{
    if (abti_tool_is_telling()) { /* locks may be held. The mode, which is on, stays so */
        (void)abti_tool_set(listener, tool);
        return;
    }
    if (abti_es_self && tool)
        abti_store_relaxed(&abti_es_self->observed, true); /* relaxed: as in abti_es_is_observed */
    pthread_mutex_lock(&changing);
    if (tool)
        change_mode(true, patience_ns); /* before it is informed of the first event, all can report those that follow */
    if (!abti_tool_set(listener, tool))
        change_mode(false, 0);
    pthread_mutex_unlock(&changing);
}

void abti_observe_reset(void)
{
    abti_spin_lock(&abti_rt.lock);
    set_mode(false);
    abti_spin_unlock(&abti_rt.lock);
}

void abti_observe_forget(void)
{
    changing = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    abti_store_relaxed(&abti_observe_on, abti_annotate_on || abti_rt.config.watch_waits);
}
