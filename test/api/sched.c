/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_sched_*: making schedulers, their rules and queries. Stacked ones are in sched_stack.c. */
#include "user_pool.h"

static void no_run(ABT_sched sched)
{
}

static ABT_bool has_to_stop(ABT_sched sched)
{
    ABT_bool stop = 9;

    must(ABT_sched_has_to_stop(sched, &stop));
    return stop;
}

static int num_pools_of(ABT_sched sched)
{
    int num = -1;

    must(ABT_sched_get_num_pools(sched, &num));
    return num;
}

/* --- Predefined schedulers --- */

static void test_create_basic(enum caller who, void *arg)
{
    const ABT_sched_predef kinds[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                      ABT_SCHED_BASIC_WAIT};
    ABT_pool mine = new_pool(ABT_POOL_FIFO, ABT_FALSE), given[3] = {mine, ABT_POOL_NULL, NULL}, got[3];
    ABT_pool_access access;
    ABT_sched sched = ABT_SCHED_NULL;

    (void)who, (void)arg;
    for (int i = 0; i < 5; i++) {
        int expected = kinds[i] == ABT_SCHED_PRIO ? 3 : 1;
        ok_abt(ABT_sched_create_basic(kinds[i], 77, NULL, ABT_SCHED_CONFIG_NULL, &sched));
        ok(sched && sched != ABT_SCHED_NULL, "a scheduler of kind %d", kinds[i]);
        is_int(num_pools_of(sched), expected, "kind %d makes its pools", kinds[i]);
        must(ABT_sched_get_pools(sched, expected, 0, got));
        for (int j = 0; j < expected; j++) {
            must(ABT_pool_get_access(got[j], &access));
            is_int(access, ABT_POOL_ACCESS_MPMC, "for all");
        }
        ok_abt(ABT_sched_free(&sched));
        is_ptr(sched, ABT_SCHED_NULL, "null after free");
        ok_abt(ABT_sched_create_basic(kinds[i], 2, given, NULL, &sched));
        must(ABT_sched_get_pools(sched, 2, 0, got));
        ok(got[0] == mine && got[1] && got[1] != ABT_POOL_NULL, "a pool is made for a null one");
        must(ABT_pool_get_access(got[1], &access));
        is_int(access, ABT_POOL_ACCESS_MPMC, "for all");
        ok(given[0] == mine && given[1] == ABT_POOL_NULL, "the array is left alone");
        ok_abt(ABT_sched_free(&sched));
    }
    is_int(size_of(mine), 0, "a pool that is not automatic outlives its schedulers");
    must(ABT_pool_free(&mine));
    if (ABT_NULL)
        return;
    sched = UNTOUCHED(ABT_sched);
    ok_err(ABT_sched_create_basic(ABT_SCHED_BASIC, -1, given, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG);
    is_ptr(sched, ver20 ? UNTOUCHED(ABT_sched) : ABT_SCHED_NULL, "the handle after an error");
    ok_err(ABT_sched_create_basic((ABT_sched_predef)5, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched),
           ABT_ERR_INV_SCHED_PREDEF);
    ok_err(ABT_sched_create_basic((ABT_sched_predef)-1, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched),
           ABT_ERR_INV_SCHED_PREDEF);
}

/* In which order pools are served: units wait in all of them when the ES starts. */
static char order[16];
static atomic_int order_len;

static void note(void *letter)
{
    order[atomic_fetch_add(&order_len, 1)] = *(char *)letter;
}

static const char *order_of(ABT_sched_predef kind, const ABT_pool_access *accesses, const char *const *letters)
{
    ABT_pool pools[3];
    ABT_xstream xstream;

    memset(order, 0, sizeof(order));
    atomic_store(&order_len, 0);
    for (int i = 0; i < 3; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, accesses[i], ABT_TRUE, &pools[i]));
        for (const char *c = letters[i]; *c; c++)
            must(ABT_task_create(pools[i], note, (void *)(uintptr_t)c, NULL));
    }
    must(ABT_xstream_create_basic(kind, 3, pools, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_xstream_free(&xstream));
    return order;
}

