/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_*: the life of ULTs. Attributes and stacks are in thread_attr.c, migration in thread_migrate.c. */
#include "common.h"

/* --- Creating --- */

struct seen {
    ABT_thread thread; /* what the unit found itself to be */
    ABT_pool pool;
    ABT_xstream xstream;
    ABT_bool unnamed;
    atomic_int runs;
};

static void look(void *arg)
{
    struct seen *seen = arg;

    must(ABT_self_get_thread(&seen->thread));
    must(ABT_self_get_last_pool(&seen->pool));
    must(ABT_self_get_xstream(&seen->xstream));
    must(ABT_self_is_unnamed(&seen->unnamed));
    count_up(&seen->runs);
}

static void test_create(enum caller who, void *arg)
{
    ABT_xstream xstream = arg;
    ABT_pool pool = pool_of(xstream);
    struct seen seen = {0};
    ABT_thread thread = ABT_THREAD_NULL, copy;
    ABT_thread_attr attr;
    ABT_bool flag;

    must(ABT_thread_attr_create(&attr));
    for (int i = 0; i < 4; i++) {
        ABT_thread_attr with = i % 2 ? attr : ABT_THREAD_ATTR_NULL;
        int before = atomic_load(&seen.runs);
        if (i < 2)
            ok_abt(ABT_thread_create(pool, look, &seen, with, &thread));
        else
            ok_abt(ABT_thread_create_on_xstream(xstream, look, &seen, with, &thread));
        ok(thread && thread != ABT_THREAD_NULL && !((uintptr_t)thread & 3), "a handle with its low bits clear");
        must(ABT_thread_is_unnamed(thread, &flag));
        is_int(flag, ABT_FALSE, "named");
        is_ptr(last_pool_of(thread), pool, "in the pool");
        copy = thread;
        ok_abt(ABT_thread_free(&thread));
        is_ptr(thread, ABT_THREAD_NULL, "null after free");
        is_int(atomic_load(&seen.runs), before + 1, "it ran once");
        ok(seen.thread == copy && seen.pool == pool && seen.xstream == xstream && !seen.unnamed, "as what was created");
        if (i < 2)
            ok_abt(ABT_thread_create(pool, look, &seen, with, NULL));
        else
            ok_abt(ABT_thread_create_on_xstream(xstream, look, &seen, with, NULL));
        wait_for(atomic_load(&seen.runs) == before + 2);
        ok(seen.unnamed && seen.pool == pool, "without a handle it is unnamed");
    }
    must(ABT_thread_attr_free(&attr));
}

static void test_create_many(enum caller who, void *arg)
{
    ABT_pool pools[3] = {pool_of(arg), new_pool(ABT_POOL_FIFO, ABT_FALSE), pool_of(arg)};
    atomic_int counters[3] = {0};
    void (*funcs[])(void *) = {count_up, count_up, count_up};
    void *args[] = {&counters[0], &counters[1], &counters[2]};
    ABT_thread threads[3] = {NULL}, popped;
    ABT_thread_attr attr;
    char stack[64] __attribute__((aligned(64)));

    must(ABT_thread_attr_create(&attr));
    ok_abt(ABT_thread_create_many(3, pools, funcs, args, attr, threads));
    ok(threads[0] && threads[1] && threads[2], "three of them");
    is_ptr(last_pool_of(threads[1]), pools[1], "each in its pool");
    is_int(size_of(pools[1]), 1, "where one waits");
    must(ABT_thread_join(threads[0]));
    must(ABT_thread_join(threads[2]));
    ok(counters[0] == 1 && counters[1] == 0 && counters[2] == 1, "each with its argument");
    must(ABT_pool_pop_thread(pools[1], &popped));
    is_ptr(popped, threads[1], "the one that waits");
    must(ABT_pool_push_thread(pools[0], popped));
    ok_abt(ABT_thread_free_many(3, threads));
    ok(threads[0] == ABT_THREAD_NULL && threads[1] == ABT_THREAD_NULL && threads[2] == ABT_THREAD_NULL, "all freed");
    is_int(counters[1], 1, "it has run, too");

    must(ABT_pool_free(&pools[1]));
    pools[1] = pools[0];
    ok_abt(ABT_thread_create_many(3, pools, funcs, args, ABT_THREAD_ATTR_NULL, NULL));
    wait_for(counters[0] == 2 && counters[1] == 2 && counters[2] == 2);
    pass("three unnamed ones");
    for (int i = 0; i < 3; i++)
        funcs[i] = do_nothing;
    ok_abt(ABT_thread_create_many(3, pools, funcs, NULL, ABT_THREAD_ATTR_NULL, threads));
    ok_abt(ABT_thread_join_many(3, threads));
    ok_abt(ABT_thread_free_many(3, threads));
    ok_abt(ABT_thread_create_many(0, NULL, NULL, NULL, ABT_THREAD_ATTR_NULL, NULL));
    if (!ABT_NULL) {
        must(ABT_thread_attr_set_stack(attr, stack, sizeof(stack)));
        ok_err(ABT_thread_create_many(3, pools, funcs, NULL, attr, threads), ABT_ERR_INV_THREAD_ATTR);
        pools[1] = ABT_POOL_NULL;
        ok_err(ABT_thread_create_many(3, pools, funcs, NULL, ABT_THREAD_ATTR_NULL, threads), ABT_ERR_INV_POOL);
        ok_abt(ABT_thread_free(&threads[0]));
        pass("the one created before the error is there");
    }
    must(ABT_thread_attr_free(&attr));
}

