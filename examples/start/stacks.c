/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I give a unit a larger stack, and how do I see how much of it is used? By an attribute, and by samples.
 *
 *   cc stacks.c $(pkg-config --cflags --libs argobots) -o stacks
 */
#include <abt.h>
#include <stdio.h>
#include <string.h>

static char use_half(size_t bytes)
{
    char local[1024];
    memset(local, (int)bytes, sizeof(local));
    return bytes > sizeof(local) ? (char)(use_half(bytes - sizeof(local)) + local[7]) : local[7];
}

static void deep(void *arg)
{
    volatile char result = use_half(*(size_t *)arg / 2);
    (void)result;
}

int main(int argc, char **argv)
{
    size_t size = 1 << 20, most = 0, samples;
    ABT_pool pool;
    ABT_thread_attr attr;
    ABT_thread unit;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    int is_sampled = ABTX_stack_usage_sample(1) == ABT_SUCCESS; /* each unit; not in programs with a sanitizer */
    ABT_self_get_last_pool(&pool);
    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, size);
    ABT_thread_create(pool, deep, &size, attr, &unit);
    ABT_thread_attr_free(&attr); /* the unit has its own copy */
    ABT_thread_get_stacksize(unit, &size);
    ABT_thread_free(&unit);
    if (is_sampled)
        ABTX_stack_usage_get(deep, &most, &samples);
    printf("%zu of %zu bytes used\n", most, size);
    ABT_finalize();
    return is_sampled && (most < 1024 || most > size);
}
