/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a barrier offer? All that wait for it go on together, as often as they like; their number can be changed.
 *
 *   cc barrier.c $(pkg-config --cflags --libs argobots) -o barrier
 */
#include <abt.h>
#include <stdio.h>

enum { MOST = 5, STEPS = 10 };

static ABT_barrier barrier;
static int done[MOST]; /* steps that each unit has done */
static int wrong;

static void works(void *arg)
{
    int me = *(int *)arg;
    uint32_t units;
    ABT_barrier_get_num_waiters(barrier, &units);
    for (int step = 1; step <= STEPS; step++) {
        done[me] = step;
        ABT_barrier_wait(barrier); /* all have done this step */
        for (uint32_t i = 0; i < units; i++)
            wrong += done[i] != step;
        ABT_barrier_wait(barrier); /* all have looked: it may be used again at once */
    }
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread threads[MOST];
    int ids[MOST];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_barrier_create(2, &barrier);
    for (int units = 2; units <= MOST; units++) {
        ABT_barrier_reinit(barrier, (uint32_t)units); /* nobody waits now */
        for (int i = 0; i < units; i++) {
            ids[i] = i;
            done[i] = 0;
            ABT_thread_create(pool, works, &ids[i], ABT_THREAD_ATTR_NULL, &threads[i]);
        }
        for (int i = 0; i < units; i++)
            ABT_thread_free(&threads[i]);
        printf("%d units took %d steps together: %s\n", units, STEPS, wrong ? "no" : "yes");
    }
    ABT_barrier_free(&barrier);
    ABT_finalize();
    return wrong;
}
