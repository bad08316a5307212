/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_pool_add_sched: schedulers stacked in pools. */
#include "user_pool.h"

/* A user's scheduler that tells what it runs in. */
struct seen {
    ABT_thread thread;
    ABT_bool unnamed, migratable;
    size_t stacksize;
    void *arg;
    atomic_int runs, frees, passes;
};

static int stack_free(ABT_sched sched)
{
    void *data;

    must(ABT_sched_get_data(sched, &data));
    count_up(&((struct seen *)data)->frees);
    return ABT_SUCCESS;
}

static void stack_run(ABT_sched sched)
{
    struct seen *seen;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    seen = data;
    must(ABT_self_get_thread(&seen->thread));
    must(ABT_self_is_unnamed(&seen->unnamed));
    must(ABT_thread_is_migratable(seen->thread, &seen->migratable));
    must(ABT_thread_get_stacksize(seen->thread, &seen->stacksize));
    must(ABT_self_get_arg(&seen->arg));
    count_up(&seen->runs);
    do {
        if (!run_next(first_pool_of(sched)))
            must(ABT_self_yield()); /* others run while its own are blocked */
        count_up(&seen->passes);
    } while (!is_last_turn(sched));
}

static ABT_sched stackable(ABT_pool pool, struct seen *seen, int automatic)
{
    ABT_sched_def def = {.run = stack_run, .free = stack_free};
    ABT_sched_config config;
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, automatic, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 1, &pool, config, &sched));
    must(ABT_sched_config_free(&config));
    must(ABT_sched_set_data(sched, seen));
    return sched;
}

/*
 * An automatic scheduler has been freed, and lets go of its pools after that: it has done so when its ES runs the next
 * unit.
 */
static void wait_for_frees(struct seen *seen, int frees, ABT_pool outer)
{
    ABT_thread thread;

    wait_for(atomic_load(&seen->frees) == frees);
    thread = ult_in(outer, do_nothing, NULL);
    must(ABT_thread_free(&thread));
}

/* --- What it runs in, and what becomes of it --- */

static void test_add(enum caller who, void *arg)
{
    ABT_pool outer = pool_of(arg), inner = new_pool(ABT_POOL_FIFO, ABT_FALSE),
             parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 9, .migratable = 9};
    atomic_int counter = 0;
    ABT_sched sched = stackable(inner, &seen, 0), copy = sched;
    ABT_thread popped = ABT_THREAD_NULL;

    for (int i = 0; i < 10; i++)
        must(ABT_thread_create(inner, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_pool_add_sched(parked, sched));
    is_int(size_of(parked), 1, "a unit stands for it");
    is_int(seen.runs, 0, "it does not run yet");
    if (!ABT_NULL && !ver20) {
        ok_err(ABT_pool_add_sched(outer, sched), ABT_ERR_INV_SCHED);
        ok_err(ABT_sched_free(&copy), ABT_ERR_SCHED);
    }
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(outer, popped));
    wait_for(counter == 10);
    wait_for(ABT_sched_free(&sched) == ABT_SUCCESS);
    is_int(seen.frees, 1, "not automatic: it is unused when it has no work, and the user frees it");
    is_int(seen.runs, 1, "it ran once");
    is_ptr(seen.thread, popped, "in that unit");
    is_int(seen.unnamed, ABT_TRUE, "which is unnamed");
    is_int(seen.migratable, ABT_FALSE, "and not migratable");
    ok(seen.stacksize >= 512 * 1024, "and has a scheduler's stack, of %zu bytes", seen.stacksize);
    is_ptr(seen.arg, copy, "and the scheduler for an argument");

    /* Automatic: it goes by itself, and its pool stays. */
    seen.frees = 0;
    must(ABT_thread_create(inner, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_pool_add_sched(outer, stackable(inner, &seen, 1)));
    wait_for_frees(&seen, 1, outer);
    is_int(counter, 11, "an automatic one is freed when it has no work");
    is_int(size_of(inner), 0, "its pool is there");

    /* Without any work it ends at once. */
    ok_abt(ABT_pool_add_sched(outer, stackable(inner, &seen, 1)));
    wait_for_frees(&seen, 2, outer);
    must(ABT_pool_free(&inner));
    must(ABT_pool_free(&parked));
}

