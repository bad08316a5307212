/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_*: the life of execution streams, ranks, queries. Main schedulers are in xstream_sched.c. */
#include "common.h"

static ABT_xstream_state xstream_state_of(ABT_xstream xstream)
{
    ABT_xstream_state state = (ABT_xstream_state)-1;

    must(ABT_xstream_get_state(xstream, &state));
    return state;
}

static int rank_of(ABT_xstream xstream)
{
    int rank = -1;

    must(ABT_xstream_get_rank(xstream, &rank));
    return rank;
}

static int num_xstreams(void)
{
    int num = -1;

    must(ABT_xstream_get_num(&num));
    return num;
}

/* --- Life --- */

static void test_life(enum caller who, void *arg)
{
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    ABT_thread thread;
    atomic_int counter = 0;
    int before = num_xstreams();

    ok_abt(ABT_xstream_create(ABT_SCHED_NULL, &xstream));
    ok(xstream && xstream != ABT_XSTREAM_NULL, "an ES made by a %s", caller_names[who]);
    is_int(num_xstreams(), before + 1, "one more");
    is_int(xstream_state_of(xstream), ABT_XSTREAM_STATE_RUNNING, "it runs at once");
    is_int(rank_of(xstream), before, "its rank is the smallest unused");
    thread = ult_in(pool_of(xstream), count_up, &counter);
    for (int i = 0; i < 20; i++)
        must(ABT_thread_create(pool_of(xstream), count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_xstream_join(xstream));
    is_int(atomic_load(&counter), 21, "work left in its pool was done first");
    is_int(xstream_state_of(xstream), ABT_XSTREAM_STATE_TERMINATED, "joined");
    is_int(num_xstreams(), before + 1, "it still counts");
    ok_abt(ABT_xstream_join(xstream));
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "joining twice is fine");
    must(ABT_thread_free(&thread));

    /* What is pushed meanwhile waits. */
    must(ABT_thread_create(pool_of(xstream), count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    nap_ms(2);
    is_int(atomic_load(&counter), 21, "a terminated ES runs nothing");
    ok_abt(ABT_xstream_revive(xstream));
    is_int(xstream_state_of(xstream), ABT_XSTREAM_STATE_RUNNING, "revived");
    wait_for(atomic_load(&counter) == 22);
    ok_abt(ABT_xstream_free(&xstream));
    is_ptr(xstream, ABT_XSTREAM_NULL, "freed");
    is_int(num_xstreams(), before, "one less");
}

static void test_many_lives(void)
{
    ABT_xstream xstream = new_xstream();
    atomic_int counter = 0;

    for (int i = 0; i < 100; i++) {
        must(ABT_thread_create(pool_of(xstream), count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_xstream_join(xstream));
        must(ABT_xstream_revive(xstream));
    }
    must(ABT_xstream_free(&xstream));
    is_int(atomic_load(&counter), 100, "100 lives of one ES");
}

struct blocked {
    atomic_int entered, left;
};

static void block(void *arg)
{
    struct blocked *blocked = arg;

    count_up(&blocked->entered);
    ABT_self_suspend();
    count_up(&blocked->left);
}

static void *resume_later(void *thread)
{
    while (state_of(thread) != ABT_THREAD_STATE_BLOCKED)
        nap_ms(0.1);
    nap_ms(5);
    ABT_thread_resume(thread);
    return NULL;
}

/* A ULT that is blocked counts as work of the only ES that serves its pool. */
static void test_join_waits_for_blocked(void)
{
    struct blocked blocked = {0};
    ABT_xstream xstream = new_xstream();
    ABT_thread thread = ult_in(pool_of(xstream), block, &blocked);
    pthread_t native;

    wait_for(atomic_load(&blocked.entered));
    must(pthread_create(&native, NULL, resume_later, thread));
    ok_abt(ABT_xstream_join(xstream));
    is_int(atomic_load(&blocked.left), 1, "join waits for a blocked ULT");
    pthread_join(native, NULL);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
}

static atomic_int joined;

static void join_xstream(void *xstream)
{
    if (ABT_xstream_join(xstream) == ABT_SUCCESS)
        count_up(&joined);
}

/* One ES joins another while the primary ULT does. */
static void test_join_from_elsewhere(void)
{
    ABT_xstream target = new_xstream(), joiner = new_xstream();
    struct blocked blocked = {0};
    ABT_thread waiting = ult_in(pool_of(target), block, &blocked), thread;

    atomic_store(&joined, 0);
    wait_for(state_of(waiting) == ABT_THREAD_STATE_BLOCKED);
    thread = ult_in(pool_of(joiner), join_xstream, target);
    nap_ms(2);
    is_int(atomic_load(&joined), 0, "a ULT of another ES waits");
    must(ABT_thread_resume(waiting));
    must(ABT_thread_free(&thread));
    is_int(atomic_load(&joined), 1, "and has joined it");
    is_int(xstream_state_of(target), ABT_XSTREAM_STATE_TERMINATED, "which is terminated");
    must(ABT_thread_free(&waiting));
    must(ABT_xstream_free(&target));
    must(ABT_xstream_free(&joiner));
}

static void free_own(void *arg)
{
    ABT_xstream xstream = own_xstream();

    ok_err(ABT_xstream_free(&xstream), ABT_ERR_INV_XSTREAM);
    is_ptr(xstream, own_xstream(), "left alone by an error");
    count_up(arg);
}

static void test_life_errors(enum caller who, void *arg)
{
    const ABT_xstream nulls[] = {ABT_XSTREAM_NULL, NULL};
    ABT_xstream primary = arg, xstream;
    ABT_thread thread;
    atomic_int counter = 0;

    for (int i = 0; i < 2; i++) {
        xstream = nulls[i];
        ok_err(ABT_xstream_free(&xstream), ABT_ERR_INV_XSTREAM);
        is_ptr(xstream, nulls[i], "left alone by an error");
        ok_err(ABT_xstream_join(nulls[i]), ABT_ERR_INV_XSTREAM);
        ok_err(ABT_xstream_revive(nulls[i]), ABT_ERR_INV_XSTREAM);
        ok_err(ABT_xstream_cancel(nulls[i]), ABT_ERR_INV_XSTREAM);
    }
    xstream = primary;
    ok_err(ABT_xstream_free(&xstream), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_join(primary), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_cancel(primary), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_revive(primary), ABT_ERR_INV_XSTREAM);

    xstream = new_xstream();
    ok_err(ABT_xstream_revive(xstream), ABT_ERR_INV_XSTREAM);
    thread = ult_in(pool_of(xstream), free_own, &counter);
    must(ABT_thread_free(&thread));
    must(ABT_task_create(pool_of(xstream), free_own, &counter, &thread));
    must(ABT_task_free(&thread));
    is_int(atomic_load(&counter), 2, "neither a ULT nor a tasklet frees its own ES");
    must(ABT_xstream_free(&xstream));
}

/* --- Creation with more arguments --- */

static void test_create_basic(enum caller who, void *arg)
{
    const ABT_sched_predef kinds[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                      ABT_SCHED_BASIC_WAIT};
    ABT_pool pools[3] = {new_pool(ABT_POOL_FIFO, ABT_FALSE), ABT_POOL_NULL, new_pool(ABT_POOL_FIFO_WAIT, ABT_FALSE)};
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    int before = num_xstreams();

    (void)who, (void)arg;
    for (int i = 0; i < 5; i++) {
        ABT_pool got[3] = {ABT_POOL_NULL, ABT_POOL_NULL, ABT_POOL_NULL};
        atomic_int counter = 0;
        ok_abt(ABT_xstream_create_basic(kinds[i], 3, pools, ABT_SCHED_CONFIG_NULL, &xstream));
        is_int(num_xstreams(), before + 1, "kind %d: an ES is made", kinds[i]);
        must(ABT_xstream_get_main_pools(xstream, 3, got));
        ok(got[0] == pools[0] && got[1] != ABT_POOL_NULL && got[1] && got[2] == pools[2], "kind %d: its pools",
           kinds[i]);
        is_ptr(pools[1], ABT_POOL_NULL, "the array is left alone");
        for (int j = 0; j < 3; j++)
            must(ABT_thread_create(got[j], count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        ok_abt(ABT_xstream_free(&xstream));
        is_int(atomic_load(&counter), 3, "all of its pools were served");

        counter = 0;
        ok_abt(ABT_xstream_create_basic(kinds[i], 77, NULL, ABT_SCHED_CONFIG_NULL, &xstream));
        must(ABT_thread_create_on_xstream(xstream, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        ok_abt(ABT_xstream_free(&xstream));
        is_int(atomic_load(&counter), 1, "without pools it makes its own");
    }
    if (!ABT_NULL) {
        xstream = UNTOUCHED(ABT_xstream);
        ok_err(ABT_xstream_create_basic(ABT_SCHED_BASIC, -1, pools, ABT_SCHED_CONFIG_NULL, &xstream), ABT_ERR_INV_ARG);
        is_ptr(xstream, ver20 ? UNTOUCHED(ABT_xstream) : ABT_XSTREAM_NULL, "the handle after an error");
        ok_err(ABT_xstream_create_basic((ABT_sched_predef)5, 3, pools, ABT_SCHED_CONFIG_NULL, &xstream),
               ABT_ERR_INV_SCHED_PREDEF);
        ok_err(ABT_xstream_create_basic((ABT_sched_predef)-1, 0, NULL, ABT_SCHED_CONFIG_NULL, &xstream),
               ABT_ERR_INV_SCHED_PREDEF);
    }
    is_int(size_of(pools[0]), 0, "the user's pools have outlived all that");
    must(ABT_pool_free(&pools[0]));
    must(ABT_pool_free(&pools[2]));
}

static void test_ranks(enum caller who, void *arg)
{
    int base = num_xstreams(), rank = base;
    ABT_xstream a = new_xstream(), b = new_xstream(), c = ABT_XSTREAM_NULL, d = UNTOUCHED(ABT_xstream);

    is_int(rank_of(a), rank, "the smallest unused rank");
    is_int(rank_of(b), rank + 1, "and the next");
    ok_abt(ABT_xstream_create_with_rank(ABT_SCHED_NULL, rank + 100, &c));
    is_int(num_xstreams(), base + 3, "one more, with a chosen rank");
    is_int(rank_of(c), rank + 100, "a chosen rank");
    must(ABT_xstream_join(a));
    ok_abt(ABT_xstream_set_rank(b, rank + 1));
    is_int(rank_of(b), rank + 1, "the same rank again");
    if (!ABT_NULL) {
        ok_err(ABT_xstream_create_with_rank(ABT_SCHED_NULL, rank + 100, &d), ABT_ERR_INV_XSTREAM_RANK);
        is_ptr(d, ver20 ? UNTOUCHED(ABT_xstream) : ABT_XSTREAM_NULL, "the handle after an error");
        ok_err(ABT_xstream_create_with_rank(ABT_SCHED_NULL, rank, &d), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 0, &d), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_create_with_rank(ABT_SCHED_NULL, -1, &d), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_set_rank(b, -1), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_set_rank(b, rank + 100), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_set_rank(b, rank), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_set_rank(b, 0), ABT_ERR_INV_XSTREAM_RANK);
        ok_err(ABT_xstream_set_rank(ABT_XSTREAM_NULL, 9), ABT_ERR_INV_XSTREAM);
        ok_err(ABT_xstream_set_rank(NULL, 9), ABT_ERR_INV_XSTREAM);
        ok_err(ABT_xstream_set_rank(arg, 9), ABT_ERR_INV_XSTREAM);
        is_int(rank_of(b), rank + 1, "its rank has outlived all that");
    }
    ok_abt(ABT_xstream_set_rank(b, rank + 7));
    is_int(rank_of(b), rank + 7, "renumbered");
    must(ABT_xstream_create(ABT_SCHED_NULL, &d));
    is_int(rank_of(d), rank + 1, "its former rank is free again");
    is_int(num_xstreams(), base + 4, "all counted");
    must(ABT_xstream_free(&a));
    must(ABT_xstream_create(ABT_SCHED_NULL, &a));
    is_int(rank_of(a), rank, "and so is a freed ES's");
    must(ABT_xstream_free(&a));
    must(ABT_xstream_free(&b));
    must(ABT_xstream_free(&c));
    must(ABT_xstream_free(&d));
}

/* --- Exit and cancel --- */

static void exit_xstream(void *reached)
{
    ABT_xstream_exit();
    count_up(reached);
}

static void test_exit(void)
{
    atomic_int reached = 0, counter = 0;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(pool, exit_xstream, &reached);
    ABT_xstream xstream;

    for (int i = 0; i < 1000; i++)
        must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    ok(soon(xstream_state_of(xstream) == ABT_XSTREAM_STATE_TERMINATED), "the ES ends");
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "the ULT has ended with it");
    is_int(atomic_load(&reached), 0, "in the call");
    is_int(size_of(pool), 1000 - (size_t)atomic_load(&counter), "the others stay in the pool");
    ok(size_of(pool) > 0, "%zu of them", size_of(pool));
    ok_abt(ABT_xstream_join(xstream));
    ok_abt(ABT_xstream_revive(xstream));
    wait_for(atomic_load(&counter) == 1000);
    pass("until it is revived");
    is_int(xstream_state_of(xstream), ABT_XSTREAM_STATE_RUNNING, "which clears the request");
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
}

/* A scheduler's own ULT asks: it does not come back, either. */
static atomic_int exit_runs, exit_returns;

static void exit_run(ABT_sched sched)
{
    count_up(&exit_runs);
    ABT_xstream_exit();
    count_up(&exit_returns);
}

static void test_exit_by_scheduler(void)
{
    ABT_sched_def def = {.run = exit_run};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_sched sched;
    ABT_xstream xstream;
    ABT_thread popped;

    must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    wait_for(xstream_state_of(xstream) == ABT_XSTREAM_STATE_TERMINATED);
    ok(exit_runs == 1 && exit_returns == 0, "a main scheduler ends its ES in the call");
    is_int(size_of(pool), 1, "and leaves its units alone");
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    is_int(counter, 1, "which others may run");
    must(ABT_pool_free(&pool));
}

static void test_cancel(void)
{
    atomic_int counter = 0;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream xstream;

    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    ok_abt(ABT_xstream_cancel(xstream));
    ok(soon(xstream_state_of(xstream) == ABT_XSTREAM_STATE_TERMINATED), "cancelled, the ES ends");
    must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_xstream_join(xstream));
    is_int(atomic_load(&counter), 0, "a cancelled ES does not empty its pools");
    ok_abt(ABT_xstream_cancel(xstream));
    ok_abt(ABT_xstream_revive(xstream));
    wait_for(atomic_load(&counter) == 1);
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
}

static void exit_errors(enum caller who, void *arg)
{
    if (who != SECONDARY_ULT)
        ok_err(ABT_xstream_exit(), ABT_ERR_INV_XSTREAM);
}

static void exit_from_tasklet(void *arg)
{
    ok_err(ABT_xstream_exit(), ABT_ERR_INV_THREAD);
    count_up(arg);
}

static void test_exit_errors(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_thread task;
    atomic_int counter = 0;

    call_as_each(exit_errors, NULL);
    must(ABT_task_create(pool_of(xstream), exit_from_tasklet, &counter, &task));
    must(ABT_task_free(&task));
    is_int(atomic_load(&counter), 1, "a tasklet does not end its ES");
    must(ABT_xstream_free(&xstream));
}

/* --- Queries --- */

static void test_self(enum caller who, void *arg)
{
    ABT_xstream xstream = UNTOUCHED(ABT_xstream);
    int rank = 77;

    if (is_left_out(who != EXTERNAL))
        return;
    is_int(ABT_xstream_self(&xstream), code_for_es(who, ABT_SUCCESS), "own ES");
    is_int(ABT_xstream_self_rank(&rank), code_for_es(who, ABT_SUCCESS), "own rank");
    if (who == EXTERNAL) {
        is_ptr(xstream, ver20 ? UNTOUCHED(ABT_xstream) : ABT_XSTREAM_NULL, "no ES");
        is_int(rank, 77, "no rank");
    } else {
        ok((xstream == arg) == (who != SECONDARY_ULT), "the right one");
        is_int(rank, who == SECONDARY_ULT ? 1 : 0, "with its rank");
    }
}

static void test_queries(enum caller who, void *arg)
{
    ABT_xstream primary = arg, xstream = new_xstream();
    ABT_pool pools[3] = {ABT_POOL_NULL, ABT_POOL_NULL, UNTOUCHED(ABT_pool)}, again[2];
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_bool flag = ABT_FALSE;
    int n = 0;

    ok_abt(ABT_xstream_is_primary(primary, &flag));
    is_int(flag, ABT_TRUE, "the primary one is primary");
    ok_abt(ABT_xstream_is_primary(xstream, &flag));
    is_int(flag, ABT_FALSE, "another is not");
    ok_abt(ABT_xstream_equal(xstream, primary, &flag));
    is_int(flag, ABT_FALSE, "they differ");
    ok_abt(ABT_xstream_equal(xstream, xstream, &flag));
    is_int(flag, ABT_TRUE, "it is itself");
    ok_abt(ABT_xstream_equal(ABT_XSTREAM_NULL, ABT_XSTREAM_NULL, &flag));
    is_int(flag, ABT_TRUE, "null handles are equal");
    ok_abt(ABT_xstream_equal(xstream, ABT_XSTREAM_NULL, &flag));
    is_int(flag, ABT_FALSE, "and differ from others");

    ok_abt(ABT_xstream_get_main_sched(xstream, &sched));
    ok_abt(ABT_sched_get_num_pools(sched, &n));
    is_int(n, 1, "a default scheduler has one pool");
    must(ABT_sched_get_pools(sched, 1, 0, again));
    ok_abt(ABT_xstream_get_main_pools(xstream, 3, pools));
    ok(pools[0] == again[0] && pools[1] == ABT_POOL_NULL && pools[2] == UNTOUCHED(ABT_pool), "as many as there are");
    pools[0] = UNTOUCHED(ABT_pool);
    ok_abt(ABT_xstream_get_main_pools(xstream, 0, pools));
    is_ptr(pools[0], UNTOUCHED(ABT_pool), "none if none are wanted");
    must(ABT_xstream_free(&xstream));
}

/* --- What schedulers call --- */

struct schedule {
    ABT_pool pool;
    ABT_pool other;
    atomic_int counter;
};

static void yield_once(void *arg)
{
    ABT_self_yield();
}

static void run_units(enum caller who, void *arg)
{
    struct schedule *s = arg;
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_thread thread = ult_in(s->pool, count_up, &s->counter), popped = ABT_THREAD_NULL;
    int before = atomic_load(&s->counter);

    if (!ABT_NULL) {
        ok_err(ABT_xstream_run_unit(ABT_UNIT_NULL, s->pool), ABT_ERR_INV_UNIT);
        must(ABT_thread_get_unit(thread, &unit));
        ok_err(ABT_xstream_run_unit(unit, ABT_POOL_NULL), ABT_ERR_INV_POOL);
        ok_err(ABT_xstream_run_unit(ABT_UNIT_NULL, ABT_POOL_NULL), ABT_ERR_INV_POOL);
        ok_err(ABT_self_schedule(ABT_THREAD_NULL, s->pool), ABT_ERR_INV_THREAD);
    }
    must(ABT_pool_pop(s->pool, &unit));
    is_int(ABT_xstream_run_unit(unit, s->other), code_for_ult(who, ABT_SUCCESS), "running a unit");
    if (!is_ult(who)) {
        is_int(ABT_self_schedule(thread, s->other), code_for_ult(who, ABT_SUCCESS), "scheduling it");
        must(ABT_pool_push_thread(s->pool, thread));
        return;
    }
    is_int(atomic_load(&s->counter), before + 1, "it ran before the return");
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "and has ended");
    is_ptr(last_pool_of(thread), s->other, "associated with the pool given");
    must(ABT_thread_free(&thread));

    must(ABT_task_create(s->pool, count_up, &s->counter, &thread));
    must(ABT_pool_pop_thread(s->pool, &popped));
    is_ptr(popped, thread, "a tasklet popped");
    ok_abt(ABT_self_schedule(thread, ABT_POOL_NULL));
    is_int(atomic_load(&s->counter), before + 2, "and run");
    is_ptr(last_pool_of(thread), s->pool, "its pool is kept");
    must(ABT_task_free(&thread));

    /* A unit that yields gives control back, and stands in its pool. */
    thread = ult_in(s->pool, yield_once, NULL);
    must(ABT_pool_pop_thread(s->pool, &popped));
    ok_abt(ABT_self_schedule(popped, ABT_POOL_NULL));
    is_int(state_of(thread), ABT_THREAD_STATE_READY, "it has yielded");
    is_int(size_of(s->pool), 1, "into its pool");
    must(ABT_pool_pop_thread(s->pool, &popped));
    ok_abt(ABT_self_schedule(popped, ABT_POOL_NULL));
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "it has ended");
    must(ABT_thread_free(&thread));
}

static void test_run_unit(void)
{
    for (int who = 0; who < NUM_CALLERS; who++) {
        if (is_left_out(is_ult((enum caller)who)))
            continue;
        struct schedule s = {.pool = new_pool(ABT_POOL_FIFO, ABT_FALSE), .other = new_pool(ABT_POOL_FIFO, ABT_FALSE)};
        ABT_thread left = ABT_THREAD_NULL;
        call_as((enum caller)who, run_units, &s);
        must(ABT_pool_pop_thread(s.pool, &left));
        if (left != ABT_THREAD_NULL) {
            must(ABT_self_schedule(left, ABT_POOL_NULL));
            must(ABT_thread_free(&left));
        }
        must(ABT_pool_free(&s.pool));
        must(ABT_pool_free(&s.other));
    }
}

/* Cancels its own ES, of which it hears only when it checks events. */
struct events {
    ABT_bool stop_before, stop_after;
};

static void cancelled_run(ABT_sched sched)
{
    struct events *events;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    events = data;
    must(ABT_xstream_cancel(own_xstream()));
    must(ABT_sched_has_to_stop(sched, &events->stop_before));
    must(ABT_xstream_check_events(sched));
    must(ABT_sched_has_to_stop(sched, &events->stop_after));
}

static void test_events(void)
{
    struct events events = {9, 9};
    ABT_sched_def def = {.run = cancelled_run};
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create(&def, 1, (ABT_pool[]){ABT_POOL_NULL}, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_sched_set_data(sched, &events));
    must(ABT_xstream_create(sched, &xstream));
    wait_for(xstream_state_of(xstream) == ABT_XSTREAM_STATE_TERMINATED);
    is_int(events.stop_before, ABT_FALSE, "a scheduler is not told yet that its ES was cancelled");
    is_int(events.stop_after, ABT_TRUE, "when it looks at events, it is");
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
}

static void test_check_events(enum caller who, void *arg)
{
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_xstream_get_main_sched(arg, &sched));
    /* Nobody here is the scheduler itself. */
    ok_err(ABT_xstream_check_events(sched), who == EXTERNAL ? ABT_ERR_INV_XSTREAM : ABT_ERR_INV_THREAD);
    ok_err(ABT_xstream_check_events(ABT_SCHED_NULL), who == EXTERNAL ? ABT_ERR_INV_XSTREAM : ABT_ERR_INV_SCHED);
    ok_err(ABT_xstream_check_events(NULL), who == EXTERNAL ? ABT_ERR_INV_XSTREAM : ABT_ERR_INV_SCHED);
}

int main(void)
{
    ABT_xstream primary;

    must(ABT_init(0, NULL));
    primary = own_xstream();
    call_as_each(test_life, NULL);
    test_many_lives();
    test_join_waits_for_blocked();
    test_join_from_elsewhere();
    call_as_each(test_create_basic, NULL);
    call_as_each(test_ranks, primary);
    test_exit();
    test_exit_by_scheduler();
    test_cancel();
    call_as_each(test_self, primary);
    call_as_each(test_queries, primary);
    test_run_unit();
    test_events();
    if (!ABT_NULL) {
        call_as_each(test_life_errors, primary);
        test_exit_errors();
        call_as_each(test_check_events, primary);
    }
    is_int(num_xstreams(), 1, "all are gone");
    ok_abt(ABT_finalize());
    return done_testing();
}
