/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_sched_def_*, ABTX_sched_create: schedulers that choose the next unit by a function. */
#include "user_pool.h"

#include <pthread.h>
#include "child.h"

enum { MAX_POOLS = 4 };

/* What a scheduler of these tests knows and has seen. */
struct plan {
    int num;
    ABT_pool pools[MAX_POOLS];
    atomic_int picks, sleeps, looks, inits, frees;
    atomic_int refusals; /* so often it does not go to sleep yet */
    void (*also)(void);  /* called by pick */
    ABT_thread bad;      /* pick returns it, when the pools are empty, */
    atomic_int bad_left; /* so often */
};

static struct plan *next_plan;

static struct plan *plan_of(ABT_sched sched)
{
    return ABTX_sched_data(sched);
}

static int plan_init(ABT_sched sched, ABT_sched_config config)
{
    (void)config;
    count_up(&next_plan->inits);
    return ABT_sched_set_data(sched, next_plan);
}

static int plan_free(ABT_sched sched)
{
    count_up(&plan_of(sched)->frees);
    return ABT_SUCCESS;
}

/* The first pool that has a unit. */
static ABT_thread plan_pick(ABT_sched sched)
{
    struct plan *plan = plan_of(sched);

    count_up(&plan->picks);
    if (plan->also)
        plan->also();
    for (int i = 0; i < plan->num; i++) {
        ABT_thread thread = ABTX_pool_pop_thread(plan->pools[i]);
        if (thread != ABT_THREAD_NULL)
            return thread;
    }
    return plan->bad && atomic_fetch_sub(&plan->bad_left, 1) > 0 ? plan->bad : ABT_THREAD_NULL;
}

static ABT_bool plan_before_sleep(ABT_sched sched)
{
    count_up(&plan_of(sched)->sleeps);
    return atomic_fetch_sub(&plan_of(sched)->refusals, 1) <= 0;
}

static void plan_on_event(ABT_sched sched)
{
    count_up(&plan_of(sched)->looks);
}

static ABT_sched make_sched(struct plan *plan, bool with_all)
{
    ABTX_sched_def def;
    ABT_sched sched;

    next_plan = plan;
    must(ABTX_sched_def_create(plan_pick, &def));
    must(ABTX_sched_def_set_init(def, plan_init));
    must(ABTX_sched_def_set_free(def, plan_free));
    if (with_all) {
        must(ABTX_sched_def_set_before_sleep(def, plan_before_sleep));
        must(ABTX_sched_def_set_on_event(def, plan_on_event));
    }
    must(ABTX_sched_create(def, plan->num, plan->pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABTX_sched_def_free(&def));
    if (def)
        bail_out("a definition that has been freed is NULL");
    return sched;
}

static void plan_pools(struct plan *plan, int num, ABT_pool_access access)
{
    plan->num = num;
    for (int i = 0; i < num; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &plan->pools[i]));
}

/* --- Bad arguments --- */

static int failing_init(ABT_sched sched, ABT_sched_config config)
{
    (void)sched;
    (void)config;
    return ABT_ERR_KEY;
}

