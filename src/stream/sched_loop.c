/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of all schedulers that have a function to pick the next unit: pick, run, and look at what is asked for. */
#include "base/assert.h"
#include "idle/idle.h"
#include "idle/leader.h"
#include "os/clock.h"
#include "run/budget.h"
#include "run/block.h"
#include "run/child.h"
#include "run/yield.h"
#include "stream/pool_backoff.h"
#include "stream/events.h"
#include "stream/park.h"
#include "stream/sched_impl.h"
#include "stream/source.h"
#include "wait/cpus.h"

/*
 * How often an idle ES polls its pools before it sleeps; with drivers, whose polls take many times as long. Many ESs
 * poll for as long as the wakes of all take, one after another, or one that gives units to all finds them asleep again.
 */
enum { IDLE_POLLS = 400, POLLS_A_STREAM = 100, IDLE_POLLS_OF_DRIVERS = 20 };

/*
 * The longest pause of a thief that finds nothing: 2 us. And that number of further polls it makes for each pool, since
 * to fall asleep and to wake up it takes the locks of all.
 */
enum { MAX_GAP = 64, POLLS_A_POOL = 50 };

/*
 * What a thief sees, in the words of loop_peek. Each poll costs the streams that are busy there a miss of the cache,
 * and there may be many thieves: so it polls its own pool and a few at random, however many there are. It polls a
 * victim that is not empty until the steal succeeds or the victim is empty.
 */
static const void *thief_peek(abti_sched *sched)
{
    enum { VICTIMS = 2 };
    struct abti_robber *robber = &sched->robber;
    if (robber->left_in || !abti_pool_is_empty(sched->pools[0]))
        return &abti_pool_backoff_mine;
    for (int i = 0; i < VICTIMS; i++) {
        int at = abti_robber_aim(robber, sched->order, sched->num_pools);
        abti_pool *pool = sched->order[at];
        if (abti_pool_is_user(pool))
            return &abti_pool_backoff_mine;
        if (!abti_pool_is_spared(pool) && !abti_pool_is_empty(pool)) {
            robber->seen = at;
            bool several = abti_ring_size(&pool->ring) > 1 || abti_load_relaxed(&pool->num_scheds) < 2;
            return several ? &abti_pool_backoff_mine : &abti_pool_backoff_several;
        }
    }
    return NULL;
}

static bool is_thief(const abti_sched *sched)
{
    return sched->kind == ABT_SCHED_RANDWS && sched->num_pools > 2;
}

/*
 * Whether some pool has something, before the thief goes to sleep on all of them: to enter their lists takes their
 * locks. It goes on then as if it had just begun to poll. So it does if it has a truce with a pool.
 */
static bool thief_sees_work(abti_sched *sched)
{
    struct abti_robber *robber = &sched->robber;
    robber->seen = 0;
    for (int i = 0; i < sched->num_pools; i++) {
        if (i > 0 && abti_pool_is_spared(sched->order[i]))
            return true;
        if (!abti_pool_is_user(sched->order[i]) && !abti_pool_is_empty(sched->order[i])) {
            robber->seen = i;
            return true;
        }
    }
    return false;
}

/*
 * How many pauses a stream makes before its next poll, after those it has made. A thief's grow, up to one for each
 * pool, so that many thieves that find nothing together poll no more often than a few, and never make it
 * more than an eighth later.
 */
static unsigned loop_gap(const struct abti_pool_backoff *backoff, const abti_sched *sched, unsigned polls)
{
    unsigned gap = abti_pool_backoff_gap(backoff), most = (unsigned)sched->num_pools;
    if (!is_thief(sched) || polls / 8 <= gap)
        return gap;
    most = most < MAX_GAP ? most : MAX_GAP;
    return polls / 8 < most ? polls / 8 : gap > most ? gap : most;
}

/* Returns what there is to run, in the words of stream/pool_backoff.h; `mine` is what perhaps nobody else would run. */
static const void *loop_peek(abti_sched *sched)
{
    const void *seen = NULL;
    if (is_thief(sched))
        return thief_peek(sched);
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (abti_pool_is_user(pool))
            return &abti_pool_backoff_mine;
        if (i > 0 && sched->kind == ABT_SCHED_RANDWS && abti_pool_is_spared(pool))
            continue;
        if (abti_pool_is_empty(pool))
            continue;
        if (abti_load_relaxed(&pool->num_scheds) < 2 || (sched->kind == ABT_SCHED_RANDWS && i == 0))
            return &abti_pool_backoff_mine;
        bool is_fifo = !seen && abti_pool_is_shared_fifo(pool);
        seen = is_fifo ? (const void *)abti_load_relaxed(&pool->inbox.head) : &abti_pool_backoff_several;
    }
    return seen;
}

