/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What synchronisation costs on one stream with a private pool, as multiples of one raw out-of-line switch measured in
 * the same run. Options: the number of rounds.
 */
#include "bench.h"

enum { MAX_ULTS = 64, OPERATIONS = 100000 };

static ABT_pool pool;
static ABT_mutex mutex;
static ABT_cond cond;
static ABT_barrier barrier;
static ABT_eventual ping, pong;
static int turn;

/* ns per operation of n ULTs that do OPERATIONS in all; func gets how many each does. */
static double run_ults(void (*func)(void *), int n)
{
    ABT_thread ults[MAX_ULTS];
    long each = OPERATIONS / n;
    double start = bench_now_ns();
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_create(pool, func, (void *)(intptr_t)each, ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_free(&ults[i]));
    return (bench_now_ns() - start) / (double)each / n;
}

static void locks(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--) {
        ABT_mutex_lock(mutex);
        ABT_mutex_unlock(mutex);
    }
}

static void locks_and_yields(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--) {
        ABT_mutex_lock(mutex);
        ABT_thread_yield();
        ABT_mutex_unlock(mutex);
    }
}

static double lock_unlock(int n)
{
    return run_ults(locks, n);
}

static double contended(int n)
{
    return run_ults(locks_and_yields, n);
}

static void serves(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--) {
        ABT_eventual_set(ping, NULL, 0);
        ABT_eventual_wait(pong, NULL);
        ABT_eventual_reset(pong);
    }
}

static void returns(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--) {
        ABT_eventual_wait(ping, NULL);
        ABT_eventual_reset(ping);
        ABT_eventual_set(pong, NULL, 0);
    }
}

/* There and back: two hand-overs, each a set and a wait. */
static double ping_pong(int n)
{
    ABT_thread ults[2];
    double start = bench_now_ns();
    CHECK(ABT_thread_create(pool, returns, (void *)(intptr_t)n, ABT_THREAD_ATTR_NULL, &ults[0]));
    CHECK(ABT_thread_create(pool, serves, (void *)(intptr_t)n, ABT_THREAD_ATTR_NULL, &ults[1]));
    CHECK(ABT_thread_free(&ults[0]));
    CHECK(ABT_thread_free(&ults[1]));
    return (bench_now_ns() - start) / n / 2;
}

static void takes_turns(void *arg)
{
    int me = (int)(intptr_t)arg;
    ABT_mutex_lock(mutex);
    for (long n = OPERATIONS / 2; n > 0; n--) {
        while (turn != me)
            ABT_cond_wait(cond, mutex);
        turn = !me;
        ABT_cond_signal(cond);
    }
    ABT_mutex_unlock(mutex);
}

static double cond_turns(int n)
{
    ABT_thread ults[2];
    double start = bench_now_ns();
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_create(pool, takes_turns, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_free(&ults[i]));
    return (bench_now_ns() - start) / OPERATIONS;
}

static void meets(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--)
        ABT_barrier_wait(barrier);
}

static double barriers(int n)
{
    return run_ults(meets, n);
}

static struct bench_work work[] = {
    {"raw switch", bench_raw_switch, 200000, 0, NULL},
    {"mutex lock+unlock, uncontended", lock_unlock, 1, 4.1, NULL},
    {"mutex, 8 ULTs with a yield inside", contended, 8, 16, NULL},
    {"eventual ping-pong, per hand-over", ping_pong, OPERATIONS / 2, 8.5, NULL},
    {"cond ping-pong, per hand-over", cond_turns, 2, 0, NULL},
    {"barrier of 64, per ULT", barriers, 64, 4.3, NULL},
};

int main(int argc, char **argv)
{
    enum { KINDS = sizeof(work) / sizeof(work[0]) };
    int rounds = bench_rounds(argc, argv, 31);
    pool = bench_begin(argc, argv);
    CHECK(ABT_mutex_create(&mutex));
    CHECK(ABT_cond_create(&cond));
    CHECK(ABT_eventual_create(0, &ping));
    CHECK(ABT_eventual_create(0, &pong));
    CHECK(ABT_barrier_create(MAX_ULTS, &barrier));
    bench_measure(work, KINDS, rounds);
    CHECK(ABT_mutex_free(&mutex));
    CHECK(ABT_cond_free(&cond));
    CHECK(ABT_eventual_free(&ping));
    CHECK(ABT_eventual_free(&pong));
    CHECK(ABT_barrier_free(&barrier));
    CHECK(ABT_finalize());
    return bench_print(work, KINDS, rounds) > 0 ? 1 : 0;
}
