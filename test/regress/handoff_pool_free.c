/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A RANDWS pool is freed as soon as its last unit has ended, while the external thread that offered that unit to the
 * stream which is busy with the pool is still on its way back. (It looked at the pool, and wrote there, when the unit
 * had been accepted. AddressSanitizer sees it.)
 */
#include "resumer.h"

enum { VISITS = 400 }; /* a stream that comes so often alone is the one that is busy with the pool */

static ABT_pool make_busy_pool(ABT_thread *thread)
{
    ABT_pool pool;
    ABT_thread popped;
    must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, thread));
    for (int i = 0; i < VISITS; i++) {
        must(ABT_pool_pop_thread(pool, &popped));
        must(ABT_pool_push_thread(pool, popped));
    }
    return pool;
}

int main(void)
{
    return free_pools(make_busy_pool);
}
