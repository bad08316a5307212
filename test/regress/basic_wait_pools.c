/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASIC_WAIT with a user-defined first pool slept in that pool's pop_wait for up to 100 ms, whatever came to the other
 * pools meanwhile.
 */
#include "api/user_pool.h"

int main(void)
{
    enum { ROUNDS = 20 };
    struct list list;
    ABT_xstream es = ABT_XSTREAM_NULL;
    atomic_int ran = 0;

    must(ABT_init(0, NULL));
    ABT_pool pools[2] = {make(false, &list), new_pool(ABT_POOL_FIFO, ABT_TRUE)};
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
    for (int i = 0; i < ROUNDS; i++) {
        nap_ms(3);
        must(ABT_task_create(pools[1], count_up, &ran, NULL));
        wait_for(atomic_load(&ran) > i);
    }
    ok(atomic_load(&list.pop_waits) > 0, "the first pool is asked by its pop_wait");
    is_int(atomic_load(&list.long_waits), 0, "which is not to wait, since pushes to the second one end no such wait");
    must(ABT_task_create(pools[0], count_up, &ran, NULL));
    wait_for(atomic_load(&ran) == ROUNDS + 1);
    pass("a push to the first pool, too");
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pools[0]));
    must(ABT_finalize());
    return done_testing();
}
