/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What do I write instead of functions that are there for older programs only? Each stands here beside what to use: the
 * two do the same.
 *
 *   cc older_names.c $(pkg-config --cflags --libs argobots) -o older_names
 */
#include <abt.h>
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* ABT_pool_pop_timedwait is marked so */

static int wrong;

/* Handles are pointers: compare them by ==. */
static void handles(ABT_xstream stream, ABT_thread me, ABT_mutex mutex)
{
    ABT_bool same_stream, same_thread, same_mutex;
    ABT_xstream_equal(stream, stream, &same_stream);
    ABT_thread_equal(me, ABT_THREAD_NULL, &same_thread);
    ABT_mutex_equal(mutex, mutex, &same_mutex);
    wrong += !same_stream || same_thread || !same_mutex;
}

/* ABT_self_* tells of the caller. */
static void self(ABT_xstream stream, ABT_thread me)
{
    ABT_xstream old_stream;
    ABT_thread old_me;
    ABT_unit_id old_id, id;
    int old_rank, rank;
    ABT_xstream_self(&old_stream);
    ABT_xstream_self_rank(&old_rank);
    ABT_self_get_xstream_rank(&rank);
    ABT_thread_self(&old_me);
    ABT_thread_self_id(&old_id);
    ABT_self_get_thread_id(&id);
    wrong += old_stream != stream || old_me != me || old_id != id || old_rank != rank;
}

/* There is one way to lock and one to unlock. */
static void locks(ABT_mutex mutex)
{
    ABT_mutex_lock_high(mutex); /* ABT_mutex_lock */
    ABT_mutex_unlock_se(mutex); /* ABT_mutex_unlock */
    ABT_mutex_lock_low(mutex);
    ABT_mutex_unlock_de(mutex);
    wrong += ABT_mutex_trylock(mutex) != ABT_SUCCESS;
    ABT_mutex_unlock(mutex);
}

static void yields(void *arg)
{
    ABT_thread_yield(); /* ABT_self_yield */
    ++*(int *)arg;
    ABT_thread_exit(); /* ABT_self_exit */
    wrong++;
}

/* Units of a pool are taken by ABT_pool_pop_thread and ABT_pool_pop_wait_thread, and run by ABT_self_schedule. */
static void pops(void)
{
    ABT_pool pool;
    ABT_thread unit;
    ABT_unit name, none;
    int ended = 0;
    ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_thread_create(pool, yields, &ended, ABT_THREAD_ATTR_NULL, &unit);
    ABT_pool_pop_wait(pool, &name, 0.1);
    ABT_unit_set_associated_pool(name, pool); /* nothing: pushing and running do so */
    ABT_xstream_run_unit(name, pool);
    ABT_pool_pop_timedwait(pool, &name, ABT_get_wtime() + 0.1); /* it has yielded, and so is there again */
    ABT_xstream_run_unit(name, pool);
    ABT_pool_pop_timedwait(pool, &none, ABT_get_wtime());
    wrong += ended != 1 || none != ABT_UNIT_NULL;
    ABT_thread_free(&unit);
    ABT_pool_free(&pool);
}

static void nothing(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_thread me, unit;
    ABT_task task;
    ABT_pool pool;
    ABT_mutex mutex;
    double overhead;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&stream);
    ABT_self_get_thread(&me);
    ABT_self_get_last_pool(&pool);
    ABT_mutex_create(&mutex);
    handles(stream, me, mutex);
    self(stream, me);
    locks(mutex);
    pops();
    ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &unit);
    wrong +=
        ABT_thread_migrate(unit) == ABT_SUCCESS; /* to any other stream, and there is none; say where: migration.c */
    ABT_thread_free(&unit);
    ABT_task_create(pool, nothing, NULL, &task);
    ABT_info_print_task(stdout, task); /* ABT_info_print_thread */
    ABT_task_free(&task);
    ABT_timer_get_overhead(&overhead); /* some nanoseconds; nobody needs it */
    ABT_mutex_free(&mutex);
    ABT_finalize();
    printf("older functions do what newer ones do: %s\n", wrong ? "no" : "yes");
    return wrong || overhead < 0;
}