/* One after the other, the same scheduler may be stacked, main, and stacked again. */
static void test_reuse(void)
{
    ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 0};
    atomic_int counter = 0;
    ABT_sched sched = stackable(inner, &seen, 0);
    ABT_xstream xstream = new_xstream(), other;

    for (int i = 1; i <= 5; i++) {
        must(ABT_thread_create(inner, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(ABT_pool_add_sched(pool_of(xstream), sched) == ABT_SUCCESS);
        wait_for(counter == i);
    }
    wait_for(ABT_xstream_create(sched, &other) == ABT_SUCCESS);
    must(ABT_xstream_free(&other));
    ok_abt(ABT_pool_add_sched(pool_of(xstream), sched));
    must(ABT_xstream_free(&xstream));
    is_int(seen.frees, 0, "never freed");
    is_int(seen.runs, 7, "run seven times");
    ok_abt(ABT_sched_free(&sched));
    must(ABT_pool_free(&inner));
}

/* --- Predefined ones --- */

static void yield_and_count(void *counter)
{
    for (int i = 0; i < 10; i++)
        must(ABT_thread_yield());
    count_up(counter);
}

static void test_predefined(void)
{
    ABT_xstream xstream = new_xstream();

    for (int kind = ABT_SCHED_DEFAULT; kind <= ABT_SCHED_BASIC_WAIT; kind++) {
        struct list list;
        int flag = 1;
        ABT_pool_config config;
        ABT_pool pools[2];
        ABT_sched sched;
        atomic_int counter = 0;
        must(ABT_pool_config_create(&config));
        must(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_POOL_CONFIG_INT, &flag));
        pools[0] = new_pool(ABT_POOL_FIFO, ABT_TRUE);
        pools[1] = make_new(&list, true, config);
        must(ABT_pool_config_free(&config));
        for (int i = 0; i < 20; i++)
            must(ABT_thread_create(pools[i % 2], yield_and_count, &counter, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_sched_create_basic((ABT_sched_predef)kind, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
        ok_abt(ABT_pool_add_sched(pool_of(xstream), sched));
        wait_for(list.frees == 1);
        is_int(counter, 20, "kind %d, stacked, runs its units and goes with its automatic pools", kind);
    }
    must(ABT_xstream_free(&xstream));
}

/* A stacked scheduler waits for its blocked ULTs, while the ES runs other units. */
static void test_blocked(void)
{
    ABT_xstream xstream = new_xstream();

    for (int predefined = 0; predefined < 2; predefined++) {
        ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
        struct seen seen = {.unnamed = 0};
        atomic_int counter = 0, other = 0;
        ABT_thread thread = ult_in(inner, suspend_once, &counter);
        ABT_sched sched;
        if (predefined)
            must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, ABT_SCHED_CONFIG_NULL, &sched));
        else
            sched = stackable(inner, &seen, 1);
        must(ABT_pool_add_sched(pool_of(xstream), sched));
        wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
        must(ABT_thread_create(pool_of(xstream), count_up, &other, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(other == 1);
        pass("the ES goes on while the stacked scheduler has only blocked units");
        must(ABT_thread_resume(thread));
        must(ABT_thread_free(&thread));
        is_int(counter, 1, "which it runs when they are resumed");
        if (!predefined)
            wait_for(seen.frees == 1);
        must(ABT_xstream_free(&xstream));
        xstream = new_xstream();
        must(ABT_pool_free(&inner));
    }
    must(ABT_xstream_free(&xstream));
}

/* --- Requests --- */

static void test_exit(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 0};
    atomic_int counter = 0;
    ABT_thread thread = ult_in(inner, suspend_once, &counter), popped;
    ABT_sched sched = stackable(inner, &seen, 1);

    must(ABT_pool_add_sched(pool_of(xstream), sched));
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    ok_abt(ABT_sched_finish(sched));
    nap_ms(2);
    is_int(seen.frees, 0, "FINISH waits for blocked units");
    ok_abt(ABT_sched_exit(sched));
    wait_for_frees(&seen, 1, pool_of(xstream));
    is_int(counter, 0, "EXIT does not");
    must(ABT_thread_resume(thread));
    is_int(size_of(inner), 1, "they stay in the pool");
    must(ABT_pool_pop_thread(inner, &popped));
    must(ABT_pool_push_thread(pool_of(xstream), popped));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&inner));
}

