#include "stream/main.h"

#include "stream/halt.h"
#include "stream/native.h"
#include "rt/rt.h"
#include "run/switch.h"
#include "sync/timer.h"

/*
 * Who waits for a new scheduler does not count as blocked: in a pool of the old one it would keep that from ending. It
 * is resumed on the ES where it asked.
 */
static void resume_waiter(abti_unit *waiter)
{
    abti_tool_event_resume(waiter);
    abti_store_relaxed(&waiter->state, ABT_THREAD_STATE_READY);
    abti_pool_push(waiter->pool, waiter, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

/* Installs the scheduler that was asked for, if any, and lets the one who asked go on. */
static bool install_replacement(abti_es *es)
{
    abti_spin_lock(&es->replace_lock);
    abti_sched *old = atomic_load(&es->main_sched), *next = es->replacement;
    abti_unit *waiter = es->replace_waiter;
    es->replacement = NULL;
    es->replace_waiter = NULL;
    if (next) {
        atomic_store(&next->es, es);
        atomic_store(&es->main_sched, next);
    }
    abti_spin_unlock(&es->replace_lock);
    if (!next)
        return false;
    abti_unit_cold_get(es->main_unit)->sched = next;
    /* A join that came before asked the old one to finish; from now on one asks the new one. */
    if (atomic_load(&old->requests) & ABTI_SCHED_REQ_FINISH || atomic_load(&es->requests) & ABTI_ES_REQ_JOIN)
        abti_sched_request(next, ABTI_SCHED_REQ_FINISH);
    /* The pools that go may get another owner. */
    for (int i = 0; i < old->num_pools; i++)
        abti_pool_disown(old->pools[i], es);
    abti_sched_release(old);
    if (waiter)
        resume_waiter(waiter);
    return true;
}

/* The primary ES ends when the primary ULT waits for that, in ABT_finalize. Who else asks would end the ground under
 * it.
 */
static bool may_finish(abti_es *es)
{
    /* acquire: pairs with the registration in abti_join_uncounted */
    return !es->is_primary || abti_load_acquire(&es->main_unit->join) != 0;
}

static void run_main_scheds(abti_es *es)
{
    /* The primary ULT may have handed a unit over when its scheduler had not run yet. */
    if (es->handoff)
        abti_run_child(es, es->handoff, NULL);
    for (;;) {
        abti_sched *sched = atomic_load(&es->main_sched);
        es->budget = (int32_t)sched->event_freq;
        sched->ops->run(sched);
        if (install_replacement(es))
            continue;
        bool cancelled = (atomic_load(&es->requests) & ABTI_ES_REQ_CANCEL) != 0;
        bool finished = abti_load_acquire(&sched->requests) & ABTI_SCHED_REQ_FINISH && may_finish(es) &&
                        !abti_sched_has_work(sched);
        if ((cancelled || finished) && abti_timers_leave(es, cancelled))
            break;
    }
}

void abti_xsloop_run(abti_es *es)
{
    jmp_buf exit;
    es->parent = NULL;
    es->cur = NULL; /* nobody has run here before, as tools see it */
    es->depth = 0;
    abti_es_set_dsched(es, NULL);
    abti_set_running(es, es->main_unit);
    es->main_exit = &exit;
    if (setjmp(exit) == 0) {
        run_main_scheds(es);
    } else {
        /* From a poller or another callback of the user's. */
        abti_es_pass_wake(es, atomic_load(&es->main_sched));
        install_replacement(es); /* its turn comes when the ES is revived, but nobody waits for that */
        (void)abti_timers_leave(es, true);
    }
    abti_tool_event_finish(es, es->main_unit);
}

void abti_xsloop_exit(abti_es *es)
{
    longjmp(*es->main_exit, 1);
}

void abti_xsloop_primary_main(void)
{
    abti_es *es = abti_es_self;
    abti_annotate_arrival();
    /* The primary ULT waits for the first time. Nothing runs in place before this; when it is for the end, nothing
     * will. */
    if (!may_finish(es))
        abti_native_measure(&es->native);
    abti_xsloop_run(es);
    abti_store_release(&es->state, ABT_XSTREAM_STATE_TERMINATED);
    abti_main_exit(es);
}

static void collect_inboxes(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (pool->priv_fifo && !abti_queue_is_empty(&pool->inbox))
            abti_pool_collect(pool);
    }
}

void abti_es_check_events(abti_es *es, abti_sched *sched)
{
    if (sched->has_inbox)
        collect_inboxes(sched);
    abti_timers_look(es);
    unsigned requests = atomic_load(&es->requests);
    if (ABTI_LIKELY(requests == 0))
        return;
    if (requests & ABTI_ES_REQ_HALT)
        abti_halt_arrive(es);
    if (requests & ABTI_ES_REQ_STACKS) {
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_STACKS);
        abti_cache_flush(&es->stacks);
        abti_ownstacks_flush(&es->ownstacks);
    }
    if (requests & ABTI_ES_REQ_JOIN)
        abti_sched_request(sched, ABTI_SCHED_REQ_FINISH);
    if (requests & ABTI_ES_REQ_CANCEL)
        abti_sched_request(sched, ABTI_SCHED_REQ_EXIT);
    if (requests & ABTI_ES_REQ_LOOK)
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_LOOK); /* seq_cst: all looks come after it */
    if (requests & ABTI_ES_REQ_POLL)
        abti_idle_poll(es);
}

