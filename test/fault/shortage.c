/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is wanted where no code can tell that there is none: stacks of ULTs that are about to run. Nothing is
 * lost, nobody else is kept from running, and all goes on when there is memory again.
 */
#include "api/user_pool.h"
#include "cases.h"

enum { NUM = 40 };

static ABT_thread ults[NUM];
static atomic_int runs[NUM], all_runs;
static ABT_xstream es;
static ABT_pool waiting; /* where they are until they are pushed somewhere, in no scheduler's care */

static void run_and_yield(void *arg)
{
    ABT_self_yield();
    count_up(arg);
    count_up(&all_runs);
}

/* ULTs that have not started, popped; nobody has had a default stack so far, so there is none at hand. */
static void make_ults(void)
{
    all_runs = 0;
    waiting = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    for (int i = 0; i < NUM; i++) {
        runs[i] = 0;
        ults[i] = ult_in(waiting, run_and_yield, &runs[i]);
        must(ABT_pool_pop_thread(waiting, &ults[i]));
    }
}

static void free_ults(void)
{
    bool once = true;

    must(ABT_thread_free_many(NUM, ults));
    for (int i = 0; i < NUM; i++)
        once = once && runs[i] == 1;
    ok(once, "every ULT has run once");
    must(ABT_pool_free(&waiting));
}

/* --- Any scheduler over any pools --- */

enum { FIFO, RANDWS, USER_NEW, USER_OLD, NUM_POOL_KINDS };

static const char *const pool_names[] = {"FIFO", "RANDWS", "user-defined", "user-defined, old"};
static const char *const sched_names[] = {"BASIC", "PRIO", "RANDWS", "BASIC_WAIT", "user-defined"};

static struct list lists[2];

static ABT_pool make_pool(int kind, struct list *list)
{
    if (kind == FIFO || kind == RANDWS)
        return new_pool(kind == FIFO ? ABT_POOL_FIFO : ABT_POOL_RANDWS, ABT_FALSE);
    return make(kind == USER_OLD, list);
}

/* Looks at its pools in order, like PRIO. */
static void run_in_order(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_pool pools[2];

    must(ABT_sched_get_pools(sched, 2, 0, pools));
    for (unsigned first = 0; !stop; first++) {
        ABT_thread thread = ABT_THREAD_NULL;
        for (unsigned i = 0; i < 2 && thread == ABT_THREAD_NULL; i++)
            must(ABT_pool_pop_thread(pools[(first + i) % 2], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static ABT_sched make_sched(int kind, ABT_pool *pools)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run_in_order};
    ABT_sched sched;

    if (kind < 4) {
        must(ABT_sched_create_basic(predefs[kind], 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
        return sched;
    }
    return automatic_sched(&def, 2, pools);
}

static ABT_thread with_own_stack(ABT_pool pool, void (*func)(void *))
{
    ABT_thread_attr attr;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 65536));
    must(ABT_thread_create(pool, func, NULL, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    return thread;
}

/* A ULT that has its stack, and ends the shortage by what it does. */
static atomic_bool started, short_of_memory;
static atomic_int laps;

static void relieve(void *arg)
{
    started = true;
    while (!short_of_memory)
        ABT_self_yield();
    for (laps = 0; laps < 20; laps++)
        ABT_self_yield();
    fault_disarm();
}

/*
 * ULTs wait for stacks in the first pool; a tasklet and a ULT that has started are in the second. If these were kept
 * from running there would never be any memory.
 */
static void test_order(int sched_kind, int pool_kind)
{
    ABT_pool pools[2] = {make_pool(pool_kind, &lists[0]), make_pool(pool_kind, &lists[1])};
    ABT_thread reliever;

    started = short_of_memory = false;
    must(ABT_xstream_create(make_sched(sched_kind, pools), &es));
    reliever = with_own_stack(pools[1], relieve); /* there is no default stack so far */
    wait_for(started);
    make_ults();
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_set_associated_pool(ults[i], pools[0])); /* a user-defined pool has its units then */
    probe_begin();
    must(ABT_thread_set_associated_pool(probe, pools[1]));

    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM; i++)
        must(ABT_pool_push_thread(pools[0], ults[i]));
    probe_into(pools[1]);
    wait_for(probed == 1);
    is_int(all_runs, 0, "%s over %s pools: there is no memory for stacks, and others run", sched_names[sched_kind],
           pool_names[pool_kind]);
    short_of_memory = true;
    wait_for(all_runs == NUM);
    must(ABT_thread_free(&reliever));
    free_ults();
    probe_again();
    probe_end();
    is_int(total_size_of(pools[0]) + total_size_of(pools[1]), 0, "the pools are empty");
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pools[0]));
    must(ABT_pool_free(&pools[1]));
}