static void test_order(void)
{
    const ABT_pool_access same[] = {ABT_POOL_ACCESS_MPMC, ABT_POOL_ACCESS_MPMC, ABT_POOL_ACCESS_MPMC};
    const ABT_pool_access mixed[] = {ABT_POOL_ACCESS_MPMC, ABT_POOL_ACCESS_MPSC, ABT_POOL_ACCESS_PRIV};
    const char *const letters[] = {"ab", "cd", "ef"};

    is_str(order_of(ABT_SCHED_PRIO, same, letters), "abcdef", "PRIO: by index");
    is_str(order_of(ABT_SCHED_PRIO, mixed, letters), "abcdef", "PRIO: whatever their access");
    is_str(order_of(ABT_SCHED_BASIC, mixed, letters), "efcdab", "BASIC: by access");
    is_str(order_of(ABT_SCHED_DEFAULT, mixed, letters), "efcdab", "DEFAULT: like BASIC");
    is_str(order_of(ABT_SCHED_BASIC_WAIT, mixed, letters), "efcdab", "BASIC_WAIT: like BASIC");
    ok(!strncmp(order_of(ABT_SCHED_RANDWS, same, letters), "ab", 2), "RANDWS: its own pool first");
    is_int(strlen(order), 6, "then all the others");
}

/* A scheduler without pools does nothing, and its ES can be joined. */
static void test_no_pools(void)
{
    ABT_pool none[1] = {ABT_POOL_NULL};
    ABT_xstream xstream;

    for (int kind = ABT_SCHED_DEFAULT; kind <= ABT_SCHED_BASIC_WAIT; kind++) {
        ok_abt(ABT_xstream_create_basic((ABT_sched_predef)kind, 0, none, ABT_SCHED_CONFIG_NULL, &xstream));
        ok_abt(ABT_xstream_free(&xstream));
    }
}

/* --- User-defined schedulers --- */

static ABT_sched_config seen_config;
static atomic_int init_code, frees;

static int user_init(ABT_sched sched, ABT_sched_config config)
{
    seen_config = config;
    must(ABT_sched_set_data(sched, &frees));
    return init_code;
}

static int user_free(ABT_sched sched)
{
    void *data = NULL;

    must(ABT_sched_get_data(sched, &data));
    count_up(data);
    return ABT_ERR_OTHER; /* is ignored */
}

