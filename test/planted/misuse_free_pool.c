/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A pool is freed with a unit in it, and another one that a scheduler uses.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_pool_free: pool 0x[0-9a-f]+ \(created by the primary ULT\) has units in it
 * says: libabt: ABT_pool_free: pool 0x[0-9a-f]+ \(created by .*\) is used by 1 scheduler
 */
#include <abt.h>

static void work(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_pool pool;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, NULL);
    ABT_pool_free(&pool);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    ABT_pool_free(&pool);
    return ABT_finalize();
}
