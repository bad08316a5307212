/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_task_*: tasklets. */
#include "common.h"

static ABT_task task_in(ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_task task = ABT_TASK_NULL;

    must(ABT_task_create(pool, func, arg, &task));
    return task;
}

static ABT_task_state task_state_of(ABT_task task)
{
    ABT_task_state state = (ABT_task_state)-1;

    must(ABT_task_get_state(task, &state));
    return state;
}

/* --- Life --- */

struct seen {
    ABT_task task;
    ABT_unit_type type;
    ABT_task_state task_state;
    ABT_thread_state thread_state;
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_bool unnamed;
    void *arg;
    atomic_int runs;
};

static void look(void *arg)
{
    struct seen *seen = arg;

    must(ABT_task_self(&seen->task));
    must(ABT_self_get_type(&seen->type));
    seen->task_state = task_state_of(self());
    seen->thread_state = state_of(self());
    must(ABT_self_get_xstream(&seen->xstream));
    must(ABT_self_get_last_pool(&seen->pool));
    must(ABT_self_is_unnamed(&seen->unnamed));
    must(ABT_self_get_arg(&seen->arg));
    count_up(&seen->runs);
}

static void test_create(enum caller who, void *arg)
{
    ABT_xstream xstream = arg;
    ABT_pool pool = pool_of(xstream);
    struct seen seen = {0};
    ABT_task task = ABT_TASK_NULL, copy;
    ABT_bool flag;

    for (int i = 0; i < 2; i++) {
        seen.runs = 0;
        if (i == 0)
            ok_abt(ABT_task_create(pool, look, &seen, &task));
        else
            ok_abt(ABT_task_create_on_xstream(xstream, look, &seen, &task));
        ok(task && task != ABT_TASK_NULL && !((uintptr_t)task & 3), "a handle with its low bits clear");
        ok_abt(ABT_task_is_unnamed(task, &flag));
        is_int(flag, ABT_FALSE, "named");
        copy = task;
        ok_abt(ABT_task_join(task));
        is_int(task_state_of(task), ABT_TASK_STATE_TERMINATED, "joined");
        ok_abt(ABT_task_join(task));
        ok_abt(ABT_task_free(&task));
        is_ptr(task, ABT_TASK_NULL, "the tasklet's null handle after free");
        is_int(seen.runs, 1, "it ran once");
        ok(seen.task == copy && seen.xstream == xstream && seen.pool == pool && seen.arg == &seen && !seen.unnamed,
           "as what was created");
        is_int(seen.type, ABT_UNIT_TYPE_TASK, "as a tasklet");
        is_int(seen.task_state, ABT_TASK_STATE_RUNNING, "running");
        is_int(seen.thread_state, ABT_THREAD_STATE_RUNNING, "in both ways to ask");

        if (i == 0)
            ok_abt(ABT_task_create(pool, look, &seen, NULL));
        else
            ok_abt(ABT_task_create_on_xstream(xstream, look, &seen, NULL));
        wait_for(seen.runs == 2);
        is_int(seen.unnamed, ABT_TRUE, "without a handle it is unnamed");
    }
}

/* In a private pool, by a ULT of that pool. */
static void make_private(void *result)
{
    enum { N = 300 };
    ABT_pool pool = last_pool_of(self());
    ABT_task tasks[N];
    atomic_int counter = 0, unnamed = 0;
    int distinct = 0;

    for (int i = 0; i < N; i++) {
        tasks[i] = task_in(pool, count_up, &counter);
        must(ABT_task_create(pool, count_up, &unnamed, NULL));
        distinct += i == 0 || tasks[i] != tasks[i - 1];
    }
    is_int(size_of(pool), 2 * N, "they wait in the private pool");
    for (int i = 0; i < N; i++)
        must(i % 2 ? ABT_task_free(&tasks[i]) : ABT_task_join(tasks[i]));
    ok(counter == N && distinct == N, "all of them have run");
    for (int i = 0; i < N; i += 2)
        must(ABT_task_free(&tasks[i]));
    while (size_of(pool) > 0)
        must(ABT_thread_yield());
    atomic_store((atomic_int *)result, unnamed == N);
}

static void test_private(void)
{
    atomic_int all = 0;

    run_in_private(make_private, &all);
    ok(all, "so have those without a handle");
}

