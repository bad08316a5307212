/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a condition is signalled before the ULT waits for it, and the ULT does not look whether that is so
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: which waits for cond 0x
 */
#include <abt.h>

static ABT_mutex mutex;
static ABT_cond cond;

void wait_for_signal(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
    ABT_cond_wait(cond, mutex);
    ABT_mutex_unlock(mutex);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread thread;
    ABT_mutex_create(&mutex);
    ABT_cond_create(&cond);
    ABT_cond_signal(cond);
    ABT_thread_create(pool, wait_for_signal, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
