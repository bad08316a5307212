/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: one of two functions takes nearly all the time, and nobody knows which
 * run: ABT_STATS=1
 * flags: -rdynamic
 * exit: 0
 * says: ^stream 0: 40 units
 * says: ^function slow_one: 20 units
 * says: ^function quick_one: 20 units
 */
#include <abt.h>

enum { UNITS = 20 };

static volatile long result;

/* The functions are printed by the time that they took. */
void slow_one(void *arg)
{
    (void)arg;
    for (long i = 0; i < 1000000; i++)
        result += i;
}

void quick_one(void *arg)
{
    (void)arg;
    result++;
}

int main(void)
{
    ABT_pool pool;
    ABT_thread threads[2 * UNITS];

    ABT_init(0, NULL);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < 2 * UNITS; i++)
        ABT_thread_create(pool, i % 2 ? quick_one : slow_one, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < 2 * UNITS; i++)
        ABT_thread_free(&threads[i]);
    return ABT_finalize();
}
