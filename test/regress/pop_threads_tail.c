/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_pool_pop_threads wrote a null handle behind the last one that it returned. */
#include "regress.h"

enum { UNITS = 3, LEN = 8 };

static void test_kind(ABT_pool_kind kind, ABT_pool_access access, const char *name)
{
    ABT_pool pool;
    ABT_thread units[UNITS], popped[LEN], mark = (ABT_thread)&pool;
    size_t num;

    must(ABT_pool_create_basic(kind, access, ABT_FALSE, &pool));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    for (int i = 0; i < LEN; i++)
        popped[i] = mark;
    must(ABT_pool_pop_threads(pool, popped, LEN, &num));
    is_int(num, UNITS, "%s: all units", name);
    for (int i = UNITS; i < LEN; i++)
        is_ptr(popped[i], mark, "%s: handle %d is left alone", name, i);
    must(ABT_pool_push_threads(pool, popped, num));
    popped[1] = mark;
    must(ABT_pool_pop_threads_ex(pool, popped, 1, &num, ABT_POOL_CONTEXT_OP_POOL_OTHER));
    is_int(num, 1, "%s: one unit", name);
    is_ptr(popped[1], mark, "%s: the next handle is left alone", name);
    must(ABT_pool_push_thread(pool, popped[0]));
    must(ABT_pool_pop_threads(pool, popped, LEN, &num));
    popped[0] = mark;
    must(ABT_pool_pop_threads(pool, popped, LEN, &num));
    is_int(num, 0, "%s: no unit", name);
    is_ptr(popped[0], mark, "%s: the first handle is left alone", name);

    ABT_pool home;
    must(ABT_self_get_last_pool(&home));
    must(ABT_pool_push_threads(home, units, UNITS));
    must(ABT_thread_free_many(UNITS, units));
    must(ABT_pool_free(&pool));
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    test_kind(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, "FIFO");
    test_kind(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, "private FIFO");
    test_kind(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, "FIFO_WAIT");
    test_kind(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, "RANDWS");
    must(ABT_finalize());
    return done_testing();
}
