/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does one kind of operation so many times, for counting its instructions: maint/check-instructions runs it twice under
 * callgrind or qemu and divides the difference.
 *
 *   instructions WORK TIMES
 */
#include <abt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 256 };

static ABT_pool pool;
static ABT_thread units[UNITS];
static ABT_mutex mutex;
static long named_each; /* switches of each ULT of yield_to */

static void check(int code)
{
    if (code != ABT_SUCCESS) {
        fprintf(stderr, "error %d\n", code);
        exit(1);
    }
}

static void nothing(void *arg)
{
}

/* All of these do about TIMES operations, in rounds of UNITS. */

static void create_with(ABT_thread_attr attr, long times)
{
    for (long r = times / UNITS; r > 0; r--) {
        for (int i = 0; i < UNITS; i++)
            check(ABT_thread_create(pool, nothing, NULL, attr, &units[i]));
        for (int i = 0; i < UNITS; i++)
            check(ABT_thread_free(&units[i]));
    }
}

static void create_join_free(long times)
{
    create_with(ABT_THREAD_ATTR_NULL, times);
}

static void not_migratable(long times)
{
    ABT_thread_attr attr;
    check(ABT_thread_attr_create(&attr));
    check(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
    create_with(attr, times);
    check(ABT_thread_attr_free(&attr));
}

static void many(long times)
{
    ABT_pool pools[UNITS];
    void (*functions[UNITS])(void *);
    for (int i = 0; i < UNITS; i++) {
        pools[i] = pool;
        functions[i] = nothing;
    }
    for (long r = times / UNITS; r > 0; r--) {
        check(ABT_thread_create_many(UNITS, pools, functions, NULL, ABT_THREAD_ATTR_NULL, units));
        check(ABT_thread_free_many(UNITS, units));
    }
}

static void revive_join(long times)
{
    for (int i = 0; i < UNITS; i++) {
        check(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
        check(ABT_thread_join(units[i]));
    }
    for (long r = times / UNITS; r > 0; r--) {
        for (int i = 0; i < UNITS; i++)
            check(ABT_thread_revive(pool, nothing, NULL, &units[i]));
        for (int i = 0; i < UNITS; i++)
            check(ABT_thread_join(units[i]));
    }
    for (int i = 0; i < UNITS; i++)
        check(ABT_thread_free(&units[i]));
}

static void tasklet(long times)
{
    for (long r = times / UNITS; r > 0; r--) {
        for (int i = 0; i < UNITS; i++)
            check(ABT_task_create(pool, nothing, NULL, &units[i]));
        for (int i = 0; i < UNITS; i++)
            check(ABT_task_free(&units[i]));
    }
}

static void tasklet_alone(long times)
{
    for (long n = times; n > 0; n--) {
        check(ABT_task_create(pool, nothing, NULL, &units[0]));
        check(ABT_task_free(&units[0]));
    }
}

static void create_to(long times)
{
    for (long n = times; n > 0; n--) {
        check(ABT_thread_create_to(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[0]));
        check(ABT_thread_free(&units[0]));
    }
}

static void yields(void *arg)
{
    for (long n = *(long *)arg; n > 0; n--)
        ABT_thread_yield();
}

static void yield(long times)
{
    long each = times / UNITS;
    for (int i = 0; i < UNITS; i++)
        check(ABT_thread_create(pool, yields, &each, ABT_THREAD_ATTR_NULL, &units[i]));
    for (int i = 0; i < UNITS; i++)
        check(ABT_thread_free(&units[i]));
}

/* A tree of fork and join: each node makes one child, goes down by itself, and joins the child. */
static long fib(int n);

static void fib_node(void *arg)
{
    long *n = arg;
    *n = fib((int)*n);
}

static long fib(int n)
{
    ABT_thread child;
    long other = n - 1, one;
    if (n < 2)
        return n;
    check(ABT_thread_create(pool, fib_node, &other, ABT_THREAD_ATTR_NULL, &child));
    one = fib(n - 2);
    check(ABT_thread_free(&child));
    return one + other;
}

static void fork_join(long times)
{
    enum { N = 11, SPAWNS = 143 }; /* of them in fib(N) */
    for (long r = times / SPAWNS; r > 0; r--) {
        if (fib(N) != 89)
            abort();
    }
}

/* Two ULTs, of which one sleeps at a time. */
static void switches(void *arg)
{
    for (long n = *(long *)arg; n > 0; n--)
        check(ABT_self_resume_suspend_to(units[0]));
    check(ABT_thread_resume(units[0]));
}

static void sleeps_first(void *arg)
{
    check(ABT_self_suspend());
    for (long n = *(long *)arg; n > 0; n--)
        check(ABT_self_resume_suspend_to(units[1]));
}

static void ping_pong(long times)
{
    long each = times / 2;
    check(ABT_thread_create(pool, sleeps_first, &each, ABT_THREAD_ATTR_NULL, &units[0]));
    check(ABT_thread_create(pool, switches, &each, ABT_THREAD_ATTR_NULL, &units[1]));
    check(ABT_thread_free(&units[1]));
    check(ABT_thread_free(&units[0]));
}

/* Two ULTs of one pool, each of which names the other. */
static void names_other(void *arg)
{
    ABT_thread other = units[arg == NULL];
    for (long n = named_each; n > 0; n--)
        check(ABT_thread_yield_to(other));
}

static void yield_to(long times)
{
    named_each = times / 2;
    check(ABT_thread_create(pool, names_other, NULL, ABT_THREAD_ATTR_NULL, &units[0]));
    check(ABT_thread_create(pool, names_other, units, ABT_THREAD_ATTR_NULL, &units[1]));
    check(ABT_thread_free(&units[1]));
    check(ABT_thread_free(&units[0]));
}

static void lock_unlock(long times)
{
    for (long n = times; n > 0; n--) {
        ABT_mutex_lock(mutex);
        ABT_mutex_unlock(mutex);
    }
}

/* The mutex's holder yields: each lock waits and is handed over. */
static void locks(void *arg)
{
    for (long n = *(long *)arg; n > 0; n--) {
        ABT_mutex_lock(mutex);
        ABT_thread_yield();
        ABT_mutex_unlock(mutex);
    }
}

static void hand_over(long times)
{
    enum { ULTS = 8 };
    long each = times / ULTS;
    for (int i = 0; i < ULTS; i++)
        check(ABT_thread_create(pool, locks, &each, ABT_THREAD_ATTR_NULL, &units[i]));
    for (int i = 0; i < ULTS; i++)
        check(ABT_thread_free(&units[i]));
}

/* The loop that most users write. */
static void run_simply(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    while (!stop) {
        ABT_thread thread;
        for (int turn = 0; turn < 50 && (check(ABT_pool_pop_thread(pool, &thread)), thread != ABT_THREAD_NULL); turn++)
            check(ABT_self_schedule(thread, ABT_POOL_NULL));
        check(ABT_xstream_check_events(sched));
        check(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void set_user_sched(ABT_xstream es)
{
    static ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run_simply};
    ABT_sched_config config;
    ABT_sched sched;
    check(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    check(ABT_sched_create(&def, 1, &pool, config, &sched));
    check(ABT_sched_config_free(&config));
    check(ABT_xstream_set_main_sched(es, sched));
}

static const struct {
    const char *name;
    void (*run)(long times);
    ABT_pool_access access;
    bool randws;                 /* pool and scheduler */
    void (*set)(ABT_xstream es); /* NULL: a predefined scheduler */
} works[] = {
    {"create+join+free", create_join_free, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"create+join+free, MPMC", create_join_free, ABT_POOL_ACCESS_MPMC, false, NULL},
    {"create+join+free, RANDWS", create_join_free, ABT_POOL_ACCESS_MPMC, true, NULL},
    {"fork+join", fork_join, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"fork+join, RANDWS", fork_join, ABT_POOL_ACCESS_MPMC, true, NULL},
    {"create+join+free, not migratable", not_migratable, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"create_many+free_many", many, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"revive+join", revive_join, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"tasklet create+run+free", tasklet, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"tasklet create+run+free, one at a time", tasklet_alone, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"create_to+free", create_to, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"yield", yield, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"yield, MPMC", yield, ABT_POOL_ACCESS_MPMC, false, NULL},
    {"yield, RANDWS", yield, ABT_POOL_ACCESS_MPMC, true, NULL},
    {"yield_to", yield_to, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"yield_to, MPMC", yield_to, ABT_POOL_ACCESS_MPMC, false, NULL},
    {"resume_suspend_to", ping_pong, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"lock+unlock", lock_unlock, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"lock+yield+unlock of 8", hand_over, ABT_POOL_ACCESS_PRIV, false, NULL},
    {"user's scheduler: create+join+free", create_join_free, ABT_POOL_ACCESS_PRIV, false, set_user_sched},
    {"user's scheduler: yield", yield, ABT_POOL_ACCESS_PRIV, false, set_user_sched},
};

int main(int argc, char **argv)
{
    ABT_xstream es;
    long times = argc == 3 ? atol(argv[2]) : 0;

    check(ABT_init(0, NULL));
    check(ABT_xstream_self(&es));
    check(ABT_mutex_create(&mutex));
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
        if (times <= 0 || strcmp(works[i].name, argv[1]) != 0)
            continue;
        check(
            ABT_pool_create_basic(works[i].randws ? ABT_POOL_RANDWS : ABT_POOL_FIFO, works[i].access, ABT_TRUE, &pool));
        if (works[i].set)
            works[i].set(es);
        else
            check(
                ABT_xstream_set_main_sched_basic(es, works[i].randws ? ABT_SCHED_RANDWS : ABT_SCHED_DEFAULT, 1, &pool));
        works[i].run(times);
        check(ABT_mutex_free(&mutex));
        check(ABT_finalize());
        return 0;
    }
    fprintf(stderr, "usage: instructions WORK TIMES\n");
    return 2;
}
