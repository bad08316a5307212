/* SPDX-License-Identifier: BSD-3-Clause */
/* What grows with a number: growth WORK NUMBER prints the nanoseconds of CPU time that all of it took, for
 * maint/bench --growth, which tells how. */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../check.h"

static ABT_pool pool;
static ABT_eventual eventual;
static long num_waiting;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *allocate(long num, size_t size)
{
    void *memory = calloc((size_t)num, size);
    if (!memory)
        exit(1);
    return memory;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* So many units at a time: they are made, then joined. */
static void units(long num)
{
    ABT_thread *threads = allocate(num, sizeof(*threads));
    for (long i = 0; i < num; i++)
        CHECK(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (long i = 0; i < num; i++)
        CHECK(ABT_thread_free(&threads[i]));
    free(threads);
}

/* So many pools at a time. */
static void pools(long num)
{
    ABT_pool *made = allocate(num, sizeof(*made));
    for (long i = 0; i < num; i++)
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &made[i]));
    for (long i = 0; i < num; i++)
        CHECK(ABT_pool_free(&made[i]));
    free(made);
}

static void waits(void *arg)
{
    (void)arg;
    num_waiting++; /* one stream */
    CHECK(ABT_eventual_wait(eventual, NULL));
}

/* So many units wait for one event at a time, then all go on. */
static void blocked(long num)
{
    ABT_thread *threads = allocate(num, sizeof(*threads));
    CHECK(ABT_eventual_create(0, &eventual));
    for (long i = 0; i < num; i++)
        CHECK(ABT_thread_create(pool, waits, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    while (num_waiting < num)
        CHECK(ABT_thread_yield());
    CHECK(ABT_eventual_set(eventual, NULL, 0));
    for (long i = 0; i < num; i++)
        CHECK(ABT_thread_free(&threads[i]));
    CHECK(ABT_eventual_free(&eventual));
    free(threads);
}

static void descend(void *arg)
{
    long depth = (long)arg;
    ABT_thread child;
    if (depth == 0)
        return;
    CHECK(ABT_thread_create(pool, descend, (void *)(depth - 1), ABT_THREAD_ATTR_NULL, &child));
    CHECK(ABT_thread_free(&child));
}

/* Each makes one and waits for it, so deep. */
static void nesting(long depth)
{
    descend((void *)depth);
}

/* A thousand units with stacks of so many bytes. */
static void stacks(long bytes)
{
    enum { NUM = 1000 };
    static ABT_thread threads[NUM];
    ABT_thread_attr attr;
    CHECK(ABT_thread_attr_create(&attr));
    CHECK(ABT_thread_attr_set_stacksize(attr, (size_t)bytes));
    for (int i = 0; i < NUM; i++)
        CHECK(ABT_thread_create(pool, nothing, NULL, attr, &threads[i]));
    for (int i = 0; i < NUM; i++)
        CHECK(ABT_thread_free(&threads[i]));
    CHECK(ABT_thread_attr_free(&attr));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long num);
    } works[] = {{"units", units}, {"pools", pools}, {"blocked", blocked}, {"nesting", nesting}, {"stacks", stacks}};
    ABT_xstream stream;
    long num = argc == 3 ? atol(argv[2]) : 0;

    for (size_t i = 0; num > 0 && i < sizeof(works) / sizeof(works[0]); i++) {
        if (strcmp(works[i].name, argv[1]) != 0)
            continue;
        CHECK(ABT_init(0, NULL));
        CHECK(ABT_xstream_self(&stream));
        CHECK(ABT_xstream_get_main_pools(stream, 1, &pool));
        double begin = now();
        works[i].run(num);
        printf("%.0f\n", now() - begin);
        CHECK(ABT_finalize());
        return 0;
    }
    return 2;
}
