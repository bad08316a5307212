/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do units work in rounds, each after all have done the one before? By a barrier.
 *
 *   cc rounds.c $(pkg-config --cflags --libs argobots) -o rounds
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 4, ROUNDS = 10 };

static ABT_barrier barrier;
static long values[2][UNITS];

/* In each round a unit adds up its neighbours' values of the round before. */
static void work(void *arg)
{
    int i = (int)((long *)arg - values[0]);
    for (int round = 0; round < ROUNDS; round++) {
        const long *old = values[round % 2];
        values[(round + 1) % 2][i] = old[(i + UNITS - 1) % UNITS] + old[(i + 1) % UNITS];
        ABT_barrier_wait(barrier);
    }
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_xstream stream;
    ABT_thread units[UNITS];
    long result;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_barrier_create(UNITS, &barrier);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool);
    ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream);
    for (int i = 0; i < UNITS; i++)
        values[0][i] = 1;
    /* Units run as soon as they are created. */
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, work, &values[0][i], ABT_THREAD_ATTR_NULL, &units[i]);
    ABT_thread_join_many(UNITS, units);
    ABT_thread_free_many(UNITS, units);
    ABT_barrier_free(&barrier);
    ABT_xstream_free(&stream);
    ABT_finalize();
    result = values[ROUNDS % 2][0];
    printf("%ld\n", result);
    return result != 1 << ROUNDS;
}
