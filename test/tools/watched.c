/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for maint/check-top to look at: a stream that is busy, and ULTs that wait, until the standard input ends.
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int stop;
static ABT_mutex mutex;
static ABT_eventual eventual;

static void yields(void *arg)
{
    while (!atomic_load(&stop))
        ABT_self_yield();
}

static void locks(void *arg)
{
    ABT_mutex_lock(mutex);
    ABT_mutex_unlock(mutex);
}

static void waits(void *arg)
{
    ABT_eventual_wait(eventual, NULL);
}

int main(int argc, char **argv)
{
    void (*const functions[])(void *) = {yields, yields, locks, waits, waits, waits};
    enum { UNITS = sizeof(functions) / sizeof(functions[0]) };
    ABT_thread units[UNITS];
    ABT_xstream stream;
    ABT_pool pool;
    char byte;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_mutex_create(&mutex);
    ABT_eventual_create(0, &eventual);
    ABT_mutex_lock(mutex);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, functions[i], NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    atomic_store(&stop, 1);
    ABT_mutex_unlock(mutex);
    ABT_eventual_set(eventual, NULL, 0);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_xstream_free(&stream);
    ABT_mutex_free(&mutex);
    ABT_eventual_free(&eventual);
    return ABT_finalize();
}