static void test_join_many(enum caller who, void *arg)
{
    enum { N = 200 };
    ABT_pool pool = pool_of(arg);
    ABT_task tasks[N];
    atomic_int counter = 0;

    for (int i = 0; i < N; i++)
        tasks[i] = i % 3 ? task_in(pool, count_up, &counter) : ult_in(pool, count_up, &counter);
    for (int i = N / 2; i < N; i++)
        must(ABT_task_join(tasks[i]));
    ok_abt(ABT_thread_free_many(N / 2, tasks));
    for (int i = N / 2; i < N; i++)
        must(ABT_task_free(&tasks[i]));
    is_int(counter, N, "tasklets and ULTs in one pool");
}

static void test_revive(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_task task = task_in(pool, count_up, &counter), copy = task, popped;

    must(ABT_task_join(task));
    ok_abt(ABT_task_revive(parked, count_up, &counter, &task));
    is_ptr(task, copy, "the handle stays");
    is_int(task_state_of(task), ABT_TASK_STATE_READY, "revived");
    is_int(size_of(parked), 1, "in the other pool");
    if (!ABT_NULL) {
        ABT_task null = ABT_TASK_NULL;
        ok_err(ABT_task_revive(pool, count_up, &counter, &task), ABT_ERR_INV_TASK);
        ok_err(ABT_task_revive(pool, count_up, &counter, &null), ABT_ERR_INV_TASK);
        null = NULL;
        ok_err(ABT_task_revive(pool, count_up, &counter, &null), ABT_ERR_INV_TASK);
    }
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(pool, popped));
    must(ABT_task_join(task));
    is_int(counter, 2, "it has run again");
    if (!ABT_NULL) {
        ok_err(ABT_task_revive(ABT_POOL_NULL, count_up, &counter, &task), ABT_ERR_INV_POOL);
        ok_err(ABT_task_revive(NULL, count_up, &counter, &task), ABT_ERR_INV_POOL);
    }
    ok_abt(ABT_thread_revive(pool, count_up, &counter, &task));
    must(ABT_task_free(&task));
    is_int(counter, 3, "by the thread routine, too");
    must(ABT_pool_free(&parked));
}

static void test_cancel(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_task task = task_in(parked, count_up, &counter), popped;

    ok_abt(ABT_task_cancel(task));
    is_int(task_state_of(task), ABT_TASK_STATE_READY, "cancel only asks");
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(pool, popped));
    ok_abt(ABT_task_join(task));
    is_int(counter, 0, "it never ran");
    is_int(task_state_of(task), ABT_TASK_STATE_TERMINATED, "and counts as terminated");
    must(ABT_task_free(&task));
    must(ABT_pool_free(&parked));
}

/* --- Queries --- */

static void test_queries(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE), got = ABT_POOL_NULL;
    char value = 'x';
    ABT_task a = task_in(parked, do_nothing, &value), b = task_in(parked, do_nothing, NULL), popped;
    ABT_xstream xstream = NULL;
    ABT_bool flag = ABT_FALSE;
    ABT_thread_attr attr;
    ABT_key key;
    uint64_t ids[3];
    void *p = NULL;
    int id = -1, expected = -2;
    size_t size = 9;

    ok_abt(ABT_task_get_xstream(a, &xstream));
    is_ptr(xstream, ABT_XSTREAM_NULL, "it has not run");
    ok_abt(ABT_task_get_last_pool(a, &got));
    is_ptr(got, parked, "its pool");
    ok_abt(ABT_task_get_last_pool_id(a, &id));
    must(ABT_pool_get_id(parked, &expected));
    is_int(id, expected, "that pool's id");
    ok_abt(ABT_task_get_id(a, &ids[0]));
    ok_abt(ABT_task_get_id(b, &ids[1]));
    ok_abt(ABT_thread_get_id(a, &ids[2]));
    ok(ids[1] == ids[0] + 1 && ids[2] == ids[0], "ids are shared with ULTs");
    ok_abt(ABT_task_get_arg(a, &p));
    is_ptr(p, &value, "its argument");
    ok_abt(ABT_task_equal(a, b, &flag));
    is_int(flag, ABT_FALSE, "two differ");
    ok_abt(ABT_task_equal(a, a, &flag));
    is_int(flag, ABT_TRUE, "one does not");
    ok_abt(ABT_task_equal(ABT_THREAD_NULL, ABT_TASK_NULL, &flag));
    is_int(flag, ABT_TRUE, "the two null handles are equal");
    ok_abt(ABT_task_is_migratable(a, &flag));
    is_int(flag, ABT_TRUE, "migratable");
    ok_abt(ABT_task_set_migratable(a, ABT_FALSE));
    ok_abt(ABT_task_is_migratable(a, &flag));
    is_int(flag, ABT_FALSE, "now it is not");
    ok_abt(ABT_thread_get_stack(a, &p, &size));
    ok(p == NULL && size == 0, "it has no stack");
    if (!ABT_NULL || ver20) {
        is_int(ABT_thread_get_attr(a, &attr), ver20 ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "nor an attribute");
        if (ver20)
            must(ABT_thread_attr_free(&attr));
    }
    must(ABT_key_create(NULL, &key));
    p = &value;
    ok_abt(ABT_task_get_specific(a, key, &p));
    is_ptr(p, NULL, "no value yet");
    ok_abt(ABT_task_set_specific(a, key, &value));
    ok_abt(ABT_task_get_specific(a, key, &p));
    is_ptr(p, &value, "a value for a tasklet");
    must(ABT_key_free(&key));
    for (int i = 0; i < 2; i++) {
        must(ABT_pool_pop_thread(parked, &popped));
        must(ABT_pool_push_thread(pool, popped));
    }
    must(ABT_task_join(a));
    ok_abt(ABT_task_get_xstream(a, &xstream));
    is_ptr(xstream, arg, "it has run there");
    must(ABT_task_free(&a));
    must(ABT_task_free(&b));
    must(ABT_pool_free(&parked));
}

