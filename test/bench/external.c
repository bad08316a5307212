/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * External pthreads on our mutex, cond and barrier, beside pthread's own objects in the same run: wall and CPU time of
 * the same work, in interleaved rounds, and the ratio of the medians. Threads that are not more than the cores get one
 * each: left to the system, two often share a core, where they never meet, and what is compared is where they were put.
 * Options: the number of rounds; a number of threads, and a work by the beginning of its name, to measure nothing else.
 */
#include <stdbool.h>
#include <string.h>
#include "bench.h"
#include "native.h"

enum { MAX_THREADS = 256, MAX_ROUNDS = 101 };

static ABT_mutex abt_mutex;
static ABT_cond abt_cond;
static ABT_barrier abt_barrier;

static void abt_lock(void)
{
    ABT_mutex_lock(abt_mutex);
}

static void abt_unlock(void)
{
    ABT_mutex_unlock(abt_mutex);
}

static void abt_wait(void)
{
    ABT_cond_wait(abt_cond, abt_mutex);
}

static void abt_signal(void)
{
    ABT_cond_signal(abt_cond);
}

static void abt_broadcast(void)
{
    ABT_cond_broadcast(abt_cond);
}

static void abt_meet(void)
{
    ABT_barrier_wait(abt_barrier);
}

static const struct native_kind abt = {abt_lock, abt_unlock, abt_wait, abt_signal, abt_broadcast, abt_meet};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), by_value);
    return values[n / 2];
}

static const char *only = "";

static int compare(const char *name, enum native_work work, int threads, long total, int rounds)
{
    double wall[2][MAX_ROUNDS], cpu[2][MAX_ROUNDS];
    if (strncmp(name, only, strlen(only)) != 0)
        return 0;
    for (int r = 0; r < rounds; r++) {
        native_measure(&abt, work, threads, total, &wall[0][r], &cpu[0][r]);
        native_measure(&native_pthread, work, threads, total, &wall[1][r], &cpu[1][r]);
    }
    double w0 = median(wall[0], rounds), w1 = median(wall[1], rounds);
    double c0 = median(cpu[0], rounds), c1 = median(cpu[1], rounds);
    bool over = w0 > 1.2 * w1 || (threads == MAX_THREADS && c0 > c1);
    printf("%-16s %4d threads %9.1f %9.1f %6.2f   %9.1f %9.1f %6.2f%s\n", name, threads, w0, w1, w0 / w1, c0, c1,
           c0 / c1, over ? "  OVER" : "");
    fflush(stdout);
    return over;
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, 64, 256};
    int rounds = bench_rounds(argc, argv, 9), only_count = argc > 2 ? atoi(argv[2]) : 0, over = 0;
    only = argc > 3 ? argv[3] : "";
    if (rounds > MAX_ROUNDS)
        rounds = MAX_ROUNDS;
    CHECK(ABT_init(argc, argv));
    CHECK(ABT_mutex_create(&abt_mutex));
    CHECK(ABT_cond_create(&abt_cond));
    printf("%-29s %9s %9s %6s   %9s %9s %6s\n", "ns per operation", "wall", "pthread", "ratio", "CPU", "pthread",
           "ratio");
    for (int i = 0; i < 4; i++) {
        int n = counts[i];
        if (only_count && n != only_count)
            continue;
        CHECK(ABT_barrier_create((uint32_t)n, &abt_barrier));
        native_pthread_start(n);
        over += compare("mutex", NATIVE_LOCKS, n, 2000000, rounds);
        over += compare("cond, signal", NATIVE_SIGNALS, n, 1000000, rounds);
        over += compare("cond, broadcast", NATIVE_BROADCASTS, n, 40000, rounds);
        over += compare("barrier", NATIVE_MEETS, n, 40000, rounds);
        native_pthread_stop();
        CHECK(ABT_barrier_free(&abt_barrier));
    }
    CHECK(ABT_cond_free(&abt_cond));
    CHECK(ABT_mutex_free(&abt_mutex));
    CHECK(ABT_finalize());
    return over > 0;
}
