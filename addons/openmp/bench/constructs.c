/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What constructs of OpenMP cost: `constructs MEMBERS MILLISECONDS [ROW]` prints for each row, or for the one of that
 * name, its name and the median of nanoseconds, measured for so long. maint/bench --openmp runs it with several
 * libraries, and maint/bench --cores runs rows of it in the simulator of many cores, whose marks are set for one ROW.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "marks.h"

#include "../test/fib.h"

enum { MOST_TIMES = 20000 };

static volatile long sink;
static int num_members;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void use(long i)
{
    __asm__ volatile("" ::"r"(i) : "memory");
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* -- Constructs: each function does a number of them -- */

enum { REGIONS = 20, BARRIERS = 200, ENTRIES = 1000, ITERATIONS = 20000, ORDERED = 2000 };

static void region(void)
{
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
        use(i);
    }
}

static void loop_region(void)
{
    for (int k = 0; k < REGIONS; k++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++)
            use(i);
    }
}

static void barrier(void)
{
#pragma omp parallel
    for (int i = 0; i < BARRIERS; i++) {
#pragma omp barrier
    }
}

static void single(void)
{
#pragma omp parallel
    for (int i = 0; i < ENTRIES; i++) {
#pragma omp single nowait
        use(i);
    }
}

static void critical(void)
{
#pragma omp parallel
    for (int i = 0; i < ENTRIES; i++) {
#pragma omp critical
        sink++;
    }
}

static void static_loop(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < ITERATIONS; i++)
            use(i);
    }
}

static void dynamic_loop(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < ITERATIONS; i++)
            use(i);
    }
}

static void guided_loop(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(guided)
        for (int i = 0; i < ITERATIONS; i++)
            use(i);
    }
}

static void ordered_loop(void)
{
#pragma omp parallel
    {
#pragma omp for ordered schedule(dynamic, 1)
        for (int i = 0; i < ORDERED; i++) {
#pragma omp ordered
            use(i);
        }
    }
}

/* -- Tasks, and regions in regions -- */

enum { FIB = 16, FIB_TASKS = 3192, TASKS = 2000, INNER = 200, WIDE = 20, NESTED = 100 };

FIB_BY_TASKS(fib)

static void task_tree(void)
{
#pragma omp parallel
#pragma omp single
    sink = fib(FIB);
}

static void one_creator(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        use(i);
    }
}

static void task_loop(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(TASKS)
    for (int i = 0; i < TASKS; i++)
        use(i);
}

static void depend_chain(void)
{
    static int link;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : link)
        use(i);
    }
}

static void inner_region(void)
{
#pragma omp parallel
    for (int i = 0; i < INNER; i++) {
#pragma omp parallel num_threads(2)
        use(i);
    }
}

static void wide_region(void)
{
#pragma omp parallel
    for (int i = 0; i < WIDE; i++) {
#pragma omp parallel num_threads(16)
        use(i);
    }
}

static void inner_if_0(void)
{
#pragma omp parallel
    for (int i = 0; i < INNER; i++) {
#pragma omp parallel if (0)
        use(i);
    }
}

static void nested_loops(void)
{
#pragma omp parallel for
    for (int i = 0; i < NESTED; i++) {
#pragma omp parallel for
        for (int j = 0; j < NESTED; j++)
            use(i + j);
    }
}

/* -- Rows -- */

static const struct row {
    const char *name;
    void (*run)(void);
    int constructs;
    int is_each; /* constructs of each member */
} rows[] = {
    {"region", region, REGIONS, 0},
    {"loop region", loop_region, REGIONS, 0},
    {"barrier", barrier, BARRIERS, 0},
    {"single nowait", single, ENTRIES, 0},
    {"critical", critical, ENTRIES, 1},
    {"static loop", static_loop, ITERATIONS, 0},
    {"dynamic loop", dynamic_loop, ITERATIONS, 0},
    {"guided loop", guided_loop, ITERATIONS, 0},
    {"ordered loop", ordered_loop, ORDERED, 0},
    {"task of a tree", task_tree, FIB_TASKS, 0},
    {"task by one creator", one_creator, TASKS, 0},
    {"taskloop", task_loop, TASKS, 0},
    {"depend chain", depend_chain, TASKS, 0},
    {"inner region of 2", inner_region, INNER, 0},
    {"inner region of 16", wide_region, WIDE, 0},
    {"inner region, if(0)", inner_if_0, INNER, 0},
    {"nested loops", nested_loops, 1, 0},
};

static void measure(const struct row *row, double budget_ns, int is_marked)
{
    static double times[MOST_TIMES];
    double each = row->constructs * (row->is_each ? num_members : 1), begin_ns = now_ns();
    int num = 0;
    row->run();
    if (is_marked)
        mark_begin();
    do {
        double start = now_ns();
        row->run();
        times[num++] = (now_ns() - start) / each;
    } while (num < MOST_TIMES && (num < 3 || now_ns() - begin_ns < budget_ns));
    if (is_marked)
        mark_end(num * each);
    qsort(times, (size_t)num, sizeof(times[0]), compare);
    printf("%s\t%.1f\n", row->name, times[num / 2]);
    fflush(stdout);
}

/* -- Work: a region with work, divided among its members, and the same work by one thread -- */

static void work(long num)
{
    double x = 1;
    for (long i = 0; i < num; i++)
        x = x * 1.0000001 + (x > 2 ? -1 : 0);
    sink = (long)x;
}

/* Prints how long the region takes, in percent of the time of one thread. */
static void measure_work(double work_ns, double budget_ns)
{
    static double ratios[MOST_TIMES];
    enum { SAMPLE = 100000 };
    double start = now_ns(), begin_ns;
    work(SAMPLE);
    start = now_ns();
    work(SAMPLE);
    long num = (long)(work_ns * SAMPLE / (now_ns() - start));
    begin_ns = now_ns();
    int times = 0;
    do {
        start = now_ns();
        work(num);
        double serial = now_ns() - start;
        start = now_ns();
#pragma omp parallel
        work(num / num_members);
        ratios[times++] = 100 * (now_ns() - start) / serial;
    } while (times < MOST_TIMES && now_ns() - begin_ns < budget_ns);
    qsort(ratios, (size_t)times, sizeof(ratios[0]), compare);
    printf("work of %.0f us, %%\t%.1f\n", work_ns / 1000, ratios[times / 2]);
}

int main(int argc, char **argv)
{
    double budget_ns = (argc > 2 ? atof(argv[2]) : 100) * 1e6;
    num_members = argc > 1 ? atoi(argv[1]) : 2;
    omp_set_num_threads(num_members);
    omp_set_max_active_levels(2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (argc <= 3 || strcmp(argv[3], rows[i].name) == 0)
            measure(&rows[i], budget_ns, argc > 3);
    if (argc > 3)
        return 0;
    measure_work(1e6, 2 * budget_ns);
    measure_work(1e5, 2 * budget_ns);
    return 0;
}