/*
 * What abti_es_check_events, abti_sched_has_to_stop and the loop of stream/sched_loop.c look at. One that is stacked in
 * a pool stops when its pools are empty, and looks itself.
 */
bool abti_es_has_no_events(abti_es *es, abti_sched *sched)
{
    /* The orders are those of the functions named. */
    if (atomic_load(&es->requests) != 0 || atomic_load(&sched->requests) != 0 ||
        abti_timer_next(es) != ABTI_CLOCK_NEVER || abti_load_relaxed(&sched->use) != ABTI_SCHED_MAIN)
        return false;
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        /* Of a pool that other ESs work on, nothing is looked at that they write all the time. */
        if (abti_pool_has_parked(pool) || (pool->priv_fifo && !abti_queue_is_empty(&pool->inbox)))
            return false;
    }
    return true;
}

/* --- Replacing the main scheduler --- */

static void request_replacement(abti_es *es, abti_sched *sched, abti_unit *waiter)
{
    abti_spin_lock(&es->replace_lock);
    abti_sched *dropped = es->replacement;
    abti_unit *dropped_waiter = es->replace_waiter;
    es->replacement = sched;
    es->replace_waiter = waiter;
    abti_spin_unlock(&es->replace_lock);
    /* A second request before the first was served takes its place. */
    if (dropped)
        abti_sched_release(dropped);
    if (dropped_waiter)
        resume_waiter(dropped_waiter);
    abti_sched_request(atomic_load(&es->main_sched), ABTI_SCHED_REQ_REPLACE);
}

struct replace_arg {
    abti_es *es;
    abti_sched *sched;
    abti_unit *self;
};

static void after_replace(void *arg)
{
    struct replace_arg replace = *(struct replace_arg *)arg;
    abti_store_release(&replace.self->state, ABT_THREAD_STATE_BLOCKED);
    request_replacement(replace.es, replace.sched, replace.self);
}

int abti_es_set_main_sched(abti_es *es, abti_sched *sched)
{
    if (abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED) {
        abti_sched *old = atomic_load(&es->main_sched);
        atomic_store(&sched->es, es);
        abti_spin_lock(&es->replace_lock); /* who holds it may look into the present one */
        atomic_store(&es->main_sched, sched);
        abti_spin_unlock(&es->replace_lock);
        abti_unit_cold_get(es->main_unit)->sched = sched;
        abti_sched_release(old);
        return ABT_SUCCESS;
    }
    abti_unit *self = es->cur;
    if (abti_sched_uses(atomic_load(&es->main_sched), self->pool)) {
        int code = abti_unit_associate(self, sched->pools[0]);
        if (code != ABT_SUCCESS)
            return code;
    }
    if (!es->parent) {
        /* The main scheduler's own ULT asks: it cannot wait for itself to return. */
        request_replacement(es, sched, NULL);
        return ABT_SUCCESS;
    }
    struct replace_arg arg = {es, sched, self};
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_OTHER, NULL);
    return abti_leave_to(es, self, abti_pick_next(es, NULL), after_replace, &arg);
}