/* --- Joining and freeing --- */

/* In the caller's own pool: nothing would run without the join. */
static void test_join_own(void)
{
    ABT_thread threads[10];
    atomic_int counter = 0;

    for (int i = 0; i < 10; i++)
        threads[i] = ult_in(own_pool(), count_up, &counter);
    is_int(counter, 0, "none has run yet");
    ok_abt(ABT_thread_join(threads[0]));
    is_int(state_of(threads[0]), ABT_THREAD_STATE_TERMINATED, "the one that was joined has ended");
    ok_abt(ABT_thread_join_many(10, threads));
    is_int(counter, 10, "so have all the others, joined at once");
    ok_abt(ABT_thread_free_many(10, threads));
    is_ptr(threads[9], ABT_THREAD_NULL, "freed at once");
}

static void test_join(enum caller who, void *arg)
{
    const ABT_thread nulls[] = {ABT_THREAD_NULL, ABT_TASK_NULL, NULL};
    ABT_pool pool = pool_of(arg);
    atomic_int counter = 0;
    ABT_thread threads[20], list[5] = {ABT_THREAD_NULL, NULL, NULL, ABT_TASK_NULL, NULL}, thread;

    for (int i = 0; i < 20; i++)
        threads[i] = ult_in(pool, count_up, &counter);
    for (int i = 0; i < 10; i++)
        must(ABT_thread_join(threads[19 - i]));
    ok_abt(ABT_thread_join_many(20, threads));
    is_int(atomic_load(&counter), 20, "all have run");
    ok_abt(ABT_thread_join(threads[3]));
    is_int(state_of(threads[3]), ABT_THREAD_STATE_TERMINATED, "joined twice, and still there");
    list[2] = threads[0];
    ok_abt(ABT_thread_join_many(5, list));
    ok_abt(ABT_thread_free_many(5, list));
    is_ptr(list[2], ABT_THREAD_NULL, "null handles in a list are skipped");
    ok_abt(ABT_thread_free_many(19, threads + 1));
    ok_abt(ABT_thread_free_many(0, NULL));
    ok_abt(ABT_thread_join_many(0, NULL));
    if (ABT_NULL)
        return;
    for (int i = 0; i < 3; i++) {
        thread = nulls[i];
        ok_err(ABT_thread_join(thread), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_free(&thread), ABT_ERR_INV_THREAD);
        is_ptr(thread, nulls[i], "left alone by an error");
    }
    if (who != EXTERNAL) {
        thread = self();
        ok_err(ABT_thread_join(thread), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_free(&thread), ABT_ERR_INV_THREAD);
        is_ptr(thread, self(), "left alone by an error");
    }
}

/* Units wait for one that is blocked; all of them go on when it has ended. */
struct group {
    ABT_thread target;
    atomic_int joined;
};

static void join_target(void *arg)
{
    struct group *group = arg;

    must(ABT_thread_join(group->target));
    if (state_of(group->target) == ABT_THREAD_STATE_TERMINATED)
        count_up(&group->joined);
}

static void *join_natively(void *arg)
{
    join_target(arg);
    return NULL;
}

