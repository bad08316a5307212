/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a unit keep values of its own? By a key, whose destructor runs when the unit is freed.
 *
 *   cc values.c $(pkg-config --cflags --libs argobots) -o values
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

static ABT_key key;
static int num_freed, num_right;

static void destructor(void *value)
{
    free(value);
    num_freed++;
}

static void helper(void *arg)
{
    void *found;

    ABT_key_get(key, &found); /* another unit's value is not this one's */
    num_right += !found && *(int *)arg == 7;
}

static void unit(void *arg)
{
    void *buffer = malloc(100), *found;
    ABT_pool pool;
    ABT_thread created;

    ABT_key_set(key, buffer); /* freed by the destructor, together with this unit */
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, helper, arg, ABT_THREAD_ATTR_NULL, &created);
    ABT_thread_free(&created); /* this unit waits, another runs: what is its own stays */
    ABT_key_get(key, &found);
    num_right += found == buffer;
}

int main(int argc, char **argv)
{
    int request = 7;
    ABT_pool pool;
    ABT_thread thread;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_key_create(destructor, &key);
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, unit, &request, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    ABT_key_free(&key);
    ABT_finalize();
    printf("right %d, freed %d\n", num_right, num_freed);
    return num_right != 2 || num_freed != 1;
}
