/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I move a unit to another stream? By a request, which it follows when it next leaves its pool, yields or is
 * suspended; or, while it is in no pool, by saying where it goes next.
 *
 *   cc migration.c $(pkg-config --cflags --libs argobots) -o migration
 */
#include <abt.h>
#include <stdio.h>

static int moves;

static int rank_of_mine(void)
{
    int rank;
    ABT_self_get_xstream_rank(&rank);
    return rank;
}

/* Runs where it is until it is elsewhere, and stores where it was at last. */
static void travels(void *arg)
{
    int *last = arg, home = rank_of_mine();
    while (rank_of_mine() == home)
        ABT_self_yield();
    *last = rank_of_mine();
}

/* Waits; nobody runs it then, and whoever wakes it may choose where it goes on. */
static void waits(void *arg)
{
    ABT_self_suspend();
    *(int *)arg = rank_of_mine();
}

static void has_moved(ABT_thread unit, void *count)
{
    (void)unit;
    ++*(int *)count;
}

int main(int argc, char **argv)
{
    enum { WAYS = 4 };
    ABT_xstream stream;
    ABT_sched sched;
    ABT_pool pool, far_pool;
    ABT_thread units[WAYS];
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    ABT_bool may;
    int places[WAYS] = {0}, refused, wrong = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_xstream_get_main_sched(stream, &sched);
    ABT_xstream_get_main_pools(stream, 1, &far_pool);
    for (int i = 0; i < WAYS; i++)
        ABT_thread_create(pool, i < WAYS - 1 ? travels : waits, &places[i], ABT_THREAD_ATTR_NULL, &units[i]);
    while (state != ABT_THREAD_STATE_BLOCKED) { /* until all have run here, and the last one waits */
        ABT_self_yield();
        ABT_thread_get_state(units[WAYS - 1], &state);
    }

    ABT_thread_set_migratable(units[0], ABT_FALSE);
    refused = ABT_thread_migrate_to_xstream(units[0], stream);
    ABT_thread_set_migratable(units[0], ABT_TRUE);
    ABT_thread_is_migratable(units[0], &may);
    ABT_thread_set_callback(units[0], has_moved, &moves); /* called by the thread that moves it */
    ABT_thread_migrate_to_xstream(units[0], stream);      /* to a pool of its main scheduler */
    ABT_thread_migrate_to_sched(units[1], sched);         /* of that scheduler, perhaps stacked on another */
    ABT_thread_migrate_to_pool(units[2], far_pool);       /* to that pool */
    ABT_thread_set_associated_pool(units[3], far_pool);   /* for one that is in no pool: no request, but a fact */
    ABT_thread_resume(units[3]);
    for (int i = 0; i < WAYS; i++) {
        ABT_thread_free(&units[i]);
        printf("unit %d was on stream %d at last\n", i, places[i]);
        wrong += places[i] == 0;
    }
    printf("refused as long as it was not migratable: %s, calls after moves: %d\n",
           refused == ABT_SUCCESS ? "no" : "yes", moves);
    ABT_xstream_free(&stream);
    ABT_finalize();
    return wrong || refused == ABT_SUCCESS || !may || moves != 1;
}
