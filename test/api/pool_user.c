/* SPDX-License-Identifier: BSD-3-Clause */
/* User-defined pools through both interfaces, ABT_pool_user_def_* and the old ABT_pool_def. */
#include "user_pool.h"

/* --- Creating --- */

static void test_create(enum caller who, void *arg)
{
    struct list list;
    ABT_pool_user_def def = new_def(true);
    ABT_pool_config config;
    ABT_pool_access access;
    ABT_pool pool = UNTOUCHED(ABT_pool);
    int code = ABT_ERR_TIMER;

    (void)who, (void)arg;
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, 7, ABT_POOL_CONFIG_INT, &code));
    list_init(&list);
    next_list = &list;
    ok_err(ABT_pool_create(def, config, &pool), ABT_ERR_TIMER);
    is_ptr(pool, ver20 ? UNTOUCHED(ABT_pool) : ABT_POOL_NULL, "the code of init, and no pool");
    ok(list.inits == 1 && list.frees == 0, "what was not made is not freed");
    must(ABT_pool_user_def_free(&def));
    must(ABT_pool_config_free(&config));
    if (!ABT_NULL) {
        ok_err(ABT_pool_create(ABT_POOL_USER_DEF_NULL, ABT_POOL_CONFIG_NULL, &pool), ABT_ERR_INV_POOL_USER_DEF);
        ok_err(ABT_pool_create(NULL, ABT_POOL_CONFIG_NULL, &pool), ABT_ERR_INV_POOL_USER_DEF);
    }

    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    must(ABT_pool_get_access(pool, &access));
    is_int(access, ABT_POOL_ACCESS_MPMC, "a new-style pool is for all");
    ok(list_of(pool) == &list && list.inits == 1, "init has given it its data");
    is_ptr(ABTX_pool_data(pool), &list, "which is there as a value");
    ok_abt(ABT_pool_free(&pool));
    is_int(list.frees, 1, "free was called");
    for (int a = 0; a < 5; a++) {
        pool = make_old(&list, (ABT_pool_access)a, false, ABT_POOL_CONFIG_NULL);
        must(ABT_pool_get_access(pool, &access));
        is_int(access, a, "an old-style pool is for whom it says");
        ok_abt(ABT_pool_free(&pool));
        is_int(list.frees, 1, "free was called");
    }
}

/* --- Basic operations, in both interfaces --- */

static void count_thread(void *arg, ABT_thread thread)
{
    if (thread != ABT_THREAD_NULL)
        count_up(arg);
}

static void count_unit(void *arg, ABT_unit unit)
{
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_unit_get_thread(unit, &thread));
    if (thread == ((struct item *)unit)->thread)
        count_up(arg);
}

static void test_operations(enum caller who, void *arg)
{
    bool old = arg != NULL;
    struct list list;
    ABT_pool pool = make(old, &list), builtin = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread units[4], popped[4] = {NULL}, thread;
    ABT_unit unit = NULL, handles[4];
    ABT_xstream xstream;
    ABT_bool flag = ABT_FALSE;
    atomic_int counter = 0;
    size_t num = 77;

    for (int i = 0; i < 4; i++) {
        if (i % 2)
            must(ABT_task_create(pool, count_up, &counter, &units[i]));
        else
            must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, &units[i]));
        must(ABT_thread_get_unit(units[i], &handles[i]));
        must(ABT_unit_get_thread(handles[i], &thread));
        ok(((struct item *)handles[i])->thread == units[i] && thread == units[i], "the unit is the pool's");
    }
    is_int(list.alive, 4, "a unit for each");
    is_int(last_push(&list), old ? 0 : ABT_POOL_CONTEXT_OP_THREAD_CREATE, "pushed as created");
    ok(ABT_pool_get_size(pool, &num) == ABT_SUCCESS && num == 4, "its size");
    is_int(total_size_of(pool), 4, "nothing is blocked");
    must(ABT_pool_is_empty(pool, &flag));
    is_int(flag, ABT_FALSE, "not empty");
    counter = 0;
    ok_abt(ABT_pool_print_all_threads(pool, &counter, count_thread));
    is_int(counter, 4, "all threads are shown");
    ok_abt(ABT_pool_print_all(pool, &counter, count_unit));
    is_int(counter, 8, "all units are shown");
    counter = 0;
    ok_abt(ABT_pool_pop_thread(pool, &popped[0]));
    is_ptr(popped[0], units[0], "popped");
    ok_abt(ABT_pool_pop(pool, &unit));
    is_ptr(unit, handles[1], "popped as a unit");
    ok_abt(ABT_pool_push_thread_ex(pool, units[0], ABT_POOL_CONTEXT_OP_THREAD_MIGRATE));
    is_int(last_push(&list), old ? 0 : ABT_POOL_CONTEXT_OP_THREAD_MIGRATE, "the context given");
    ok_abt(ABT_pool_push(pool, unit));
    is_int(list.created, 4, "the units are kept from pop to push");
    num = 77;
    ok_abt(ABT_pool_pop_threads_ex(pool, popped, 3, &num, ABT_POOL_CONTEXT_OWNER_SECONDARY));
    ok(num == 3 && popped[0] == units[2] && popped[1] == units[3] && popped[2] == units[0], "three popped");
    is_int(list.last_pop, old ? 0 : ABT_POOL_CONTEXT_OWNER_SECONDARY, "with the context given");
    popped[3] = ABT_THREAD_NULL;
    ok_abt(ABT_pool_push_threads(pool, popped, 4));
    is_int(size_of(pool), 4, "and pushed, but for the null one");
    ok_abt(ABT_pool_pop_threads(pool, popped, 4, &num));
    is_int(num, 4, "all popped");
    if (!old)
        ok(list.pop_manys == 2 && list.push_manys == 1, "by the plural callbacks");

    /* To another pool: the unit goes. */
    must(ABT_pool_push_thread(builtin, units[0]));
    is_int(list.alive, 3, "associated with another pool, its unit is freed");
    must(ABT_thread_get_unit(units[0], &unit));
    must(ABT_unit_get_thread(unit, &thread));
    is_ptr(thread, units[0], "and it has another");
    must(ABT_pool_pop_thread(builtin, &thread));
    ok_abt(ABT_thread_set_associated_pool(units[0], pool));
    ok(list.alive == 4 && list.created == 5, "and back");
    xstream = new_xstream();
    for (int i = 0; i < 4; i++)
        must(ABT_pool_push_thread(pool_of(xstream), units[i]));
    is_int(list.alive, 0, "no unit is left");
    must(ABT_thread_free_many(4, units));
    is_int(counter, 4, "all have run");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
    must(ABT_pool_free(&builtin));
}

