/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a thread of another library run ULTs of its own? It enters an execution stream, which needs no ABT_init:
 * what it runs is a ULT then, which may yield, join and be suspended.
 *
 *   cc enter.c $(pkg-config --cflags --libs argobots) -lpthread -o enter
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, UNITS = 100 };

static void adds(void *arg)
{
    ABT_self_yield(); /* to the others of the same thread */
    ++*(int *)arg;
}

static void *native(void *arg)
{
    int *sum = arg;
    ABT_xstream self;
    ABT_pool pool;
    ABT_thread units[UNITS];

    if (ABTX_xstream_enter(ABT_SCHED_NULL, &self) != ABT_SUCCESS)
        return NULL;
    ABT_xstream_get_main_pools(self, 1, &pool); /* its own: nobody else runs what is there */
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, adds, sum, ABT_THREAD_ATTR_NULL, &units[i]);
    ABT_thread_free_many(UNITS, units);
    ABTX_xstream_leave(&self);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int sums[THREADS] = {0}, wrong = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, native, &sums[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %d has counted to %d\n", i, sums[i]);
        wrong += sums[i] != UNITS;
    }
    return wrong;
}