static void loop_pause(unsigned gap)
{
    for (unsigned i = 0; i < gap; i++)
        abti_cpu_relax();
}

/*
 * Whether an ES that has found nothing to pick may take the unit that it sees at the next poll. As long as it sees
 * the same it goes on here, since between two calls there may be drivers, which would hold up the unit that it is
 * going to take. Where others are faster it makes a pause.
 */
static bool loop_may_take(struct abti_pool_backoff *backoff, abti_es *es, abti_sched *sched)
{
    if (es->parent || !abti_runs_at_once(2))
        return true;
    for (unsigned misses = backoff->misses; backoff->misses == misses; abti_cpu_relax()) {
        abti_pool_backoff_learn(backoff, loop_peek(sched));
        if (abti_pool_backoff_may_take(backoff))
            return true;
        if (!backoff->seen)
            return false;
    }
    loop_pause(abti_pool_backoff_gap(backoff));
    abti_pool_backoff_forget(backoff);
    return false;
}

/* How often an ES that begins to poll does so before it sleeps. relaxed: only time depends on it */
static unsigned polls_before_sleep(abti_es *es, abti_sched *sched)
{
    bool has_drivers = abti_load_relaxed(&es->requests) & ABTI_ES_REQ_POLL && es->idle->polled;
    unsigned num = (unsigned)abti_plain_load_relaxed(&abti_rt.num_xstreams);
    unsigned polls = has_drivers ? IDLE_POLLS_OF_DRIVERS : IDLE_POLLS;
    if (!abti_runs_at_once(2) || es->sleepy || sched->kind == ABT_SCHED_BASIC_WAIT)
        return 0; /* no thread can bring anything meanwhile, or none will soon, or it is its way */
    if (is_thief(sched))
        return polls + (unsigned)sched->num_pools * POLLS_A_POOL;
    return !has_drivers && num > IDLE_POLLS / POLLS_A_STREAM && abti_runs_at_once(num) ? num * POLLS_A_STREAM : polls;
}

/*
 * Idles: polls up to `most` times, the user's setting aside. A stacked scheduler gives the ES to its parent, and a main
 * scheduler's ES sleeps. True: it was woken then.
 */
