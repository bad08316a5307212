/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: all work is created in the pool of the first stream, while three others, made for it, have nothing to do
 * run: ABT_WATCHDOG=200
 * exit: 0
 * says: watchdog: ULT .*\(work.* has been ready for [0-9]+ ms in pool [0-9]+ and was not run
 * says: pool [0-9]+ is served by stream 0, which runs
 * says: stream [0-9] and others have nothing to do, and no scheduler for pool
 */
#include <abt.h>
#include <time.h>

enum { NUM = 10, STREAMS = 3 };

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void work(void *arg)
{
    (void)arg;
    for (double begin = seconds(); seconds() < begin + 0.15;)
        ;
}

int main(int argc, char **argv)
{
    ABT_xstream self, streams[STREAMS];
    ABT_pool pool;
    ABT_thread threads[NUM];
    ABT_init(argc, argv);
    for (int i = 0; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABT_xstream_self(&self);
    ABT_xstream_get_main_pools(self, 1, &pool);
    for (int i = 0; i < NUM; i++)
        ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    ABT_thread_free_many(NUM, threads);
    for (int i = 0; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    return ABT_finalize();
}
