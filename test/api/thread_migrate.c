/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_migrate*, ABT_thread_set_callback, and who is migratable. */
#include "common.h"

struct moved {
    atomic_int calls;
    ABT_thread thread; /* of the last call */
    ABT_pool pool;     /* where it was then */
};

static void on_move(ABT_thread thread, void *arg)
{
    struct moved *moved = arg;

    moved->thread = thread;
    moved->pool = last_pool_of(thread);
    count_up(&moved->calls);
}

/* --- When a request is carried out --- */

static void test_when_popped(enum caller who, void *arg)
{
    ABT_pool a = new_pool(ABT_POOL_FIFO, ABT_FALSE), b = new_pool(ABT_POOL_FIFO, ABT_FALSE),
             c = new_pool(ABT_POOL_RANDWS, ABT_FALSE);
    struct moved moved = {0};
    atomic_int counter = 0;
    ABT_thread units[2] = {ult_in(a, count_up, &counter), ABT_THREAD_NULL};

    must(ABT_task_create(a, count_up, &counter, &units[1]));
    for (int i = 0; i < 2; i++) {
        moved.calls = 0;
        ok_abt(ABT_thread_set_callback(units[i], on_move, &moved));
        ok_abt(ABT_thread_migrate_to_pool(units[i], c));
        ok_abt(ABT_thread_migrate_to_pool(units[i], b));
        is_ptr(last_pool_of(units[i]), a, "a request is only recorded");
        if (!is_ult(who))
            continue;
        run_next(a);
        is_int(counter, i, "popped, it is not run");
        is_int(moved.calls, 1, "but migrated");
        ok(moved.thread == units[i] && moved.pool == b, "the callback finds it in the new pool");
        is_ptr(last_pool_of(units[i]), b, "the last request wins");
        ok(size_of(b) == 1 && size_of(c) == 0, "it was pushed there");
        is_int(state_of(units[i]), ABT_THREAD_STATE_READY, "and is ready");
        run_next(b);
        is_int(counter, i + 1, "where it is run");
        is_int(moved.calls, 1, "the request was served once");
    }
    if (!is_ult(who)) {
        for (int i = 0; i < 2; i++) {
            ABT_thread popped;
            must(ABT_pool_pop_thread(a, &popped));
            must(ABT_pool_push_thread(arg, popped));
            wait_for(moved.calls == i + 1);
            must(ABT_pool_pop_wait_thread(b, &popped, 10.0));
            is_ptr(popped, units[i], "another ES has carried it out");
            must(ABT_pool_push_thread(arg, popped));
        }
    }
    must(ABT_thread_free(&units[0]));
    must(ABT_task_free(&units[1]));
    is_int(counter, 2, "both have run");
    must(ABT_pool_free(&a));
    must(ABT_pool_free(&b));
    must(ABT_pool_free(&c));
}

struct traveller {
    ABT_pool to;
    ABT_xstream before, after;
    ABT_pool pool_after;
    void (*leave)(void);
};

static void leave_by_yield(void)
{
    must(ABT_thread_yield());
}

static void leave_by_suspend(void)
{
    must(ABT_self_suspend());
}

static void travel(void *arg)
{
    struct traveller *traveller = arg;

    traveller->before = own_xstream();
    must(ABT_thread_migrate_to_pool(self(), traveller->to));
    traveller->leave();
    traveller->after = own_xstream();
    must(ABT_self_get_last_pool(&traveller->pool_after));
}

static void test_when_yielding(void)
{
    struct traveller traveller = {.leave = leave_by_yield};
    ABT_xstream xstream = new_xstream(), other = new_xstream();
    struct moved moved = {0};
    ABT_thread_attr attr;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_callback(attr, on_move, &moved));
    traveller.to = pool_of(other);
    must(ABT_thread_create(pool_of(xstream), travel, &traveller, attr, &thread));
    must(ABT_thread_join(thread));
    ok(traveller.before == xstream && traveller.after == other, "it moved with a yield");
    is_ptr(traveller.pool_after, traveller.to, "to the pool it asked for");
    is_int(moved.calls, 1, "the attribute's callback was called");
    is_ptr(moved.thread, thread, "for it");
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&attr));
    must(ABT_xstream_free(&xstream));
    must(ABT_xstream_free(&other));
}

/* Other ways to block: each has its own wake. */
static ABT_eventual awaited_eventual;
static ABT_mutex awaited_mutex;
static ABT_thread awaited_thread, next_thread;

static void leave_by_suspend_to(void)
{
    must(ABT_self_suspend_to(next_thread));
}

static void leave_by_eventual(void)
{
    must(ABT_eventual_wait(awaited_eventual, NULL));
}