static bool loop_idle(abti_es *es, abti_sched *sched, unsigned polls, unsigned most, unsigned gap)
{
    abti_assert(es == abti_es_self && gap > 0);
    bool has_spin = abti_load_relaxed(&es->idle->spin_ns) >= 0; /* the user's setting. relaxed: as above */
    if (es->parent) {
        abti_sched_leave_pools(es, sched); /* it may go on on another ES */
        abti_yield_slow(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
        abti_sched_enter_pools(abti_es_self, sched);
    } else if (has_spin ? abti_idle_spins_on(es, polls <= 1) : polls < most) {
        loop_pause(gap);
    } else if (is_thief(sched) && thief_sees_work(sched)) {
        return true;
    } else {
        abti_es_park(es, sched, ABTI_CLOCK_NEVER);
        return es->woken;
    }
    return false;
}

/*
 * Returns the next unit to run. NULL: the pools are empty, or an event check is due that only the scheduler can make.
 * The budget of the ES says when one is due.
 */
ABTI_INLINE abti_unit *loop_next(abti_es *es, abti_sched *sched)
{
    if (ABTI_UNLIKELY(abti_budget_is_exhausted(es)) && !abti_renew_budget(es, sched))
        return NULL;
    return abti_sched_pick(sched, NULL);
}

/*
 * Calls a tasklet on an ES that is not observed, and counts it. False: as run_tasklet. The end is left to the caller.
 */
ABTI_INLINE bool call_tasklet(abti_es *es, abti_unit *unit)
{
    abti_assert(es == abti_es_self && abti_unit_is_tasklet(unit));
    abti_set_running(es, unit);
    abti_call_tasklet(unit);
    bool goes_on = abti_budget_take(es);
    if (ABTI_UNLIKELY(!goes_on))
        abti_tool_event_finish(es, unit);
    return goes_on;
}

/*
 * Runs a tasklet on an ES that is not observed, and counts it. False when an event check is due, as it is when the
 * tasklet itself has made somebody listen.
 */
ABTI_INLINE bool run_tasklet(abti_es *es, abti_unit *unit)
{
    bool goes_on = call_tasklet(es, unit);
    abti_end_tasklet(es, unit);
    return goes_on;
}

/* Whether nothing is to run before a unit that is pushed now. The pool is private. */
static bool is_drained(abti_pool *pool)
{
    abti_assert(abti_pool_is_private(pool));
    return abti_queue_is_empty(&pool->queue) && abti_queue_is_empty(&pool->inbox);
}

/*
 * Ends a tasklet of a private pool that somebody waits for, or that nobody will. Returns the ULT that goes on at once,
 * since it has waited and nothing is queued in the pool before it, or NULL. `goes_on`: no event check is due.
 */
static ABTI_NOINLINE abti_unit *end_awaited_tasklet(abti_es *es, abti_pool *pool, abti_unit *unit, bool goes_on)
{
    abti_assert(es == abti_es_self && es->cur == unit);
    abti_unit *joiner = abti_end_for_joiner(es, unit, pool);
    if (joiner && goes_on && is_drained(pool)) {
        abti_take_blocked(es, joiner);
        return joiner;
    }
    if (joiner)
        abti_resume_joiner(joiner);
    return NULL;
}

/*
 * Runs tasklets off a private pool, beginning with `unit`, which has been popped. Returns a ULT that is to run next:
 * the first that was popped, or the ULT that has waited for the last tasklet. NULL: the pool's queue is empty, or a
 * check events is due.
 */
ABTI_INLINE abti_unit *run_tasklets(abti_es *es, abti_pool *pool, abti_unit *unit)
{
    while (ABTI_LIKELY(abti_unit_is_fresh_tasklet(unit))) {
        bool goes_on = call_tasklet(es, unit);
        abti_unit *joiner = NULL;
        if (ABTI_UNLIKELY(!abti_try_end_tasklet(unit)))
            joiner = end_awaited_tasklet(es, pool, unit, goes_on);
        if (ABTI_UNLIKELY(joiner || !goes_on))
            return joiner;
        unit = abti_load_relaxed(&pool->queue.head); /* relaxed: the queue is private */
        if (ABTI_UNLIKELY(!unit))
            return NULL;
        abti_queue_pop_head(&pool->queue, unit);
    }
    return unit;
}

/*
 * Runs tasklets off a pool whose owner takes the newest, and thieves the oldest, beginning with `unit`, which has been
 * popped. A ULT that has waited for one of them would be the oldest there, and be stolen; with it would go its next
 * acts, such as making units for this very pool. So it stays aside until the tasklets before it in the pool have run,
 * or an event check is due, and goes on then. Without that, tasks of a single creator on two streams take 1.2 times as
 * long. Returns a popped unit that is to run next, or NULL.
 */
ABTI_INLINE abti_unit *run_newest_tasklets(abti_es *es, abti_pool *pool, abti_unit *unit)
{
    abti_assert(abti_unit_is_fresh_tasklet(unit));
    abti_unit *aside = NULL;
    bool goes_on;
    do {
        goes_on = call_tasklet(es, unit);
        abti_unit *joiner = abti_try_end_tasklet(unit) ? NULL : abti_end_for_joiner(es, unit, pool);
        if (aside && joiner)
            abti_resume_joiner(aside);
        if (joiner)
            aside = joiner;
        unit = aside && goes_on ? abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_PRIMARY) : NULL;
    } while (unit && abti_unit_is_fresh_tasklet(unit));
    if (aside && unit) {
        abti_resume_joiner(aside);
    } else if (aside) {
        abti_take_blocked(es, aside);
        if (!goes_on)
            abti_budget_fill(es, 1); /* it goes on before the event check that is due */
        unit = aside;
    }
    return unit;
}

/* Runs a unit as a child, which may pick its successors itself. Returns the tasklet that it hands off, or NULL. */
ABTI_INLINE abti_unit *run_child(abti_es *es, abti_sched *sched, abti_unit *unit)
{
    if (ABTI_UNLIKELY(!sched->direct) || ABTI_UNLIKELY(abti_try_run_child(es, unit, sched) != ABT_SUCCESS))
        return abti_run_child(es, unit, sched->direct ? sched : NULL);
    abti_unit *picked = es->picked;
    es->picked = NULL;
    return picked;
}

/*
 * Runs a picked unit. A tasklet runs right here, on the stack of the scheduler's ULT `self`, and cannot switch; with it
 * run those that are behind it in a private pool. A ULT runs as a child, and may pick its successors itself, until
 * that is a tasklet.
 */
ABTI_INLINE void loop_run(abti_es *es, abti_sched *sched, abti_unit *self, abti_unit *unit)
{
    abti_assert(es->cur == self && unit && !es->picked);
    do {
        if (abti_switch_is_slow(es)) {
            /* it runs as a child, which may be reported to a tool */
        } else if (sched->fast) {
            unit = run_tasklets(es, sched->fast, unit);
        } else if (abti_unit_is_fresh_tasklet(unit) && sched->kind == ABT_SCHED_RANDWS) {
            unit = run_newest_tasklets(es, sched->pools[0], unit);
        } else if (abti_unit_is_fresh_tasklet(unit)) {
            (void)run_tasklet(es, unit);
            unit = NULL;
        }
        es->cur = self;
        unit = unit ? run_child(es, sched, unit) : NULL;
    } while (unit);
}

