/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a stream goes to sleep: what keeps it from sleeping, what wakes it, and that no unit is slept through. The
 * primary ULT plays the scheduler: what sleeps is its native thread.
 */
#include <abt.h>
#include <pthread.h>
#include <sched.h>

#include "os/clock.h"
#include "pool/member.h"
#include "run/sched.h"
#include "idle/idle.h"
#include "stream/park.h"
#include "sync/timer.h"
#include "tap.h"
#include "watchdog.h"

enum { POOLS = 2, PUSHERS = 3, PUSHES = 5000 };

static abti_es *es;
static abti_sched *sched;
static abti_pool *pools[POOLS];
static struct abti_parking parkings[POOLS];
static const struct abti_park_set set = {.num = POOLS, .pools = pools, .parkings = parkings};

static void must(int code)
{
    if (code)
        bail_out("error %d", code);
}

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

static void push_to(int i)
{
    abti_unit *unit = abti_unit_alloc_external();
    abti_unit_init(unit, NULL, NULL, pools[i], ABTI_UNIT_NAMED);
    abti_pool_push(pools[i], unit, 0);
}

static bool pop_from(int i)
{
    abti_unit *unit = abti_pool_pop(pools[i], 0);
    abti_parking_settle(&parkings[i], pools[i]);
    if (unit)
        abti_unit_release_external(unit);
    return unit != NULL;
}

/* It hangs if the stream sleeps, unless something wakes it. */
static void park(void)
{
    abti_es_park_on(es, sched, &set, ABTI_CLOCK_NEVER);
}

static bool has_left_all(void)
{
    bool left = true;

    for (int i = 0; i < POOLS; i++)
        left &= !abti_pool_has_parked(pools[i]);
    return left;
}

static void test_awake(void)
{
    es->woken = false;
    for (int i = 0; i < POOLS; i++) {
        push_to(i);
        park();
        ok(has_left_all() && !es->woken, "a unit in pool %d keeps the stream awake", i);
        ok(pop_from(i), "there it is");
    }
    atomic_fetch_or(&es->requests, ABTI_ES_REQ_CHECK);
    park();
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK);
    ok(has_left_all(), "so does a request that it has not seen");
    atomic_fetch_or(&sched->requests, ABTI_SCHED_REQ_EXIT);
    park();
    atomic_fetch_and(&sched->requests, ~(uint32_t)ABTI_SCHED_REQ_EXIT);
    ok(has_left_all(), "and a scheduler that has to stop");
    es->idle->busy = true;
    park();
    ok(!es->idle->busy, "and, once, a driver that has done something");
}

static void test_time(void)
{
    struct abti_waiter w;
    struct abti_timer timer;
    uint64_t end = in_ms(3);

    abti_es_park_on(es, sched, &set, end);
    ok(abti_clock_mono_ns() >= end && !es->woken && has_left_all(), "it sleeps until the deadline");
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, NULL);
    w.unit = NULL;
    abti_waiter_open(&w);
    end = in_ms(3);
    abti_timer_arm(es, &timer, &w, end, NULL);
    park();
    ok(abti_clock_mono_ns() >= end && !es->woken, "or until the next timer");
    abti_timer_disarm(&timer);
}

static void *push_late(void *arg)
{
    struct timespec ts = {.tv_nsec = 3000000};
    nanosleep(&ts, NULL);
    push_to((int)(intptr_t)arg);
    return NULL;
}

static void *ask_late(void *arg)
{
    struct timespec ts = {.tv_nsec = 3000000};
    nanosleep(&ts, NULL);
    abti_es_notify(es, ABTI_ES_REQ_CHECK);
    return arg;
}

static void test_wakes(void)
{
    pthread_t thread;
    for (int i = 0; i < POOLS; i++) {
        must(pthread_create(&thread, NULL, push_late, (void *)(intptr_t)i));
        park();
        ok(has_left_all(), "a push to pool %d wakes it", i);
        ok(pop_from(i), "there is the unit");
        pthread_join(thread, NULL);
    }
    must(pthread_create(&thread, NULL, ask_late, NULL));
    park();
    pthread_join(thread, NULL);
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK);
    ok(has_left_all(), "so does a request");
}

/* What the stream remembers of its wake, for others. */
static void test_woken(void)
{
    es->woken = true;
    push_to(1);
    park();
    ok(es->woken, "a wake is kept while there is a unit, which it may have been for");
    pop_from(1);
    abti_es_park_on(es, sched, &set, 0);
    ok(!es->woken, "and forgotten when others have taken all");
}

/* --- Several threads push to both pools. Sleeps for ever when a wake is lost --- */

static void *push_often(void *arg)
{
    unsigned random = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < PUSHES; i++) {
        random = random * 1103515245 + 12345;
        push_to((int)(random >> 20 & 1));
        if ((random >> 16 & 7) == 0)
            sched_yield();
    }
    return NULL;
}

static void test_race(void)
{
    pthread_t threads[PUSHERS];
    int num = 0, sleeps = 0;

    for (int i = 0; i < PUSHERS; i++)
        must(pthread_create(&threads[i], NULL, push_often, (void *)(intptr_t)(i + 1)));
    for (; num < PUSHERS * PUSHES; sleeps++) {
        for (int i = 0; i < POOLS; i++) {
            while (pop_from(i))
                num++;
        }
        if (num < PUSHERS * PUSHES)
            park();
    }
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(threads[i], NULL);
    is_int(num, PUSHERS * PUSHES, "all units come, with %d sleeps in between", sleeps);
    ok(pools[0]->num_coming == 0 && pools[1]->num_coming == 0 && has_left_all(), "nobody is expected any more");
}

int main(void)
{
    watchdog_begin(0);
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&es));
    sched = atomic_load(&es->main_sched);
    for (int i = 0; i < POOLS; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
        parkings[i].seeks = true;
    }
    test_awake();
    test_time();
    test_wakes();
    test_woken();
    test_race();
    es->woken = false;
    for (int i = 0; i < POOLS; i++)
        must(ABT_pool_free(&pools[i]));
    must(ABT_finalize());
    return done_testing();
}