/* --- Free stacks that other streams have at hand --- */

enum { IDLE, BUSY, TERMINATED, USER, NUM_OTHERS };

static const char *const other_names[] = {"an idle", "a busy", "a terminated", "an idle"};
static atomic_bool stop;

static void yield_until_stop(void *arg)
{
    while (!stop)
        ABT_self_yield();
}

static void test_others(int what, int unused)
{
    ABT_xstream other = new_xstream();
    ABT_pool pools[2] = {new_pool(ABT_POOL_FIFO, ABT_TRUE), new_pool(ABT_POOL_FIFO, ABT_TRUE)};
    ABT_thread busy = ABT_THREAD_NULL, first = ult_in(pool_of(other), do_nothing, NULL);

    stop = false;
    must(ABT_thread_free(&first)); /* the only chunk of stacks is this stream's now */
    if (what == BUSY)
        busy = with_own_stack(pool_of(other), yield_until_stop);
    if (what == TERMINATED)
        must(ABT_xstream_join(other));
    must(ABT_xstream_create(make_sched(what == USER ? 4 : 0, pools), &es));
    probe_begin();
    probe_into(pools[0]);
    probe_again(); /* the stream has begun */
    make_ults();
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM; i++)
        must(ABT_pool_push_thread(pools[0], ults[i]));
    wait_for(all_runs == NUM);
    ok(fault_disarm(), "%s stream gives its free stacks away%s", other_names[what],
       what == USER ? " to one with a user-defined scheduler" : "");
    stop = true;
    if (what == BUSY)
        must(ABT_thread_free(&busy));
    free_ults();
    probe_end();
    must(ABT_xstream_free(&es));
    must(ABT_xstream_free(&other));
}

/* --- What can be done with a ULT that waits for a stack --- */

/* Memory comes back some time after fault_arm, not before, however late that is. */
static atomic_bool armed;

static void *disarm_native(void *arg)
{
    while (!armed)
        nap_ms(1);
    armed = false;
    nap_ms(10);
    fault_disarm();
    return arg;
}

static void test_joins(int unused, int unused2)
{
    pthread_t native;

    es = probed_xstream();
    make_ults();
    must(pthread_create(&native, NULL, disarm_native, NULL));
    fault_arm(1, FAULT_FROM);
    armed = true;
    for (int i = 0; i < NUM; i++)
        must(ABT_pool_push_thread(pool_of(es), ults[i]));
    ok_abt(ABT_thread_join_many(NUM / 2, ults));
    must(pthread_join(native, NULL));
    ok_abt(ABT_xstream_join(es));
    is_int(all_runs, NUM, "a stream that is joined lets all ULTs end that waited for stacks");
    free_ults();
    probe_end();
    must(ABT_xstream_free(&es));
}

/* Finalize waits for them, too. */
static void test_finalize(void)
{
    struct fault_live before = fault_live(), after;
    atomic_int count = 0;
    pthread_t native;

    must(ABT_init(0, NULL));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(own_pool(), count_up, &count, ABT_THREAD_ATTR_NULL, NULL));
    must(pthread_create(&native, NULL, disarm_native, NULL));
    fault_arm(1, FAULT_FROM);
    armed = true;
    ok_abt(ABT_finalize());
    must(pthread_join(native, NULL));
    is_int(count, NUM, "finalize lets all ULTs end that waited for stacks");
    after = fault_live();
    if (!ok(fault_same(before, after), "and nothing is left"))
        fault_show(before, after);
}

/* Cancelled and migrated without ever having had a stack there. */
static void test_requests(int unused, int unused2)
{
    ABT_xstream other = new_xstream();
    ABT_thread first = ult_in(pool_of(other), do_nothing, NULL);

    must(ABT_thread_free(&first));
    es = probed_xstream();
    make_ults();
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_set_associated_pool(ults[i], pool_of(es)));
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM; i++)
        must(ABT_pool_push_thread(pool_of(es), ults[i]));
    for (int i = 0; i < NUM; i++)
        ABT_thread_migrate_to_xstream(ults[i], other);
    wait_for(all_runs == NUM);
    fault_disarm();
    pass("ULTs that are migrated while they wait for stacks run elsewhere");
    free_ults();
    probe_end();
    must(ABT_xstream_free(&es));
    must(ABT_xstream_free(&other));
}

