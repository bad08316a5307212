/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_yield, _yield_to, _create_to, _revive_to: who runs after whom. And the queries about a ULT. */
#include "common.h"

/* The order in which units did something. */
static char order[64];
static atomic_int order_len;

static void note(char c)
{
    int i = atomic_fetch_add(&order_len, 1);

    if (i < 63)
        order[i] = c;
}

static void start_notes(void)
{
    memset(order, 0, sizeof(order));
    atomic_store(&order_len, 0);
}

static void note_arg(void *arg)
{
    note(*(char *)arg);
}

/* Notes its letter, yields, and notes it again. */
static void note_twice(void *arg)
{
    note_arg(arg);
    ABT_thread_yield();
    note_arg(arg);
}

/* --- Yield --- */

static void test_yield(void)
{
    ABT_thread threads[3];

    start_notes();
    threads[0] = ult_in(own_pool(), note_twice, "a");
    threads[1] = ult_in(own_pool(), note_twice, "b");
    threads[2] = ult_in(own_pool(), note_twice, "c");
    is_str(order, "", "creation only pushes");
    ok_abt(ABT_thread_yield());
    is_str(order, "abc", "a yield lets all of the others go first");
    ok_abt(ABT_self_yield());
    is_str(order, "abcabc", "in turn");
    must(ABT_thread_free_many(3, threads));
}

static void yield_from(enum caller who, void *arg)
{
    int code = ABT_thread_yield();

    if (is_left_out(is_ult(who)))
        return;
    is_int(code, ver20 ? code_for_ult(who, ABT_SUCCESS) : ABT_SUCCESS, "yield");
    is_int(ABT_self_yield(), code_for_ult(who, ABT_SUCCESS), "self_yield is strict");
}

static atomic_int sched_yields;

static void yielding_run(ABT_sched sched)
{
    do {
        run_next(first_pool_of(sched));
        if (ABT_thread_yield() == ABT_SUCCESS && ABT_self_yield() == ABT_SUCCESS)
            count_up(&sched_yields);
    } while (!is_last_turn(sched));
}

static void test_scheduler_yields(void)
{
    ABT_sched_def def = {.run = yielding_run};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_sched sched;
    ABT_xstream xstream;
    ABT_thread thread;

    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    start_notes();
    thread = ult_in(pool, note_twice, "a");
    must(ABT_thread_free(&thread));
    is_str(order, "aa", "a main scheduler that yields goes on");
    must(ABT_xstream_free(&xstream));
    ok(atomic_load(&sched_yields) >= 2, "it may");
    must(ABT_sched_free(&sched));
}

/* --- yield_to --- */

static void yield_to_arg(void *target)
{
    note('<');
    ok_abt(ABT_thread_yield_to(target));
    note('>');
}

static void test_yield_to(void)
{
    ABT_pool pool = own_pool();
    ABT_thread threads[4];

    start_notes();
    threads[0] = ult_in(pool, note_arg, "a");
    threads[1] = ult_in(pool, note_arg, "b");
    threads[2] = ult_in(pool, note_arg, "c");
    ok_abt(ABT_thread_yield_to(threads[2]));
    is_str(order, "cab", "the target goes first, the caller last");
    ok_abt(ABT_thread_yield_to(threads[1]));
    is_str(order, "cab", "a target that has ended: nothing happens");
    must(ABT_thread_free_many(3, threads));

    /* A target that is blocked, or in no pool, is not switched to. */
    threads[0] = ult_in(pool, suspend_once, NULL);
    must(ABT_thread_yield());
    ok_abt(ABT_thread_yield_to(threads[0]));
    is_int(state_of(threads[0]), ABT_THREAD_STATE_BLOCKED, "a blocked target stays blocked");
    must(ABT_thread_resume(threads[0]));
    must(ABT_thread_free(&threads[0]));

    start_notes();
    threads[1] = ult_in(pool, note_arg, "x");
    must(ABT_pool_remove(pool, (ABT_unit)((uintptr_t)threads[1] | 1)));
    ok_abt(ABT_thread_yield_to(threads[1]));
    is_str(order, "", "a ready target in no pool is left alone");
    must(ABT_pool_push_thread(pool, threads[1]));
    must(ABT_thread_free(&threads[1]));

    start_notes();
    threads[1] = ult_in(pool, note_twice, "a");
    threads[0] = ult_in(pool, yield_to_arg, threads[1]);
    ok_abt(ABT_thread_yield_to(threads[0]));
    is_str(order, "<a", "the caller stands before the target's target");
    must(ABT_thread_free_many(2, threads));
    is_str(order, "<a>a", "and that one's caller, too");
}

