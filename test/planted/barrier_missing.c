/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a barrier of three is reached by two ULTs
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: waits for barrier 0x
 */
#include <abt.h>

static ABT_barrier barrier;

void meet(void *arg)
{
    (void)arg;
    ABT_barrier_wait(barrier);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread threads[2];
    ABT_barrier_create(3, &barrier);
    for (int i = 0; i < 2; i++)
        ABT_thread_create(pool, meet, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    ABT_thread_free_many(2, threads);
    return ABT_finalize();
}
