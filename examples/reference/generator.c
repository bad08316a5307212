/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do two ULTs take turns as coroutines do? Each resumes the other, and waits to be resumed: no pool and no
 * scheduler comes in between. Here one makes numbers and another asks for the next one.
 *
 *   cc generator.c $(pkg-config --cflags --libs argobots) -o generator
 */
#include <abt.h>
#include <stdio.h>

enum { NUMBERS = 10, NONE = -1 };

static ABT_thread asker, maker;
static int number;

static void gives(int value)
{
    number = value;
    ABT_self_resume_suspend_to(asker); /* the asker goes on here and now, and we wait for the next turn */
}

static void fibonacci(void *arg)
{
    int one = 0, two = 1;
    ABT_self_suspend(); /* to be made is not a turn yet */
    for (int i = 0; i < NUMBERS; i++) {
        int sum = one + two;
        gives(one);
        one = two;
        two = sum;
    }
    (void)arg;
    number = NONE;
    ABT_self_resume_exit_to(asker); /* the last turn: it ends, and the asker goes on */
}

static int next(void)
{
    ABT_self_resume_suspend_to(maker);
    return number;
}

/* The sum of all numbers. */
static int add_up(void)
{
    int sum = 0;
    for (int value = next(); value != NONE; value = next()) {
        printf("%d ", value);
        sum += value;
    }
    printf("\n");
    return sum;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    int first, second;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_thread(&asker);
    ABT_self_get_last_pool(&pool);
    /* It runs at once, and so waits for its first turn when we are back. */
    ABT_thread_create_to(pool, fibonacci, NULL, ABT_THREAD_ATTR_NULL, &maker);
    first = add_up();
    ABT_thread_join(maker); /* it has ended: it may begin anew */
    ABT_thread_revive_to(pool, fibonacci, NULL, &maker);
    second = add_up();
    ABT_thread_free(&maker);
    ABT_finalize();
    printf("sums: %d and %d\n", first, second);
    return first != 88 || second != 88;
}
