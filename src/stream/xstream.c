/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/xstream.h"

#include <sched.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/round.h"
#include "stream/carrier.h"
#include "stream/native.h"
#include "idle/driver.h"
#include "idle/idle.h"
#include "mem/slab.h"
#include "os/fault.h"
#include "run/budget.h"
#include "run/sched.h"
#include "rt/rt.h"
#include "run/end.h"
#include "run/join.h"
#include "stream/affinity.h"
#include "stream/events.h"
#include "stream/list.h"
#include "stream/main.h"
#include "stream/source.h"
#include "sync/timer.h"
#include "unit/ledger.h"
#include "unit/ownstack.h"
#include "wait/cpus.h"
#include "wait/word.h"

/* --- Making --- */

/* Gives the caches of the native thread back to the slabs, as the ES ends. */
void abti_es_drain(abti_es *es)
{
    abti_cache_fini(&es->units);
    abti_cache_fini(&es->stacks);
    abti_ownstacks_fini(&es->ownstacks);
    abti_lazycache_fini(&es->ktables);
}

/* Both parts of an ES in one piece of memory, which begins with the first. */
struct es_and_idle {
    abti_es es;
    struct abti_idle idle;
};

void abti_es_drop(abti_es *es)
{
    abti_fault_stack_unmap(es->fault_stack);
    abti_es_drain(es);
    free(es);
}

/* Makes a record with what outlives a stream in it: see abti_es_reset. */
static abti_es *es_new(void)
{
    struct es_and_idle *both = aligned_alloc(ABTI_CACHE_LINE, abti_round_up(sizeof(*both), ABTI_CACHE_LINE));
    if (!both)
        return NULL;
    *both = (struct es_and_idle){.es = {.idle = &both->idle}};
    abti_es *es = &both->es;
    if (abti_cache_init(&es->units, &abti_rt.unit_slab)) {
        free(both);
        return NULL;
    }
    if (abti_cache_init(&es->stacks, &abti_rt.stack_slab)) {
        abti_cache_fini(&es->units);
        free(both);
        return NULL;
    }
    bool guarded = abti_guard_room() > 0; /* an overflow is reported on another stack */
    es->fault_stack = guarded ? abti_fault_stack_map() : NULL;
    if (es->fault_stack || !guarded)
        return es;
    abti_es_drop(es);
    return NULL;
}

void abti_es_reset(abti_es *es)
{
    struct es_and_idle *both = ABTI_CONTAINER_OF(es, struct es_and_idle, es);
    struct abti_cache units = es->units, stacks = es->stacks, *ktables = es->ktables;
    struct abti_ownstacks ownstacks = es->ownstacks;
    void *fault_stack = es->fault_stack;
    *both = (struct es_and_idle){.es = {.idle = &both->idle,
                                        .units = units,
                                        .stacks = stacks,
                                        .ownstacks = ownstacks,
                                        .ktables = ktables,
                                        .fault_stack = fault_stack}};
}

int abti_es_alloc(abti_sched *sched, int rank, bool is_entered, abti_es *kept, abti_es **out)
{
    abti_assert(rank >= ABTI_RANK_ENTERED && abti_load_relaxed(&sched->use) == ABTI_SCHED_MAIN);
    abti_es *es = kept ? kept : es_new();
    if (!es)
        return ABT_ERR_MEM;
    es->main_unit = abti_unit_alloc(abti_es_self);
    if (!es->main_unit) {
        abti_es_drop(es);
        return ABT_ERR_MEM;
    }
    es->is_entered = is_entered;
    abti_spin_init(&es->replace.lock, ABTI_RANK_REPLACE);
    abti_idle_init(es->idle);
    atomic_init(&es->main_sched, sched);
    abti_es_set_served(es, sched);
    abti_budget_fill(es, sched->event_freq);
    abti_unit_init(es->main_unit, NULL, sched, NULL, ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_NAMED);
    es->main_unit->stack = NULL;
    es->main_unit->ctx = NULL; /* it may wait, as seen by abti_stackdump_unit, before it has ever switched */
    abti_unit_set_pinned(es->main_unit, true);
    abti_unit_cold_get(es->main_unit)->sched = sched;
    int code = abti_es_list_enter(es, rank);
    if (code != ABT_SUCCESS) {
        abti_unit_release(abti_es_self, es->main_unit);
        abti_es_drop(es);
        return code;
    }
    abti_ledger_made(es, ABTI_HANDLE_XSTREAM);
    *out = es;
    return ABT_SUCCESS;
}