/* Nobody ever gets a stack: those that are cancelled end all the same. */
static void test_cancel(int unused, int unused2)
{
    bool can_cancel = true;

    es = probed_xstream();
    make_ults();
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM; i++)
        must(ABT_pool_push_thread(pool_of(es), ults[i]));
    probe_into(pool_of(es));
    wait_for(probed == 1);
    for (int i = 0; i < NUM; i++)
        can_cancel = ABT_thread_cancel(ults[i]) == ABT_SUCCESS;
    if (!can_cancel)
        fault_disarm();
    ok_abt(ABT_thread_join_many(NUM, ults));
    fault_disarm();
    is_int(all_runs, can_cancel ? 0 : NUM, "ULTs that are cancelled end while they wait for stacks");
    must(ABT_thread_free_many(NUM, ults));
    must(ABT_pool_free(&waiting));
    probe_again();
    probe_end();
    must(ABT_xstream_free(&es));
}

/* --- A switch to a ULT that finds no stack: it goes to its pool, and the caller does what it asked for --- */

static ABT_thread target, caller;
static atomic_int target_runs;

static void *resume_native(void *arg)
{
    wait_for(state_of(arg) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_thread_resume(arg));
    return NULL;
}

static int suspend_to_target(void)
{
    pthread_t native;
    int code;

    must(pthread_create(&native, NULL, resume_native, self()));
    fault_arm(1, FAULT_FROM);
    code = ABT_self_suspend_to(target);
    must(pthread_join(native, NULL));
    return code;
}

static int yield_to_target(void)
{
    fault_arm(1, FAULT_FROM);
    return ABT_self_yield_to(target);
}

static int thread_yield_to_target(void)
{
    must(ABT_pool_push_thread(own_pool(), target));
    fault_arm(1, FAULT_FROM);
    return ABT_thread_yield_to(target);
}

/* The target has ended before without ever having had a stack: it was cancelled. */
static int revive_to_target(void)
{
    if (ABT_thread_cancel(target) != ABT_SUCCESS)
        return yield_to_target();
    must(ABT_pool_push_thread(own_pool(), target));
    must(ABT_thread_join(target));
    fault_arm(1, FAULT_FROM);
    return ABT_thread_revive_to(own_pool(), count_up, &target_runs, &target);
}

static void exit_to_target(void *arg)
{
    ABT_self_exit_to(target);
}

/* The caller's own stack is of no use to the target. */
static int let_exit_to_target(void)
{
    caller = with_own_stack(own_pool(), exit_to_target);
    ABT_pool_pop_thread(own_pool(), &caller);
    fault_arm(1, FAULT_FROM);
    must(ABT_pool_push_thread(own_pool(), caller));
    must(ABT_thread_free(&caller));
    return ABT_SUCCESS;
}

static const struct {
    const char *name;
    int (*call)(void);
} switches[] = {
    {"ABT_self_yield_to", yield_to_target},     {"ABT_thread_yield_to", thread_yield_to_target},
    {"ABT_self_suspend_to", suspend_to_target}, {"ABT_self_exit_to", let_exit_to_target},
    {"ABT_thread_revive_to", revive_to_target},
};

static void test_switch(int which, int unused)
{
    target_runs = 0;
    target = ult_in(own_pool(), count_up, &target_runs);
    must(ABT_pool_pop_thread(own_pool(), &target));
    is_int(switches[which].call(), ABT_SUCCESS, "%s", switches[which].name);
    is_int(target_runs, 0, "there is no stack for the target");
    is_int(state_of(target), ABT_THREAD_STATE_READY, "it is ready");
    is_int(total_size_of(own_pool()), 1, "and in its pool");
    ABT_self_yield();
    is_int(target_runs, 0, "where it waits");
    fault_disarm();
    must(ABT_thread_free(&target));
    is_int(target_runs, 1, "until there is memory");
    is_int(total_size_of(own_pool()), 0, "nothing is left in the pool");
}

static void in_a_life(void (*test)(int, int), int a, int b)
{
    struct fault_live before = fault_live(), after;

    must(ABT_init(0, NULL));
    test(a, b);
    must(ABT_finalize());
    after = fault_live();
    if (!fault_same(before, after)) {
        fail("something is left after ABT_finalize");
        fault_show(before, after);
    }
}

int main(void)
{
    fault_begin();
    for (int sched = 0; sched < 5; sched++) {
        for (int pool = 0; pool < NUM_POOL_KINDS; pool++)
            in_a_life(test_order, sched, pool);
    }
    in_a_life(test_joins, 0, 0);
    in_a_life(test_requests, 0, 0);
    in_a_life(test_cancel, 0, 0);
    test_finalize();
    for (int i = 0; i < (int)(sizeof(switches) / sizeof(switches[0])); i++)
        in_a_life(test_switch, i, 0);
    setenv("ABT_THREAD_STACKSIZE", "8000000", 1); /* a run of the slab is a whole chunk */
    for (int what = 0; what < NUM_OTHERS; what++)
        in_a_life(test_others, what, 0);
    return done_testing();
}