/* Waiting pops. */
static void test_wait(enum caller who, void *arg)
{
    bool old = arg != NULL;
    struct list list;
    ABT_pool pool = make(old, &list);
    ABT_thread thread = UNTOUCHED(ABT_thread), waiting;
    ABT_unit unit = UNTOUCHED(ABT_unit);
    ABT_xstream xstream = new_xstream();
    double start = now();

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    if (old) {
        ok_abt(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 0.005));
        is_ptr(unit, ABT_UNIT_NULL, "nothing came");
        ok(now() - start >= 0.004, "in that time");
        if (!ABT_NULL) {
            ok_err(ABT_pool_pop_wait_thread(pool, &thread, 0.0), ABT_ERR_POOL);
            ok_err(ABT_pool_pop_wait_thread_ex(pool, &thread, 0.0, 0), ABT_ERR_POOL);
            ok_err(ABT_pool_pop_wait(pool, &unit, 0.0), ABT_ERR_POOL);
        }
        waiting = ult_in(pool, do_nothing, NULL);
        ok_abt(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 5.0));
        must(ABT_unit_get_thread(unit, &thread));
    } else {
        ok_abt(ABT_pool_pop_wait_thread(pool, &thread, 0.005));
        is_ptr(thread, ABT_THREAD_NULL, "nothing came");
        ok(now() - start >= 0.004, "in that time");
        ok_abt(ABT_pool_pop_wait(pool, &unit, 0.0));
        is_ptr(unit, ABT_UNIT_NULL, "nothing came");
        if (!ABT_NULL)
            ok_err(ABT_pool_pop_timedwait(pool, &unit, 0.0), ABT_ERR_POOL);
        waiting = ult_in(pool, do_nothing, NULL);
        ok_abt(ABT_pool_pop_wait_thread_ex(pool, &thread, 5.0, ABT_POOL_CONTEXT_OWNER_PRIMARY));
        is_int(list.last_pop, ABT_POOL_CONTEXT_OWNER_PRIMARY, "with the context given");
    }
#pragma GCC diagnostic pop
    is_ptr(thread, waiting, "what was there");
    ok(list.pop_waits >= 2, "by the waiting callback");
    must(ABT_pool_push_thread(pool_of(xstream), thread));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
}

