/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do programs from before version 1.2 of the interface define a pool and a scheduler? By a struct of functions that
 * know units, the pool's names for work units. It still works. New ones are made as in pool_user.c and start/picks.c.
 *
 *   cc pool_old.c $(pkg-config --cflags --libs argobots) -o pool_old
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 16, UNITS = 5 };

struct ABT_unit_opaque { /* what it is is the pool's matter */
    ABT_thread thread;
};

static ABT_unit units[ROOM]; /* one stream pushes and pops: no lock is needed */
static size_t size;
static int order[UNITS], ran;

static ABT_unit create_from_thread(ABT_thread thread)
{
    ABT_unit unit = malloc(sizeof(*unit));
    if (unit)
        unit->thread = thread;
    return unit; /* NULL: there is no memory */
}

static void free_unit(ABT_unit *unit)
{
    free(*unit);
    *unit = NULL;
}

static size_t get_size(ABT_pool pool)
{
    return (void)pool, size;
}

static void push(ABT_pool pool, ABT_unit unit)
{
    (void)pool;
    units[size++] = unit;
}

static ABT_unit pop(ABT_pool pool)
{
    (void)pool;
    return size > 0 ? units[--size] : ABT_UNIT_NULL;
}

static int take_out(ABT_pool pool, ABT_unit unit)
{
    (void)pool;
    for (size_t i = 0; i < size; i++)
        if (units[i] == unit) {
            units[i] = units[--size];
            return ABT_SUCCESS;
        }
    return ABT_ERR_POOL;
}

static int print_all(ABT_pool pool, void *arg, void (*print)(void *, ABT_unit))
{
    (void)pool;
    for (size_t i = 0; i < size; i++)
        print(arg, units[i]);
    return ABT_SUCCESS;
}

static void runs(void *arg)
{
    order[ran++] = *(int *)arg;
}

static void counts(void *arg, ABT_unit unit)
{
    ABT_thread thread;
    *(int *)arg += ABT_unit_get_thread(unit, &thread) == ABT_SUCCESS;
}

int main(int argc, char **argv)
{
    ABT_pool_def def = {.access = ABT_POOL_ACCESS_PRIV,
                        .u_create_from_thread = create_from_thread,
                        .u_free = free_unit,
                        .p_get_size = get_size,
                        .p_push = push,
                        .p_pop = pop,
                        .p_remove = take_out,
                        .p_print_all = print_all};
    ABT_pool pool;
    ABT_thread threads[UNITS];
    ABT_unit first, unit;
    int ids[UNITS], visited = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS || ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool) != ABT_SUCCESS)
        return 1;
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        ABT_thread_create(pool, runs, &ids[i], ABT_THREAD_ATTR_NULL, &threads[i]);
    }
    ABT_pool_print_all(pool, &visited, counts);
    /* The unit of the first one is taken out from where it stands, and pushed: it is the last of this stack now. */
    ABT_thread_get_unit(threads[0], &first);
    ABT_pool_remove(pool, first);
    ABT_pool_push(pool, first);
    for (ABT_pool_pop(pool, &unit); unit != ABT_UNIT_NULL; ABT_pool_pop(pool, &unit))
        ABT_xstream_run_unit(unit, pool); /* as an older scheduler does */
    for (int i = 0; i < UNITS; i++) {
        printf("%d ", order[i]);
        ABT_thread_free(&threads[i]);
    }
    printf("of %d\n", visited);
    ABT_pool_free(&pool);
    ABT_finalize();
    return ran != UNITS || order[0] != 0 || visited != UNITS;
}
