/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/park.h"

#include "base/assert.h"
#include "idle/idle.h"
#include "os/clock.h"
#include "run/sched.h"
#include "stream/events.h"
#include "stream/source.h"
#include "sync/timer.h"
#include "unit/tool_event.h"

/* --- A stream --- */

/* Sleeps, no longer than until the next timer or poll. */
static bool sleep_and_poll(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns)
{
    abti_assert(es == abti_es_self);
    abti_tool_event_own(ABTI_EVENT_PARK, es, es->cur);
    /* seq_cst, as below: a request is set before the read of the sleeper, see abti_sched_request */
    bool stop = atomic_load(&sched->requests) != 0, poll = stop;
    for (int i = 0; i < set->num && !poll; i++)
        poll = abti_pool_is_user(set->pools[i]);
    uint64_t timer_ns = abti_timer_next(es);
    if (timer_ns < deadline_ns)
        deadline_ns = timer_ns;
    for (int i = 0; i < set->num; i++)
        deadline_ns = set->parkings[i].until_ns < deadline_ns ? set->parkings[i].until_ns : deadline_ns;
    if (ABTI_UNLIKELY(atomic_load(&es->requests) & ABTI_ES_REQ_POLL))
        deadline_ns = abti_idle_poll_limit(es, deadline_ns);
    uint64_t limit_ns = poll ? abti_repoll_next(&es->idle->repoll, abti_clock_mono_ns(), stop) : deadline_ns;
    bool woken = abti_idle_sleep(es, limit_ns < deadline_ns ? limit_ns : deadline_ns);
    if (poll)
        abti_repoll_learn(&es->idle->repoll, abti_clock_mono_ns());
    abti_tool_event_own(ABTI_EVENT_UNPARK, es, es->cur);
    return woken;
}

/* Enters the lists of the pools. False: some pool has a unit. */
static bool park_enter(abti_es *es, const struct abti_park_set *set)
{
    bool all_empty = true;
    abti_assert(es == abti_es_self);
    for (int i = 0; i < set->num && all_empty; i++)
        all_empty = abti_parking_enter(&set->parkings[i], set->pools[i], &es->sleeper);
    return all_empty;
}

static void park_leave(const struct abti_park_set *set, bool woken)
{
    for (int i = 0; i < set->num; i++)
        abti_parking_leave(&set->parkings[i], set->pools[i], woken);
}

void abti_es_park_on(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns)
{
    bool woken;
    abti_assert(es == abti_es_self && set->num >= 0);
    if (ABTI_LIKELY(!es->idle->busy))
        abti_idle_tell_sleep(es);
    if (ABTI_UNLIKELY(es->idle->busy)) { /* a callee has done something: it may have made work */
        es->idle->busy = false;
        return;
    }
    abti_idle_prepare(es);
    es->idle->parked = set;
    bool all_empty = park_enter(es, set);
    /* All of this comes after the announcement of the sleep; a thread that sets a request looks at the sleeper then. */
    if (all_empty && !abti_es_is_asked(es, sched) && !abti_sched_has_to_stop(sched) && !abti_source_is_woken(es))
        woken = sleep_and_poll(es, sched, set, deadline_ns);
    else
        woken = abti_idle_cancel(es);
    park_leave(set, woken);
    es->idle->parked = NULL;
    /* When all pools were found empty, other streams have taken what an earlier wake was for. */
    es->woken = woken || (es->woken && !all_empty);
    es->sleepy = es->sleeper.beside; /* the waker comes to its next wake only when the ES leaves it the CPU */
}

void abti_es_leave_park(abti_es *es)
{
    const struct abti_park_set *set = es->idle->parked;
    abti_assert(es == abti_es_self);
    if (!set)
        return;
    es->idle->parked = NULL;
    es->woken = abti_idle_cancel(es);
    park_leave(set, es->woken);
}

void abti_es_park(abti_es *es, abti_sched *sched, uint64_t deadline_ns)
{
    struct abti_park_set set = {sched->num_pools, sched->pools, sched->parkings};
    abti_es_park_on(es, sched, &set, deadline_ns);
}

/* --- Any native thread --- */

abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context)
{
    struct abti_sleeper own = {.word = ABTI_AWAKE};
    abti_es *es = abti_es_self;
    struct abti_sleeper *sleeper = es ? &es->sleeper : &own; /* there its ES is informed of new timers, too */
    for (bool in_time = true, woken = false;;) {
        if (es)
            abti_timers_poll(es);
        abti_unit *unit = abti_pool_pop(pool, context);
        if (unit && woken)
            abti_parking_pass(pool); /* there may be two units: one that it was woken for, one that it has found */
        if (unit || !in_time)
            return unit;
        struct abti_parking parking = {.seeks = true};
        abti_sleeper_prepare(sleeper);
        if (abti_parking_enter(&parking, pool, sleeper)) {
            uint64_t limit = es ? abti_timer_next(es) : ABTI_CLOCK_NEVER;
            woken = abti_sleeper_sleep(sleeper, limit < deadline_ns ? limit : deadline_ns);
            in_time = woken || limit < deadline_ns;
        } else {
            woken = abti_sleeper_cancel(sleeper);
        }
        abti_parking_leave(&parking, pool, woken);
        abti_parking_settle(&parking, pool);
    }
}

abti_unit *abti_wait_for_unit(abti_pool *pool, double secs, ABT_pool_context context)
{
    if (pool->ops->pop_wait)
        return pool->ops->pop_wait(pool, secs, context);
    return abti_park_pop(pool, abti_clock_deadline_in(secs), context);
}

abti_unit *abti_wait_for_unit_until(abti_pool *pool, double wtime)
{
    if (pool->ops->pop_timedwait)
        return pool->ops->pop_timedwait(pool, wtime);
    return abti_park_pop(pool, abti_clock_deadline_at(wtime), 0);
}