static void test_many_joiners(void)
{
    ABT_xstream xstream = new_xstream();
    struct group group = {.target = ult_in(pool_of(xstream), suspend_once, NULL)};
    ABT_thread threads[6];
    pthread_t native;

    for (int i = 0; i < 6; i++)
        threads[i] = ult_in(i % 2 ? own_pool() : pool_of(xstream), join_target, &group);
    must(pthread_create(&native, NULL, join_natively, &group));
    wait_for(state_of(group.target) == ABT_THREAD_STATE_BLOCKED);
    for (int i = 0; i < 20; i++)
        let_others_run();
    is_int(atomic_load(&group.joined), 0, "nobody has joined a blocked ULT");
    must(ABT_thread_resume(group.target));
    must(ABT_thread_free_many(6, threads));
    pthread_join(native, NULL);
    is_int(atomic_load(&group.joined), 7, "all have joined it");
    must(ABT_thread_free(&group.target));
    must(ABT_xstream_free(&xstream));
}

/* --- Reviving --- */

static void test_revive(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct seen seen = {0}, other = {0};
    ABT_thread thread = ult_in(pool, look, &seen), copy = thread, popped;
    ABT_xstream last = ABT_XSTREAM_NULL;
    ABT_unit_id before = 0, after = 1;
    void (*func)(void *);
    void *got;

    must(ABT_thread_get_id(thread, &before));
    must(ABT_thread_join(thread));
    must(ABT_thread_get_last_xstream(thread, &last));
    is_ptr(last, arg, "it ran there");
    ok_abt(ABT_thread_revive(parked, count_up, &other.runs, &thread));
    is_ptr(thread, copy, "the handle stays");
    is_int(state_of(thread), ABT_THREAD_STATE_READY, "revived");
    is_ptr(last_pool_of(thread), parked, "into the other pool");
    must(ABT_thread_get_last_xstream(thread, &last));
    is_ptr(last, ABT_XSTREAM_NULL, "in this life it has not run");
    must(ABT_thread_get_id(thread, &after));
    is_int(after, before, "the id stays");
    must(ABT_thread_get_thread_func(thread, &func));
    must(ABT_thread_get_arg(thread, &got));
    ok(func == count_up && got == &other.runs, "with a new function and argument");
    if (!ABT_NULL)
        ok_err(ABT_thread_revive(parked, count_up, &other.runs, &thread), ABT_ERR_INV_THREAD);
    must(ABT_pool_pop_thread(parked, &popped));
    is_ptr(popped, thread, "it was in that pool");
    must(ABT_pool_push_thread(pool, popped));
    must(ABT_thread_join(thread));
    ok(other.runs == 1 && seen.runs == 1, "it has run again");
    for (int i = 0; i < 50; i++) {
        must(ABT_thread_revive(pool, look, &seen, &thread));
        must(ABT_thread_join(thread));
    }
    ok(seen.runs == 51 && seen.thread == thread, "and again");

    if (!ABT_NULL) {
        const ABT_thread nulls[] = {ABT_THREAD_NULL, ABT_TASK_NULL, NULL};
        for (int i = 0; i < 3; i++) {
            copy = nulls[i];
            ok_err(ABT_thread_revive(pool, look, &seen, &copy), ABT_ERR_INV_THREAD);
        }
        ok_err(ABT_thread_revive(ABT_POOL_NULL, look, &seen, &thread), ABT_ERR_INV_POOL);
        ok_err(ABT_thread_revive(NULL, look, &seen, &thread), ABT_ERR_INV_POOL);
        is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "errors leave it alone");
    }
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&parked));
}

/* --- Exit and cancel --- */

struct ending {
    void (*exit)(void);
    atomic_int before, after;
};

static void by_thread_exit(void)
{
    ABT_thread_exit();
}

static void by_self_exit(void)
{
    ABT_self_exit();
}

static void end_early(void *arg)
{
    struct ending *ending = arg;

    ABT_self_yield();
    count_up(&ending->before);
    ending->exit();
    count_up(&ending->after);
}

static void test_exit(void)
{
    struct ending endings[] = {{.exit = by_thread_exit}, {.exit = by_self_exit}};
    ABT_xstream xstream = new_xstream();

    for (int i = 0; i < 4; i++) {
        struct ending *ending = &endings[i % 2];
        ABT_pool pool = i < 2 ? own_pool() : pool_of(xstream);
        ABT_thread thread = ult_in(pool, end_early, ending);
        must(ABT_thread_create(pool, end_early, ending, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_thread_join(thread));
        is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "it has ended");
        must(ABT_thread_free(&thread));
        wait_for(atomic_load(&ending->before) == 2 * (1 + i / 2));
        is_int(atomic_load(&ending->after), 0, "in the call");
    }
    must(ABT_xstream_free(&xstream));
}