static void leave_by_mutex(void)
{
    must(ABT_mutex_lock(awaited_mutex));
    must(ABT_mutex_unlock(awaited_mutex));
}

static void leave_by_join(void)
{
    must(ABT_thread_join(awaited_thread));
}

static void wake_by_resume(ABT_thread thread)
{
    must(ABT_thread_resume(thread));
}

static void wake_by_eventual(ABT_thread thread)
{
    must(ABT_eventual_set(awaited_eventual, NULL, 0));
}

static void wake_by_mutex(ABT_thread thread)
{
    must(ABT_mutex_unlock(awaited_mutex));
}

static void wake_by_join(ABT_thread thread)
{
    must(ABT_thread_resume(awaited_thread));
}

/* A ULT that is to migrate and blocks first is counted where it will come back. */
static void test_when_blocking(const char *name, void (*leave)(void), void (*wake)(ABT_thread))
{
    struct traveller traveller = {.leave = leave};
    ABT_xstream xstream = new_xstream(), other = new_xstream();
    ABT_pool from = pool_of(xstream), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread;

    diag("%s", name);
    must(ABT_eventual_create(0, &awaited_eventual));
    must(ABT_mutex_create(&awaited_mutex));
    must(ABT_mutex_lock(awaited_mutex));
    next_thread = ult_in(parked, do_nothing, NULL);
    must(ABT_pool_pop_thread(parked, &next_thread));
    awaited_thread = ult_in(own_pool(), suspend_once, NULL);
    wait_for(state_of(awaited_thread) == ABT_THREAD_STATE_BLOCKED);
    traveller.to = pool_of(other);
    thread = ult_in(from, travel, &traveller);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    is_ptr(last_pool_of(thread), traveller.to, "re-associated before it blocks");
    ok(total_size_of(from) == 0 && total_size_of(traveller.to) == 1, "and counted there");
    wake(thread);
    must(ABT_thread_join(thread));
    ok(traveller.before == xstream && traveller.after == other, "where it goes on");
    wait_for(total_size_of(traveller.to) == 0);
    is_int(total_size_of(from), 0, "nothing is left over");
    must(ABT_thread_free(&thread));

    if (wake != wake_by_join)
        must(ABT_thread_resume(awaited_thread));
    must(ABT_thread_free(&awaited_thread));
    if (leave != leave_by_suspend_to)
        must(ABT_pool_push_thread(from, next_thread));
    must(ABT_thread_free(&next_thread));
    (void)ABT_mutex_trylock(awaited_mutex); /* it is locked still, or again */
    must(ABT_mutex_unlock(awaited_mutex));
    must(ABT_mutex_free(&awaited_mutex));
    must(ABT_eventual_free(&awaited_eventual));
    must(ABT_xstream_free(&xstream));
    must(ABT_xstream_free(&other));
    must(ABT_pool_free(&parked));
}

static void test_when_suspended(void)
{
    struct traveller traveller = {.leave = leave_by_suspend};
    ABT_xstream xstream = new_xstream(), other = new_xstream();
    ABT_pool from = pool_of(xstream);
    ABT_thread thread;

    traveller.to = pool_of(other);
    thread = ult_in(from, travel, &traveller);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    is_ptr(last_pool_of(thread), traveller.to, "a ULT that suspends is re-associated");
    is_int(total_size_of(from), 0, "its old pool counts it no more");
    is_int(total_size_of(traveller.to), 1, "its new pool does");
    is_int(size_of(traveller.to), 0, "without holding it");
    must(ABT_thread_resume(thread));
    must(ABT_thread_join(thread));
    ok(traveller.before == xstream && traveller.after == other, "it is resumed there");
    wait_for(total_size_of(traveller.to) == 0);
    is_int(total_size_of(from), 0, "nothing is left over");
    must(ABT_thread_free(&thread));

    /* Asked while it is blocked: when it is resumed it is popped from the old pool, and moves then. */
    thread = ult_in(from, suspend_once, NULL);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_thread_migrate_to_pool(thread, traveller.to));
    ok(total_size_of(from) == 1 && total_size_of(traveller.to) == 0, "a blocked one stays where it is");
    must(ABT_thread_resume(thread));
    must(ABT_thread_join(thread));
    is_ptr(last_pool_of(thread), traveller.to, "until it is popped");
    wait_for(total_size_of(from) == 0 && total_size_of(traveller.to) == 0);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_xstream_free(&other));
}

