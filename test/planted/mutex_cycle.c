/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: two ULTs take two mutexes in different order
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: ULT .* waits for mutex 0x[0-9a-f]+ held by ULT .*, which waits for mutex 0x[0-9a-f]+ held by ULT
 * says: primary ULT [0-9]+ waits for the end of ULT
 */
#include <abt.h>

static ABT_mutex mutexes[2];

static void take_both(int first)
{
    ABT_mutex_lock(mutexes[first]);
    ABT_thread_yield();
    ABT_mutex_lock(mutexes[1 - first]);
    ABT_mutex_unlock(mutexes[1 - first]);
    ABT_mutex_unlock(mutexes[first]);
}

void there(void *arg)
{
    (void)arg;
    take_both(0);
}

void and_back(void *arg)
{
    (void)arg;
    take_both(1);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread threads[2];
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_mutex_create(&mutexes[0]);
    ABT_mutex_create(&mutexes[1]);
    ABT_thread_create(pool, there, NULL, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create(pool, and_back, NULL, ABT_THREAD_ATTR_NULL, &threads[1]);
    ABT_thread_free_many(2, threads);
    return ABT_finalize();
}
