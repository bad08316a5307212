/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Can a pthread of mine use the library? Yes: it makes units, waits for them and wakes them; it only cannot yield.
 *
 *   cc from_pthread.c $(pkg-config --cflags --libs argobots) -lpthread -o from_pthread
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>

static ABT_pool pool;
static ABT_eventual answer;

static void doubles(void *arg)
{
    *(int *)arg *= 2;
}

static void *native(void *arg)
{
    int number = 21;
    ABT_thread unit;
    (void)arg;
    ABT_thread_create(pool, doubles, &number, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit); /* this thread sleeps, the stream works */
    ABT_eventual_set(answer, &number, sizeof(number));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int *number, result;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_eventual_create(sizeof(int), &answer);
    pthread_create(&thread, NULL, native, NULL);
    ABT_eventual_wait(answer, (void **)&number); /* main is a ULT: while it waits its stream runs the unit */
    result = *number;
    pthread_join(thread, NULL);
    ABT_eventual_free(&answer);
    ABT_finalize();
    printf("%d\n", result);
    return result != 42;
}