static void yield_to_from(enum caller who, void *arg)
{
    ABT_pool parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(parked, do_nothing, NULL), task, popped;
    bool is_silent = !is_ult(who);

    must(ABT_task_create(parked, do_nothing, NULL, &task));
    is_int(ABT_thread_yield_to(ABT_THREAD_NULL), is_silent ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "a null target");
    is_int(ABT_thread_yield_to(ABT_TASK_NULL), is_silent ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "the other null handle");
    is_int(ABT_thread_yield_to(NULL), is_silent ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "NULL");
    is_int(ABT_thread_yield_to(task), is_silent ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "a tasklet");
    if (who != EXTERNAL)
        is_int(ABT_thread_yield_to(self()), is_silent ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "itself");
    is_int(size_of(parked), 2, "errors take nothing out");
    if (is_silent) {
        ok_abt(ABT_thread_yield_to(thread));
        is_int(size_of(parked), 2, "it is silently ignored");
    }
    for (int i = 0; i < 2; i++) {
        must(ABT_pool_pop_thread(parked, &popped));
        must(ABT_pool_push_thread(arg, popped));
    }
    must(ABT_thread_free(&thread));
    must(ABT_task_free(&task));
    must(ABT_pool_free(&parked));
}

/* --- create_to and revive_to --- */

static ABT_thread created;

static void note_created(void *arg)
{
    is_ptr(self(), created, "the handle was set before the ULT runs");
    is_int(state_of(self()), ABT_THREAD_STATE_RUNNING, "it runs");
    note_arg(arg);
    ABT_thread_yield();
    note_arg(arg);
}

static void test_create_to(enum caller who, void *arg)
{
    ABT_pool pool;
    ABT_thread other;
    ABT_thread_attr attr;

    if (is_left_out(is_ult(who)))
        return;
    if (!is_ult(who)) {
        ok_err(ABT_thread_create_to(arg, note_arg, "x", ABT_THREAD_ATTR_NULL, &other), code_for_ult(who, ABT_SUCCESS));
        return;
    }
    pool = own_pool();
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
    for (int i = 0; i < 2; i++) {
        start_notes();
        other = ult_in(pool, note_arg, "o");
        created = ABT_THREAD_NULL;
        ok_abt(ABT_thread_create_to(pool, note_created, "n", i ? attr : ABT_THREAD_ATTR_NULL, &created));
        /* On the primary ES, main polls: its yields may come before and after. */
        ok(order[0] == 'n' && order[1] == 'o', "the new one ran before what was in the pool: %s", order);
        must(ABT_thread_free(&created));
        must(ABT_thread_free(&other));
        is_str(order, "non", "and after it");
    }
    must(ABT_thread_attr_free(&attr));
    start_notes();
    ok_abt(ABT_thread_create_to(pool, note_arg, "u", ABT_THREAD_ATTR_NULL, NULL));
    is_str(order, "u", "an unnamed one");
}

static void test_revive_to(enum caller who, void *arg)
{
    ABT_pool pool = arg;
    ABT_thread thread = ABT_THREAD_NULL, task, other, copy;
    const int bad = code_for_ult(who, ABT_ERR_INV_THREAD);

    if (is_left_out(is_ult(who)))
        return;
    if (is_ult(who))
        pool = own_pool();
    thread = ult_in(pool, do_nothing, NULL);
    copy = thread;
    must(ABT_thread_join(thread));
    must(ABT_task_create(pool, do_nothing, NULL, &task));
    must(ABT_task_join(task));
    if (!ABT_NULL) {
        const ABT_thread nulls[] = {ABT_THREAD_NULL, ABT_TASK_NULL, NULL};
        for (int i = 0; i < 3; i++) {
            ABT_thread null = nulls[i];
            ok_err(ABT_thread_revive_to(pool, note_arg, "x", &null), bad);
        }
        ok_err(ABT_thread_revive_to(pool, note_arg, "x", &task), bad);
        ok_err(ABT_thread_revive_to(ABT_POOL_NULL, note_arg, "x", &thread), code_for_ult(who, ABT_ERR_INV_POOL));
        if (who != EXTERNAL) {
            other = self();
            ok_err(ABT_thread_revive_to(pool, note_arg, "x", &other), bad);
        }
    }
    start_notes();
    if (is_ult(who)) {
        other = ult_in(pool, note_arg, "o");
        ok_abt(ABT_thread_revive_to(pool, note_twice, "r", &thread));
        ok(order[0] == 'r' && order[1] == 'o', "the revived one ran first: %s", order);
        is_ptr(thread, copy, "the handle stays");
        must(ABT_thread_free(&other));
    } else {
        ok_err(ABT_thread_revive_to(pool, note_twice, "r", &thread), code_for_ult(who, ABT_SUCCESS));
    }
    must(ABT_thread_free(&thread));
    must(ABT_task_free(&task));
    is_str(order, is_ult(who) ? "ror" : "", "the order");
}

static atomic_int to_codes[2];