/* A cancelled ES tells its stacked scheduler through check_events. */
static void test_cancel(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 0};
    ABT_thread thread = ult_in(inner, suspend_once, NULL);

    must(ABT_pool_add_sched(pool_of(xstream), stackable(inner, &seen, 1)));
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED && seen.runs);
    ok_abt(ABT_xstream_cancel(xstream));
    ok_abt(ABT_xstream_join(xstream));
    pass("a cancelled ES ends under a stacked scheduler");
    must(ABT_xstream_revive(xstream));
    must(ABT_thread_resume(thread));
    wait_for(seen.frees == 1 || size_of(inner) == 1);
    if (size_of(inner) == 1) {
        /* The scheduler ended with the cancellation; the unit is left to others. */
        ABT_thread popped = ABT_THREAD_NULL;
        must(ABT_pool_pop_thread(inner, &popped));
        if (popped != ABT_THREAD_NULL)
            must(ABT_pool_push_thread(pool_of(xstream), popped));
    }
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    is_int(seen.frees, 1, "the scheduler is freed");
    must(ABT_pool_free(&inner));
}

/* Joining an ES lets everything stacked on it end first, several levels deep. */
static void test_levels(void)
{
    enum { LEVELS = 4 };
    ABT_pool pools[LEVELS];
    struct seen seens[LEVELS];
    atomic_int counter = 0;
    ABT_xstream xstream;

    memset(seens, 0, sizeof(seens));
    for (int i = 0; i < LEVELS; i++) {
        pools[i] = new_pool(ABT_POOL_FIFO, ABT_FALSE);
        for (int j = 0; j < 5; j++)
            must(ABT_thread_create(pools[i], yield_and_count, &counter, ABT_THREAD_ATTR_NULL, NULL));
    }
    for (int i = 1; i < LEVELS; i++)
        must(ABT_pool_add_sched(pools[i - 1], stackable(pools[i], &seens[i], 1)));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pools[0], ABT_SCHED_CONFIG_NULL, &xstream));
    ok_abt(ABT_xstream_free(&xstream));
    is_int(counter, 5 * LEVELS, "all units of all levels have run");
    for (int i = 1; i < LEVELS; i++)
        is_int(seens[i].frees, 1, "the scheduler of level %d is gone", i);
    for (int i = 0; i < LEVELS; i++)
        must(ABT_pool_free(&pools[i]));
}

/* A scheduler's ULT is no target of migrations; setting a callback on it, or a flag, changes nothing. */
static atomic_int codes[4];

static void tamper(void *arg)
{
    struct seen *seen = arg;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);

    atomic_store(&codes[0], ABT_NULL ? ABT_ERR_INV_THREAD : ABT_thread_migrate_to_pool(seen->thread, pool));
    atomic_store(&codes[1], ABT_thread_set_callback(seen->thread, NULL, arg));
    must(ABT_thread_yield());
    must(ABT_pool_free(&pool));
}

static void test_tamper(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 0};
    ABT_thread thread = ult_in(inner, tamper, &seen);

    must(ABT_pool_add_sched(pool_of(xstream), stackable(inner, &seen, 1)));
    must(ABT_thread_free(&thread));
    wait_for(seen.frees == 1);
    is_int(codes[0], ABT_ERR_INV_THREAD, "a stacked scheduler is not migrated");
    is_int(codes[1], ABT_SUCCESS, "a callback does it no harm");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&inner));
}

/* --- Errors --- */

static void test_errors(enum caller who, void *arg)
{
    struct list list;
    ABT_pool refusing = make_new(&list, true, ABT_POOL_CONFIG_NULL), inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {.unnamed = 0};
    ABT_sched sched = stackable(inner, &seen, 0), main_sched;

    must(ABT_xstream_get_main_sched(arg, &main_sched));
    ok_err(ABT_pool_add_sched(ABT_POOL_NULL, sched), ABT_ERR_INV_POOL);
    ok_err(ABT_pool_add_sched(NULL, sched), ABT_ERR_INV_POOL);
    ok_err(ABT_pool_add_sched(inner, ABT_SCHED_NULL), ABT_ERR_INV_SCHED);
    ok_err(ABT_pool_add_sched(inner, NULL), ABT_ERR_INV_SCHED);
    if (!ver20)
        ok_err(ABT_pool_add_sched(inner, main_sched), ABT_ERR_INV_SCHED);
    list.refuse = true;
    ok_err(ABT_pool_add_sched(refusing, sched), ABT_ERR_OTHER);
    is_int(size_of(inner), 0, "errors push nothing");
    ok_abt(ABT_sched_free(&sched));
    is_int(seen.frees, 1, "the scheduler is still unused");
    must(ABT_pool_free(&inner));
    must(ABT_pool_free(&refusing));
}

int main(void)
{
    ABT_xstream xstream;

    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    xstream = new_xstream();
    call_as_each(test_add, xstream);
    test_reuse();
    test_predefined();
    test_blocked();
    test_exit();
    test_cancel();
    test_levels();
    test_tamper();
    if (!ABT_NULL)
        call_as_each(test_errors, xstream);
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
