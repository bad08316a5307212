/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ESs sleep on a shared pool. A push wakes one of them, which then has something better to do, or ends: the other
 * one must be woken in its place.
 */
#include "regress.h"

static atomic_bool ran, stop;

/* Keeps its ES busy. */
static void work_until_stop(void *arg)
{
    while (!atomic_load(&stop))
        nap_ms(1);
}

static void note(void *arg)
{
    atomic_store(&ran, true);
}

static void wait_for_note(void)
{
    while (!atomic_load(&ran))
        nap_ms(1);
}

int main(void)
{
    enum { ROUNDS = 20 };

    regress_begin();
    must(ABT_init(0, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        ABT_pool shared = make_pool(ABT_POOL_ACCESS_MPMC);
        ABT_pool pools[2][2] = {{make_pool(ABT_POOL_ACCESS_MPMC), shared}, {make_pool(ABT_POOL_ACCESS_MPMC), shared}};
        ABT_xstream es[2] = {make_es(2, pools[0]), make_es(2, pools[1])};
        atomic_store(&ran, false);
        atomic_store(&stop, false);
        nap_ms(5); /* they fall asleep */
        must(ABT_thread_create(shared, note, NULL, ABT_THREAD_ATTR_NULL, NULL));
        /* Whom the note has woken may find something in its own pool, which it prefers. */
        must(ABT_thread_create(pools[i % 2][0], work_until_stop, NULL, ABT_THREAD_ATTR_NULL, NULL));
        wait_for_note();
        atomic_store(&stop, true);
        must(ABT_xstream_free(&es[0]));
        must(ABT_xstream_free(&es[1]));
    }
    pass("a woken ES that has other work passes the wake on");
    /* RANDWS looks at one pool at random: woken, it may find nothing there, and end since it is cancelled. */
    for (int i = 0; i < ROUNDS; i++) {
        enum { POOLS = 8 };
        ABT_xstream es[2];
        ABT_pool pools[POOLS];
        for (int j = 0; j < POOLS; j++)
            pools[j] = make_pool(ABT_POOL_ACCESS_MPMC);
        for (int j = 0; j < 2; j++)
            must(ABT_xstream_create_basic(ABT_SCHED_RANDWS, POOLS, pools, ABT_SCHED_CONFIG_NULL, &es[j]));
        atomic_store(&ran, false);
        nap_ms(2);
        must(ABT_thread_create(pools[POOLS - 1], note, NULL, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_xstream_cancel(es[i % 2]));
        must(ABT_xstream_join(es[i % 2]));
        wait_for_note();
        must(ABT_xstream_free(&es[0]));
        must(ABT_xstream_free(&es[1]));
    }
    pass("a woken ES that ends passes the wake on");
    must(ABT_finalize());
    return done_testing();
}
