/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <sched.h>
#include <time.h>
#include "raw_switch.h"

double bench_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

void bench_stay_on_one_core(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
}

ABT_pool bench_begin(int argc, char **argv)
{
    ABT_xstream es;
    ABT_pool pool;
    bench_stay_on_one_core();
    CHECK(ABT_init(argc, argv));
    CHECK(ABT_xstream_self(&es));
    CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    CHECK(ABT_xstream_set_main_sched_basic(es, ABT_SCHED_DEFAULT, 1, &pool));
    return pool;
}

double bench_raw_switch(int n)
{
    return raw_switch_ns(n);
}

int bench_rounds(int argc, char **argv, int otherwise)
{
    int rounds = argc > 1 ? atoi(argv[1]) : otherwise;
    return rounds > 0 ? rounds : otherwise;
}

void bench_measure(struct bench_work *work, int kinds, int rounds)
{
    for (int k = 0; k < kinds; k++) {
        work[k].ns = calloc((size_t)rounds, sizeof(double));
        if (!work[k].ns) {
            perror("calloc");
            exit(1);
        }
    }
    for (int r = -1; r < rounds; r++) { /* round -1 warms up */
        for (int k = 0; k < kinds; k++)
            work[k].ns[r < 0 ? 0 : r] = work[k].run(work[k].n);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int bench_print(struct bench_work *work, int kinds, int rounds)
{
    int over = 0;
    for (int k = 0; k < kinds; k++)
        qsort(work[k].ns, (size_t)rounds, sizeof(double), by_value);
    double unit = work[0].ns[rounds / 2];
    printf("%-44s %8s %8s %8s %8s %8s\n", "", "ns", "lowest", "highest", "x raw", "at most");
    for (int k = 0; k < kinds; k++) {
        double median = work[k].ns[rounds / 2];
        printf("%-44s %8.2f %8.2f %8.2f %8.2f", work[k].name, median, work[k].ns[0], work[k].ns[rounds - 1],
               median / unit);
        if (work[k].limit > 0) {
            printf(" %8.1f%s", work[k].limit, median / unit > work[k].limit ? "  OVER" : "");
            over += median / unit > work[k].limit;
        }
        printf("\n");
        free(work[k].ns);
    }
    return over;
}
