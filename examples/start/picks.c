/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I write a scheduler that costs little? By a function that chooses the next unit; the library does the rest.
 *
 *   cc picks.c $(pkg-config --cflags --libs argobots) -o picks
 */
#include <abt.h>
#include <stdio.h>

/* What the scheduler knows: two pools, of which the second has every fourth turn. */
struct turns {
    ABT_pool pools[2];
    unsigned turn;
};

/* Called when the stream is free, also on the stack of a unit that waits, yields or ends: it must not wait itself. */
static ABT_thread pick(ABT_sched sched)
{
    struct turns *turns = ABTX_sched_data(sched);
    int first = turns->turn++ % 4 == 3;
    ABT_thread thread = ABTX_pool_pop_thread(turns->pools[first]);

    if (thread == ABT_THREAD_NULL)
        thread = ABTX_pool_pop_thread(turns->pools[1 - first]);
    return thread; /* ABT_THREAD_NULL: the stream looks at events, and sleeps */
}

static void work(void *arg)
{
    ABT_self_yield();
    ABT_future_set(*(ABT_future *)arg, NULL);
}

int main(int argc, char **argv)
{
    enum { UNITS = 20 };
    struct turns turns = {.turn = 0};
    ABTX_sched_def def;
    ABT_sched sched;
    ABT_xstream stream;
    ABT_future done;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    for (int i = 0; i < 2; i++)
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &turns.pools[i]);
    ABTX_sched_def_create(pick, &def);
    ABTX_sched_create(def, 2, turns.pools, ABT_SCHED_CONFIG_NULL, &sched);
    ABTX_sched_def_free(&def);
    ABT_sched_set_data(sched, &turns);
    ABT_xstream_create(sched, &stream);
    ABT_future_create(UNITS, NULL, &done);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(turns.pools[i % 2], work, &done, ABT_THREAD_ATTR_NULL, NULL);
    ABT_future_wait(done);
    printf("%d units have run\n", UNITS);
    ABT_xstream_free(&stream);
    ABT_sched_free(&sched);
    ABT_future_free(&done);
    return ABT_finalize();
}