static void yield_for_ever(void *started)
{
    count_up(started);
    for (;;)
        ABT_thread_yield();
}

static void test_cancel(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_thread thread = ult_in(parked, count_up, &counter), popped;

    ok_abt(ABT_thread_cancel(thread));
    is_int(state_of(thread), ABT_THREAD_STATE_READY, "cancel only asks");
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(pool, popped));
    ok_abt(ABT_thread_join(thread));
    is_int(atomic_load(&counter), 0, "it never ran");
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "and counts as terminated");
    ok_abt(ABT_thread_revive(pool, count_up, &counter, &thread));
    must(ABT_thread_join(thread));
    is_int(atomic_load(&counter), 1, "reviving clears the request");
    must(ABT_thread_free(&thread));

    thread = ult_in(pool, yield_for_ever, &counter);
    wait_for(atomic_load(&counter) == 2);
    ok_abt(ABT_thread_cancel(thread));
    ok_abt(ABT_thread_free(&thread));
    pass("one that yields is cancelled there");

    /* Not while it is blocked: when it is next taken for running. */
    thread = ult_in(pool, suspend_once, &counter);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    ok_abt(ABT_thread_cancel(thread));
    nap_ms(1);
    is_int(state_of(thread), ABT_THREAD_STATE_BLOCKED, "a blocked one stays blocked");
    must(ABT_thread_resume(thread));
    ok_abt(ABT_thread_join(thread));
    is_int(atomic_load(&counter), 2, "until it is resumed, and then ends");
    is_int(total_size_of(pool), 0, "it is counted no more");
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&parked));
    if (!ABT_NULL) {
        ok_err(ABT_thread_cancel(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_cancel(NULL), ABT_ERR_INV_THREAD);
    }
}

/* --- States and resume --- */

struct stages {
    atomic_int stage;
    ABT_thread_state seen;
};

static void run_stages(void *arg)
{
    struct stages *stages = arg;

    stages->seen = state_of(self());
    atomic_store(&stages->stage, 1);
    wait_for(atomic_load(&stages->stage) == 2);
    ABT_self_suspend();
    atomic_store(&stages->stage, 3);
}

static void test_states(enum caller who, void *arg)
{
    struct stages stages = {0};
    ABT_pool pool = pool_of(arg);
    ABT_thread thread = ult_in(pool, run_stages, &stages), task;

    wait_for(atomic_load(&stages.stage) == 1);
    is_int(stages.seen, ABT_THREAD_STATE_RUNNING, "a ULT that looks at itself runs");
    if (!ABT_NULL && !ver20)
        ok_err(ABT_thread_resume(thread), ABT_ERR_THREAD);
    is_int(total_size_of(pool), size_of(pool), "nothing is blocked");
    atomic_store(&stages.stage, 2);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    is_int(size_of(pool), 0, "blocked, it is not in its pool");
    is_int(total_size_of(pool), 1, "but counted there");
    ok_abt(ABT_thread_resume(thread));
    must(ABT_thread_join(thread));
    is_int(atomic_load(&stages.stage), 3, "it went on");
    wait_for(total_size_of(pool) == 0);
    is_int(state_of(thread), ABT_THREAD_STATE_TERMINATED, "to its end");
    if (!ABT_NULL) {
        if (!ver20)
            ok_err(ABT_thread_resume(thread), ABT_ERR_THREAD);
        ok_err(ABT_thread_resume(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
        ok_err(ABT_thread_resume(NULL), ABT_ERR_INV_THREAD);
        must(ABT_task_create(pool, do_nothing, NULL, &task));
        ok_err(ABT_thread_resume(task), ABT_ERR_INV_THREAD);
        must(ABT_task_free(&task));
    }
    must(ABT_thread_free(&thread));
}

int main(void)
{
    ABT_xstream xstream;

    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    xstream = new_xstream();
    call_as_each(test_create, xstream);
    call_as_each(test_create_many, xstream);
    test_join_own();
    call_as_each(test_join, xstream);
    test_many_joiners();
    call_as_each(test_revive, xstream);
    test_exit();
    call_as_each(test_cancel, xstream);
    call_as_each(test_states, xstream);
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