/* Removing is for old-style pools. */
static void test_remove(void)
{
    for (int old = 0; old < 2; old++) {
        struct list list;
        ABT_pool pool = make(old, &list);
        ABT_thread threads[3], popped;
        ABT_unit unit;
        for (int i = 0; i < 3; i++)
            threads[i] = ult_in(pool, do_nothing, NULL);
        must(ABT_thread_get_unit(threads[1], &unit));
        if (old) {
            ok_abt(ABT_pool_remove(pool, unit));
            is_int(size_of(pool), 2, "removed");
            ok_err(ABT_pool_remove(pool, unit), ABT_ERR_KEY);
            must(ABT_pool_push(pool, unit));
        } else if (!ABT_NULL) {
            ok_err(ABT_pool_remove(pool, unit), ABT_ERR_POOL);
            ok_err(ABT_thread_yield_to(threads[1]), ABT_ERR_POOL);
        }
        for (int i = 0; i < 3; i++) {
            must(ABT_pool_pop_thread(pool, &popped));
            must(ABT_self_schedule(popped, ABT_POOL_NULL));
        }
        must(ABT_thread_free_many(3, threads));
        is_int(list.alive, 0, "no unit is left");
        must(ABT_pool_free(&pool));
    }
}

/* --- What is missing --- */

static void test_no_optional(enum caller who, void *arg)
{
    struct list list;
    ABT_pool pool = make_new(&list, false, ABT_POOL_CONFIG_NULL);
    ABT_thread thread = ult_in(pool, do_nothing, NULL), list_out[1];
    ABT_xstream xstream = new_xstream();
    ABT_unit unit;
    ABT_bool flag = ABT_TRUE;
    size_t size = 77;

    (void)who, (void)arg;
    ok_err(ABT_pool_get_size(pool, &size), ABT_ERR_POOL);
    ok_err(ABT_pool_get_total_size(pool, &size), ABT_ERR_POOL);
    ok_err(ABT_pool_pop_threads(pool, list_out, 1, &size), ABT_ERR_POOL);
    ok_err(ABT_pool_pop_threads_ex(pool, list_out, 1, &size, 0), ABT_ERR_POOL);
    ok_err(ABT_pool_push_threads(pool, &thread, 1), ABT_ERR_POOL);
    ok_err(ABT_pool_push_threads(pool, NULL, 0), ABT_ERR_POOL);
    ok_err(ABT_pool_push_threads_ex(pool, NULL, 0, 0), ABT_ERR_POOL);
    ok_err(ABT_pool_pop_wait_thread(pool, &thread, 0.0), ABT_ERR_POOL);
    ok_err(ABT_pool_pop_wait_thread_ex(pool, &thread, 0.0, 0), ABT_ERR_POOL);
    ok_err(ABT_pool_pop_wait(pool, &unit, 0.0), ABT_ERR_POOL);
    ok_err(ABT_pool_print_all(pool, &size, count_unit), ABT_ERR_POOL);
    ok_err(ABT_pool_print_all_threads(pool, &size, count_thread), ABT_ERR_POOL);
    is_int(size, 77, "errors store nothing");
    must(ABT_pool_is_empty(pool, &flag));
    is_int(flag, ABT_FALSE, "what is there still is");
    must(ABT_pool_pop_thread(pool, &thread));
    must(ABT_pool_push_thread(pool_of(xstream), thread));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_pool_free(&pool));
}

/* A pool that makes no unit: every routine that would need one says OTHER, and leaves everything as it was. */
static void test_refusal(enum caller who, void *arg)
{
    bool old = arg != NULL;
    struct list list, other_list;
    ABT_pool pool, other = make_new(&other_list, true, ABT_POOL_CONFIG_NULL);
    ABT_xstream xstream = new_xstream();
    ABT_thread thread = UNTOUCHED(ABT_thread), popped;
    ABT_unit unit;

    pool = make(old, &list);
    list.refuse = true;
    ok_err(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &thread), ABT_ERR_OTHER);
    is_ptr(thread, ver20 ? UNTOUCHED(ABT_thread) : ABT_THREAD_NULL, "the handle after an error");
    ok_err(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL), ABT_ERR_OTHER);
    ok_err(ABT_task_create(pool, do_nothing, NULL, &thread), ABT_ERR_OTHER);
    ok_err(ABT_thread_create_to(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &thread),
           code_for_ult(who, ABT_ERR_OTHER));
    ok_err(ABT_thread_create_many(1, &pool, (void (*[])(void *)){do_nothing}, NULL, ABT_THREAD_ATTR_NULL, NULL),
           ABT_ERR_OTHER);
    thread = ult_in(other, do_nothing, NULL);
    must(ABT_pool_pop_thread(other, &popped));
    must(ABT_thread_get_unit(thread, &unit));
    ok_err(ABT_pool_push_thread(pool, thread), ABT_ERR_OTHER);
    ok_err(ABT_pool_push_thread_ex(pool, thread, 0), ABT_ERR_OTHER);
    ok_err(ABT_pool_push_threads(pool, &thread, 1), ABT_ERR_OTHER);
    ok_err(ABT_pool_push(pool, unit), ABT_ERR_OTHER);
    ok_err(ABT_thread_set_associated_pool(thread, pool), ABT_ERR_OTHER);
    ok_err(ABT_self_schedule(thread, pool), code_for_ult(who, ABT_ERR_OTHER));
    ok_err(ABT_xstream_run_unit(unit, pool), code_for_ult(who, ABT_ERR_OTHER));
    ok_err(ABT_self_set_associated_pool(pool), code_for_es(who, ABT_ERR_OTHER));
    is_ptr(last_pool_of(thread), other, "its pool is as it was");
    must(ABT_pool_push_thread(pool_of(xstream), thread));
    must(ABT_thread_join(thread));
    ok_err(ABT_thread_revive(pool, do_nothing, NULL, &thread), ABT_ERR_OTHER);
    ok_err(ABT_thread_revive_to(pool, do_nothing, NULL, &thread), code_for_ult(who, ABT_ERR_OTHER));
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "nor was it revived");
    must(ABT_thread_free(&thread));
    ok(list.alive == 0 && list.size == 0 && other_list.alive == 0, "no unit is left");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
    must(ABT_pool_free(&other));
}

