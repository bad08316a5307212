/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I take units out of a pool and put them elsewhere? That is what a balancer does: it looks how full pools are,
 * and moves units one by one or many at a time.
 *
 *   cc pool.c $(pkg-config --cflags --libs argobots) -o pool
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 8 };

static int ran;

static void runs(void *arg)
{
    (void)arg;
    ran++;
}

static int size_of(ABT_pool pool)
{
    size_t size;
    ABT_pool_get_size(pool, &size);
    return (int)size;
}

static void counts(void *count, ABT_thread unit)
{
    (void)unit;
    ++*(int *)count;
}

/* Runs what is there, as a scheduler does. */
static void serve(ABT_pool pool)
{
    ABT_bool is_empty;
    ABT_thread unit;
    for (ABT_pool_is_empty(pool, &is_empty); !is_empty; ABT_pool_is_empty(pool, &is_empty)) {
        ABT_pool_pop_thread(pool, &unit);
        ABT_self_schedule(unit, ABT_POOL_NULL);
    }
}

int main(int argc, char **argv)
{
    ABT_pool from, to;
    ABT_pool_access access;
    ABT_thread units[UNITS], some[UNITS], one, none;
    size_t number = 0, with_context = 0;
    int from_id, to_id, visited = 0, left, arrived;
    double begin;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &from);
    ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &to);
    ABT_pool_get_access(to, &access);
    ABT_pool_get_id(from, &from_id);
    ABT_pool_get_id(to, &to_id);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(from, runs, NULL, ABT_THREAD_ATTR_NULL, &units[i]);

    /* Many at a time: one lock for all of them. */
    ABT_pool_pop_threads(from, some, 3, &number);
    ABT_pool_push_threads(to, some, number);
    /* The _ex forms tell a pool of yours why; the built-in ones do not ask: as for a thief, and as urgent. */
    ABT_pool_pop_threads_ex(from, some, 1, &with_context, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    ABT_pool_push_threads_ex(to, some, with_context, ABT_POOL_CONTEXT_PRIO_HIGH_PRIO);
    /* One at a time. A unit that has been pushed belongs to that pool. */
    ABT_pool_pop_thread(from, &one);
    ABT_pool_push_thread(to, one);
    ABT_pool_pop_thread_ex(from, &one, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    ABT_pool_push_thread_ex(to, one, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    left = size_of(from);
    arrived = size_of(to);
    ABT_pool_print_all_threads(to, &visited, counts);
    printf("pool %d: %d units, pool %d: %d units, visited: %d\n", from_id, left, to_id, arrived, visited);

    /* For native threads that have nothing else to do: a pop that waits for some seconds. */
    ABT_pool_pop_wait_thread(to, &one, 0.01);
    ABT_pool_push_thread(to, one);
    serve(to);
    serve(from);
    begin = ABT_get_wtime();
    ABT_pool_pop_wait_thread(to, &none, 0.01);
    ABT_pool_pop_wait_thread_ex(to, &none, 0.01, ABT_POOL_CONTEXT_OWNER_PRIMARY);
    printf("%d units have run; waited in vain for %.3f s\n", ran, ABT_get_wtime() - begin);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_pool_free(&from);
    ABT_pool_free(&to);
    ABT_finalize();
    return ran != UNITS || left != 2 || arrived != 6 || visited != 6 || none != ABT_THREAD_NULL ||
           access != ABT_POOL_ACCESS_MPMC;
}
