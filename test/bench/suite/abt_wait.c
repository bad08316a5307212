/* SPDX-License-Identifier: BSD-3-Clause */
/* ULTs that wait for what comes from outside of their streams: events of a queue that all streams could look at, and a
 * call that blocks the native thread. */
#include "abt_team.h"
#include "native.h"

#include <pthread.h>

/* A library of 1.2 has none of these: the works are not listed then. */
#pragma weak ABTX_driver_create
#pragma weak ABTX_driver_set_period
#pragma weak ABTX_driver_attach_all
#pragma weak ABTX_driver_free
#pragma weak ABTX_blocking_begin
#pragma weak ABTX_blocking_end

bool abt_has_drivers(void)
{
    return ABTX_driver_set_period && ABTX_blocking_begin;
}

/* ---- Events: a poll finds one for each ULT that waits ---- */

enum { EVENTS = 20000 };

struct wait {
    struct wait *next;
    ABT_eventual come;
};

static struct wait waits[TEAM_MAX_DEALT];
static struct {
    pthread_mutex_t lock; /* as in a library that has one */
    struct wait *waiting;
    long events;
} queue = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};
static long each; /* events of one ULT */
static int num_ults, pause_ns;

static ABT_bool look(void *data, ABT_bool about_to_sleep)
{
    pthread_mutex_lock(&queue.lock);
    struct wait *first = queue.waiting;
    queue.waiting = NULL;
    for (const struct wait *wait = first; wait; wait = wait->next)
        queue.events++;
    pthread_mutex_unlock(&queue.lock);
    for (struct wait *next, *wait = first; wait; wait = next) {
        next = wait->next; /* it is used again as soon as its ULT runs */
        CHECK(ABT_eventual_set(wait->come, NULL, 0));
    }
    return first ? ABT_TRUE : ABT_FALSE;
}

static void wait_for_events(void *arg)
{
    struct wait *mine = &waits[(intptr_t)arg];
    for (long n = each; n > 0; n--) {
        pthread_mutex_lock(&queue.lock);
        mine->next = queue.waiting;
        queue.waiting = mine;
        pthread_mutex_unlock(&queue.lock);
        CHECK(ABT_eventual_wait(mine->come, NULL));
        CHECK(ABT_eventual_reset(mine->come));
        if (pause_ns)
            suite_compute(pause_ns);
    }
}

static void serve_events(void *arg)
{
    queue.events = 0;
    team_deal_out(num_ults, wait_for_events);
    suite_expect(queue.events, each * num_ults, "the number of events");
}

static cpu_set_t cores;

static void settle(void *arg)
{
    native_stay_on_core(*(const int *)arg, &cores);
}

/* Left to the system, streams that spin may share a core. */
static void settle_all(void)
{
    int numbers[SUITE_MAX_STREAMS];
    sched_getaffinity(0, sizeof(cores), &cores);
    for (int i = 0; i < team.num; i++)
        numbers[i] = i % CPU_COUNT(&cores);
    team_everywhere(settle, numbers, sizeof(numbers[0]));
}

static void run_events(const struct suite_work *work, int pause)
{
    ABTX_driver_ops ops = {.poll = look, .one_leader = work->variant};
    ABTX_driver driver;

    team_start(TEAM_MPMC);
    settle_all();
    num_ults = (int)work->n * team.num;
    each = (pause ? EVENTS / 10 : EVENTS) / num_ults;
    pause_ns = pause;
    for (int i = 0; i < num_ults; i++)
        CHECK(ABT_eventual_create(0, &waits[i].come));
    CHECK(ABTX_driver_create(&ops, NULL, &driver));
    CHECK(ABTX_driver_set_period(driver, 0));
    CHECK(ABTX_driver_attach_all(driver));
    suite_run(serve_events, NULL, (double)(each * num_ults));
    CHECK(ABTX_driver_free(&driver));
    for (int i = 0; i < num_ults; i++)
        CHECK(ABT_eventual_free(&waits[i].come));
    team_stop();
}

static void run_only_events(const struct suite_work *work)
{
    run_events(work, 0);
}

static void run_events_apart(const struct suite_work *work)
{
    run_events(work, 500);
}

/* ---- A blocking region: how long until the other ULT of the stream runs ---- */

static double begun; /* the other one, in suite_now_ns() */

static void note_time(void *arg)
{
    begun = suite_now_ns();
}

static void measure_region(struct suite_samples *samples, void (*block)(long), long ns)
{
    ABT_thread other;
    suite_sleep(50000); /* the thread that is going to carry the stream is asleep, too */
    begun = 0;
    CHECK(ABT_thread_create(team.pools[0], note_time, NULL, ABT_THREAD_ATTR_NULL, &other));
    double begin = suite_now_ns();
    CHECK(ABTX_blocking_begin());
    block(ns);
    CHECK(ABTX_blocking_end());
    CHECK(ABT_thread_free(&other));
    suite_expect(begun > begin, 1, "whether the other one ran after the region began");
    suite_add(samples, begun - begin);
}

static void run_region(const struct suite_work *work, void (*block)(long))
{
    struct suite_samples samples = {NULL, 0, 0};
    double end = suite_now_ns() + 20 * suite_budget_ns;
    team_start(TEAM_MPMC);
    while (samples.num < 5 || suite_now_ns() < end)
        measure_region(&samples, block, work->n);
    suite_report(&samples, 1);
    team_stop();
}

static void run_sleep(const struct suite_work *work)
{
    run_region(work, suite_sleep);
}

static void run_compute(const struct suite_work *work)
{
    run_region(work, suite_compute);
}

#define EVENTS_OF(name, run, n)                                                                                        \
    {name, "each looks", "2", run, n, ABT_FALSE},                                                                      \
    {                                                                                                                  \
        name, "one leader", "2", run, n, ABT_TRUE                                                                      \
    }

const struct suite_work abt_wait_works[] = {
    EVENTS_OF("events-each", run_only_events, 1),
    EVENTS_OF("events-16", run_only_events, 16),
    EVENTS_OF("events-apart", run_events_apart, 16),
    {"blocks-10us", "blocking region", "2", run_sleep, 10000, 0},
    {"blocks-100us", "blocking region", "2", run_sleep, 100000, 0},
    {"blocks-1ms", "blocking region", "2", run_sleep, 1000000, 0},
    {"computes-1ms", "blocking region", "2", run_compute, 1000000, 0},
};
const int abt_wait_num = sizeof(abt_wait_works) / sizeof(abt_wait_works[0]);