/* --- At work --- */

static void yield_and_count(void *counter)
{
    for (int i = 0; i < 20; i++)
        must(ABT_self_yield());
    count_up(counter);
}

/* Everything runs through user-defined pools that two schedulers of each kind share. */
static void test_schedulers(void)
{
    const ABT_sched_predef kinds[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};

    for (int k = 0; k < 8; k++) {
        struct list lists[2];
        ABT_pool pools[2];
        ABT_xstream xstreams[2];
        ABT_thread threads[200];
        atomic_int counter = 0;
        pools[0] = make(k % 2, &lists[0]);
        pools[1] = make_new(&lists[1], true, ABT_POOL_CONFIG_NULL);
        for (int i = 0; i < 2; i++)
            must(ABT_xstream_create_basic(kinds[k / 2], 2, pools, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
        for (int i = 0; i < 200; i++) {
            if (i % 5 == 0)
                must(ABT_task_create(pools[i % 2], count_up, &counter, &threads[i]));
            else
                must(ABT_thread_create(pools[i % 2], i % 5 == 1 ? count_up : yield_and_count, &counter,
                                       ABT_THREAD_ATTR_NULL, &threads[i]));
        }
        must(ABT_thread_join_many(200, threads));
        is_int(counter, 200, "kind %d: all have run", kinds[k / 2]);
        ok(lists[0].alive == 100 && lists[1].alive == 100, "units live until their work units are freed");
        must(ABT_thread_free_many(200, threads));
        for (int i = 0; i < 50; i++)
            must(ABT_thread_create(pools[i % 2], yield_and_count, &counter, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(counter == 250);
        for (int i = 0; i < 2; i++)
            must(ABT_xstream_free(&xstreams[i]));
        ok(lists[0].alive == 0 && lists[1].alive == 0, "no unit is left");
        for (int i = 0; i < 2; i++)
            must(ABT_pool_free(&pools[i]));
        ok(lists[0].frees == 1 && lists[1].frees == 1, "both pools are freed");
    }
}

/* --- A mutex that a user-defined pool shares with another one --- */

static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;

static void lock_once(void *arg)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);

    must(ABT_mutex_lock(mutex));
    count_up(arg);
    must(ABT_mutex_unlock(mutex));
}

/* Wakes a ULT of the other pool, which comes first in its scheduler, and takes the mutex anew before that has run. */
static void wake_and_lock(void *pool)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    atomic_int counter = 0;

    must(ABT_mutex_lock(mutex));
    ABT_thread thread = ult_in(pool, lock_once, &counter);
    must(ABT_self_yield());
    is_int(state_of(thread), ABT_THREAD_STATE_BLOCKED, "a ULT of a built-in pool waits for a mutex");
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_lock(mutex));
    is_int(counter, 0, "one of a user-defined pool has it again");
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&thread));
    is_int(counter, 1, "then the other one");
}

static void test_mutex(bool old)
{
    struct list list;
    ABT_pool pools[2];
    ABT_thread thread;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]));
    pools[1] = make(old, &list);
    ABT_xstream xstream;
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &xstream));
    thread = ult_in(pools[1], wake_and_lock, pools[0]);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pools[1]));
}

int main(void)
{
    must(ABT_init(0, NULL));
    call_as_each(test_create, NULL);
    for (int old = 0; old < 2; old++) {
        diag("%s interface", old ? "old" : "new");
        call_as_each(test_operations, old ? &old : NULL);
        call_as_each(test_wait, old ? &old : NULL);
        if (!ABT_NULL)
            call_as_each(test_refusal, old ? &old : NULL);
    }
    test_remove();
    if (!ABT_NULL)
        call_as_each(test_no_optional, NULL);
    test_schedulers();
    for (int old = 0; old < 2; old++)
        test_mutex(old);
    ok_abt(ABT_finalize());
    return done_testing();
}