static void test_create(enum caller who, void *arg)
{
    ABT_sched_def def = {.type = (ABT_sched_type)9, .init = user_init, .run = no_run, .free = user_free};
    ABT_pool mine = new_pool(ABT_POOL_FIFO, ABT_FALSE), given[2] = {mine, ABT_POOL_NULL}, got[2];
    ABT_pool_access access;
    ABT_sched_config config;
    ABT_sched sched = UNTOUCHED(ABT_sched);
    void *data = NULL;

    (void)who, (void)arg;
    frees = 0;
    must(ABT_sched_config_create(&config, ABT_sched_config_var_end));
    init_code = ABT_ERR_TIMER;
    ok_err(ABT_sched_create(&def, 2, given, config, &sched), ABT_ERR_TIMER);
    is_ptr(sched, ver20 ? UNTOUCHED(ABT_sched) : ABT_SCHED_NULL, "the code of init, and no scheduler");
    is_int(frees, 0, "what was not made is not freed");
    is_int(size_of(mine), 0, "nor its pool");
    init_code = ABT_SUCCESS;
    ok_abt(ABT_sched_create(&def, 2, given, config, &sched));
    is_ptr(seen_config, config, "init gets the configuration");
    must(ABT_sched_config_free(&config));
    must(ABT_sched_get_pools(sched, 2, 0, got));
    ok(got[0] == mine && got[1] && got[1] != ABT_POOL_NULL && given[1] == ABT_POOL_NULL, "a pool for a null one");
    must(ABT_pool_get_access(got[1], &access));
    is_int(access, ABT_POOL_ACCESS_MPSC, "for one consumer");
    memset(&def, 0xa5, sizeof(def)); /* the definition was copied */
    ok_abt(ABT_sched_get_data(sched, &data));
    is_ptr(data, &frees, "its data");
    ok_abt(ABT_sched_free(&sched));
    is_int(frees, 1, "free was called");

    def = (ABT_sched_def){.run = no_run};
    ok_abt(ABT_sched_create(&def, 1, given, ABT_SCHED_CONFIG_NULL, &sched));
    ok_abt(ABT_sched_set_data(sched, &def));
    ok_abt(ABT_sched_get_data(sched, &data));
    is_ptr(data, &def, "data of a scheduler without callbacks");
    ok_abt(ABT_sched_free(&sched));
    must(ABT_pool_free(&mine));
    if (!ABT_NULL) {
        sched = UNTOUCHED(ABT_sched);
        ok_err(ABT_sched_create(&def, -1, given, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG);
        is_ptr(sched, ver20 ? UNTOUCHED(ABT_sched) : ABT_SCHED_NULL, "the handle after an error");
    }
}

/* Who frees a scheduler and its pools when the ES goes: their automatic flags. */
static void test_automatic(void)
{
    ABT_sched_def def = {.init = user_init, .run = NULL, .free = user_free};

    for (int automatic = -1; automatic < 2; automatic++) {
        struct list lists[2];
        ABT_pool pools[2];
        ABT_sched_config config;
        ABT_sched sched;
        ABT_xstream xstream;
        int flag = 1;
        ABT_pool_config pool_config;
        must(ABT_pool_config_create(&pool_config));
        must(ABT_pool_config_set(pool_config, ABT_pool_config_automatic.key, ABT_POOL_CONFIG_INT, &flag));
        pools[0] = make_new(&lists[0], true, pool_config);
        pools[1] = make_new(&lists[1], true, ABT_POOL_CONFIG_NULL);
        must(ABT_pool_config_free(&pool_config));
        must(ABT_sched_config_create(&config, ABT_sched_config_var_end));
        if (automatic >= 0)
            must(ABT_sched_config_set(config, ABT_sched_config_automatic.idx, ABT_SCHED_CONFIG_INT, &automatic));
        frees = 0;
        def.run = no_run; /* called again and again until the ES is joined */
        must(ABT_sched_create(&def, 2, pools, config, &sched));
        must(ABT_sched_config_free(&config));
        must(ABT_xstream_create(sched, &xstream));
        must(ABT_xstream_join(xstream));
        ok(frees == 0 && lists[0].frees == 0, "a joined ES keeps its scheduler");
        must(ABT_xstream_free(&xstream));
        is_int(frees, automatic > 0, "flag %d: the scheduler goes with its ES", automatic);
        if (automatic <= 0)
            ok_abt(ABT_sched_free(&sched));
        ok(frees == 1 && lists[0].frees == 1, "its automatic pool goes with it");
        is_int(lists[1].frees, 0, "the other stays");
        must(ABT_pool_free(&pools[1]));
    }
    /* Predefined ones are automatic unless told otherwise. */
    for (int automatic = 0; automatic < 2; automatic++) {
        ABT_sched_config config;
        ABT_sched sched;
        ABT_xstream xstream;
        must(ABT_sched_config_create(&config, ABT_sched_config_automatic, automatic, ABT_sched_basic_freq, 3,
                                     ABT_sched_config_access, 4, ABT_sched_config_var_end));
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, automatic ? ABT_SCHED_CONFIG_NULL : config, &sched));
        must(ABT_sched_config_free(&config));
        must(ABT_xstream_create(sched, &xstream));
        must(ABT_xstream_free(&xstream));
        if (!automatic)
            ok_abt(ABT_sched_free(&sched));
    }
}

/* --- Queries --- */