static void test_callback(void)
{
    ABT_pool a = new_pool(ABT_POOL_FIFO, ABT_FALSE), b = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct moved moved = {0};
    ABT_thread thread = ult_in(a, do_nothing, NULL);

    must(ABT_thread_set_callback(thread, on_move, &moved));
    must(ABT_thread_set_callback(thread, NULL, NULL));
    must(ABT_thread_migrate_to_pool(thread, b));
    run_next(a);
    is_int(size_of(b), 1, "migrated");
    is_int(moved.calls, 0, "a removed callback is not called");
    must(ABT_thread_set_callback(thread, on_move, &moved));
    run_next(b);
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "run");
    is_int(moved.calls, 0, "no request, no callback");
    must(ABT_thread_migrate_to_pool(thread, a));
    must(ABT_thread_free(&thread));
    is_int(moved.calls, 0, "nor for a unit that has ended");
    must(ABT_pool_free(&a));
    must(ABT_pool_free(&b));
}

/* --- Targets --- */

static ABT_pool migr_pool;

static ABT_pool get_migr_pool(ABT_sched sched)
{
    return migr_pool;
}

static void no_run(ABT_sched sched)
{
}

static void test_to_sched(enum caller who, void *arg)
{
    ABT_sched_def def = {.run = no_run, .get_migr_pool = get_migr_pool};
    ABT_pool start = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_pool pools[2] = {new_pool(ABT_POOL_FIFO, ABT_FALSE), new_pool(ABT_POOL_FIFO, ABT_FALSE)};
    ABT_sched scheds[2];
    ABT_thread thread, popped;
    struct moved moved = {0};

    must(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &scheds[0]));
    def.get_migr_pool = NULL;
    must(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &scheds[1]));
    migr_pool = pools[1];
    for (int i = 0; i < 2; i++) {
        thread = ult_in(start, do_nothing, NULL);
        must(ABT_thread_set_callback(thread, on_move, &moved));
        ok_abt(ABT_thread_migrate_to_sched(thread, scheds[i]));
        must(ABT_pool_pop_thread(start, &popped));
        must(ABT_pool_push_thread(arg, popped)); /* another ES serves it */
        ok(soon(moved.calls == i + 1), "the scheduler's pools are its new home");
        must(ABT_pool_pop_wait_thread(pools[1 - i], &popped, 10.0));
        is_ptr(popped, thread, i ? "migrated to the first pool" : "migrated to the pool that the scheduler offers");
        if (!ABT_NULL)
            ok_err(ABT_thread_migrate_to_sched(thread, scheds[i]), ABT_ERR_MIGRATION_TARGET);
        must(ABT_pool_push_thread(arg, popped));
        must(ABT_thread_free(&thread));
    }
    migr_pool = ABT_POOL_NULL;
    thread = ult_in(arg, do_nothing, NULL);
    must(ABT_thread_join(thread));
    if (!ABT_NULL)
        ok_err(ABT_thread_migrate_to_sched(thread, scheds[0]), ABT_ERR_MIGRATION_TARGET);
    must(ABT_thread_free(&thread));
    must(ABT_sched_free(&scheds[0]));
    must(ABT_sched_free(&scheds[1]));
    must(ABT_pool_free(&start));
    must(ABT_pool_free(&pools[0]));
    must(ABT_pool_free(&pools[1]));
}

struct wanderer {
    atomic_bool stop;
    ABT_xstream last;
};

static void wander(void *arg)
{
    struct wanderer *wanderer = arg;

    while (!atomic_load(&wanderer->stop))
        ABT_thread_yield();
    wanderer->last = own_xstream();
}

static void test_to_xstream(enum caller who, void *arg)
{
    struct wanderer wanderer = {.last = ABT_XSTREAM_NULL};
    ABT_xstream a = new_xstream(), b = new_xstream();
    ABT_thread thread = ult_in(pool_of(a), wander, &wanderer);

    if (!ABT_NULL)
        ok_err(ABT_thread_migrate_to_xstream(thread, a), ABT_ERR_MIGRATION_TARGET);
    ok_abt(ABT_thread_migrate_to_xstream(thread, b));
    ok(soon(last_pool_of(thread) == pool_of(b)), "it moved to that ES");
    ok_abt(ABT_thread_migrate_to_xstream(thread, a));
    ok(soon(last_pool_of(thread) == pool_of(a)), "and back");
    if (who == TASKLET) { /* holds the primary ES up, where it might go */
        must(ABT_thread_migrate_to_xstream(thread, b));
    } else {
        ok_abt(ABT_thread_migrate(thread));
    }
    ok(soon(last_pool_of(thread) != pool_of(a)), "it went to another ES");
    atomic_store(&wanderer.stop, true);
    must(ABT_thread_free(&thread));
    ok(wanderer.last != a && wanderer.last != ABT_XSTREAM_NULL, "it ended elsewhere");
    must(ABT_xstream_free(&a));
    must(ABT_xstream_free(&b));
}

