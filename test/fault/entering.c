/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A native thread that enters a stream runs out of memory. Before it learns of that, another stream of the same pool
 * ends, and gives its timers to the first one in the list of streams that serves the pool: that is the one whose making
 * is about to fail, since of streams that are entered the last one comes first. A ULT that waits with a deadline does
 * not lose its timer: it wakes when it is cancelled.
 */
#include "cases.h"

enum { MOST_REQUESTS = 100 };

static ABT_pool pool;
static pthread_t entering;
static atomic_bool fails_now, may_fail, has_entered, serves, may_leave;
static unsigned nth; /* the request that fails, with all after it */
static int code;

/* The failure is put off until the other stream has ended. */
static void wait_for_end(void)
{
    if (pthread_equal(pthread_self(), entering) && !atomic_exchange(&fails_now, true)) {
        while (!atomic_load(&may_fail))
            sched_yield();
    }
}

static ABT_sched new_sched(void)
{
    ABT_sched sched;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    return sched;
}

/* A stream that stays, and serves the pool, too. */
static void *serve(void *unused)
{
    ABT_pool pools[2] = {ABT_POOL_NULL, pool};
    ABT_sched sched;
    ABT_xstream own;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABTX_xstream_enter(sched, &own));
    atomic_store(&serves, true);
    while (!atomic_load(&may_leave))
        must(ABTX_self_sleep(100000)); /* its scheduler would not come to the other pool after each yield */
    must(ABTX_xstream_leave(&own));
    return NULL;
}

static void *enter(void *arg)
{
    ABT_xstream own;
    ABT_sched sched = arg;

    entering = pthread_self();
    fault_arm(nth, FAULT_FROM);
    code = ABTX_xstream_enter(sched, &own);
    fault_disarm();
    if (code == ABT_SUCCESS)
        must(ABTX_xstream_leave(&own));
    atomic_store(&has_entered, true);
    return NULL;
}

static void sleep_long(void *arg)
{
    must(ABTX_self_sleep(INT64_C(1000000000000)));
}

static bool is_in_state(ABT_thread thread, ABT_thread_state state)
{
    ABT_thread_state now;

    must(ABT_thread_get_state(thread, &now));
    return now == state;
}

/* Returns whether a request failed. */
static bool enter_without_memory(ABT_xstream *leaving)
{
    ABT_sched sched = new_sched();
    pthread_t native;

    atomic_store(&fails_now, false);
    atomic_store(&may_fail, false);
    atomic_store(&has_entered, false);
    must(pthread_create(&native, NULL, enter, sched));
    while (!atomic_load(&fails_now) && !atomic_load(&has_entered))
        sched_yield();
    must(ABT_xstream_join(*leaving));
    atomic_store(&may_fail, true);
    must(pthread_join(native, NULL));
    must(ABT_xstream_free(leaving));
    if (code != ABT_SUCCESS)
        must(ABT_sched_free(&sched));
    return atomic_load(&fails_now);
}

static bool keeps_timer(void)
{
    ABT_xstream leaving;
    pthread_t server;

    must(ABT_xstream_create(new_sched(), &leaving));
    ABT_thread sleeper = ult_in(pool, sleep_long, NULL);
    wait_for(is_in_state(sleeper, ABT_THREAD_STATE_BLOCKED));
    atomic_store(&serves, false);
    atomic_store(&may_leave, false);
    must(pthread_create(&server, NULL, serve, NULL));
    wait_for(atomic_load(&serves));
    bool failed = enter_without_memory(&leaving);
    must(ABT_thread_cancel(sleeper));
    wait_for(is_in_state(sleeper, ABT_THREAD_STATE_TERMINATED));
    must(ABT_thread_free(&sleeper));
    atomic_store(&may_leave, true);
    must(pthread_join(server, NULL));
    return failed;
}

int main(void)
{
    fault_begin();
    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    fault_on_failure(wait_for_end);
    for (nth = 1; nth < MOST_REQUESTS && keeps_timer(); nth++)
        ;
    ok(nth > 1 && nth < MOST_REQUESTS, "%u requests, and a timer outlives the failure of each", nth - 1);
    fault_on_failure(NULL);
    must(ABT_pool_free(&pool));
    must(ABT_finalize());
    return done_testing();
}
