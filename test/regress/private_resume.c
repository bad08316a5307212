/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT of a private pool waits for something that happens on another native thread: the end of an ES, of a unit there,
 * an external thread's resume. It is woken, though its own ES sleeps or is busy with other units of the pool.
 */
#include "regress.h"

static atomic_bool stop;

static void *resume_later(void *arg)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;

    while (state != ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_get_state(arg, &state));
    nap_ms(10);
    must(ABT_thread_resume(arg));
    return NULL;
}

static void busy(void *arg)
{
    while (!atomic_load(&stop))
        ABT_self_yield();
}

static void sleep_a_little(void *arg)
{
    nap_ms(10);
}

static void wait_for_all(const char *how)
{
    ABT_thread self, unit;
    pthread_t native;

    must(ABT_self_get_thread(&self));
    must(pthread_create(&native, NULL, resume_later, self));
    must(ABT_self_suspend());
    pthread_join(native, NULL);
    pass("%s, it is resumed by an external thread", how);

    ABT_xstream es = new_xstream();
    must(ABT_thread_create_on_xstream(es, sleep_a_little, NULL, ABT_THREAD_ATTR_NULL, &unit));
    must(ABT_thread_free(&unit));
    pass("%s, it joins a unit of another ES", how);
    must(ABT_thread_create_on_xstream(es, sleep_a_little, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_xstream_free(&es));
    pass("%s, it joins another ES", how);
}

/* Its idle turns must not keep the ES from looking at the events of the pool in which it stands. */
static void wait_beside_stacked(ABT_pool outer)
{
    ABT_pool inner = make_pool(ABT_POOL_ACCESS_PRIV);
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    ABT_sched sched;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, ABT_SCHED_CONFIG_NULL, &sched));
    ABT_thread blocked = ult_in(inner, unit_suspends, NULL);
    must(ABT_pool_add_sched(outer, sched));
    while (state != ABT_THREAD_STATE_BLOCKED) {
        must(ABT_thread_yield());
        must(ABT_thread_get_state(blocked, &state));
    }
    wait_for_all("when a stacked scheduler idles on the ES");
    must(ABT_thread_resume(blocked));
    must(ABT_thread_free(&blocked));
}

int main(void)
{
    ABT_xstream self;
    ABT_pool pool;
    ABT_thread ults[2];

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    pool = make_pool(ABT_POOL_ACCESS_PRIV);
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    wait_for_all("when the ES sleeps");
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, busy, NULL, ABT_THREAD_ATTR_NULL, &ults[i]));
    wait_for_all("when the ES is busy");
    wait_beside_stacked(pool);
    atomic_store(&stop, true);
    must(ABT_thread_free_many(2, ults));
    size_t total = 99;
    must(ABT_pool_get_total_size(pool, &total));
    is_int(total, 0, "nothing is left in the pool");
    must(ABT_finalize());
    return done_testing();
}
