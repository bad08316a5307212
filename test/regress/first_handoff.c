/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first unit that the primary ULT switched to was lost when it had to be handed to the scheduler, which had not run
 * yet: one that was cancelled was never seen to end.
 */
#include "regress.h"

static void not_run(void *arg)
{
    *(int *)arg = 1;
}

int main(void)
{
    ABT_thread thread, popped;
    int ran = 0;

    regress_begin();
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    must(ABT_thread_create(pool, not_run, &ran, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_pool_pop_thread(pool, &popped));
    if (ABT_thread_cancel(thread) == ABT_ERR_FEATURE_NA)
        skip_all("this build cannot cancel");
    ok_abt(ABT_self_yield_to(thread));
    ok_abt(ABT_thread_free(&thread));
    is_int(ran, 0, "a cancelled unit has not run");
    must(ABT_finalize());
    return done_testing();
}
