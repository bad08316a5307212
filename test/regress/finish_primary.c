/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primary ES's scheduler is asked to finish by the user, and has no work while the primary ULT is blocked in a pool
 * that others serve, too. It must be there when that comes back. It does not sleep then, and the primary ULT, alone in
 * the pool, must get to it by yielding all the same.
 */
#include "regress.h"

static void yield_often(void *count)
{
    for (int i = 0; i < 1000; i++)
        must(ABT_thread_yield());
    atomic_fetch_add((atomic_int *)count, 1);
}

static void yield_until_on(ABT_xstream es)
{
    ABT_xstream self;

    do {
        must(ABT_thread_yield());
        must(ABT_xstream_self(&self));
    } while (self != es);
}

int main(void)
{
    ABT_xstream primary, es;
    ABT_sched sched;
    ABT_thread thread;
    ABT_pool pool;
    atomic_int count = 0;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&primary));
    pool = make_pool(ABT_POOL_ACCESS_MPMC);
    must(ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_BASIC, 1, &pool));
    es = make_es(1, &pool);
    must(ABT_xstream_get_main_sched(primary, &sched));
    must(ABT_sched_finish(sched));
    for (int i = 1; i <= 20; i++) {
        must(ABT_thread_create(pool, yield_often, &count, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        is_int(count, i, "joined, %d", i);
    }
    for (int i = 0; i < 10; i++) {
        yield_until_on(es);
        yield_until_on(primary);
    }
    pass("to and fro, and back on the primary ES");
    must(ABT_xstream_free(&es));
    ok_abt(ABT_finalize());
    return done_testing();
}
