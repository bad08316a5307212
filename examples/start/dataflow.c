/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a unit wait for values that others compute? Eventuals carry one value each, a future counts several.
 *
 *   cc dataflow.c $(pkg-config --cflags --libs argobots) -o dataflow
 */
#include <abt.h>
#include <stdio.h>

enum { PARTS = 4 };

static ABT_eventual square_of_three;
static ABT_future all;
static int numbers[PARTS];

static void squares(void *arg)
{
    int result = 3 * 3;
    (void)arg;
    ABT_eventual_set(square_of_three, &result, sizeof(result));
}

static void part(void *arg)
{
    int *number = arg, *nine;
    ABT_eventual_wait(square_of_three, (void **)&nine);
    *number = *nine + (int)(number - numbers);
    ABT_future_set(all, number);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    int sum = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_eventual_create(sizeof(int), &square_of_three);
    ABT_future_create(PARTS, NULL, &all);
    /* Unnamed units, which free themselves: the future tells when they are done. */
    for (int i = 0; i < PARTS; i++)
        ABT_thread_create(pool, part, &numbers[i], ABT_THREAD_ATTR_NULL, NULL);
    ABT_thread_create(pool, squares, NULL, ABT_THREAD_ATTR_NULL, NULL);
    ABT_future_wait(all);
    for (int i = 0; i < PARTS; i++)
        sum += numbers[i];
    printf("%d\n", sum);
    ABT_future_free(&all);
    ABT_eventual_free(&square_of_three);
    ABT_finalize();
    return sum != 42;
}
