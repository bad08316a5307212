/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waiting streams cost: the CPU time of an idle one, how long a push from outside takes to be noticed by it, and
 * what the throughput under load is beside that of a stream that never sleeps.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include "bench.h"

enum { MAX_POOLS = 4, PUSHES = 2000, ROUNDS = 31, UNITS = 10000, WINDOW = 512 };

static int over;

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static void nap_us(long us)
{
    struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    while (nanosleep(&ts, &ts) && errno == EINTR)
        ;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One line: a figure, and the limit that it has to keep. */
static void report(const char *what, double value, const char *unit, double limit)
{
    printf("%-60s %10.3f %-4s", what, value, unit);
    if (limit > 0) {
        printf(" at most %.3f%s", limit, value > limit ? "  OVER" : "");
        over += value > limit;
    }
    printf("\n");
}

/* --- An idle stream --- */

static void tell_clock(void *arg)
{
    CHECK(pthread_getcpuclockid(pthread_self(), arg));
}

static void measure_idle(void)
{
    ABT_xstream es;
    ABT_thread ult;
    clockid_t clock;

    CHECK(ABT_xstream_create(ABT_SCHED_NULL, &es));
    CHECK(ABT_thread_create_on_xstream(es, tell_clock, &clock, ABT_THREAD_ATTR_NULL, &ult));
    CHECK(ABT_thread_free(&ult));
    nap_us(10000);
    double cpu = seconds(clock), wall = now();
    nap_us(2000000);
    cpu = seconds(clock) - cpu;
    report("idle stream, default scheduler and pool: share of a core", cpu / (now() - wall) * 100, "%", 0.5);
    CHECK(ABT_xstream_free(&es));
}

/* --- The time from a push by an external thread to the first instruction of the unit --- */

static _Atomic(double) started;

static void tell_start(void *arg)
{
    (void)arg;
    atomic_store(&started, now());
}

struct latency {
    int num_pools;
    ABT_pool pools[MAX_POOLS];
    double us[PUSHES];
};

static void *push_now_and_then(void *arg)
{
    struct latency *l = arg;

    for (int i = 0; i < PUSHES; i++) {
        nap_us(300 + i % 7 * 20); /* the stream goes to sleep */
        atomic_store(&started, 0.0);
        double begin = now();
        CHECK(ABT_task_create(l->pools[i % l->num_pools], tell_start, NULL, NULL));
        double at;
        while ((at = atomic_load(&started)) == 0.0)
            nap_us(20);
        l->us[i] = (at - begin) * 1e6;
    }
    return NULL;
}

static void measure_latency(int num_pools)
{
    static struct latency l;
    ABT_xstream es;
    pthread_t thread;
    char what[80];

    l.num_pools = num_pools;
    for (int i = 0; i < num_pools; i++)
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &l.pools[i]));
    CHECK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, num_pools, l.pools, ABT_SCHED_CONFIG_NULL, &es));
    pthread_create(&thread, NULL, push_now_and_then, &l);
    pthread_join(thread, NULL);
    CHECK(ABT_xstream_free(&es));
    qsort(l.us, PUSHES, sizeof(double), by_value);
    snprintf(what, sizeof(what), "external push to an idle stream, %d pool%s: median", num_pools,
             num_pools > 1 ? "s" : "");
    report(what, l.us[PUSHES / 2], "us", 0);
    snprintf(what, sizeof(what), "external push to an idle stream, %d pool%s: p99", num_pools,
             num_pools > 1 ? "s" : "");
    report(what, l.us[PUSHES * 99 / 100], "us", 100);
}

/* --- Throughput --- */

static atomic_long ran;

static void count_up(void *arg)
{
    (void)arg;
    atomic_store_explicit(&ran, atomic_load_explicit(&ran, memory_order_relaxed) + 1, memory_order_release);
}

static int nothing_to_poll(void *arg)
{
    (void)arg;
    return 0;
}

static ABT_pool loaded;

/* An external thread keeps a window of units in the pool. */
static void *load(void *arg)
{
    double begin = now();

    atomic_store(&ran, 0);
    for (long i = 0; i < UNITS; i++) {
        while (i - atomic_load_explicit(&ran, memory_order_acquire) >= WINDOW)
            sched_yield();
        CHECK(ABT_task_create(loaded, count_up, NULL, NULL));
    }
    while (atomic_load_explicit(&ran, memory_order_acquire) < UNITS)
        sched_yield();
    *(double *)arg = (now() - begin) / UNITS * 1e9;
    return NULL;
}

static double load_ns(void)
{
    pthread_t thread;
    double ns;

    pthread_create(&thread, NULL, load, &ns);
    pthread_join(thread, NULL);
    return ns;
}

/* The same stream, in turns: as it is, and kept awake by a poller with period 0. */
static void measure_throughput(void)
{
    double passive[ROUNDS], active[ROUNDS], ratio[ROUNDS];
    ABT_xstream es;

    CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &loaded));
    CHECK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &loaded, ABT_SCHED_CONFIG_NULL, &es));
    load_ns();
    for (int i = 0; i < ROUNDS; i++) {
        passive[i] = load_ns();
        CHECK(ABTX_poller_add_every(es, nothing_to_poll, NULL, 0));
        active[i] = load_ns();
        CHECK(ABTX_poller_remove(es, nothing_to_poll, NULL));
        ratio[i] = passive[i] / active[i];
    }
    CHECK(ABT_xstream_free(&es));
    qsort(passive, ROUNDS, sizeof(double), by_value);
    qsort(active, ROUNDS, sizeof(double), by_value);
    qsort(ratio, ROUNDS, sizeof(double), by_value);
    report("units from outside, one stream: time for each, asleep when idle", passive[ROUNDS / 2], "ns", 0);
    report("units from outside, one stream: time for each, never asleep", active[ROUNDS / 2], "ns", 0);
    report("ratio of the two, median of adjacent rounds", ratio[ROUNDS / 2], "", 1.03);
}

int main(int argc, char **argv)
{
    CHECK(ABT_init(argc, argv));
    measure_idle();
    for (int num_pools = 1; num_pools <= MAX_POOLS; num_pools *= 2)
        measure_latency(num_pools);
    measure_throughput();
    CHECK(ABT_finalize());
    return over ? 1 : 0;
}