static void create_to_run(ABT_sched sched)
{
    ABT_pool pool;
    ABT_thread thread;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    atomic_store(&to_codes[0], ABT_thread_create_to(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_pool_pop_thread(pool, &thread));
    must(ABT_self_schedule(thread, ABT_POOL_NULL));
    atomic_store(&to_codes[1], ABT_thread_revive_to(pool, do_nothing, NULL, &thread));
    must(ABT_xstream_cancel(own_xstream()));
}

/* Main schedulers have no parent that could take their place. */
static void test_to_by_scheduler(void)
{
    ABT_sched_def def = {.run = create_to_run};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_thread thread = ult_in(pool, do_nothing, NULL);
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    must(ABT_xstream_join(xstream));
    is_int(atomic_load(&to_codes[0]), ABT_ERR_INV_THREAD, "create_to by a main scheduler");
    is_int(atomic_load(&to_codes[1]), ABT_ERR_INV_THREAD, "revive_to by a main scheduler");
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
}

/* --- Queries --- */

static void test_queries(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread a = ult_in(parked, note_arg, "a"), b = ult_in(parked, note_arg, "b"), popped = ABT_THREAD_NULL;
    ABT_xstream xstream = NULL;
    ABT_unit_id ids[3] = {0};
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_bool flag = ABT_TRUE;
    void *got = NULL;
    void (*func)(void *) = NULL;
    int id = -1, expected = -2;

    ok_abt(ABT_thread_get_last_xstream(a, &xstream));
    is_ptr(xstream, ABT_XSTREAM_NULL, "it has not run");
    ok_abt(ABT_thread_get_last_pool(a, &parked));
    ok_abt(ABT_thread_get_last_pool_id(a, &id));
    must(ABT_pool_get_id(parked, &expected));
    is_int(id, expected, "the id of its pool");
    ok_abt(ABT_thread_get_id(b, &ids[0]));
    ok_abt(ABT_thread_get_id(a, &ids[1]));
    ok_abt(ABT_thread_get_id(b, &ids[2]));
    is_int(ids[1], ids[0] + 1, "ids are given at the first query");
    is_int(ids[2], ids[0], "and stay");
    ok_abt(ABT_thread_get_unit(a, &unit));
    ok_abt(ABT_unit_get_thread(unit, &popped));
    is_ptr(popped, a, "unit and thread belong together");
    ok_abt(ABT_thread_get_thread_func(a, &func));
    ok(func == note_arg, "its function");
    ok_abt(ABT_thread_get_arg(a, &got));
    is_str(got, "a", "its argument");
    ok_abt(ABT_thread_set_arg(a, &id));
    ok_abt(ABT_thread_get_arg(a, &got));
    is_ptr(got, &id, "another argument");
    ok_abt(ABT_thread_set_arg(a, "a"));
    ok_abt(ABT_thread_is_primary(a, &flag));
    is_int(flag, ABT_FALSE, "not primary");
    ok_abt(ABT_thread_equal(a, b, &flag));
    is_int(flag, ABT_FALSE, "two differ");
    ok_abt(ABT_thread_equal(a, a, &flag));
    is_int(flag, ABT_TRUE, "one does not");
    ok_abt(ABT_thread_equal(ABT_THREAD_NULL, ABT_TASK_NULL, &flag));
    is_int(flag, ABT_TRUE, "the two null handles are equal");
    ok_abt(ABT_thread_equal(ABT_THREAD_NULL, a, &flag));
    is_int(flag, ABT_FALSE, "and differ from a ULT");
    must(ABT_pool_pop_thread(parked, &popped));
    ok_abt(ABT_thread_set_associated_pool(a, pool));
    is_ptr(last_pool_of(a), pool, "associated with another pool");
    is_int(size_of(parked), 1, "which moves nothing");
    must(ABT_pool_push_thread(pool, a));
    must(ABT_pool_pop_thread(parked, &popped));
    must(ABT_pool_push_thread(pool, b));
    must(ABT_thread_join(a));
    ok_abt(ABT_thread_get_last_xstream(a, &xstream));
    is_ptr(xstream, arg, "it ran there");
    must(ABT_thread_free(&a));
    must(ABT_thread_free(&b));
    must(ABT_pool_free(&parked));
}

/* Who am I, in the older form: for ULTs only. */
static void test_thread_self(enum caller who, void *arg)
{
    ABT_thread thread = UNTOUCHED(ABT_thread);
    ABT_unit_id id = 99, expected = 98;
    int code = code_for_es(who, who == TASKLET && !ver20 ? ABT_ERR_INV_THREAD : ABT_SUCCESS);

    if (is_left_out(code == ABT_SUCCESS))
        return;
    is_int(ABT_thread_self(&thread), code, "own handle");
    is_int(ABT_thread_self_id(&id), code, "own id");
    if (code != ABT_SUCCESS) {
        is_ptr(thread, ver20 ? UNTOUCHED(ABT_thread) : ABT_THREAD_NULL, "none");
        return;
    }
    is_ptr(thread, self(), "the right one");
    must(ABT_thread_get_id(thread, &expected));
    is_int(id, expected, "and the right id");
}

int main(void)
{
    ABT_xstream xstream;

    must(ABT_init(0, NULL));
    test_yield();
    call_as_each(yield_from, NULL);
    test_scheduler_yields();
    test_yield_to();
    call_as_each(test_create_to, own_pool());
    xstream = new_xstream();
    call_as_each(test_revive_to, pool_of(xstream));
    call_as_each(test_queries, xstream);
    call_as_each(test_thread_self, NULL);
    if (!ABT_NULL) {
        call_as_each(yield_to_from, pool_of(xstream));
        test_to_by_scheduler();
    }
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
