/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I write a scheduler? This one takes from its second pool only every fourth time.
 *
 *   cc scheduler.c $(pkg-config --cflags --libs argobots) -o scheduler
 */
#include <abt.h>
#include <stdio.h>

static void run(ABT_sched sched)
{
    ABT_pool pools[2];
    ABT_bool stop = ABT_FALSE;

    ABT_sched_get_pools(sched, 2, 0, pools);
    for (unsigned turn = 0; !stop; turn++) {
        ABT_thread thread;
        int first = turn % 4 == 3;
        ABT_pool_pop_thread(pools[first], &thread);
        if (thread == ABT_THREAD_NULL)
            ABT_pool_pop_thread(pools[1 - first], &thread);
        if (thread != ABT_THREAD_NULL)
            ABT_self_schedule(thread, ABT_POOL_NULL);
        ABT_xstream_check_events(sched);
        ABT_sched_has_to_stop(sched, &stop);
        if (thread == ABT_THREAD_NULL && !stop)
            ABTX_xstream_park_until(0, NULL, ABTX_FOREVER); /* sleeps until there is something */
    }
}

static void work(void *arg)
{
    ABT_future_set(*(ABT_future *)arg, NULL);
}

int main(int argc, char **argv)
{
    enum { UNITS = 20 };
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run};
    ABT_pool pools[2];
    ABT_sched sched;
    ABT_xstream stream;
    ABT_future done;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    for (int i = 0; i < 2; i++)
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]);
    ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_xstream_create(sched, &stream);
    ABT_future_create(UNITS, NULL, &done);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pools[i % 2], work, &done, ABT_THREAD_ATTR_NULL, NULL);
    ABT_future_wait(done);
    printf("%d units have run\n", UNITS);
    ABT_xstream_free(&stream);
    ABT_sched_free(&sched); /* a scheduler made by ABT_sched_create is its maker's */
    ABT_future_free(&done);
    return ABT_finalize();
}
