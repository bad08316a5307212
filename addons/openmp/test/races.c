/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LLVM's race detector Archer, which maint/check-openmp --llvm runs: with the argument 1, 2 or 3 the program has a
 * race, at a line that says so; with none it has constructs of many kinds, and no race.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int fib(int n)
{
    int x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

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

int main(int argc, char **argv)
{
    int (*const programs[])(void) = {run_all, race_in_region, race_of_tasks, race_of_loops};
    int which = argc > 1 ? atoi(argv[1]) : 0;
    printf("%d\n", programs[which]());
    return 0;
}
