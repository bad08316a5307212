/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a scheduler of mine sleep, if it also takes units from pools that are not its own? ABTX_xstream_park_until
 * names the pools to watch. Here a helper serves its own pool first, and then one of guests.
 *
 *   cc park.c $(pkg-config --cflags --libs argobots) -o park
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>

enum { UNITS = 10 };

static ABT_pool guests; /* of no scheduler: whoever has time takes from it */
static atomic_int ran, parks;

static void work(void *arg)
{
    (void)arg;
    ran++;
}

static void run(ABT_sched sched)
{
    ABT_pool pools[2] = {ABT_POOL_NULL, guests};
    ABT_bool stop = ABT_FALSE;
    ABT_thread unit;

    ABT_sched_get_pools(sched, 1, 0, &pools[0]);
    while (!stop) {
        ABT_pool_pop_thread(pools[0], &unit);
        if (unit == ABT_THREAD_NULL)
            ABT_pool_pop_thread(pools[1], &unit);
        if (unit != ABT_THREAD_NULL) {
            ABT_self_schedule(unit, ABT_POOL_NULL);
        } else {
            /* Until a unit is pushed to one of the two, or something is asked of this stream; ten seconds at most. */
            parks++;
            ABTX_xstream_park_until(2, pools, ABTX_after(10000000000));
        }
        ABT_xstream_check_events(sched);
        ABT_sched_has_to_stop(sched, &stop);
    }
}

int main(int argc, char **argv)
{
    ABT_sched_def def = {.run = run};
    ABT_pool own;
    ABT_sched sched;
    ABT_xstream stream;
    ABT_thread units[UNITS];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &guests);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &own);
    ABT_sched_create(&def, 1, &own, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_xstream_create(sched, &stream);
    for (int i = 0; i < UNITS; i++) {
        ABT_thread_create(i % 2 ? own : guests, work, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        ABT_thread_free(&units[i]); /* by now the stream may sleep again */
    }
    ABT_xstream_free(&stream);
    ABT_sched_free(&sched);
    ABT_pool_free(&guests);
    ABT_finalize();
    printf("%d units, of two pools; the stream slept now and then: %s\n", (int)ran, parks > 0 ? "yes" : "no");
    return ran != UNITS;
}
