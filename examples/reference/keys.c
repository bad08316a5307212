/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What do keys offer? Each unit has a value of its own for each key. Others may set and read it, too, and a destructor
 * frees it with the unit.
 *
 *   cc keys.c $(pkg-config --cflags --libs argobots) -o keys
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS = 3 };

static ABT_key buffer_key, name_key;
static int freed;

static void frees(void *buffer)
{
    free(buffer);
    freed++;
}

/* A library may hold a buffer for each unit, without an argument in all of its functions. */
static char *buffer_of_mine(void)
{
    void *buffer;
    ABT_key_get(buffer_key, &buffer);
    if (!buffer) { /* never set here */
        buffer = malloc(100);
        ABT_key_set(buffer_key, buffer);
    }
    return buffer;
}

static void works(void *arg)
{
    void *name, *seen;
    (void)arg;
    ABT_self_get_specific(name_key, &name); /* as ABT_key_get, in another order of names */
    snprintf(buffer_of_mine(), 100, "%s's buffer", (const char *)name);
    ABT_self_yield();
    ABT_self_set_specific(name_key, buffer_of_mine());
    ABT_self_get_specific(name_key, &seen);
    printf("%s\n", (const char *)seen);
}

int main(int argc, char **argv)
{
    const char *names[UNITS + 1] = {"Ada", "Emmy", "Grace", "a tasklet"};
    ABT_pool pool;
    ABT_thread units[UNITS + 1];
    void *name, *others, *tasklets;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_key_create(frees, &buffer_key);
    ABT_key_create(NULL, &name_key);
    for (int i = 0; i <= UNITS; i++) {
        if (i < UNITS)
            ABT_thread_create(pool, works, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
        else
            ABT_task_create(pool, works, NULL, &units[i]);
        ABT_thread_set_specific(units[i], name_key, (void *)names[i]); /* before it runs */
    }
    ABT_task_get_specific(units[UNITS], name_key, &tasklets);           /* the same by another name */
    ABT_task_set_specific(units[UNITS], name_key, (void *)"a tasklet"); /* and so is this */
    ABT_thread_join(units[0]);
    ABT_thread_get_specific(units[0], name_key, &name); /* values stay until the unit is freed */
    ABT_thread_get_specific(units[0], buffer_key, &others);
    printf("the first one has called itself: %s\n", (const char *)name);
    for (int i = 0; i <= UNITS; i++)
        ABT_thread_free(&units[i]);
    printf("buffers freed: %d\n", freed);
    ABT_key_free(&name_key);
    ABT_key_free(&buffer_key);
    ABT_finalize();
    return freed != UNITS + 1 || name != others || tasklets != names[UNITS];
}
