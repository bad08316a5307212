/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much stack is left? Those ask who recurse as long as there is room.
 *
 *   cc stack_room.c $(pkg-config --cflags --libs argobots) -o stack_room
 */
#include <abt.h>
#include <stdio.h>

static int depth;

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
    ABT_thread unit;
    ABT_thread_attr attr;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, 256 * 1024);
    ABT_thread_create(pool, measures_depth, &depth, attr, &unit);
    ABT_thread_attr_free(&attr);
    ABT_thread_free(&unit);
    printf("a stack of 256 KiB had room for %d calls\n", depth);
    ABT_finalize();
    return depth == 0;
}