void abti_es_leave_list(abti_es *es)
{
    abti_assert(es != abti_es_self && !es->replace.sched && !es->replace.waiter);
    abti_crew_fini(es);
    /* A caller that asks something of the scheduler does not find the ES any more. seq_cst: as in abti_sched_request */
    atomic_store(&atomic_load(&es->main_sched)->es, NULL);
    abti_es_list_leave(es);
    abti_sources_fini(es);
    if (es->deque.kept)
        es->deque.put(es->deque.kept);
    abti_idle_fini(es);
    abti_unit_dispose(abti_es_self, es->main_unit);
}

void abti_es_dispose(abti_es *es)
{
    abti_es_leave_list(es);
    abti_fault_stack_unmap(es->fault_stack);
    abti_ledger_free(es);
}

/*
 * Waits until the stream, which has been joined, is freed or revived. As a rule that is soon: it polls for a while
 * before it sleeps.
 */
static void await_control(abti_es *es)
{
    enum { SPINS = 800 }; /* some 40 us */
    abti_assert(es == abti_es_self && !es->is_entered);
    for (int i = 0; abti_runs_at_once(2) && i < SPINS; i++) {
        /* acquire: pairs with the release in set_control */
        if (abti_load_acquire(&es->control) != ABTI_ES_STOPPED)
            return;
        abti_cpu_relax();
    }
    (void)abti_word_await_change(&es->control, ABTI_ES_STOPPED, ABTI_CLOCK_NEVER);
}

static void *es_thread(void *arg)
{
    abti_es *es = arg;
    abti_es_self = es;
    abti_known_set_self(&es->known);
    abti_own_enter(&es->own);
    abti_native_describe(&es->native, abti_rt.config.sched_stacksize); /* as abti_native_start has asked for */
    /*
     * Of native threads' stacks valgrind knows only the first one's. A switch from a unit's stack to this one is no
     * huge return.
     */
    if (abti_annotate_on)
        es->native.valgrind_id = abti_annotate_stack_register(es->native.base, es->native.size);
    abti_unit_set_stack(es->main_unit, &es->native);
    abti_exceptions_enter(es);
    abti_fault_enter(es->fault_stack);
    for (;;) {
        abti_main_run(es);
        abti_assert(es == abti_es_self && es->cur == es->main_unit && !es->dsched);
        abti_cache_flush(&es->stacks); /* others may have use for them */
        abti_ownstacks_flush(&es->ownstacks);
        /*
         * Only this thread stores STOPPED, and only one that has joined it stores another value. release: pairs with
         * the acquires of es->state in abti_es_join, abti_es_revive, abti_es_set_main_sched and abti_halt_is_still, so
         * that a thread that sees TERMINATED sees STOPPED, too.
         */
        abti_store_release(&es->control, ABTI_ES_STOPPED);
        abti_store_release(&es->state, ABT_XSTREAM_STATE_TERMINATED);
        abti_annotate_release(&abti_annotate_ends);
        abti_unit *joiner = abti_publish_end(es, es->main_unit);
        if (joiner)
            abti_resume_joiner(joiner);
        await_control(es);
        /* acquire: pairs with the release in set_control */
        if (abti_load_acquire(&es->control) == ABTI_ES_EXIT)
            break;
    }
    abti_fault_leave(es->fault_stack);
    abti_es_drain(es);
    abti_native_forget(&es->native);
    abti_own_leave(&es->own);
    abti_known_set_self(NULL);
    abti_es_self = NULL;
    return NULL;
}

