/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A mutex is unlocked by another ULT than the one that has locked it.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_mutex_unlock: mutex 0x[0-9a-f]+ \(created by the primary ULT\) is locked by ULT 0x[0-9a-f]+ of .*,
 * not by the caller
 */
#include <abt.h>

static ABT_mutex mutex;

static void locks(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
    ABT_self_yield();
}

static void unlocks(void *arg)
{
    (void)arg;
    ABT_mutex_unlock(mutex);
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_mutex_create(&mutex);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_thread threads[2];
    ABT_thread_create_on_xstream(xstream, locks, NULL, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create_on_xstream(xstream, unlocks, NULL, ABT_THREAD_ATTR_NULL, &threads[1]);
    ABT_thread_free_many(2, threads);
    ABT_mutex_free(&mutex);
    return ABT_finalize();
}
