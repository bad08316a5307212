/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LLVM's race detector Archer, which maint/check-openmp --llvm runs: with the argument 1, 2 or 3 the program has a
 * race, at a line that says so. With none it has constructs of many kinds, and with 4 kernels in the manner of the NAS
 * Parallel Benchmarks, and no race.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tasks.h"

enum { NUM = 1000, ROUNDS = 5, TASKS = 20 };

static int a[NUM], b[NUM];

static int race_in_region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4)
    sum++; /* race 1 */
    return sum;
}

static int race_of_tasks(void)
{
    int x = 0, y = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task shared(x) depend(out : y)
        usleep(20000), x = 1; /* race 2 */
#pragma omp task shared(x) depend(out : x)
        usleep(20000), x = 2; /* race 2 */
#pragma omp taskwait
    }
    return x + y;
}

static int race_of_loops(void)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp for nowait
        for (int i = 0; i < NUM; i++)
            a[i] = i; /* race 3 */
#pragma omp for
        for (int i = 0; i < NUM; i++)
            a[NUM - 1 - i] += 1; /* race 3 */
    }
    return a[0];
}

FIB_BY_TASKS(fib)

/* Dependences, groups, loops of tasks, and a wait for some: by one member. */
static void run_tasks(int *counts, int *sum)
{
    int x = 0;
    for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : counts[i % 5])
        counts[i % 5]++;
    }
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task shared(sum)
        ++*sum;
    }
    ++*sum;
#pragma omp task shared(x) depend(out : x)
    x = 1;
#pragma omp taskwait depend(in : x)
    x++;
#pragma omp taskloop shared(a)
    for (int i = 0; i < NUM; i++)
        a[i] += x;
}

static int run_all(void)
{
    static omp_lock_t lock;
    static omp_nest_lock_t nest;
    int sum = 0, counts[5] = {0}, by_lock = 0, by_nest = 0, by_critical = 0, in_order = 0, by_fib = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp for
            for (int i = 0; i < NUM; i++)
                a[i] = i;
#pragma omp for schedule(dynamic, 7) reduction(+ : sum)
            for (int i = 0; i < NUM; i++)
                sum += b[NUM - 1 - i] = a[i];
#pragma omp critical
            by_critical++;
            omp_set_lock(&lock);
            by_lock++;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            by_nest++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
#pragma omp barrier
#pragma omp single
            by_fib = fib(12);
#pragma omp master
            run_tasks(counts, &by_fib);
#pragma omp barrier
#pragma omp for ordered
            for (int i = 0; i < TASKS; i++) {
#pragma omp ordered
                in_order += i;
            }
#pragma omp for
            for (int i = 0; i < NUM; i++)
                b[i] = a[NUM - 1 - i];
        }
    }
    return sum + counts[0] + by_lock + by_nest + by_critical + in_order + by_fib;
}

/* -- Kernels -- */

enum { KEYS = 64, SIDE = 18, MOST = 8 };

static double u[SIDE][SIDE][SIDE], v[SIDE][SIDE][SIDE], p[NUM], q[NUM], r[NUM], dot, rho;
static int counts[MOST][KEYS], ranks[KEYS], flags[MOST], mine[KEYS];
#pragma omp threadprivate(mine)

/* EP: each thread has counts of its own. */
static void count_pairs(void)
{
    memset(mine, 0, sizeof(mine));
#pragma omp for reduction(+ : dot) nowait
    for (unsigned i = 0; i < NUM; i++) {
        mine[i * 2654435761U >> 26]++;
        dot += i;
    }
#pragma omp critical
    for (int i = 0; i < KEYS; i++)
        ranks[i] += mine[i];
}

/* IS: counts of all threads are added by key. */
static void rank_keys(void)
{
    int *own = counts[omp_get_thread_num()];
    memset(own, 0, sizeof(counts[0]));
#pragma omp for schedule(static) nowait
    for (int i = 0; i < NUM; i++)
        own[a[i] % KEYS]++;
#pragma omp barrier
    for (int k = 0; k < omp_get_num_threads(); k++) {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < KEYS; i++)
            ranks[i] += counts[k][i];
    }
}

/* CG: products and sums, between which all meet. */
static void solve(void)
{
    for (int step = 0; step < ROUNDS; step++) {
#pragma omp master
        dot = rho = 0;
#pragma omp barrier
#pragma omp for nowait
        for (int i = 0; i < NUM; i++)
            q[i] = 2 * p[i] - p[(i + 1) % NUM] / 2 - p[(i + NUM - 1) % NUM] / 2;
#pragma omp for reduction(+ : dot)
        for (int i = 0; i < NUM; i++)
            dot += p[i] * q[i];
        double alpha = 1 / (1 + dot);
#pragma omp for reduction(+ : rho)
        for (int i = 0; i < NUM; i++)
            rho += (r[i] -= alpha * q[i]) * r[i];
#pragma omp for
        for (int i = 0; i < NUM; i++)
            p[i] = r[i] + rho * p[i];
    }
}

/* MG and FT: a stencil, and lines in another direction by whoever is free. */
static void smooth(void)
{
#pragma omp for collapse(2)
    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int k = 1; k < SIDE - 1; k++)
                v[i][j][k] = (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] + u[i][j][k - 1]) / 5;
#pragma omp for schedule(dynamic)
    for (int k = 0; k < SIDE; k++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                u[i][j][k] = v[j][i][k] + 1;
}

/* LU: each thread follows the one before, by flags. */
static void sweep(void)
{
    int me = omp_get_thread_num(), seen = 0;
    for (int i = 1; i < SIDE; i++) {
        while (me > 0 && seen < i) {
#pragma omp atomic read acquire
            seen = flags[me - 1];
        }
#pragma omp for schedule(static) nowait
        for (int j = 1; j < SIDE; j++)
            u[i][j][0] += u[i - 1][j][0] + u[i][j - 1][0];
#pragma omp atomic write release
        flags[me] = i;
    }
}

static int run_kernels(void)
{
    for (int num = 2; num <= MOST; num *= 2) {
        memset(flags, 0, sizeof(flags));
        for (int i = 0; i < NUM; i++)
            p[i] = r[i] = a[i] = i;
#pragma omp parallel num_threads(num)
        {
            count_pairs();
#pragma omp barrier
            rank_keys();
#pragma omp barrier
            solve();
            smooth();
            sweep();
        }
    }
    return ranks[0] + (u[SIDE - 1][1][0] > 0) + (p[1] > rho);
}

int main(int argc, char **argv)
{
    int (*const programs[])(void) = {run_all, race_in_region, race_of_tasks, race_of_loops, run_kernels};
    int which = argc > 1 ? atoi(argv[1]) : 0;
    printf("%d\n", programs[which]());
    return 0;
}
