/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I add and remove streams while the program runs? They serve one shared pool, and each is joined when it is
 * not needed any more.
 *
 *   cc dynamic.c $(pkg-config --cflags --libs argobots) -o dynamic
 */
#include <abt.h>
#include <stdio.h>

enum { MOST = 3, UNITS = 300 };

static void work(void *arg)
{
    for (volatile int i = 0; i < 1000; i++)
        ;
    ABT_future_set(*(ABT_future *)arg, NULL);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_future done;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    /* Not automatic: it is to outlive the schedulers that come and go. main stays in a pool of its own. */
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_future_create(UNITS, NULL, &done);
    for (int streams = 1; streams <= MOST; streams++) {
        ABT_xstream xstreams[MOST];
        for (int i = 0; i < streams; i++)
            ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstreams[i]);
        for (int i = 0; i < UNITS; i++)
            ABT_thread_create(pool, work, &done, ABT_THREAD_ATTR_NULL, NULL);
        ABT_future_wait(done);
        ABT_future_reset(done);
        for (int i = 0; i < streams; i++)
            ABT_xstream_free(&xstreams[i]);
        printf("%d streams did %d units\n", streams, UNITS);
    }
    ABT_future_free(&done);
    ABT_pool_free(&pool);
    return ABT_finalize();
}