static void test_queries(enum caller who, void *arg)
{
    struct list list;
    ABT_pool pools[3] = {new_pool(ABT_POOL_FIFO, ABT_FALSE), new_pool(ABT_POOL_RANDWS, ABT_FALSE),
                         make_new(&list, false, ABT_POOL_CONFIG_NULL)};
    ABT_pool got[3] = {UNTOUCHED(ABT_pool), UNTOUCHED(ABT_pool), UNTOUCHED(ABT_pool)};
    ABT_xstream xstream;
    ABT_thread threads[3];
    ABT_sched sched, blind;
    size_t size = 77;

    (void)who, (void)arg;
    must(ABT_sched_create_basic(ABT_SCHED_PRIO, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_sched_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &blind));
    is_int(num_pools_of(sched), 2, "two pools");
    ok_abt(ABT_sched_get_pools(sched, 1, 1, got));
    ok(got[0] == pools[1] && got[1] == UNTOUCHED(ABT_pool), "one from the second");
    ok_abt(ABT_sched_get_pools(sched, 0, 2, got));
    ok_abt(ABT_sched_get_pools(sched, 2, 0, got));
    ok(got[0] == pools[0] && got[1] == pools[1] && got[2] == UNTOUCHED(ABT_pool), "both");
    if (!ABT_NULL) {
        got[0] = UNTOUCHED(ABT_pool);
        ok_err(ABT_sched_get_pools(sched, -1, 0, got), ABT_ERR_INV_ARG);
        ok_err(ABT_sched_get_pools(sched, 1, -1, got), ABT_ERR_INV_ARG);
        is_int(ABT_sched_get_pools(sched, 3, 0, got + 0), ver20 ? ABT_SUCCESS : ABT_ERR_SCHED, "past the end");
        is_int(ABT_sched_get_pools(sched, 1, 2, got), ver20 ? ABT_SUCCESS : ABT_ERR_SCHED, "behind the end");
        is_int(ABT_sched_get_pools(sched, INT32_MAX, INT32_MAX, got), ver20 ? ABT_SUCCESS : ABT_ERR_SCHED, "far away");
        if (!ver20)
            is_ptr(got[0], UNTOUCHED(ABT_pool), "errors store nothing");
        ok_err(ABT_sched_get_size(blind, &size), ABT_ERR_POOL);
        is_int(size, ver20 ? 77 : 0, "the size after an error");
        size = 77;
        ok_err(ABT_sched_get_total_size(blind, &size), ABT_ERR_POOL);
        is_int(size, ver20 ? 77 : 0, "the size after an error");
    }
    must(ABT_sched_free(&blind));

    must(ABT_xstream_create(sched, &xstream));
    threads[0] = ult_in(pools[0], suspend_once, NULL);
    wait_for(state_of(threads[0]) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_xstream_cancel(xstream));
    must(ABT_xstream_join(xstream));
    threads[1] = ult_in(pools[0], do_nothing, NULL);
    threads[2] = ult_in(pools[1], do_nothing, NULL);
    ok_abt(ABT_sched_get_size(sched, &size));
    is_int(size, 2, "the units in its pools");
    ok_abt(ABT_sched_get_total_size(sched, &size));
    is_int(size, 3, "and those blocked");
    must(ABT_thread_resume(threads[0]));
    must(ABT_xstream_revive(xstream));
    must(ABT_thread_free_many(3, threads));
    must(ABT_xstream_free(&xstream));
    for (int i = 0; i < 3; i++)
        must(ABT_pool_free(&pools[i]));
}

/* --- When to stop --- */

static void test_requests(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(pool, do_nothing, NULL), popped;
    ABT_sched sched;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    is_int(has_to_stop(sched), ABT_FALSE, "no request: never");
    ok_abt(ABT_sched_finish(sched));
    is_int(has_to_stop(sched), ABT_FALSE, "FINISH: not while there is work");
    must(ABT_pool_pop_thread(pool, &popped));
    is_int(has_to_stop(sched), ABT_TRUE, "but then");
    must(ABT_pool_push_thread(pool, popped));
    is_int(has_to_stop(sched), ABT_FALSE, "not while there is work again");
    ok_abt(ABT_sched_exit(sched));
    is_int(has_to_stop(sched), ABT_TRUE, "EXIT: at once");
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&pool));
}