/* Runs units as long as there is a next one. False when there was none. */
ABTI_INLINE bool run_units(abti_es *es, abti_sched *sched, abti_unit *self)
{
    abti_assert(es == abti_es_self && es->cur == self && !es->picked);
    abti_unit *unit = abti_sched_pick(sched, NULL);
    if (!unit && !es->parent)
        unit = abti_source_ask(es, sched);
    if (!unit)
        return false; /* the budget stays: a stacked scheduler that idles must not renew its parent's */
    abti_budget_fill(es, sched->event_freq);
    abti_es_pass_wake(es, sched); /* it may have been woken for another unit than this one */
    abti_source_set_busy(es);
    abti_leaders_go_busy(es);
    abti_sched *dsched = es->dsched;
    abti_es_set_dsched(es, NULL);
    do
        loop_run(es, sched, self, unit);
    while ((unit = loop_next(es, sched)) != NULL);
    abti_es_set_dsched(es, dsched);
    abti_budget_fill(es, sched->event_freq);
    return true;
}

/* Whether the pool has nothing but the unit that is offered. If it has others, both streams have one to take. */
static bool is_last(abti_pool *pool)
{
    return abti_pool_is_user(pool) ? !abti_pool_is_empty(pool) : abti_pool_size(pool) == 1;
}

/*
 * Offers a unit to streams that sleep. One that yields and is picked again at once, since there is no other, never
 * leaves this ES, though idle ones may share its pool: they sleep, and only a push wakes them. Now and then it is
 * offered to one of them, so that a unit which yields until it runs on a certain ES gets there. That is rarely, because
 * a move costs as much as thousands of yields, and the ES leaves the unit alone for as long as a wake may take, unless
 * there are others: to look at a pool that streams are busy with takes its line from them.
 */
static void offer_to_sleepers(abti_es *es, abti_sched *sched)
{
    enum { EVERY_NS = 1000000, PATIENCE_NS = 100000 };
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (!abti_pool_has_parked(pool) || abti_pool_is_private(pool) || abti_pool_is_empty(pool))
            continue;
        uint64_t now = abti_clock_mono_ns();
        if (now < es->offered_ns + EVERY_NS)
            return;
        es->offered_ns = now;
        abti_parking_offer(pool);
        while (is_last(pool) && abti_clock_mono_ns() < now + PATIENCE_NS)
            abti_cpu_relax();
        return;
    }
}

static void sched_loop(abti_sched *sched)
{
    struct abti_pool_backoff backoff = abti_pool_backoff_new;
    /* To the pools behind its first a thief comes by chance. */
    const struct abti_park_set set = {sched->kind == ABT_SCHED_RANDWS ? 1 : sched->num_pools, sched->pools,
                                      sched->parkings};
    for (unsigned polls = 0, most = 0;;) {
        abti_es *es = abti_es_self;
        abti_assert(es && es->cur);
        bool takes = polls == 0 || abti_source_is_to_ask(es) || loop_may_take(&backoff, es, sched);
        es->seeking = NULL;
        bool ran = takes && run_units(es, sched, es->cur);
        es = abti_es_self;
        es->seeking = es->parent ? NULL : &set;
        abti_es_check_events(es, sched);
        if (abti_sched_has_to_stop(sched)) {
            es->seeking = NULL;
            abti_es_pass_wake(es, sched);
            abti_source_set_busy(es);
            return;
        }
        if (ran) {
            polls = 0;
            backoff = abti_pool_backoff_new;
            offer_to_sleepers(es, sched);
        } else if (takes || !backoff.seen) { /* otherwise it still leaves the unit that it sees to others */
            unsigned gap = loop_gap(&backoff, sched, polls);
            most = polls <= 1 ? polls_before_sleep(es, sched) : most;
            polls += gap;
            /* Other streams may be faster to take the unit of its wake, again and again. It then polls as if anew. */
            if (loop_idle(es, sched, polls, most, gap))
                polls = 1;
        }
    }
}

/* The pools of a main scheduler have been entered, see run_main_scheds (stream/main.c). */
void abti_sched_loop(abti_sched *sched)
{
    bool is_stacked = abti_es_self->parent != NULL;
    if (sched->num_pools == 0)
        return;
    if (is_stacked)
        abti_sched_enter_pools(abti_es_self, sched);
    sched_loop(sched);
    if (is_stacked)
        abti_sched_leave_pools(abti_es_self, sched);
}