int abti_es_create(abti_sched *sched, int rank, abti_es **out)
{
    abti_es *es;
    int code = abti_es_alloc(sched, rank, false, NULL, &es);
    if (code != ABT_SUCCESS)
        return code;
    struct abti_cpuset cpus;
    atomic_store(&sched->es, es); /* seq_cst: pairs with the load in abti_sched_request */
    abti_tool_event_create(es, es->main_unit);
    code = abti_esaffinity_of_new(es->rank, &cpus);
    if (code == ABT_SUCCESS)
        code = abti_drivers_enter(es);
    if (code == ABT_SUCCESS)
        code = abti_native_start(&es->thread, es_thread, es);
    if (code != ABT_SUCCESS) {
        abti_cpuset_fini(&cpus);
        atomic_store(&sched->es, NULL);    /* seq_cst: pairs with the load in abti_sched_request */
        (void)abti_timers_leave(es, true); /* others may have given it some */
        abti_es_drain(es);
        abti_tool_event_free(es->main_unit);
        abti_es_dispose(es);
        return code;
    }
    abti_esaffinity_bind(es, &cpus);
    *out = es;
    return ABT_SUCCESS;
}

/* --- Requests --- */

static void request_join(abti_es *es)
{
    abti_es_notify(es, ABTI_ES_REQ_JOIN);
    /*
     * The lock keeps the ES from replacing its scheduler meanwhile, and from freeing the old one. seq_cst: of no use
     * under the lock.
     */
    abti_spin_lock(&es->replace.lock);
    abti_sched_request(atomic_load(&es->main_sched), ABTI_SCHED_REQ_FINISH);
    abti_spin_unlock(&es->replace.lock);
}

void abti_es_join(abti_es *es)
{
    abti_assert(es && (es != abti_es_self || es->cur != es->main_unit));
    /* acquire: pairs with the release in es_thread */
    if (abti_load_acquire(&es->state) != ABT_XSTREAM_STATE_TERMINATED || !abti_unit_is_done(es->main_unit)) {
        request_join(es);
        if (abti_es_self)
            abti_es_self->sleepy = true; /* its thread may have to start first, and may need this very CPU */
    }
    abti_join(abti_es_self, es->main_unit, NULL);
    abti_annotate_acquire(&abti_annotate_ends);
}

static void set_control(abti_es *es, uint32_t control)
{
    abti_assert(!es->is_entered && es != abti_es_self);
    /* release: pairs with the acquires in es_thread and await_control */
    abti_store_release(&es->control, control);
    abti_futex_wake_all(&es->control);
}

void abti_es_free(abti_es *es)
{
    abti_assert(!es->is_entered);
    abti_es_join(es);
    set_control(es, ABTI_ES_EXIT);
    pthread_join(es->thread, NULL);
    abti_sched *sched =
        atomic_load(&es->main_sched);    /* seq_cst: of no use; the thread that stores it has been joined */
    abti_tool_event_join(es->main_unit); /* beside that of the ES: a unit with a name is joined when it is freed */
    abti_tool_event_free(es->main_unit);
    abti_es_dispose(es); /* this comes first: a thread that finds an ES in the list may look at its scheduler */
    abti_sched_release(sched);
}

int abti_es_revive(abti_es *es)
{
    /* seq_cst: pairs with abti_es_set_main_sched; the user orders that with a revival */
    abti_sched *sched = atomic_load(&es->main_sched);
    /* acquire: pairs with the release in es_thread */
    if (abti_load_acquire(&es->state) != ABT_XSTREAM_STATE_TERMINATED || !abti_unit_is_done(es->main_unit))
        return ABT_ERR_INV_XSTREAM;
    /* acquire and release: of no use, as set_control publishes it */
    abti_fetch_and_acq_rel(&es->requests, (uint32_t)ABTI_ES_REQ_POLL);
    abti_assert(abti_load_relaxed(&es->control) == ABTI_ES_STOPPED && !es->picked);
    /* relaxed: set_control publishes all of it */
    abti_store_relaxed(&sched->requests, 0);
    abti_store_relaxed(&es->main_unit->join, 0);
    abti_store_relaxed(&es->state, ABT_XSTREAM_STATE_RUNNING);
    abti_tool_event_revive(es->main_unit);
    set_control(es, ABTI_ES_RUN);
    return ABT_SUCCESS;
}
