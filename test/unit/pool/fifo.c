/* SPDX-License-Identifier: BSD-3-Clause */
#include <abt.h>

#include "pool_test.h"

static void test_order(abti_pool *pool)
{
    is_str(content(pool), "", "empty");
    is_int(pop(pool, 0), -1, "nothing to pop");
    for (int i = 0; i < 5; i++)
        push(pool, i, i & 1 ? ABT_POOL_CONTEXT_OP_THREAD_CREATE : ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    is_str(content(pool), "01234", "in order, whatever the context");
    is_int(pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY), 0, "the first comes first");
    is_int(pool->ops->remove(pool, &units[2]), ABT_SUCCESS, "removes one from the middle");
    is_str(content(pool), "134", "the others stay");
    is_int(pool->ops->remove(pool, &units[2]), ABT_ERR_POOL, "which is there no more");
    is_int(pool->ops->remove(pool, &units[4]), ABT_SUCCESS, "removes the last");
    push(pool, 5, 0);
    is_str(content(pool), "135", "the next stands behind the new last");

    abti_unit *many[4] = {&units[6], &units[7]};
    pool->ops->push_many(pool, many, 2, 0);
    is_str(content(pool), "13567", "push_many");
    is_int(pool->ops->pop_many(pool, many, 4, 0), 4, "pop_many of some");
    ok(many[0] == &units[1] && many[3] == &units[6], "in order");
    is_int(pool->ops->pop_many(pool, many, 4, 0), 1, "pop_many of the rest");
    ok(!abti_wait_for_unit(pool, 0.002, 0), "pop_wait of nothing");
    push(pool, 3, 0);
    is_ptr(abti_wait_for_unit(pool, 10, 0), &units[3], "pop_wait of something");
    is_str(content(pool), "", "empty again");
}

/* Units that other threads wake go through the inbox of a private pool. */
static void test_inbox(abti_pool *pool)
{
    push(pool, 0, 0);
    abti_pool_push_unblocked(pool, &units[1], 0);
    abti_pool_push_unblocked(pool, &units[2], 0);
    is_str(content(pool), "012", "the inbox counts");
    is_int(pop(pool, 0), 0, "the queue comes first");
    ok(!pool->ops->is_empty(pool), "not empty with units in the inbox only");
    is_int(pop(pool, 0), 1, "then the inbox");
    push(pool, 3, 0);
    is_str(content(pool), "23", "in order");
    abti_pool_push_unblocked(pool, &units[4], 0);
    is_int(pool->ops->remove(pool, &units[4]), ABT_SUCCESS, "removes from the inbox");
    abti_pool_push_unblocked(pool, &units[5], 0);
    struct abti_queue several;
    abti_queue_init(&several);
    for (int i = 6; i < 8; i++)
        abti_queue_push(&several, &units[i]);
    abti_pool_push_all_unblocked(&several);
    is_str(content(pool), "23567", "several at once");
    abti_pool_enter_host(abti_es_self, pool, NULL);
    abti_pool_collect(pool);
    abti_pool_leave_host(abti_es_self, pool, NULL);
    is_str(content(pool), "23567", "collected behind the others");
    while (pop(pool, 0) >= 0)
        ;
    ok(pool->ops->is_empty(pool), "empty in the end");
}

int main(void)
{
    static const ABT_pool_access accesses[] = {ABT_POOL_ACCESS_PRIV, ABT_POOL_ACCESS_SPSC, ABT_POOL_ACCESS_MPSC,
                                               ABT_POOL_ACCESS_SPMC, ABT_POOL_ACCESS_MPMC};

    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    for (int i = 0; i < 5; i++) {
        abti_pool *pool = new_pool(i & 1 ? ABT_POOL_FIFO_WAIT : ABT_POOL_FIFO, accesses[i]);
        diag("access %d", (int)accesses[i]);
        test_order(pool);
        if (i == 0)
            test_inbox(pool);
        if (i == 4)
            test_threads(pool);
        abti_pool_destroy(pool);
    }
    ABT_finalize();
    return done_testing();
}
