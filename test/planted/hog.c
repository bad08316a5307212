/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT computes for two seconds without giving its stream away
 * run: ABT_WATCHDOG=300
 * exit: 0
 * says: watchdog: ULT .*\(compute.* has kept stream 0 for [0-9]+ ms
 */
#include <abt.h>
#include <time.h>

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void compute(void *arg)
{
    volatile unsigned *sum = arg;
    for (double begin = seconds(); seconds() < begin + 2.0;)
        *sum += 1;
}

int main(int argc, char **argv)
{
    unsigned sum = 0;
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread thread;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, compute, &sum, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
