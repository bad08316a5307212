/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/barrier.h"

#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "run/sched.h"
#include "sync/hazard.h"
#include "sync/rounds.h"
#include "wait/cpus.h"
#include "wait/word.h"

/* Barriers of more ULTs are those of a few large machines. Their ULTs wait as if they were of different pools. */
enum { MAX_ROOM = 4096 };

ABT_barrier abti_barrier_create(uint32_t num)
{
    uint32_t room = num < MAX_ROOM ? num : MAX_ROOM;
    ABT_barrier barrier = malloc(sizeof(struct ABT_barrier_opaque) + room * sizeof(abti_unit *));
    if (!barrier)
        return NULL;
    barrier->room = room;
    abti_barrier_init(barrier, num);
    return barrier;
}

/* Not by one assignment, which would clear the lines between the fields, too. relaxed: nobody uses the barrier */
void abti_barrier_init(ABT_barrier barrier, uint32_t num)
{
    barrier->lock = (struct abti_spin){0};
    barrier->num = barrier->num_to_run = num;
    abti_store_relaxed(&barrier->arrived, 0);
    barrier->num_polls = barrier->num_local = barrier->num_asleep = barrier->natives_in = 0;
    abti_store_relaxed(&barrier->natives_out, 0);
    memset(&barrier->adaptive, 0, sizeof(barrier->adaptive));
    barrier->was_polled = false;
    barrier->waiters = (struct abti_waitq){0};
    barrier->local_pool = NULL;
    abti_store_relaxed(&barrier->rounds, 0);
}

void abti_barrier_settle(ABT_barrier barrier)
{
    abti_spin_lock(&barrier->lock);
    bool was_polled = barrier->was_polled;
    uint32_t natives_in = barrier->natives_in;
    abti_spin_unlock(&barrier->lock);
    if (was_polled)
        abti_hazards_settle(barrier);
    /* acquire: pairs with barrier_wait_natively */
    abti_spin_until(abti_load_acquire(&barrier->natives_out) == natives_in);
}

/* Wakes ULTs of a pool that is not the caller's, which have been taken out of the barrier. */
static ABTI_NOINLINE void wake_elsewhere(struct abti_queue *units)
{
    struct abti_queue woken;
    abti_queue_init(&woken);
    for (abti_unit *unit; (unit = abti_queue_pop(units));)
        abti_unblock_later(unit, &woken);
    abti_pool_push_all_unblocked(&woken);
}

int abti_barrier_meet(ABT_barrier barrier)
{
    abti_assert(abti_load_relaxed(&barrier->lock.word) == 1); /* it is held */
    /* relaxed, as below: the lock is held */
    abti_assert(abti_load_relaxed(&barrier->arrived) == barrier->num && barrier->num_local <= barrier->room);
    abti_es *es = abti_es_self;
    uint32_t num_local = barrier->num_local;
    struct abti_queue elsewhere;
    abti_queue_init(&elsewhere);
    abti_store_relaxed(&barrier->arrived, 0);
    if (ABTI_LIKELY(num_local > 0)) {
        if (ABTI_LIKELY(es && es->fast == barrier->local_pool)) {
            abti_unblock_all_quick(es, barrier->local, num_local);
        } else {
            for (uint32_t i = 0; i < num_local; i++)
                abti_queue_push(&elsewhere, barrier->local[i]);
        }
        barrier->num_local = 0;
        barrier->local_pool = NULL;
    }
    uint32_t num_asleep = barrier->num_asleep;
    if (barrier->num_polls > 0) {
        barrier->num_polls = barrier->num_asleep = 0;
        barrier->was_polled = true;
        /* release: pairs with the acquire in abti_round_is_over. relaxed: the lock is held */
        abti_store_release(&barrier->rounds, abti_load_relaxed(&barrier->rounds) + 1);
    }
    struct abti_waiter *rest = abti_waitq_wake_here(&barrier->waiters);
    abti_spin_unlock(&barrier->lock);
    if (!abti_queue_is_empty(&elsewhere))
        wake_elsewhere(&elsewhere);
    if (ABTI_UNLIKELY(num_asleep > 0))
        abti_word_wake_all(&barrier->rounds); /* the barrier may be gone: only its address is used */
    if (ABTI_UNLIKELY(rest != NULL))
        abti_waiter_wake_all(rest);
    return ABT_SUCCESS;
}

