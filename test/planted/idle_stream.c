/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: all units are created in one pool, and a second stream has nothing to do
 * run: ABT_STATS=1
 * exit: 0
 * says: ^stream 0: 100 units
 * says: ^stream 1: 0 units.*[1-9][0-9.]* % asleep
 */
#include <abt.h>

enum { UNITS = 100 };

static volatile long result;

static void work(void *arg)
{
    (void)arg;
    for (long i = 0; i < 500000; i++)
        result += i;
}

int main(void)
{
    ABT_pool pool;
    ABT_xstream idle;
    ABT_thread threads[UNITS];

    ABT_init(0, NULL);
    ABT_self_get_last_pool(&pool);
    ABT_xstream_create(ABT_SCHED_NULL, &idle);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&threads[i]);
    ABT_xstream_free(&idle);
    return ABT_finalize();
}
