/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I fork and join recursively, with work stealing? Each stream has a RANDWS pool and steals from the others'.
 *
 *   cc fib.c $(pkg-config --cflags --libs argobots) -o fib
 */
#include <abt.h>
#include <stdio.h>

enum { STREAMS = 2 };

static ABT_pool pools[STREAMS];

struct fib {
    int n;
    long result;
};

static void fib(void *arg)
{
    struct fib *fibonacci = arg;
    if (fibonacci->n < 2) {
        fibonacci->result = fibonacci->n;
        return;
    }
    struct fib left = {.n = fibonacci->n - 1}, right = {.n = fibonacci->n - 2};
    ABT_thread unit;
    int rank;
    ABT_self_get_xstream_rank(&rank);
    ABT_thread_create(pools[rank], fib, &left, ABT_THREAD_ATTR_NULL, &unit);
    fib(&right);
    ABT_thread_free(&unit);
    fibonacci->result = left.result + right.result;
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    struct fib whole = {.n = 20};
    ABT_thread unit;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    for (int i = 0; i < STREAMS; i++)
        ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]);
    ABT_self_get_xstream(&streams[0]);
    for (int i = STREAMS - 1; i >= 0; i--) {
        ABT_pool own_first[STREAMS];
        for (int k = 0; k < STREAMS; k++)
            own_first[k] = pools[(i + k) % STREAMS];
        if (i > 0)
            ABT_xstream_create_basic(ABT_SCHED_RANDWS, STREAMS, own_first, ABT_SCHED_CONFIG_NULL, &streams[i]);
        else
            ABT_xstream_set_main_sched_basic(streams[0], ABT_SCHED_RANDWS, STREAMS, own_first);
    }
    ABT_thread_create(pools[0], fib, &whole, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    printf("%ld\n", whole.result);
    for (int i = 1; i < STREAMS; i++) {
        int rank;
        /* main may have been stolen: it goes home before it frees another stream. */
        for (ABT_self_get_xstream_rank(&rank); rank != 0; ABT_self_get_xstream_rank(&rank))
            ABT_self_yield();
        ABT_xstream_free(&streams[i]);
    }
    ABT_finalize();
    return whole.result != 6765;
}
