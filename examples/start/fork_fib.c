/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I fork and join at the price of a call? By tasks, which idle streams take when they have nothing else to run.
 *
 *   cc fork_fib.c $(pkg-config --cflags --libs argobots) -o fork_fib
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2 };

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1); /* may be run by another stream from now on */
    long two = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + two; /* runs it here, unless another stream has taken it */
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    long result;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABTX_fork_start(STREAMS, streams);
    result = ABTX_RUN(fib, 30);
    printf("%ld\n", result);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    ABT_finalize();
    return result != 832040;
}
