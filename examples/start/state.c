/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I see what all units do and wait for, from inside of the program? By a dump. From outside, the variable
 * ABT_DUMP_SIGNAL=USR1 has one made at that signal.
 *
 *   cc state.c $(pkg-config --cflags --libs argobots) -o state
 */
#include <abt.h>
#include <stdio.h>

static ABT_mutex mutex;

static void waits(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
    ABT_mutex_unlock(mutex);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread unit;
    ABT_thread_state state;
    size_t size;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABTX_stats_enable(ABT_TRUE);
    ABT_mutex_create(&mutex);
    ABT_self_get_last_pool(&pool);
    ABT_mutex_lock(mutex);
    ABT_thread_create(pool, waits, NULL, ABT_THREAD_ATTR_NULL, &unit);
    ABT_self_yield(); /* it runs, until it waits for the mutex */
    ABT_thread_get_state(unit, &state);
    ABT_pool_get_total_size(pool, &size);
    printf("blocked: %s, units of the pool that are not done: %zu\n", state == ABT_THREAD_STATE_BLOCKED ? "yes" : "no",
           size);
    ABT_info_print_all_xstreams(stdout); /* streams, and each unit with what it waits for */
    ABT_mutex_unlock(mutex);
    ABT_thread_free(&unit);
    ABT_mutex_free(&mutex);
    ABTX_stats_print(stdout);
    ABT_finalize();
    return state != ABT_THREAD_STATE_BLOCKED || size != 1;
}
