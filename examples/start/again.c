/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I run the same kind of unit again and again, cheaply? A unit that has been joined can be revived; tasklets
 * need no stack, for work that never waits; and units can be created and freed many at a time.
 *
 *   cc again.c $(pkg-config --cflags --libs argobots) -o again
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 16, TIMES = 10 };

static int count;

static void work(void *arg)
{
    (void)arg;
    count++; /* all run on main's stream, one after another */
}

int main(int argc, char **argv)
{
    ABT_pool pool, pools[UNITS];
    ABT_thread unit, units[UNITS];
    ABT_task tasklet;
    void (*functions[UNITS])(void *);
    void *args[UNITS];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);

    ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_join(unit); /* it has ended and is still there */
    for (int i = 1; i < TIMES; i++) {
        ABT_thread_revive(pool, work, NULL, &unit);
        ABT_thread_join(unit);
    }
    ABT_thread_free(&unit);

    ABT_task_create(pool, work, NULL, &tasklet);
    ABT_task_free(&tasklet); /* waits for it first, as ABT_thread_free does */

    for (int i = 0; i < UNITS; i++) {
        pools[i] = pool;
        functions[i] = work;
        args[i] = NULL;
    }
    ABT_thread_create_many(UNITS, pools, functions, args, ABT_THREAD_ATTR_NULL, units);
    ABT_thread_free_many(UNITS, units);
    ABT_finalize();
    printf("%d\n", count);
    return count != TIMES + 1 + UNITS;
}