static void test_errors(void)
{
    ABTX_sched_def def = NULL;
    ABT_pool pools[2] = {ABT_POOL_NULL, ABT_POOL_NULL};
    ABT_sched sched;

    is_int(ABTX_sched_def_create(NULL, &def), ABT_ERR_INV_ARG, "a definition needs pick");
    is_int(ABTX_sched_def_create(plan_pick, NULL), ABT_ERR_INV_ARG, "and a place");
    is_int(ABTX_sched_def_free(&def), ABT_ERR_INV_ARG, "no definition to be freed");
    is_int(ABTX_sched_def_set_init(NULL, NULL), ABT_ERR_INV_ARG, "no definition, init");
    is_int(ABTX_sched_def_set_free(NULL, NULL), ABT_ERR_INV_ARG, "no definition, free");
    is_int(ABTX_sched_def_set_before_sleep(NULL, NULL), ABT_ERR_INV_ARG, "no definition, before_sleep");
    is_int(ABTX_sched_def_set_on_event(NULL, NULL), ABT_ERR_INV_ARG, "no definition, on_event");
    is_int(ABTX_sched_create(NULL, 2, pools, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG, "none to make one from");
    ok(sched == ABT_SCHED_NULL, "the handle is null then");
    must(ABTX_sched_def_create(plan_pick, &def));
    is_int(ABTX_sched_create(def, 2, pools, ABT_SCHED_CONFIG_NULL, NULL), ABT_ERR_INV_ARG, "nowhere to put it");
    is_int(ABTX_sched_create(def, -1, pools, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG, "less than no pools");
    must(ABTX_sched_def_set_init(def, failing_init));
    is_int(ABTX_sched_create(def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_KEY, "the code of init");
    must(ABTX_sched_def_free(&def));
}

/* --- The order is that of pick --- */

static char order[64];
static atomic_int at;

static void note(char what)
{
    order[atomic_fetch_add(&at, 1)] = what;
}

static void note_twice(void *arg)
{
    note(*(char *)arg);
    must(ABT_self_yield());
    note(*(char *)arg);
}

static void note_once(void *arg)
{
    note(*(char *)arg);
}

static void run_on(struct plan *plan, ABT_sched sched, void (*make)(struct plan *))
{
    ABT_xstream es;

    atomic_store(&at, 0);
    memset(order, 0, sizeof(order));
    make(plan);
    must(ABT_xstream_create(sched, &es));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
    is_int(atomic_load(&plan->frees), 1, "its free function is called when it is freed");
}

/* In the lower pool first. */
static void make_units(struct plan *plan)
{
    must(ABT_task_create(plan->pools[1], note_once, "t", NULL));
    must(ABT_thread_create(plan->pools[1], note_twice, "c", ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_create(plan->pools[0], note_twice, "a", ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_create(plan->pools[0], note_twice, "b", ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_task_create(plan->pools[0], note_once, "s", NULL));
}

static void test_order(ABT_pool_access access, const char *name)
{
    struct plan plan = {0};

    plan_pools(&plan, 2, access);
    run_on(&plan, make_sched(&plan, true), make_units);
    is_str(order, "absabtcc", "%s: units run in the order of pick, also those that yield", name);
    ok(atomic_load(&plan.looks) > 0, "%s: on_event is called, though there is no definition any more", name);
    is_int(atomic_load(&plan.inits), 1, "%s: init is called once", name);
}

/* The only ready unit of the first pool stays the first when it yields. */
static void make_two(struct plan *plan)
{
    must(ABT_thread_create(plan->pools[1], note_twice, "b", ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_create(plan->pools[0], note_twice, "a", ABT_THREAD_ATTR_NULL, NULL));
}

static void test_yield_alone(ABT_pool_access access, const char *name)
{
    struct plan plan = {0};

    plan_pools(&plan, 2, access);
    run_on(&plan, make_sched(&plan, false), make_two);
    is_str(order, "aabb", "%s: a unit that yields stands in its pool when pick looks", name);
}

/* --- Waiting, on several streams --- */

enum { STREAMS = 3, ROUNDS = 300, TEAM = 8 };

static ABT_mutex mutex;
static ABT_barrier barrier;
static long sum;

static void add(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        must(ABT_mutex_lock(mutex));
        sum++;
        must(ABT_self_yield());
        must(ABT_mutex_unlock(mutex));
        if (i % 50 == 0)
            must(ABT_barrier_wait(barrier));
    }
}

static void test_waiting(void)
{
    struct plan plans[STREAMS] = {0};
    ABT_xstream streams[STREAMS];
    ABT_sched scheds[STREAMS];
    ABT_thread team[TEAM];

    plan_pools(&plans[0], 2, ABT_POOL_ACCESS_MPMC);
    must(ABT_mutex_create(&mutex));
    must(ABT_barrier_create(TEAM, &barrier));
    sum = 0;
    for (int i = 0; i < STREAMS; i++) {
        plans[i].num = 2;
        plans[i].pools[0] = plans[0].pools[i % 2];
        plans[i].pools[1] = plans[0].pools[(i + 1) % 2];
    }
    for (int i = 0; i < STREAMS; i++) {
        scheds[i] = make_sched(&plans[i], i == 0);
        must(ABT_xstream_create(scheds[i], &streams[i]));
    }
    for (int i = 0; i < TEAM; i++)
        must(ABT_thread_create(plans[0].pools[i % 2], add, NULL, ABT_THREAD_ATTR_NULL, &team[i]));
    for (int i = 0; i < TEAM; i++)
        must(ABT_thread_free(&team[i]));
    is_int(sum, (long)TEAM * ROUNDS, "units that lock, yield and wait on %d streams", STREAMS);
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_xstream_free(&streams[i]));
        must(ABT_sched_free(&scheds[i]));
    }
    must(ABT_mutex_free(&mutex));
    must(ABT_barrier_free(&barrier));
}

/* --- Going to sleep --- */

static void nothing(void *arg)
{
    (void)arg;
}

static void test_sleep(void)
{
    struct plan plan = {.refusals = 5};
    ABT_xstream es;
    ABT_thread thread;
    ABT_sched sched;
    int picks;

    plan_pools(&plan, 1, ABT_POOL_ACCESS_MPMC);
    sched = make_sched(&plan, true);
    must(ABT_xstream_create(sched, &es));
    while (atomic_load(&plan.refusals) > -1)
        must(ABTX_self_sleep(1000000));
    ok(atomic_load(&plan.sleeps) > 5, "before_sleep is asked again after it has said no");
    if (!policy_is_active()) {
        must(ABTX_self_sleep(20000000));
        picks = atomic_load(&plan.picks);
        must(ABTX_self_sleep(100000000));
        ok(atomic_load(&plan.picks) - picks < 100, "then the stream sleeps");
    }
    must(ABT_thread_create(plan.pools[0], nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    pass("and is woken by a unit");
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
}

/* --- Stacked, and as a new main scheduler --- */

static void test_stacked(void)
{
    struct plan plan = {0};
    ABT_xstream self;
    ABT_pool pool;
    ABT_thread thread;
    ABT_sched sched;

    plan_pools(&plan, 1, ABT_POOL_ACCESS_MPMC);
    sched = make_sched(&plan, true);
    must(ABT_xstream_self(&self));
    must(ABT_xstream_get_main_pools(self, 1, &pool));
    must(ABT_thread_create(plan.pools[0], nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_pool_add_sched(pool, sched));
    must(ABT_thread_free(&thread));
    pass("one that is stacked in a pool runs its units");
    must(ABT_sched_finish(sched));
    while (ABT_sched_free(&sched) != ABT_SUCCESS)
        must(ABT_self_yield());
    pass("and ends");
}

static void test_main_sched(void)
{
    struct plan plan = {0};
    ABT_xstream self;
    ABT_sched sched;

    plan_pools(&plan, 1, ABT_POOL_ACCESS_PRIV);
    sched = make_sched(&plan, false);
    must(ABT_xstream_self(&self));
    must(ABT_xstream_set_main_sched(self, sched));
    must(ABT_self_yield());
    ok(atomic_load(&plan.picks) > 0, "the main program goes on under a scheduler that picks");
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_DEFAULT, 0, NULL));
    must(ABT_sched_free(&sched));
}

/* --- What pick may not do, and what it may --- */

static ABT_key key;
static atomic_int destroyed;

static void count_destroyed(void *value)
{
    (void)value;
    count_up(&destroyed);
}

static void yield_and_set(void)
{
    int rank = -1;

    (void)ABT_thread_yield(); /* the 2.0 API refuses it, as it does in a tasklet */
    must(ABT_xstream_self_rank(&rank));
    must(ABT_key_set(key, &key));
}

static void test_as_tasklet(void)
{
    struct plan plan = {.also = yield_and_set};

    plan_pools(&plan, 2, ABT_POOL_ACCESS_PRIV);
    must(ABT_key_create(count_destroyed, &key));
    run_on(&plan, make_sched(&plan, true), make_units);
    is_str(order, "absabtcc", "a yield in pick does nothing");
    is_int(atomic_load(&destroyed), 1, "values of keys that it has set are destroyed with the scheduler");
    must(ABT_key_free(&key));
}

static ABT_mutex contended;
static atomic_int may_unlock;
static int suspend_code = ABT_ERR_INV_THREAD; /* as it is, where callers are not checked */

static void *hold_for_a_while(void *arg)
{
    must(ABT_mutex_lock(contended));
    atomic_store(&may_unlock, 1);
    while (atomic_load(&may_unlock) == 1)
        ; /* until pick is about to wait */
    nap_ms(2);
    must(ABT_mutex_unlock(contended));
    return arg;
}

/* The first time the mutex is held by another thread. */
static void wait_in_pick(void)
{
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR))
        suspend_code = ABT_self_suspend();
    atomic_store(&may_unlock, 2);
    must(ABT_mutex_lock(contended));
    must(ABT_mutex_unlock(contended));
}

static void test_waits(void)
{
    struct plan plan = {.also = wait_in_pick};
    pthread_t holder;

    plan_pools(&plan, 2, ABT_POOL_ACCESS_PRIV);
    must(ABT_mutex_create(&contended));
    pthread_create(&holder, NULL, hold_for_a_while, NULL);
    while (atomic_load(&may_unlock) == 0)
        nap_ms(1);
    run_on(&plan, make_sched(&plan, true), make_units);
    pthread_join(holder, NULL);
    must(ABT_mutex_free(&contended));
    is_str(order, "absabtcc", "a pick that waits for a mutex holds up its stream, and no more");
    is_int(suspend_code, ABT_ERR_INV_THREAD, "it cannot be suspended");
}

/* It pops from a pool that is not the scheduler's. */
static ABT_pool foreign;

static ABT_thread pick_foreign(ABT_sched sched)
{
    ABT_thread thread;

    (void)sched;
    must(ABT_pool_pop_thread(foreign, &thread));
    return thread;
}

static void test_foreign_units(void)
{
    struct plan plan = {0};
    ABTX_sched_def def;
    ABT_sched sched;
    ABT_xstream es;
    ABT_thread ult;

    plan_pools(&plan, 1, ABT_POOL_ACCESS_MPMC);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &foreign));
    must(ABTX_sched_def_create(pick_foreign, &def));
    must(ABTX_sched_create(def, 1, plan.pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABTX_sched_def_free(&def));
    atomic_store(&at, 0);
    memset(order, 0, sizeof(order));
    must(ABT_xstream_create(sched, &es));
    must(ABT_thread_create(foreign, note_twice, "f", ABT_THREAD_ATTR_NULL, &ult));
    for (ABT_thread_state state = ABT_THREAD_STATE_READY; state != ABT_THREAD_STATE_TERMINATED;) {
        must(ABTX_xstream_wake(es)); /* it does not sleep on that pool */
        must(ABT_thread_get_state(ult, &state));
    }
    must(ABT_thread_free(&ult));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&foreign));
    is_str(order, "ff", "a unit of a pool that is not the scheduler's runs, and goes back to that pool");
}

