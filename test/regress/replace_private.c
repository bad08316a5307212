/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A main scheduler is replaced by one over the same private pool: the ULT that waits for it is blocked out of that pool
 * and must not count as the old scheduler's work.
 */
#include "regress.h"

int main(void)
{
    ABT_xstream self;
    ABT_pool pool;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    pool = make_pool(ABT_POOL_ACCESS_PRIV);
    ok_abt(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    ok_abt(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_PRIO, 1, &pool));
    size_t total = 99;
    must(ABT_pool_get_total_size(pool, &total));
    is_int(total, 0, "nobody is blocked now");
    must(ABT_finalize());
    return done_testing();
}
