/* SPDX-License-Identifier: BSD-3-Clause */
/* A blocked ULT is associated with another pool: it counts as blocked there, and no more where it was. */
#include "regress.h"

static size_t total_of(ABT_pool pool)
{
    size_t total = 99;

    must(ABT_pool_get_total_size(pool, &total));
    return total;
}

int main(void)
{
    ABT_xstream es;
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    ABT_pool pools[2];

    regress_begin();
    must(ABT_init(0, NULL));
    for (int i = 0; i < 2; i++)
        pools[i] = make_pool(ABT_POOL_ACCESS_MPMC);
    es = make_es(2, pools);
    ABT_thread ult = ult_in(pools[0], unit_suspends, NULL);
    while (state != ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_get_state(ult, &state));
    is_int(total_of(pools[0]), 1, "blocked out of the first pool");
    must(ABT_thread_set_associated_pool(ult, pools[1]));
    is_int(total_of(pools[0]), 0, "no more when it is the second's");
    is_int(total_of(pools[1]), 1, "but out of the second");
    must(ABT_thread_resume(ult));
    must(ABT_thread_free(&ult));
    is_int(total_of(pools[0]), 0, "the first is empty in the end");
    is_int(total_of(pools[1]), 0, "and so is the second");
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
    return done_testing();
}