static struct plan bad_plan = {.bad_left = 20};

static void return_self(void *arg)
{
    (void)arg;
    note('1');
    must(ABT_self_yield());
    note('2');
    must(ABT_self_suspend());
    note('3');
}

static int return_bad_units(void *arg)
{
    ABT_xstream es;
    ABT_sched sched;

    (void)arg;
    must(ABT_init(0, NULL));
    plan_pools(&bad_plan, 1, ABT_POOL_ACCESS_MPMC);
    sched = make_sched(&bad_plan, false);
    must(ABT_thread_create(bad_plan.pools[0], return_self, NULL, ABT_THREAD_ATTR_NULL, &bad_plan.bad));
    must(ABT_xstream_create(sched, &es));
    while (atomic_load(&bad_plan.bad_left) >= 0) { /* it comes to be blocked meanwhile */
        must(ABTX_xstream_wake(es));
        must(ABTX_self_sleep(1000000));
    }
    must(ABT_thread_resume(bad_plan.bad));
    must(ABT_thread_free(&bad_plan.bad));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
    must(ABT_finalize());
    return strcmp(order, "123") != 0;
}

static void test_bad_units(void)
{
    static char words[4096];

    atomic_store(&at, 0);
    memset(order, 0, sizeof(order));
    is_int(child_run(return_bad_units, NULL, words, sizeof(words)), 0, "a unit that is not ready is not run");
    const char *told = strstr(words, "which is not ready");
    ok(told && !strstr(told + 1, "which is not ready"), "and told of, once: %s", words);
}

int main(void)
{
    watchdog_begin(0);
    test_bad_units();
    must(ABT_init(0, NULL));
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR))
        test_errors();
    test_order(ABT_POOL_ACCESS_PRIV, "private pools");
    test_order(ABT_POOL_ACCESS_MPMC, "shared pools");
    test_yield_alone(ABT_POOL_ACCESS_PRIV, "private pools");
    test_yield_alone(ABT_POOL_ACCESS_MPMC, "shared pools");
    test_waiting();
    test_sleep();
    test_stacked();
    test_as_tasklet();
    test_waits();
    test_foreign_units();
    test_main_sched();
    must(ABT_finalize());
    return done_testing();
}
