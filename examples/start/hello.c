/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I run units on several streams? Every stream serves one shared pool here, so that all of them have work.
 *
 *   cc hello.c $(pkg-config --cflags --libs argobots) -o hello
 */
#include <abt.h>
#include <stdio.h>

enum { STREAMS = 4, UNITS = 8 };

static void hello(void *arg)
{
    int rank;
    ABT_self_get_xstream_rank(&rank);
    printf("unit %d on stream %d\n", *(int *)arg, rank);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_xstream streams[STREAMS];
    ABT_thread units[UNITS];
    int ids[UNITS];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool);
    ABT_self_get_xstream(&streams[0]);
    ABT_xstream_set_main_sched_basic(streams[0], ABT_SCHED_DEFAULT, 1, &pool);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]);
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        ABT_thread_create(pool, hello, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    /* main is a ULT of the shared pool too: a stream is freed by a unit that runs on another one. */
    for (int i = 1; i < STREAMS; i++) {
        int rank;
        for (ABT_self_get_xstream_rank(&rank); rank != 0; ABT_self_get_xstream_rank(&rank))
            ABT_self_yield();
        ABT_xstream_free(&streams[i]);
    }
    return ABT_finalize();
}
