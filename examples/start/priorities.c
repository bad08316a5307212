/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do urgent units go first? The PRIO scheduler serves its pools by their index.
 *
 *   cc priorities.c $(pkg-config --cflags --libs argobots) -o priorities
 */
#include <abt.h>
#include <stdio.h>

enum { EACH = 3 };

static const char *names[] = {"urgent", "normal", "idle"};

static void work(void *arg)
{
    puts(arg);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pools[3];
    ABT_sched sched;
    ABT_thread units[3 * EACH];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    for (int i = 0; i < 3; i++)
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]);
    ABT_sched_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &sched);
    /* The units are there before the stream starts, so that the order can be seen: the last pool is filled first. */
    for (int i = 0; i < 3 * EACH; i++) {
        int level = 2 - i / EACH;
        ABT_thread_create(pools[level], work, (void *)names[level], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    ABT_xstream_create(sched, &stream);
    for (int i = 0; i < 3 * EACH; i++)
        ABT_thread_join(units[i]);
    for (int i = 0; i < 3 * EACH; i++)
        ABT_thread_free(&units[i]);
    ABT_xstream_free(&stream);
    return ABT_finalize();
}
