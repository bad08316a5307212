/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool is freed as soon as its last unit has ended, while the external thread that resumed that unit is still on its
 * way back. (Its count of the resumed unit comes after the push.)
 */
#include "resumer.h"

static ABT_pool make_fifo(ABT_thread *thread)
{
    ABT_pool pool;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, thread));
    return pool;
}

int main(void)
{
    return free_pools(make_fifo);
}