static void test_self(enum caller who, void *arg)
{
    ABT_task task = UNTOUCHED(ABT_task);
    uint64_t id = 99, expected = 98;
    const int code = code_for_es(who, is_ult(who) && !ver20 ? ABT_ERR_INV_TASK : ABT_SUCCESS);

    if (is_left_out(code == ABT_SUCCESS))
        return;
    is_int(ABT_task_self(&task), code, "own handle");
    is_int(ABT_task_self_id(&id), code, "own id");
    if (code != ABT_SUCCESS) {
        is_ptr(task, ver20 ? UNTOUCHED(ABT_task) : ABT_TASK_NULL, "none");
        is_int(id, 99, "none");
        return;
    }
    is_ptr(task, self(), "the right one");
    must(ABT_thread_get_id(task, &expected));
    is_int(id, expected, "and the right id");
}

/* --- Errors --- */

/* A tasklet cannot join or free itself; nor is it a ULT that could wait or give way. */
static void check_tasklet(void *counter)
{
    ABT_task task = self(), other;

    ok_err(ABT_task_join(task), ABT_ERR_INV_TASK);
    ok_err(ABT_task_free(&task), ABT_ERR_INV_TASK);
    is_ptr(task, self(), "left alone by an error");
    ok_err(ABT_self_yield(), ABT_ERR_INV_THREAD);
    ok_err(ABT_self_suspend(), ABT_ERR_INV_THREAD);
    ok_err(ABT_self_exit(), ABT_ERR_INV_THREAD);
    ok_err(ABT_thread_exit(), ABT_ERR_INV_THREAD);
    other = task_in(last_pool_of(task), count_up, counter);
    must(ABT_pool_pop_thread(last_pool_of(task), &other));
    ok_err(ABT_self_schedule(other, ABT_POOL_NULL), ABT_ERR_INV_THREAD);
    must(ABT_pool_push_thread(last_pool_of(task), other));
    count_up(counter);
}

static void test_tasklet_errors(ABT_xstream xstream)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_task task = task_in(pool, check_tasklet, &counter), other = ABT_TASK_NULL, popped;

    /* Run here as a scheduler would: what it does to its pool is then seen by nobody else. */
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    is_int(counter, 1, "the tasklet was not disturbed");
    must(ABT_pool_pop_thread(pool, &other));
    must(ABT_pool_push_thread(pool_of(xstream), other));
    must(ABT_task_free(&other));
    must(ABT_task_free(&task));
    is_int(counter, 2, "nor the one that it made");
    must(ABT_pool_free(&pool));
}

int main(void)
{
    ABT_xstream xstream;

    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    xstream = new_xstream();
    call_as_each(test_create, xstream);
    test_private();
    call_as_each(test_join_many, xstream);
    call_as_each(test_revive, xstream);
    call_as_each(test_cancel, xstream);
    call_as_each(test_queries, xstream);
    call_as_each(test_self, NULL);
    if (!ABT_NULL) {
        test_tasklet_errors(xstream);
    }
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
