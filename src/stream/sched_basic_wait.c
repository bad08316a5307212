/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASIC_WAIT: BASIC that sleeps as soon as it has nothing to do. A user-defined pool that is the only one sleeps in its
 * own way, by its pop_wait; otherwise the ES sleeps, and a user-defined first pool's pop_wait is asked without waiting.
 */
#include "idle/idle.h"
#include "idle/leader.h"
#include "os/clock.h"
#include "run/budget.h"
#include "rt/timers.h"
#include "run/child.h"
#include "stream/events.h"
#include "stream/park.h"
#include "stream/sched_impl.h"
#include "stream/source.h"

/*
 * How long one call of a user-defined pop_wait may take, since requests wait for it. It is no matter of speed:
 * an idle ES calls it again ten times a second, which is nothing, and a request waits for a tenth of a second at most.
 */
static const double WAIT_SECS = 0.1;

/* Returns how long it may take now: no longer than until the next timer of the ES, or look at those of others. */
static double wait_secs(abti_es *es, abti_pool *pool)
{
    uint64_t next = abti_timer_next(es), poll = abti_load_relaxed(&pool->lookout.next_ns); /* relaxed: a racy read */
    next = poll < next ? poll : next;
    if (next == ABTI_CLOCK_NEVER)
        return WAIT_SECS;
    uint64_t now = abti_clock_mono_ns();
    double secs = now < next ? (double)(next - now) / ABTI_NS_PER_SEC : 0.0;
    return secs < WAIT_SECS ? secs : WAIT_SECS;
}

static abti_unit *ask_user(abti_pool *pool, double secs)
{
    abti_assert(abti_pool_is_user(pool) && secs >= 0);
    if (abti_pool_can(pool, ABTI_POOL_POP_WAIT))
        return pool->ops->pop_wait(pool, secs, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    return pool->ops->pop_timedwait(pool, abti_clock_wtime() + secs);
}

static abti_unit *wait_for_unit(abti_es *es, abti_sched *sched)
{
    abti_assert(es == abti_es_self && sched->num_pools > 0);
    abti_pool *pool = sched->pools[0];
    bool others = sched->num_pools > 1 || abti_idle_has_calls(es);
    if (es->parent || !others)
        return ask_user(pool, wait_secs(es, pool));
    abti_es_park(es, sched, ABTI_CLOCK_NEVER);
    return ask_user(pool, 0);
}

static void basic_wait_run(abti_sched *sched)
{
    abti_pool *first = sched->num_pools > 0 ? sched->pools[0] : NULL;
    if (!first || !abti_pool_is_user(first) ||
        !(abti_pool_can(first, ABTI_POOL_POP_WAIT) || abti_pool_can(first, ABTI_POOL_POP_TIMEDWAIT))) {
        abti_sched_loop(sched);
        return;
    }
    for (;;) {
        abti_es *es = abti_es_self;
        abti_unit *unit = abti_sched_pick_in_order(sched, NULL);
        bool waited = !unit;
        if (waited && !es->parent)
            unit = abti_source_ask(es, sched);
        if (waited && !unit)
            unit = wait_for_unit(es, sched);
        if (unit) {
            abti_es_pass_wake(es, sched);
            abti_source_set_busy(es);
            abti_leaders_go_busy(es);
            (void)abti_run_child(es, unit, NULL);
        }
        if (!waited && !abti_budget_is_exhausted(es))
            continue;
        abti_budget_fill(es, sched->event_freq);
        abti_es_check_events(es, sched);
        if (abti_sched_has_to_stop(sched)) {
            abti_es_pass_wake(es, sched);
            abti_source_set_busy(es);
            return;
        }
    }
}

const struct abti_sched_ops abti_sched_basic_wait_ops = {.run = basic_wait_run, .pick = abti_sched_pick_in_order};
