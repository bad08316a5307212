/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: two ULTs join each other
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: ULT .* waits for the end of ULT .*, which waits for the end of ULT
 */
#include <abt.h>

static ABT_thread threads[2];

void join_other(void *arg)
{
    ABT_thread_yield();
    ABT_thread_join(*(ABT_thread *)arg);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, join_other, &threads[1], ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create(pool, join_other, &threads[0], ABT_THREAD_ATTR_NULL, &threads[1]);
    ABT_self_suspend();
    return ABT_finalize();
}