/* Blocked ULTs count when nobody else serves their pool, or when it is private. */
static void test_blocked_work(void)
{
    for (int access = ABT_POOL_ACCESS_PRIV; access <= ABT_POOL_ACCESS_MPMC; access++) {
        ABT_sched first, second;
        ABT_pool pool;
        ABT_thread thread, popped;
        must(ABT_pool_create_basic(ABT_POOL_FIFO, (ABT_pool_access)access, ABT_FALSE, &pool));
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &first));
        thread = ult_in(pool, suspend_once, NULL);
        must(ABT_pool_pop_thread(pool, &popped));
        must(ABT_self_schedule(popped, ABT_POOL_NULL));
        is_int(state_of(thread), ABT_THREAD_STATE_BLOCKED, "blocked out of a pool of access %d", access);
        must(ABT_sched_finish(first));
        is_int(has_to_stop(first), ABT_FALSE, "its only scheduler waits for it");
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &second));
        is_int(has_to_stop(first), access == ABT_POOL_ACCESS_PRIV ? ABT_FALSE : ABT_TRUE, "one of two does not");
        must(ABT_sched_free(&second));
        is_int(has_to_stop(first), ABT_FALSE, "the last one does again");
        must(ABT_thread_resume(thread));
        must(ABT_pool_pop_thread(pool, &popped));
        must(ABT_self_schedule(popped, ABT_POOL_NULL));
        is_int(has_to_stop(first), ABT_TRUE, "until it has ended");
        must(ABT_thread_free(&thread));
        must(ABT_sched_free(&first));
        must(ABT_pool_free(&pool));
    }
}

/* FINISH on a main scheduler ends its ES when the work is done; EXIT makes it run again and again. */
static atomic_int main_runs;

static void counting_run(ABT_sched sched)
{
    count_up(&main_runs);
    run_until_stop(sched);
}

static void test_main_requests(void)
{
    ABT_sched_def def = {.run = counting_run};

    for (int predefined = 0; predefined < 2; predefined++) {
        ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
        ABT_xstream_state state = ABT_XSTREAM_STATE_RUNNING;
        ABT_sched sched;
        ABT_xstream xstream;
        atomic_int counter = 0;
        main_runs = 0;
        if (predefined)
            must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
        else
            must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
        must(ABT_xstream_create(sched, &xstream));
        ok_abt(ABT_sched_exit(sched));
        if (!predefined)
            wait_for(main_runs > 3);
        must(ABT_xstream_get_state(xstream, &state));
        is_int(state, ABT_XSTREAM_STATE_RUNNING, "EXIT does not end an ES");
        for (int i = 0; i < 10; i++)
            must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(counter == 10);
        must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        ok_abt(ABT_sched_finish(sched));
        wait_for((must(ABT_xstream_get_state(xstream, &state)), state == ABT_XSTREAM_STATE_TERMINATED));
        is_int(counter, 11, "FINISH does, with the work done");
        ok_abt(ABT_xstream_join(xstream));
        main_runs = 0;
        must(ABT_xstream_revive(xstream));
        must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(counter == 12);
        if (!predefined)
            is_int(main_runs, 1, "reviving clears both");
        must(ABT_xstream_free(&xstream));
        if (!predefined)
            must(ABT_sched_free(&sched));
        must(ABT_pool_free(&pool));
    }
}

int main(void)
{
    must(ABT_init(0, NULL));
    call_as_each(test_create_basic, NULL);
    test_order();
    test_no_pools();
    call_as_each(test_create, NULL);
    test_automatic();
    call_as_each(test_queries, NULL);
    test_requests();
    test_blocked_work();
    test_main_requests();
    ok_abt(ABT_finalize());
    return done_testing();
}
