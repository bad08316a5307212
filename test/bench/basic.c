/*
 * What the common operations cost on one core, as multiples of one raw out-of-line switch measured in the same run.
 * Rounds are interleaved; the median is reported, with the lowest and highest round. Options: the number of rounds.
 */
#include <abt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "raw_switch.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != ABT_SUCCESS) {                                                                                    \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, code_);                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { MAX_UNITS = 16384, MAX_ROUNDS = 201 };

static ABT_pool pool;
static ABT_thread units[MAX_UNITS];

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void yields(void *arg)
{
    for (long n = (long)(intptr_t)arg; n > 0; n--)
        ABT_thread_yield();
}

static double raw(int n)
{
    return raw_switch_ns(n);
}

static double create_free(int n)
{
    long rounds = 200000 / n + 1;
    double start = now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_free(&units[i]);
    }
    return (now_ns() - start) / (double)rounds / n;
}

static double create_join_free(int n)
{
    long rounds = 200000 / n + 1;
    double start = now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_join(units[i]);
        for (int i = 0; i < n; i++)
            ABT_thread_free(&units[i]);
    }
    return (now_ns() - start) / (double)rounds / n;
}

static double tasklets(int n)
{
    long rounds = 200000 / n + 1;
    double start = now_ns();
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            ABT_task_create(pool, nothing, NULL, &units[i]);
        for (int i = 0; i < n; i++)
            ABT_task_free(&units[i]);
    }
    return (now_ns() - start) / (double)rounds / n;
}

static double yield(int n)
{
    long each = 400000 / n;
    for (int i = 0; i < n; i++)
        CHECK(ABT_thread_create(pool, yields, (void *)(intptr_t)each, ABT_THREAD_ATTR_NULL, &units[i]));
    double start = now_ns();
    for (int i = 0; i < n; i++)
        ABT_thread_free(&units[i]);
    return (now_ns() - start) / (double)each / n;
}

static struct {
    const char *name;
    double (*run)(int);
    int n;
    double limit; /* in raw switches; 0: none */
    double ns[MAX_ROUNDS];
} work[] = {
    {"raw switch", raw, 200000, 0, {0}},
    {"ULT create+run+join+free, 256", create_free, 256, 6, {0}},
    {"ULT create, join, free in three loops, 256", create_join_free, 256, 0, {0}},
    {"ULT create+run+join+free, 16384", create_free, MAX_UNITS, 0, {0}},
    {"yield, 2 ULTs", yield, 2, 0, {0}},
    {"yield, 256 ULTs", yield, 256, 3.5, {0}},
    {"tasklet create+run+free, 256", tasklets, 256, 4, {0}},
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { KINDS = sizeof(work) / sizeof(work[0]) };
    int rounds = argc > 1 ? atoi(argv[1]) : 31;
    if (rounds < 1 || rounds > MAX_ROUNDS)
        rounds = 31;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);

    ABT_xstream es;
    CHECK(ABT_init(argc, argv));
    CHECK(ABT_xstream_self(&es));
    CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    CHECK(ABT_xstream_set_main_sched_basic(es, ABT_SCHED_DEFAULT, 1, &pool));
    for (int r = -1; r < rounds; r++) { /* round -1 warms up */
        for (int k = 0; k < KINDS; k++)
            work[k].ns[r < 0 ? 0 : r] = work[k].run(work[k].n);
    }
    CHECK(ABT_finalize());

    int over = 0;
    for (int k = 0; k < KINDS; k++)
        qsort(work[k].ns, (size_t)rounds, sizeof(double), by_value);
    double unit = work[0].ns[rounds / 2];
    printf("%-44s %8s %8s %8s %8s %8s\n", "", "ns", "lowest", "highest", "x raw", "at most");
    for (int k = 0; k < KINDS; k++) {
        double median = work[k].ns[rounds / 2];
        printf("%-44s %8.2f %8.2f %8.2f %8.2f", work[k].name, median, work[k].ns[0], work[k].ns[rounds - 1],
               median / unit);
        if (work[k].limit > 0) {
            printf(" %8.1f%s", work[k].limit, median / unit > work[k].limit ? "  OVER" : "");
            over += median / unit > work[k].limit;
        }
        printf("\n");
    }
    return over ? 1 : 0;
}
