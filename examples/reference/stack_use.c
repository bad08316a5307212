/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much stack do my functions need, and how much is left? The first is measured, by watching some units; the second
 * is asked for, by those who recurse as long as there is room.
 *
 *   cc stack_use.c $(pkg-config --cflags --libs argobots) -o stack_use
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 20, BYTES = 3000 };

static int depth;

/* Writes to a part of its stack. */
static void needs_some(void *arg)
{
    volatile char bytes[BYTES];
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)i;
    *(int *)arg += bytes[BYTES - 1];
}

/* Goes down as long as there are 8 KiB left. */
static int dives(int level)
{
    volatile char bytes[512];
    size_t room;
    bytes[0] = (char)level;
    if (ABTX_self_get_stack_room(&room) != ABT_SUCCESS || room < 8192 + sizeof(bytes) || level == 10000)
        return level;
    return dives(level + 1) + (bytes[0] != (char)level);
}

static void measures_depth(void *arg)
{
    *(int *)arg = dives(0);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread units[UNITS];
    ABT_thread_attr attr;
    size_t most = 0, samples = 0;
    int sum = 0, can_watch, used;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    can_watch = ABTX_stack_usage_sample(1) == ABT_SUCCESS; /* every unit; not below valgrind or a sanitizer */
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, needs_some, &sum, ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABTX_stack_usage_get(needs_some, &most, &samples);
    if (can_watch)
        ABTX_stack_usage_sample(0);
    printf("%d units used at most %d bytes\n", (int)samples, (int)most);
    ABTX_info_print_stack_usage(stdout); /* of all functions, for people */

    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, 256 * 1024);
    ABT_thread_create(pool, measures_depth, &depth, attr, &units[0]);
    ABT_thread_attr_free(&attr);
    ABT_thread_free(&units[0]);
    printf("a stack of 256 KiB had room for %d calls\n", depth);
    ABT_finalize();
    used = !can_watch || (samples > 0 && most >= BYTES);
    return !used || depth == 0;
}
