/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a ULT choose who runs next? By functions that end in _to: they switch straight to a ULT that the caller has
 * popped from its pool, or resume one that is blocked. Here a relay race, and main is the starter.
 *
 *   cc handoff.c $(pkg-config --cflags --libs argobots) -o handoff
 */
#include <abt.h>
#include <stdio.h>

enum { RUNNERS = 4 };

static ABT_pool served, waiting; /* no stream serves the second one: only we take units out of it */
static ABT_thread runners[RUNNERS];
static int started[RUNNERS], starts, told;

static void leaves(void)
{
    ABT_self_exit(); /* from any depth; what stands above is not returned to */
}

static void judge(void *arg)
{
    (void)arg;
    printf("the race is over: %d runners, %d of them have been told\n", starts, told);
    leaves();
    told = -1;
}

static void runs(void *arg)
{
    int me = *(int *)arg;
    ABT_thread next;

    ABT_self_set_associated_pool(served); /* when it is put back, then to where the stream looks */
    started[starts++] = me;
    printf("runner %d runs\n", me);
    if (me < RUNNERS - 1) {
        ABT_pool_pop_thread(waiting, &next);
        ABT_self_suspend_to(next); /* hands over, and is blocked until it is told */
        told++;
        return;
    }
    for (int i = 0; i < RUNNERS - 1; i++)
        ABT_self_resume_yield_to(runners[i]); /* tells it: it goes on here, and the caller goes to its pool */
    ABT_pool_pop_thread(waiting, &next);
    ABT_self_exit_to(next); /* ends; the judge runs in its place */
}

int main(int argc, char **argv)
{
    ABT_thread first, referee, speaker;
    int ids[RUNNERS], wrong = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&served);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &waiting);
    for (int i = 0; i < RUNNERS; i++) {
        ids[i] = i;
        ABT_thread_create(waiting, runs, &ids[i], ABT_THREAD_ATTR_NULL, &runners[i]);
    }
    ABT_thread_create(waiting, judge, NULL, ABT_THREAD_ATTR_NULL, &referee);
    ABT_pool_pop_thread(waiting, &first);
    ABT_self_yield_to(first); /* main goes to its pool, and its stream comes back to it */
    for (int i = 0; i < RUNNERS; i++)
        ABT_thread_free(&runners[i]);
    ABT_thread_free(&referee);

    /* The older way takes the ULT out of its pool itself, wherever it stands there. */
    ABT_thread_create(served, judge, NULL, ABT_THREAD_ATTR_NULL, &speaker);
    ABT_thread_yield_to(speaker);
    ABT_thread_free(&speaker);
    ABT_pool_free(&waiting);
    ABT_finalize();
    for (int i = 0; i < RUNNERS; i++)
        wrong += started[i] != i;
    return wrong || starts != RUNNERS || told != RUNNERS - 1;
}
