/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT waits in place for a unit which meanwhile associates it with a pool of another ES. When it goes on, it is
 * counted as left of a pool whose counts belong to that other ES.
 */
#include "regress.h"

static atomic_bool stop;
static ABT_pool home, other;

static void move_joiner(void *joiner)
{
    must(ABT_thread_set_associated_pool(joiner, other));
}

static void join_again_and_again(void *private)
{
    ABT_thread self, child;

    must(ABT_self_get_thread(&self));
    while (!atomic_load(&stop)) {
        must(ABT_thread_create(private, move_joiner, self, ABT_THREAD_ATTR_NULL, &child));
        must(ABT_thread_free(&child));
        must(ABT_self_set_associated_pool(home));
        ABT_self_yield();
    }
}

static void suspend_again_and_again(void *arg)
{
    while (!atomic_load(&stop))
        must(ABT_self_suspend());
}

static void resume_again_and_again(void *sleeper)
{
    ABT_thread_state state;

    do {
        must(ABT_thread_get_state(sleeper, &state));
        if (state == ABT_THREAD_STATE_BLOCKED)
            must(ABT_thread_resume(sleeper));
        ABT_self_yield();
    } while (state != ABT_THREAD_STATE_TERMINATED);
}

int main(void)
{
    ABT_thread joiner, sleeper, waker;
    size_t total = 99;

    regress_begin();
    must(ABT_init(0, NULL));
    home = make_pool(ABT_POOL_ACCESS_MPMC);
    other = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_pool pools[2] = {make_pool(ABT_POOL_ACCESS_PRIV), home};
    ABT_xstream es[2] = {make_es(2, pools), make_es(1, &other)};
    must(ABT_thread_create(other, suspend_again_and_again, NULL, ABT_THREAD_ATTR_NULL, &sleeper));
    must(ABT_thread_create(other, resume_again_and_again, sleeper, ABT_THREAD_ATTR_NULL, &waker));
    must(ABT_thread_create(home, join_again_and_again, pools[0], ABT_THREAD_ATTR_NULL, &joiner));
    nap_ms(500);
    atomic_store(&stop, true);
    must(ABT_thread_free(&joiner));
    must(ABT_thread_free(&waker));
    must(ABT_thread_free(&sleeper));
    must(ABT_pool_get_total_size(other, &total));
    is_int(total, 0, "nobody is left in the other pool");
    must(ABT_pool_get_total_size(home, &total));
    is_int(total, 0, "nor in the joiner's");
    must(ABT_xstream_free(&es[0]));
    must(ABT_xstream_free(&es[1]));
    must(ABT_finalize());
    return done_testing();
}
