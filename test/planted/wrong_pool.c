/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT is created in a pool that no scheduler takes units out of
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: libabt: deadlock: 1 unit is blocked, nothing runs
 * says: primary ULT [0-9]+ waits for the end of ULT
 * says: is ready in pool [0-9]+, which no scheduler takes units out of
 */
#include <abt.h>

void work(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread thread;
    ABT_init(argc, argv);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread); /* lasts for ever */
    return ABT_finalize();
}
