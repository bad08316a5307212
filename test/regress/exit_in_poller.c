/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A poller ends its ES by ABT_xstream_exit and does not return. When the ES is revived its pollers are called again,
 * and the one that has left can be removed. (The ES took its call for one that still goes on: it called no poller any
 * more, and the removal waited for ever.)
 */
#include "regress.h"

static atomic_int calls, others_calls;
static atomic_bool leaves;

static int poll(void *arg)
{
    (void)arg;
    atomic_fetch_add(&calls, 1);
    if (atomic_exchange(&leaves, false))
        ABT_xstream_exit();
    return 0;
}

static int poll_too(void *arg)
{
    (void)arg;
    atomic_fetch_add(&others_calls, 1);
    return 0;
}

static void await_more(atomic_int *count)
{
    int before = atomic_load(count);

    while (atomic_load(count) == before)
        nap_ms(1);
}

int main(void)
{
    const int64_t period = 1000000;
    ABT_pool pool;
    ABT_xstream es;

    regress_begin();
    must(ABT_init(0, NULL));
    pool = make_pool(ABT_POOL_ACCESS_MPMC);
    es = make_es(1, &pool);
    must(ABTX_poller_add_every(es, poll, NULL, period));
    must(ABTX_poller_add_every(es, poll_too, NULL, period));
    for (int i = 0; i < 3; i++) {
        await_more(&calls);
        atomic_store(&leaves, true);
        while (atomic_load(&leaves))
            nap_ms(1);
        ok_abt(ABT_xstream_join(es));
        ok_abt(ABT_xstream_revive(es));
        await_more(&calls);
        await_more(&others_calls);
        ok(true, "both pollers are called again");
    }
    ok_abt(ABTX_poller_remove(es, poll, NULL));
    ok_abt(ABTX_poller_remove(es, poll_too, NULL));
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
    return done_testing();
}
