/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT suspends itself, and nobody resumes it
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: which waits to be resumed
 */
#include <abt.h>

void suspend(void *arg)
{
    (void)arg;
    ABT_self_suspend();
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread thread;
    ABT_thread_create(pool, suspend, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
