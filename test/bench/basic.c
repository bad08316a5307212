/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the common operations cost on one core, as multiples of one raw out-of-line switch measured in the same run.
 * Rounds are interleaved; the median is reported, with the lowest and highest round. Options: the number of rounds.
 */
#include "bench.h"

enum { MAX_UNITS = 16384 };

static ABT_pool pool;
static ABT_thread units[MAX_UNITS];

static void nothing(void *arg)
{
    (void)arg;
}

static void yields(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--)
        ABT_thread_yield();
}

static double create_free(int n)
{
    long rounds = 200000 / n + 1;
    double start = bench_now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_free(&units[i]);
    }
    return (bench_now_ns() - start) / (double)rounds / n;
}

static double create_join_free(int n)
{
    long rounds = 200000 / n + 1;
    double start = bench_now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_join(units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_free(&units[i]);
    }
    return (bench_now_ns() - start) / (double)rounds / n;
}

static double tasklets(int n)
{
    long rounds = 200000 / n + 1;
    double start = bench_now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_task_create(pool, nothing, NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_task_free(&units[i]);
    }
    return (bench_now_ns() - start) / (double)rounds / n;
}

static double yield(int n)
{
    long each = 400000 / n;
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_create(pool, yields, (void *)(intptr_t)each, ABT_THREAD_ATTR_NULL, &units[i]));
    double start = bench_now_ns();
    for (int i = 0; i < n; i++)
        ABT_thread_free(&units[i]);
    return (bench_now_ns() - start) / (double)each / n;
}

static struct bench_work work[] = {
    {"raw switch", bench_raw_switch, 200000, 0, NULL},
    {"ULT create+run+join+free, 256", create_free, 256, 6, NULL},
    {"ULT create, join, free in three loops, 256", create_join_free, 256, 0, NULL},
    {"ULT create+run+join+free, 16384", create_free, MAX_UNITS, 0, NULL},
    {"yield, 2 ULTs", yield, 2, 0, NULL},
    {"yield, 256 ULTs", yield, 256, 3.5, NULL},
    {"tasklet create+run+free, 256", tasklets, 256, 4, NULL},
};

int main(int argc, char **argv)
{
    enum { KINDS = sizeof(work) / sizeof(work[0]) };
    int rounds = bench_rounds(argc, argv, 31);
    pool = bench_begin(argc, argv);
    bench_measure(work, KINDS, rounds);
    CHECK(ABT_finalize());
    return bench_print(work, KINDS, rounds) > 0 ? 1 : 0;
}