abti_ctx abti_barrier_leave(void *room, void *barrier_, void *unused)
{
    (void)unused;
    ABT_barrier barrier = barrier_;
    return abti_waitq_leave(&barrier->waiters, room, ABT_SYNC_EVENT_TYPE_BARRIER, barrier, &barrier->lock, false);
}

/*
 * While it spins, a ULT does what its stream would do in its place: it polls its pools for units, if they are few.
 * It does not look for sources of work.
 */
enum { FEW_POOLS = 4 };

/* Whether the ULT's stream has nothing else to do, so that it may as well spin. relaxed: a racy read */
static bool may_spin_on(const void *es_)
{
    const abti_es *es = es_;
    bool is_idle = !abti_load_relaxed(&es->requests) && !abti_has_requests(es->cur) && es->dsched;
    for (int i = 0; is_idle && i < es->dsched->num_pools; i++)
        is_idle = !abti_pool_is_user(es->dsched->pools[i]) && abti_pool_is_empty(es->dsched->pools[i]);
    return is_idle;
}

/* Whether a unit is queued in front of the stream's other pools, if that is seen at once. */
static bool has_next(const abti_sched *sched)
{
    return sched->front && !abti_queue_is_empty(&sched->front->inbox);
}

/* Whether the ULT may spin instead of blocking: all can run at the same time, and its stream has nothing else to do. */
static bool may_spin(ABT_barrier barrier, abti_es *es)
{
    return abti_runs_at_once(barrier->num_to_run) && es->dsched && !has_next(es->dsched) && may_spin_on(es) &&
           es->dsched->num_pools <= FEW_POOLS && !es->sleepy;
}

/*
 * These two are called with the lock held, when the caller has been counted, but is not the last, which comes later:
 * the lock publishes that the caller spins. A ULT that returns false is to block, and the lock is held.
 */
static bool wait_spinning(ABT_barrier barrier, abti_es *es)
{
    uint32_t round = abti_load_relaxed(&barrier->rounds); /* relaxed, as below: the lock is held */
    barrier->num_polls++;
    abti_hazard_begin(es, barrier);
    abti_spin_unlock(&barrier->lock);
    bool is_over = abti_round_spin(&barrier->rounds, round, barrier->num_to_run, may_spin_on, es);
    if (!is_over) {
        abti_spin_lock(&barrier->lock);
        is_over = abti_load_relaxed(&barrier->rounds) != round;
        if (is_over)
            abti_spin_unlock(&barrier->lock);
        else
            barrier->num_polls--;
    }
    abti_hazard_end(es);
    return is_over;
}

static int barrier_wait_natively(ABT_barrier barrier)
{
    uint32_t round = abti_load_relaxed(&barrier->rounds), learnt; /* relaxed, as below: the lock is held */
    barrier->num_polls++;
    barrier->natives_in++;
    abti_spin_unlock(&barrier->lock);
    if (!abti_round_await_soon(&barrier->rounds, round, barrier->num_to_run, &barrier->adaptive, &learnt)) {
        abti_spin_lock(&barrier->lock);
        barrier->num_asleep += abti_load_relaxed(&barrier->rounds) == round;
        abti_spin_unlock(&barrier->lock);
        abti_round_sleep(&barrier->rounds, round, &barrier->adaptive, learnt);
    }
    abti_fetch_add_release(&barrier->natives_out, 1); /* release: pairs with the acquire in abti_barrier_settle */
    return ABT_SUCCESS;
}

int abti_barrier_wait_slow(ABT_barrier barrier)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    abti_es *es = abti_es_self;
    bool polls = w.unit && may_spin(barrier, es); /* before the lock, which others wait for */
    abti_spin_lock(&barrier->lock);
    if (abti_barrier_arrive(barrier))
        return abti_barrier_meet(barrier);
    if (!w.unit)
        return barrier_wait_natively(barrier);
    if (polls && wait_spinning(barrier, es))
        return ABT_SUCCESS;
    abti_waitq_push(&barrier->waiters, &w);
    abti_waiter_park(&w, &barrier->lock, NULL);
    return ABT_SUCCESS;
}
