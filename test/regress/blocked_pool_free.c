/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool stays as long as a unit is blocked out of it, or a thread is waking one. (ABT_pool_free, and the end of the
 * last scheduler of an automatic pool, waited for 44 ms, and freed it then. AddressSanitizer sees that.)
 */
#include "regress.h"

#include "api/user_pool.h"

static void run_one(ABT_pool pool)
{
    ABT_thread popped;

    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
}

static void test_by_hand(ABT_pool pool, const char *kind)
{
    ABT_pool same = pool;

    ABT_thread thread = ult_in(pool, unit_suspends, NULL);
    run_one(pool);
    is_int(ABT_pool_free(&pool), ABT_ERR_POOL, "%s with a blocked ULT is not freed", kind);
    ok(pool == same, "and its handle stays");
    must(ABT_thread_resume(thread));
    run_one(pool);
    must(ABT_thread_free(&thread));
    ok_abt(ABT_pool_free(&pool));
}

static ABT_pool fifo(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic)
{
    ABT_pool pool;

    must(ABT_pool_create_basic(kind, access, automatic, &pool));
    return pool;
}

static void must_outlive(ABT_pool pool)
{
    size_t size;

    must(ABT_pool_get_total_size(pool, &size));
    is_int(size, 1, "an automatic pool outlives its last scheduler with a unit");
}

/* The last scheduler of the pool ends by ABT_sched_exit, and leaves a blocked ULT. */
static void test_left_blocked(void)
{
    ABT_pool pool = fifo(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE), common;
    ABT_sched sched;

    must(ABT_xstream_get_main_pools(own_xstream(), 1, &common));
    ABT_thread thread = ult_in(pool, unit_suspends, NULL);
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_pool_add_sched(common, sched));
    while (state_of(thread) != ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_yield());
    must(ABT_sched_exit(sched));
    for (int i = 0; i < 10; i++)
        must(ABT_thread_yield());
    must_outlive(pool);
    must(ABT_thread_resume(thread));
    run_one(pool);
    must(ABT_thread_free(&thread));
    ok_abt(ABT_pool_free(&pool));
}

/* The last scheduler is freed while there is a unit in the pool. */
static void test_left_queued(void)
{
    ABT_pool pool = fifo(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE);
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, config, &sched));
    must(ABT_sched_config_free(&config));
    ABT_thread thread = ult_in(pool, unit_suspends, NULL);
    must(ABT_sched_free(&sched));
    must_outlive(pool);
    run_one(pool);
    must(ABT_thread_resume(thread));
    run_one(pool);
    must(ABT_thread_free(&thread)); /* ABT_finalize frees the pool */
}

/* --- A thread that is slow to leave the push of a user-defined pool --- */

static _Thread_local bool is_slow;
static atomic_bool is_inside;

static void slow_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    atomic_store(&is_inside, is_slow);
    new_push(pool, unit, context);
    if (is_slow)
        nap_ms(100);
    atomic_store(&is_inside, false);
}

static void *resume_slowly(void *thread)
{
    is_slow = true;
    must(ABT_thread_resume(thread));
    return NULL;
}

static ABT_pool slow_pool(struct list *list)
{
    ABT_pool_user_def def;
    ABT_pool pool;

    list_init(list);
    next_list = list;
    must(ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, slow_push, &def));
    must(ABT_pool_user_def_set_init(def, new_init));
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

static void test_slow_waker(void)
{
    struct list list;
    ABT_pool pool = slow_pool(&list);
    ABT_bool empty = ABT_TRUE;
    pthread_t native;

    ABT_thread thread = ult_in(pool, unit_suspends, NULL);
    run_one(pool);
    must(pthread_create(&native, NULL, resume_slowly, thread));
    while (empty)
        must(ABT_pool_is_empty(pool, &empty));
    run_one(pool);
    must(ABT_thread_free(&thread));
    ok_abt(ABT_pool_free(&pool));
    ok(!atomic_load(&is_inside), "a user-defined pool stays until its waker has left the push");
    pthread_join(native, NULL);
}

int main(void)
{
    struct list list;

    regress_begin();
    must(ABT_init(0, NULL));
    if (!ABT_NULL) {
        test_by_hand(fifo(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE), "a shared pool");
        test_by_hand(fifo(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_FALSE), "a private pool");
        test_by_hand(fifo(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE), "a RANDWS pool");
        test_by_hand(make_new(&list, false, ABT_POOL_CONFIG_NULL), "a user-defined pool");
    }
    test_left_blocked();
    test_left_queued();
    test_slow_waker();
    must(ABT_finalize());
    return done_testing();
}
