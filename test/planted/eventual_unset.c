/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT waits for an eventual that nobody sets
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: which waits for eventual 0x
 */
#include <abt.h>

static ABT_eventual eventual;

void wait_for_eventual(void *arg)
{
    (void)arg;
    ABT_eventual_wait(eventual, NULL);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread thread;
    ABT_eventual_create(0, &eventual);
    ABT_thread_create(pool, wait_for_eventual, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