/* --- Sleeping when there is nothing to do --- */

/*
 * Changes of what an ES waits for that nobody tells it about are looked for: units that come to a user-defined pool
 * without a push of ours, and when it has been told to stop, units blocked out of its pools that end elsewhere. The
 * former more and more seldom while there are none. Who has run something takes longer to come back than SOON_NS, since
 * it spins first.
 */
static uint64_t next_look(abti_es *es, bool told_to_stop)
{
    enum { LOOK_NS = 1000000, SELDOM_NS = 8 * LOOK_NS, SOON_NS = 10000 };
    uint64_t now = abti_clock_mono_ns(), step = LOOK_NS;
    if (!told_to_stop && now - es->idle.looked_ns < SOON_NS)
        step = es->idle.step_ns < SELDOM_NS ? 2 * es->idle.step_ns : SELDOM_NS;
    es->idle.step_ns = step;
    return now + step;
}

static bool sleep_and_look(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns)
{
    bool stop = atomic_load(&sched->requests) != 0, look = stop;
    for (int i = 0; i < set->num && !look; i++)
        look = set->pools[i]->user_defined;
    uint64_t timer_ns = abti_timer_next(es);
    if (timer_ns < deadline_ns)
        deadline_ns = timer_ns;
    if (ABTI_UNLIKELY(atomic_load(&es->requests) & ABTI_ES_REQ_POLL))
        deadline_ns = abti_idle_poll_limit(es, deadline_ns);
    if (!look)
        return abti_idle_sleep(es, deadline_ns);
    uint64_t limit = next_look(es, stop);
    bool woken = abti_idle_sleep(es, limit < deadline_ns ? limit : deadline_ns);
    es->idle.looked_ns = abti_clock_mono_ns();
    return woken;
}

/* What is asked of the ES and has not been told the scheduler yet. seq_cst: see abti_sched_request. */
static bool has_undelivered(abti_es *es, abti_sched *sched)
{
    unsigned asked = atomic_load(&es->requests), told = atomic_load(&sched->requests);
    return (asked & ABTI_ES_REQ_JOIN && !(told & ABTI_SCHED_REQ_FINISH)) ||
           (asked & ABTI_ES_REQ_CANCEL && !(told & ABTI_SCHED_REQ_EXIT)) ||
           asked & (ABTI_ES_REQ_HALT | ABTI_ES_REQ_LOOK | ABTI_ES_REQ_STACKS);
}

void abti_es_park_on(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns)
{
    bool woken;
    if (ABTI_UNLIKELY(es->idle.busy)) {
        es->idle.busy = false;
        return;
    }
    abti_idle_prepare(es);
    int entered = 0;
    bool all_empty = true;
    while (entered < set->num && all_empty) {
        all_empty = abti_parking_enter(&set->parkings[entered], set->pools[entered], &es->sleeper);
        entered++;
    }
    /* seq_cst: after the sleeper's announcement; whoever sets a request looks at the sleeper after that */
    if (all_empty && !has_undelivered(es, sched) && !abti_sched_has_to_stop(sched))
        woken = sleep_and_look(es, sched, set, deadline_ns);
    else
        woken = abti_idle_cancel(es);
    for (int i = 0; i < entered; i++)
        abti_parking_leave(&set->parkings[i], set->pools[i]);
    /* When all pools were found empty, others have seen to what an earlier wake was for. */
    es->woken = woken || (es->woken && !all_empty);
}

void abti_es_park(abti_es *es, abti_sched *sched, uint64_t deadline_ns)
{
    struct abti_park_set set = {sched->num_pools, sched->pools, sched->parkings};
    abti_es_park_on(es, sched, &set, deadline_ns);
}
