/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a scheduler offer to others? It tells how much there is to do, it can be stacked on another one, so that a
 * group of units has an order of its own, and it can be asked to stop.
 *
 *   cc sched.c $(pkg-config --cflags --libs argobots) -o sched
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 4 };

static ABT_bool over;
static int order[UNITS], ran;

static void runs(void *arg)
{
    order[ran++] = *(int *)arg;
}

static void goes_on(void *arg)
{
    (void)arg;
    while (!over)
        ABT_self_yield();
}

/* A scheduler of its own, which says when it has stopped. */
static void run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_pool pool;
    ABT_thread unit;
    void *stopped;

    ABT_sched_get_pools(sched, 1, 0, &pool);
    while (!stop) {
        ABT_pool_pop_thread(pool, &unit);
        if (unit != ABT_THREAD_NULL)
            ABT_self_schedule(unit, ABT_POOL_NULL);
        ABT_self_yield(); /* to the scheduler below */
        ABT_xstream_check_events(sched);
        ABT_sched_has_to_stop(sched, &stop);
    }
    ABT_sched_get_data(sched, &stopped);
    ABT_eventual_set(*(ABT_eventual *)stopped, NULL, 0);
}

/* Three pools in the order of priority, for units that should not wait for all others of the stream. */
static int stack_by_priority(ABT_pool below)
{
    ABT_sched sched;
    ABT_pool pools[3];
    ABT_thread units[UNITS];
    size_t size, total;
    int ids[UNITS], number;

    ABT_sched_create_basic(ABT_SCHED_PRIO, 3, NULL, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_sched_get_num_pools(sched, &number);
    ABT_sched_get_pools(sched, number, 0, pools);
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        ABT_thread_create(pools[i % 2 ? 0 : 2], runs, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    ABT_sched_get_size(sched, &size);
    ABT_sched_get_total_size(sched, &total); /* with those that are blocked */
    printf("%d pools, %d units, %d of them blocked\n", number, (int)total, (int)(total - size));
    ABT_pool_add_sched(below, sched); /* it runs as a unit does, until it has no work, and is freed then */
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    printf("in the order %d %d %d %d\n", order[0], order[1], order[2], order[3]);
    return size != UNITS || total != UNITS || order[0] % 2 == 0 || order[1] % 2 == 0;
}

int main(int argc, char **argv)
{
    ABT_sched_def def = {.run = run};
    ABT_pool below, pool;
    ABT_sched sched;
    ABT_thread unit;
    ABT_eventual stopped;
    size_t left;
    int wrong;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&below);
    wrong = stack_by_priority(below);

    ABT_eventual_create(0, &stopped);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_sched_set_data(sched, &stopped);
    ABT_thread_create(pool, goes_on, NULL, ABT_THREAD_ATTR_NULL, &unit);
    ABT_pool_add_sched(below, sched);
    ABT_self_yield();
    ABT_sched_exit(sched); /* stops at once, and leaves what is in the pool */
    ABT_eventual_wait(stopped, NULL);
    ABT_eventual_reset(stopped);
    ABT_sched_get_size(sched, &left);
    printf("stopped at once: units left: %d\n", (int)left);

    ABT_pool_add_sched(below, sched); /* not automatic, and so still there */
    ABT_sched_finish(sched);          /* stops when there is no work any more */
    over = ABT_TRUE;
    ABT_eventual_wait(stopped, NULL);
    ABT_thread_free(&unit);
    printf("stopped when all was done\n");
    ABT_sched_free(&sched);
    ABT_pool_free(&pool);
    ABT_eventual_free(&stopped);
    ABT_finalize();
    return wrong || left != 1;
}
