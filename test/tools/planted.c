/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For maint/check-tools, which runs it under valgrind and with ASan: all kinds of stacks and switches, and then, by its
 * argument, a mistake that the tool has to find.
 *
 *   stale      looks at a variable of a ULT that has ended
 *   stale-own  the same of one that had a stack of its own size, and has been freed
 *   overflow   uses more stack than there is
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 40, ROUNDS = 10, USERS = 60000 };

static ABT_pool pool;
static ABT_eventual eventual;
static ABT_mutex mutex;

static __attribute__((noinline)) void dig(int n)
{
    volatile char frame[256];
    memset((void *)frame, n, sizeof(frame));
    if (n > 0)
        dig(n - 1);
    frame[0] = frame[255];
}

static void works(void *arg)
{
    dig(10);
    ABT_thread_yield();
    ABT_mutex_lock(mutex);
    ABT_thread_yield();
    ABT_mutex_unlock(mutex);
    dig(20);
}

static void waits(void *arg)
{
    dig(5);
    ABT_eventual_wait(eventual, NULL);
    dig(8);
}

static void joins(void *arg)
{
    ABT_thread thread;
    dig(3);
    ABT_thread_create(pool, works, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    dig(9);
}

static void exits(void *arg)
{
    dig(4);
    ABT_thread_exit();
}

static void run_all(ABT_thread_attr own)
{
    static void (*const functions[])(void *) = {works, waits, joins, exits, works};
    ABT_thread units[UNITS];
    for (int i = 0; i < UNITS; i++) {
        ABT_thread_attr_set_stacksize(own, 100000 + (size_t)i * 5000);
        ABT_thread_create(pool, functions[i % 5], NULL, i % 4 == 1 ? own : ABT_THREAD_ATTR_NULL, &units[i]);
    }
    for (int i = 0; i < UNITS; i++)
        ABT_thread_yield();
    ABT_eventual_set(eventual, NULL, 0);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_eventual_reset(eventual);
}

static void run_on_users_memory(ABT_thread_attr own)
{
    ABT_thread thread;
    char *memory = malloc(USERS);
    ABT_thread_attr_set_stack(own, memory, USERS);
    ABT_thread_create(pool, joins, NULL, own, &thread);
    ABT_thread_free(&thread);
    memset(memory, 1, USERS); /* it is the user's again */
    free(memory);
}

static void leaves_an_address(void *arg)
{
    volatile int variable = 7;
    *(volatile int **)arg = &variable;
}

static void plant_stale(ABT_thread_attr attr)
{
    ABT_thread thread;
    volatile int *stale = NULL;
    ABT_thread_create(pool, leaves_an_address, &stale, attr, &thread);
    ABT_thread_free(&thread);
    printf("planted: %d\n", *stale);
}

static void digs_deep(void *arg)
{
    dig(1 << 20);
}

static void plant_overflow(void)
{
    ABT_thread thread;
    ABT_thread_create(pool, digs_deep, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
}

int main(int argc, char **argv)
{
    ABT_xstream primary, secondary;
    ABT_thread_attr own;

    ABT_init(argc, argv);
    ABT_xstream_self(&primary);
    ABT_xstream_get_main_pools(primary, 1, &pool);
    ABT_eventual_create(0, &eventual);
    ABT_mutex_create(&mutex);
    ABT_thread_attr_create(&own);
    ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &secondary);
    for (int i = 0; i < ROUNDS; i++)
        run_all(own);
    run_on_users_memory(own);
    ABT_xstream_free(&secondary);
    if (argc > 1 && !strcmp(argv[1], "stale"))
        plant_stale(ABT_THREAD_ATTR_NULL);
    if (argc > 1 && !strcmp(argv[1], "stale-own")) {
        ABT_thread_attr_set_stack(own, NULL, 100000);
        plant_stale(own);
    }
    if (argc > 1 && !strcmp(argv[1], "overflow"))
        plant_overflow();
    ABT_thread_attr_free(&own);
    ABT_mutex_free(&mutex);
    ABT_eventual_free(&eventual);
    ABT_finalize();
    puts("done");
    return 0;
}
