/* SPDX-License-Identifier: BSD-3-Clause */
/* With which context each operation pushes a unit, as a user-defined pool sees it; and which pools are automatic. */
#include "user_pool.h"

static struct list list;
static ABT_pool pool;

/* A ULT in the pool under test does one thing; the context with which it was pushed back is noted. */
static void check(const char *what, void (*func)(void *), void *arg, ABT_pool_context expected)
{
    ABT_xstream xstream;
    ABT_thread thread = ult_in(pool, func, arg);

    is_int(last_push(&list), ABT_POOL_CONTEXT_OP_THREAD_CREATE, "pushed as created");
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_join(thread));
    must(ABT_xstream_join(xstream));
    is_int(last_push(&list), expected, "%s: the context", what);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
}

static void by_thread_yield(void *arg)
{
    must(ABT_thread_yield());
}

static void by_create_to(void *other)
{
    must(ABT_thread_create_to(other, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
}

static void by_revive_to(void *thread)
{
    ABT_thread revived = thread;

    must(ABT_thread_revive_to(last_pool_of(revived), do_nothing, NULL, &revived));
}

static void by_yield_to(void *thread)
{
    must(ABT_self_yield_to(thread));
}

static void by_thread_yield_to(void *thread)
{
    must(ABT_thread_yield_to(thread));
}

static void by_resume_yield_to(void *thread)
{
    must(ABT_self_resume_yield_to(thread));
}

static void *resume_blocked(void *thread)
{
    while (state_of(thread) != ABT_THREAD_STATE_BLOCKED)
        nap_ms(0.1);
    must(ABT_thread_resume(thread));
    return NULL;
}

static void by_resume(void *arg)
{
    pthread_t native;

    must(pthread_create(&native, NULL, resume_blocked, self()));
    must(ABT_self_suspend());
    pthread_join(native, NULL);
}

static _Atomic(ABT_thread) joiner;

static void by_join(void *thread)
{
    atomic_store(&joiner, self());
    must(ABT_thread_join(thread));
}

static void end_when_joined(void *arg)
{
    wait_for(atomic_load(&joiner) && state_of(atomic_load(&joiner)) == ABT_THREAD_STATE_BLOCKED);
}

static void test_pushed_back(void)
{
    ABT_pool other = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread, popped;
    ABT_xstream xstream;

    check("self_yield", unit_yields, NULL, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    check("thread_yield", by_thread_yield, NULL, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    check("create_to", by_create_to, other, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO);
    check("resume", by_resume, NULL, ABT_POOL_CONTEXT_OP_THREAD_RESUME);

    thread = ult_in(other, do_nothing, NULL);
    check("thread_yield_to", by_thread_yield_to, thread, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
    must(ABT_thread_join(thread));
    check("revive_to", by_revive_to, thread, ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO);
    must(ABT_thread_free(&thread));
    thread = ult_in(other, do_nothing, NULL);
    must(ABT_pool_pop_thread(other, &popped));
    check("yield_to", by_yield_to, thread, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
    must(ABT_thread_free(&thread));

    xstream = new_xstream();
    thread = ult_in(pool_of(xstream), suspend_once, NULL);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    check("resume_yield_to", by_resume_yield_to, thread, ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO);
    must(ABT_thread_free(&thread));

    /* A joiner sleeps, and is resumed by the end of the unit. */
    thread = ult_in(pool_of(xstream), end_when_joined, NULL);
    check("join", by_join, thread, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&other));
}

/* What others push. */
static void test_pushed(void)
{
    ABT_pool other = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread, popped;
    ABT_pool_context given = ABT_POOL_CONTEXT_PRIO_HIGH_PRIO | ABT_POOL_CONTEXT_OP_THREAD_YIELD;

    must(ABT_task_create(pool, do_nothing, NULL, &thread));
    is_int(last_push(&list), ABT_POOL_CONTEXT_OP_THREAD_CREATE, "a tasklet is created");
    must(ABT_pool_pop_thread(pool, &popped));
    is_int(list.last_pop, 0, "popped without a context");
    must(ABT_pool_push_thread(pool, popped));
    is_int(last_push(&list), 0, "pushed without a context");
    must(ABT_pool_pop_thread_ex(pool, &popped, ABT_POOL_CONTEXT_OWNER_SECONDARY));
    is_int(list.last_pop, ABT_POOL_CONTEXT_OWNER_SECONDARY, "popped with one");
    must(ABT_pool_push_thread_ex(pool, popped, given));
    is_int(last_push(&list), given, "pushed with one");
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_pool_push_threads_ex(pool, &popped, 1, given));
    is_int(last_push(&list), given, "several");
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_task_revive(pool, do_nothing, NULL, &thread));
    is_int(last_push(&list), ABT_POOL_CONTEXT_OP_THREAD_REVIVE, "revived");
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_task_free(&thread));

    thread = ult_in(other, do_nothing, NULL);
    must(ABT_thread_migrate_to_pool(thread, pool));
    must(ABT_pool_pop_thread(other, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    is_int(last_push(&list), ABT_POOL_CONTEXT_OP_THREAD_MIGRATE, "migrated");
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    is_int(list.alive, 0, "no unit is left");
    must(ABT_pool_free(&other));
}

/* What predefined schedulers pop with. */
static void test_popped(void)
{
    struct list lists[2];
    ABT_pool pools[2];
    ABT_xstream xstream;

    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 2; i++)
            pools[i] = make_new(&lists[i], true, ABT_POOL_CONFIG_NULL);
        must(ABT_xstream_create_basic(kind ? ABT_SCHED_RANDWS : ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL,
                                      &xstream));
        for (int i = 0; i < 2; i++) {
            atomic_int counter = 0;
            must(ABT_thread_create(pools[i], count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
            wait_for(counter == 1);
        }
        must(ABT_xstream_free(&xstream));
        is_int(lists[0].last_pop, kind ? ABT_POOL_CONTEXT_OWNER_PRIMARY : 0, "the scheduler's first pool");
        is_int(lists[1].last_pop, kind ? ABT_POOL_CONTEXT_OWNER_SECONDARY : 0, "its second");
        must(ABT_pool_free(&pools[0]));
        must(ABT_pool_free(&pools[1]));
    }
}

/* BASIC_WAIT sleeps in the first pool's own waiting pop. */
static void test_basic_wait(void)
{
    for (int old = 0; old < 2; old++) {
        struct list mine;
        ABT_pool waiting = make(old, &mine);
        ABT_xstream xstream;
        atomic_int counter = 0;
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 1, &waiting, ABT_SCHED_CONFIG_NULL, &xstream));
        for (int i = 0; i < 3; i++) {
            nap_ms(2);
            must(ABT_thread_create(waiting, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
            wait_for(counter == i + 1);
        }
        ok(soon(mine.pop_waits > 0), "it waits in the pool");
        must(ABT_xstream_free(&xstream));
        must(ABT_pool_free(&waiting));
    }
}

/* A pool is freed with the last scheduler that uses it, if its configuration says so. */
static void test_automatic(void)
{
    for (int k = 0; k < 4; k++) {
        bool old = k % 2;
        int automatic = k / 2;
        struct list mine;
        ABT_pool_config config;
        ABT_pool shared;
        ABT_sched scheds[2];
        must(ABT_pool_config_create(&config));
        must(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_POOL_CONFIG_INT, &automatic));
        shared = old ? make_old(&mine, ABT_POOL_ACCESS_MPMC, false, config) : make_new(&mine, true, config);
        must(ABT_pool_config_free(&config));
        for (int i = 0; i < 2; i++)
            must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &shared, ABT_SCHED_CONFIG_NULL, &scheds[i]));
        must(ABT_sched_free(&scheds[0]));
        is_int(mine.frees, 0, "not while it is used");
        must(ABT_sched_free(&scheds[1]));
        is_int(mine.frees, automatic, "automatic %d: freed with its last scheduler", automatic);
        if (!automatic) {
            ok_abt(ABT_pool_free(&shared));
            is_int(mine.frees, 1, "or by the user");
        }
    }
}

/* yield_to with an old-style pool, which can tell where its units are and take them out. */
static void test_old_yield_to(void)
{
    struct list mine;
    ABT_pool old = make_old(&mine, ABT_POOL_ACCESS_MPMC, true, ABT_POOL_CONFIG_NULL);
    atomic_int counter = 0;
    ABT_thread threads[2] = {ult_in(old, count_up, &counter), ult_in(old, count_up, &counter)}, popped;

    ok_abt(ABT_thread_yield_to(threads[1]));
    ok(counter == 1 && state_of(threads[1]) == ABT_THREAD_STATE_TERMINATED, "the target has run");
    is_int(size_of(old), 1, "and was taken out");
    must(ABT_pool_pop_thread(old, &popped));
    ok_abt(ABT_thread_yield_to(threads[0]));
    is_int(counter, 1, "a target that is in no pool is left alone");
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free_many(2, threads));
    must(ABT_pool_free(&old));
}

int main(void)
{
    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    test_pushed_back();
    test_pushed();
    must(ABT_pool_free(&pool));
    test_popped();
    test_basic_wait();
    test_automatic();
    test_old_yield_to();
    ok_abt(ABT_finalize());
    return done_testing();
}
