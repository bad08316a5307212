/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT that makes tasklets in its stream's RANDWS pool and joins them stays on its stream: it was the oldest unit in
 * the pool when it woke, and was stolen.
 */
#include "regress.h"
#include "sanitizers.h"

enum { TASKLETS = 200, ROUNDS = 200 };

/* Says whether the caller has come to another stream meanwhile. */
static bool moves(ABT_pool pool)
{
    ABT_task tasklets[TASKLETS];
    bool moved = false;
    int before = own_rank();

    for (int i = 0; i < TASKLETS; i++)
        must(ABT_task_create(pool, do_nothing, NULL, &tasklets[i]));
    for (int i = TASKLETS - 1; i >= 0; i--) {
        must(ABT_task_free(&tasklets[i]));
        moved = moved || own_rank() != before;
    }
    return moved;
}

int main(void)
{
    ABT_xstream self, other;
    ABT_pool pools[2], swapped[2];
    int moved = 0;

    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("each tasklet runs as a child then, and its joiner waits in the pool");
    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    swapped[0] = pools[1];
    swapped[1] = pools[0];
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_RANDWS, 2, pools));
    must(ABT_xstream_create_basic(ABT_SCHED_RANDWS, 2, swapped, ABT_SCHED_CONFIG_NULL, &other));
    for (int i = 0; i < ROUNDS; i++)
        moved += moves(pools[own_rank()]);
    ok(moved < ROUNDS / 2, "it stays as a rule: it has moved in %d of %d rounds", moved, ROUNDS);
    while (own_rank() != 0)
        must(ABT_self_yield());
    must(ABT_xstream_free(&other));
    must(ABT_finalize());
    return done_testing();
}
