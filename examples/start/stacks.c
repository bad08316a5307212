/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I give a unit a larger stack, and how do I see how much of it is used? By an attribute, and by asking at the
 * deepest place how much is left.
 *
 *   cc stacks.c $(pkg-config --cflags --libs argobots) -o stacks
 */
#include <abt.h>
#include <stdio.h>
#include <string.h>

static size_t at_begin, at_end;

static char use_half(size_t bytes)
{
    char local[1024];
    memset(local, (int)bytes, sizeof(local));
    if (bytes > sizeof(local))
        return (char)(use_half(bytes - sizeof(local)) + local[7]);
    ABTX_self_get_stack_room(&at_end);
    return local[7];
}

static void deep(void *arg)
{
    ABTX_self_get_stack_room(&at_begin);
    volatile char result = use_half(*(size_t *)arg / 2);
    (void)result;
}

int main(int argc, char **argv)
{
    size_t size = 1 << 20;
    ABT_pool pool;
    ABT_thread_attr attr;
    ABT_thread unit;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, size);
    ABT_thread_create(pool, deep, &size, attr, &unit);
    ABT_thread_attr_free(&attr); /* the unit has its own copy */
    ABT_thread_get_stacksize(unit, &size);
    ABT_thread_free(&unit);
    printf("%zu of %zu bytes used\n", at_begin - at_end, size);
    ABT_finalize();
    return at_begin - at_end < 1024 || at_begin > size + (1 << 18);
}