/* With no other ES there is nowhere to go; a terminated one does not count. */
static void test_nowhere(void)
{
    ABT_thread thread = ult_in(own_pool(), do_nothing, NULL);
    ABT_xstream xstream;

    ok_err(ABT_thread_migrate(thread), ABT_ERR_MIGRATION_NA);
    xstream = new_xstream();
    must(ABT_xstream_join(xstream));
    ok_err(ABT_thread_migrate(thread), ABT_ERR_MIGRATION_NA);
    must(ABT_xstream_revive(xstream));
    ok_abt(ABT_thread_migrate(thread));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
}

/* --- Who is migratable --- */

static void test_flag(enum caller who, void *arg)
{
    ABT_pool parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(parked, do_nothing, NULL), popped;
    ABT_xstream xstream = new_xstream();
    ABT_sched sched;
    ABT_bool flag = ABT_FALSE;

    must(ABT_xstream_get_main_sched(xstream, &sched));
    ok_abt(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_TRUE, "a ULT is migratable");
    ok_abt(ABT_thread_set_migratable(thread, ABT_FALSE));
    ok_abt(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_FALSE, "now it is not");
    if (!ABT_NULL) {
        ok_err(ABT_thread_migrate_to_pool(thread, arg), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_migrate_to_xstream(thread, xstream), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_migrate_to_sched(thread, sched), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_migrate(thread), ABT_ERR_INV_THREAD);
    }
    ok_abt(ABT_thread_set_migratable(thread, ABT_TRUE));
    ok_abt(ABT_thread_migrate_to_pool(thread, arg));
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(pool_of(xstream), popped));
    must(ABT_thread_join(thread));
    is_ptr(last_pool_of(thread), arg, "and now it is again");
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&parked));
}

static void test_primary(enum caller who, void *arg)
{
    ABT_bool flag = ABT_TRUE;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);

    is_int(ABT_thread_set_migratable(arg, ABT_TRUE), ver20 ? ABT_ERR_INV_THREAD : ABT_SUCCESS, "the primary ULT");
    ok_abt(ABT_thread_is_migratable(arg, &flag));
    is_int(flag, ABT_FALSE, "is never migratable");
    ok_err(ABT_thread_migrate_to_pool(arg, pool), ABT_ERR_INV_THREAD);
    must(ABT_pool_free(&pool));
}

static atomic_int sched_codes[4], sched_flag;

static void migrating_run(ABT_sched sched)
{
    ABT_thread main_ult = self();
    ABT_pool pool;
    ABT_bool flag = ABT_TRUE;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    atomic_store(&sched_codes[0], ABT_thread_migrate_to_pool(main_ult, pool));
    atomic_store(&sched_codes[1], ABT_thread_migrate_to_sched(main_ult, sched));
    atomic_store(&sched_codes[2], ABT_thread_migrate(main_ult));
    atomic_store(&sched_codes[3], ABT_thread_set_migratable(main_ult, ABT_TRUE));
    ABT_thread_is_migratable(main_ult, &flag);
    atomic_store(&sched_flag, flag);
    must(ABT_xstream_cancel(own_xstream()));
}

static void test_main_scheduler(void)
{
    run_main_sched(migrating_run);
    for (int i = 0; i < 3; i++)
        is_int(sched_codes[i], ABT_ERR_INV_THREAD, "a main scheduler stays where it is, %d", i);
    is_int(sched_codes[3], ver20 ? ABT_ERR_INV_THREAD : ABT_SUCCESS, "whatever it is told");
    is_int(sched_flag, ABT_FALSE, "and knows it");
}

int main(void)
{
    ABT_xstream xstream;
    ABT_pool pool;

    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    if (!ABT_NULL)
        test_nowhere();
    xstream = new_xstream();
    pool = pool_of(xstream);
    call_as_each(test_when_popped, pool);
    test_when_yielding();
    test_when_suspended();
    test_when_blocking("suspend_to", leave_by_suspend_to, wake_by_resume);
    test_when_blocking("an eventual", leave_by_eventual, wake_by_eventual);
    test_when_blocking("a mutex", leave_by_mutex, wake_by_mutex);
    test_when_blocking("a join", leave_by_join, wake_by_join);
    test_callback();
    call_as_each(test_to_sched, pool);
    call_as_each(test_to_xstream, NULL);
    call_as_each(test_flag, pool);
    if (!ABT_NULL) {
        call_as_each(test_primary, self());
        test_main_scheduler();
    }
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
