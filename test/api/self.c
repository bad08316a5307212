/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_self_*: who the caller is, suspending, and the whole *_to family. Specific data is in specific.c. */
#include "common.h"

/* --- Who am I --- */

static void test_who(enum caller who, void *arg)
{
    const ABT_xstream primary = arg;
    const int code = code_for_es(who, ABT_SUCCESS);
    const int type_code = who == EXTERNAL && !ver20 ? ABT_ERR_INV_XSTREAM : ABT_SUCCESS;
    const int primary_code = ver20 ? ABT_SUCCESS : code_for_ult(who, ABT_SUCCESS);
    const ABT_unit_type types[] = {ABT_UNIT_TYPE_THREAD, ABT_UNIT_TYPE_THREAD, ABT_UNIT_TYPE_THREAD, ABT_UNIT_TYPE_TASK,
                                   ABT_UNIT_TYPE_EXT};
    ABT_xstream xstream = UNTOUCHED(ABT_xstream);
    ABT_thread thread = UNTOUCHED(ABT_thread), task = UNTOUCHED(ABT_thread);
    ABT_pool pool = UNTOUCHED(ABT_pool);
    ABT_unit unit = UNTOUCHED(ABT_unit);
    ABT_unit_id id = 99, task_id = 99, expected = 98;
    ABT_unit_type type = (ABT_unit_type)9;
    ABT_bool flag = 9;
    int rank = 77, pool_id = 77;

    if (is_left_out(who != EXTERNAL))
        return;
    is_int(ABT_self_get_type(&type), type_code, "type");
    is_int(type, types[who], "what it is");
    is_int(ABT_self_is_primary(&flag), primary_code, "is it primary");
    is_int(flag, who == PRIMARY_ULT ? ABT_TRUE : ABT_FALSE, "it knows");
    flag = 9;
    is_int(ABT_self_on_primary_xstream(&flag), type_code, "on the primary ES");
    is_int(flag, who == SECONDARY_ULT || who == EXTERNAL ? ABT_FALSE : ABT_TRUE, "it knows");
    flag = 9;
    is_int(ABT_self_is_unnamed(&flag), code, "unnamed");
    is_int(ABT_self_get_xstream(&xstream), code, "ES");
    is_int(ABT_self_get_xstream_rank(&rank), code, "rank");
    is_int(ABT_self_get_thread(&thread), code, "handle");
    is_int(ABT_self_get_task(&task), code, "handle by the other name");
    is_int(ABT_self_get_thread_id(&id), code, "id");
    is_int(ABT_self_get_task_id(&task_id), code, "id by the other name");
    is_int(ABT_self_get_last_pool(&pool), code, "pool");
    is_int(ABT_self_get_last_pool_id(&pool_id), code, "pool id");
    is_int(ABT_self_get_unit(&unit), code, "unit");
    if (who == EXTERNAL) {
        ok(xstream == UNTOUCHED(ABT_xstream) && rank == 77 && thread == UNTOUCHED(ABT_thread) && id == 99 &&
               pool == UNTOUCHED(ABT_pool) && unit == UNTOUCHED(ABT_unit) && flag == 9,
           "errors store nothing");
        is_int(pool_id, ver20 ? 77 : -1, "but the pool id of 1.x");
        return;
    }
    is_int(flag, who == PRIMARY_ULT ? ABT_TRUE : ABT_FALSE, "only main is unnamed here");
    ok((xstream == primary) == (who != SECONDARY_ULT), "the right ES");
    is_int(rank, who == SECONDARY_ULT ? 1 : 0, "its rank");
    is_ptr(task, thread, "one handle by both names");
    must(ABT_thread_get_id(thread, &expected));
    ok(id == expected && task_id == expected, "the id of that handle");
    is_ptr(pool, pool_of(xstream), "the ES's pool");
    must(ABT_pool_get_id(pool, &rank));
    is_int(pool_id, rank, "its id");
    must(ABT_unit_get_thread(unit, &task));
    is_ptr(task, thread, "the unit leads back");
    is_int(state_of(thread), ABT_THREAD_STATE_RUNNING, "it runs");
}

struct shown {
    void (*func)(void *);
    void *arg, *new_arg;
};

static void show(void *arg)
{
    struct shown *shown = arg;

    must(ABT_self_get_thread_func(&shown->func));
    must(ABT_self_get_arg(&shown->arg));
    must(ABT_self_set_arg(&shown->new_arg));
    must(ABT_self_get_arg(&shown->new_arg));
}

static void test_func_and_arg(enum caller who, void *arg)
{
    struct shown shown = {0};
    ABT_thread unit;
    void (*func)(void *) = do_nothing;
    void *value = &shown;

    for (int i = 0; i < 2; i++) {
        if (i == 0)
            must(ABT_thread_create(arg, show, &shown, ABT_THREAD_ATTR_NULL, &unit));
        else
            must(ABT_task_create(arg, show, &shown, &unit));
        must(ABT_thread_join(unit));
        ok(shown.func == show && shown.arg == &shown, "a unit's function and argument");
        is_ptr(shown.new_arg, &shown.new_arg, "and another argument");
        must(ABT_thread_get_arg(unit, &value));
        is_ptr(value, &shown.new_arg, "which others see, too");
        must(ABT_thread_free(&unit));
    }
    if (who == EXTERNAL && !ABT_NULL) {
        ok_err(ABT_self_get_thread_func(&func), ABT_ERR_INV_XSTREAM);
        ok_err(ABT_self_get_arg(&value), ABT_ERR_INV_XSTREAM);
        is_ptr(value, ver20 ? (void *)&shown.new_arg : NULL, "no argument");
        ok_err(ABT_self_set_arg(NULL), ABT_ERR_INV_XSTREAM);
        ok(func == do_nothing, "no function");
    }
}

static ABT_pool moved_to;

static void move_self(void *arg)
{
    ABT_pool pool = moved_to;

    must(ABT_self_set_associated_pool(pool));
    is_ptr(last_pool_of(self()), pool, "associated with the other pool");
    must(ABT_self_yield());
    *(ABT_xstream *)arg = own_xstream();
}

static void test_set_associated_pool(enum caller who, void *arg)
{
    ABT_xstream xstream = new_xstream(), where = ABT_XSTREAM_NULL;
    ABT_thread thread;

    moved_to = pool_of(xstream);
    thread = ult_in(arg, move_self, &where);
    must(ABT_thread_free(&thread));
    is_ptr(where, xstream, "the next push went there");
    must(ABT_xstream_free(&xstream));
    if (ABT_NULL)
        return;
    ok_err(ABT_self_set_associated_pool(ABT_POOL_NULL), code_for_es(who, ABT_ERR_INV_POOL));
    ok_err(ABT_self_set_associated_pool(NULL), code_for_es(who, ABT_ERR_INV_POOL));
    if (who == EXTERNAL)
        ok_err(ABT_self_set_associated_pool(arg), ABT_ERR_INV_XSTREAM);
}

/* --- Suspend --- */

static void *resume_soon(void *thread)
{
    while (state_of(thread) != ABT_THREAD_STATE_BLOCKED)
        nap_ms(0.1);
    ABT_thread_resume(thread);
    return NULL;
}

static void test_suspend(enum caller who, void *arg)
{
    pthread_t native;

    if (is_left_out(is_ult(who)))
        return;
    if (!is_ult(who)) {
        ok_err(ABT_self_suspend(), code_for_ult(who, ABT_SUCCESS));
        return;
    }
    for (int i = 0; i < 3; i++) {
        must(pthread_create(&native, NULL, resume_soon, self()));
        ok_abt(ABT_self_suspend());
        is_int(state_of(self()), ABT_THREAD_STATE_RUNNING, "resumed");
        pthread_join(native, NULL);
    }
}

/* Many at once, each resumed by another unit or native thread. */
static void test_suspend_many(void)
{
    enum { N = 100 };
    ABT_xstream xstream = new_xstream();
    ABT_pool pool = pool_of(xstream);
    ABT_thread threads[N];
    atomic_int counter = 0;

    for (int i = 0; i < N; i++)
        threads[i] = ult_in(pool, suspend_once, &counter);
    for (int i = 0; i < N; i++)
        wait_for(state_of(threads[i]) == ABT_THREAD_STATE_BLOCKED);
    is_int(counter, 0, "all are blocked");
    ok(size_of(pool) == 0 && total_size_of(pool) == N, "and counted");
    for (int i = N - 1; i >= 0; i--)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(N, threads));
    is_int(counter, N, "all went on");
    is_int(total_size_of(pool), 0, "and are counted no more");
    must(ABT_xstream_free(&xstream));
}

static atomic_int sched_resumed;
static _Atomic(ABT_thread) suspended_sched;

static void suspending_run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;

    if (!atomic_load(&sched_resumed)) {
        atomic_store(&suspended_sched, self());
        must(ABT_self_suspend());
        count_up(&sched_resumed);
    }
    while (!stop) {
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void test_scheduler_suspends(void)
{
    ABT_sched_def def = {.run = suspending_run};
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create(&def, 1, (ABT_pool[]){ABT_POOL_NULL}, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    wait_for(atomic_load(&suspended_sched) && state_of(suspended_sched) == ABT_THREAD_STATE_BLOCKED);
    is_int(sched_resumed, 0, "a main scheduler may suspend: its ES blocks");
    ok_abt(ABT_thread_resume(suspended_sched));
    ok_abt(ABT_xstream_free(&xstream));
    is_int(sched_resumed, 1, "until it is resumed");
    must(ABT_sched_free(&sched));
}

/* --- The *_to family --- */

static char order[64];
static int order_len;

static void note(char c)
{
    if (order_len < 63)
        order[order_len++] = c;
    order[order_len] = 0;
}

struct target {
    char letter;
    ABT_thread caller; /* whom it looks at */
    ABT_thread_state caller_state;
    size_t blocked; /* in its pool when it runs */
    int (*to)(ABT_thread);
    ABT_thread next;
};

/* Blocks first if it is to be resumed, then notes what it sees. */
static void be_target(void *arg)
{
    struct target *target = arg;
    ABT_pool pool = last_pool_of(self());

    is_int(state_of(self()), ABT_THREAD_STATE_RUNNING, "the target runs");
    note(target->letter);
    target->caller_state = target->caller ? state_of(target->caller) : (ABT_thread_state)9;
    target->blocked = total_size_of(pool) - size_of(pool);
}

static void be_blocked_target(void *arg)
{
    must(ABT_self_suspend());
    be_target(arg);
}

/* The caller of one of the functions: notes its letter before and behind. */
static void call_to(void *arg)
{
    struct target *target = arg;

    note('<');
    ok_abt(target->to(target->next));
    note('>');
}

static const struct to_function {
    const char *name;
    int (*to)(ABT_thread);
    bool resumes, suspends, exits;
} to_functions[] = {
    {"yield_to", ABT_self_yield_to, false, false, false},
    {"resume_yield_to", ABT_self_resume_yield_to, true, false, false},
    {"suspend_to", ABT_self_suspend_to, false, true, false},
    {"resume_suspend_to", ABT_self_resume_suspend_to, true, true, false},
    {"exit_to", ABT_self_exit_to, false, false, true},
    {"resume_exit_to", ABT_self_resume_exit_to, true, false, true},
};
enum { NUM_TO = sizeof(to_functions) / sizeof(to_functions[0]) };

/* A ULT calls the function, with another ULT standing in the pool; all in one pool of this ES. */
static void test_to(const struct to_function *f, ABT_pool pool)
{
    struct target a = {.letter = 'a'}, o = {.letter = 'o'}, caller = {.to = f->to};
    ABT_thread threads[3], popped;

    diag("%s", f->name);
    order_len = 0;
    threads[0] = ult_in(pool, f->resumes ? be_blocked_target : be_target, &a);
    if (f->resumes)
        wait_for(state_of(threads[0]) == ABT_THREAD_STATE_BLOCKED);
    else
        must(ABT_pool_pop_thread(pool, &popped));
    caller.next = threads[0];
    threads[1] = ult_in(pool, call_to, &caller);
    threads[2] = ult_in(pool, be_target, &o);
    a.caller = threads[1];
    must(ABT_thread_yield());
    while (!strchr(order, 'o'))
        must(ABT_thread_yield());
    ok(!strncmp(order, "<ao", 3), "the target runs at once: %s", order);
    is_int(a.caller_state,
           f->suspends ? ABT_THREAD_STATE_BLOCKED
           : f->exits  ? ABT_THREAD_STATE_TERMINATED
                       : ABT_THREAD_STATE_READY,
           "the caller's state meanwhile");
    is_int(a.blocked, f->suspends, "and the number of blocked units");
    if (f->suspends) {
        is_str(order, "<ao", "the caller waits");
        must(ABT_thread_resume(threads[1]));
    }
    must(ABT_thread_free_many(3, threads));
    is_str(order, f->exits ? "<ao" : "<ao>", f->exits ? "the caller has ended" : "the caller went on last");
    is_int(total_size_of(pool), size_of(pool), "nothing is left blocked");
}

/* The target may start, or go on, on another ES's behalf and with attributes of its own. */
static void test_to_everywhere(void)
{
    for (int i = 0; i < NUM_TO; i++) {
        test_to(&to_functions[i], own_pool());
    }
}

static void test_on_secondary(void *arg)
{
    test_to_everywhere();
}

/* The primary ULT itself calls those that let it come back. */
static void test_to_by_primary(void)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, popped;
    struct target a = {.letter = 'a', .caller = self()};
    pthread_t native;

    for (int i = 0; i < NUM_TO; i++) {
        const struct to_function *f = &to_functions[i];
        order_len = 0;
        thread = ult_in(pool, f->resumes ? be_blocked_target : be_target, &a);
        if (f->resumes)
            wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
        else
            must(ABT_pool_pop_thread(pool, &popped));
        if (f->suspends)
            must(pthread_create(&native, NULL, resume_soon, self()));
        if (f->exits && ABT_NULL) {
            must(f->resumes ? ABT_thread_resume(thread) : ABT_pool_push_thread(pool, thread));
        } else if (f->exits) {
            is_int(f->to(thread), ABT_ERR_INV_THREAD, "%s: the primary ULT cannot end", f->name);
            if (f->resumes)
                must(ABT_thread_resume(thread));
            else
                must(ABT_pool_push_thread(pool, thread));
        } else {
            is_int(f->to(thread), ABT_SUCCESS, "%s by the primary ULT", f->name);
            is_str(order, "a", "the target ran");
        }
        if (f->suspends)
            pthread_join(native, NULL);
        must(ABT_thread_free(&thread));
    }
    is_int(total_size_of(pool), 0, "nothing is left over");
}

/* Joiners of a ULT that exits to another are woken. */
static void exit_to_arg(void *thread)
{
    ABT_self_exit_to(thread);
}

static void test_exit_to_joined(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool pool = pool_of(xstream), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_int counter = 0;
    ABT_thread target, thread;
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 50000));
    for (int i = 0; i < 100; i++) {
        must(ABT_thread_create(parked, count_up, &counter, i % 2 ? attr : ABT_THREAD_ATTR_NULL, &target));
        must(ABT_pool_pop_thread(parked, &target));
        must(ABT_thread_create(pool, exit_to_arg, target, i % 4 / 2 ? attr : ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_join(thread));
        must(ABT_thread_free(&target));
        must(ABT_thread_free(&thread));
    }
    is_int(counter, 100, "100 times");
    must(ABT_thread_attr_free(&attr));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&parked));
}

/* A unit that its joiner runs in place, on its own stack, leaves that for another one. */
struct nested {
    int (*to)(ABT_thread);
    ABT_thread target;
};

static void exit_in_place(void *arg)
{
    struct nested *nested = arg;

    note('<');
    nested->to(nested->target);
    note('!');
}

static void be_nested_target(void *arg)
{
    struct nested *nested = arg;

    if (nested->to == ABT_self_resume_exit_to)
        must(ABT_self_suspend());
    note('a');
}

static void join_in_place(void *arg)
{
    struct nested *nested = arg;
    ABT_pool pool = last_pool_of(self()), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread;

    for (int i = 0; i < 10; i++) {
        if (nested->to == ABT_self_resume_exit_to) {
            nested->target = ult_in(pool, be_nested_target, nested);
            must(ABT_thread_yield());
        } else {
            nested->target = ult_in(parked, be_nested_target, nested);
            must(ABT_pool_pop_thread(parked, &nested->target));
        }
        order_len = 0;
        thread = ult_in(pool, exit_in_place, nested);
        must(i % 2 ? ABT_thread_join(thread) : ABT_thread_free(&thread));
        note('>');
        if (i % 2)
            must(ABT_thread_free(&thread));
        must(ABT_thread_free(&nested->target));
        is_str(order, "<a>", "the target ran, then the joiner");
    }
    is_int(total_size_of(pool), 0, "nothing is left over");
    must(ABT_pool_free(&parked));
}

static void test_exit_to_in_place(int (*to)(ABT_thread))
{
    run_in_private(join_in_place, &(struct nested){.to = to});
}

/* Main schedulers neither call them nor are their targets. */
static atomic_int sched_bad, target_bad;

static void be_wrong(void *main_ult)
{
    for (int i = 0; i < NUM_TO; i++) {
        if (to_functions[i].to(main_ult) == ABT_ERR_INV_THREAD)
            count_up(&target_bad);
    }
}

static void wrong_run(ABT_sched sched)
{
    ABT_pool pool;
    ABT_thread thread, popped;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    thread = ult_in(pool, be_wrong, self());
    must(ABT_pool_pop_thread(pool, &popped));
    for (int i = 0; i < NUM_TO; i++) {
        if (to_functions[i].to(popped) == ABT_ERR_INV_THREAD)
            count_up(&sched_bad);
    }
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_cancel(own_xstream()));
}

static void test_to_by_scheduler(void)
{
    run_main_sched(wrong_run);
    is_int(sched_bad, NUM_TO, "a main scheduler calls none of them");
    is_int(target_bad, NUM_TO, "and is nobody's target");
}

int main(void)
{
    ABT_xstream xstream;
    ABT_thread thread;

    must(ABT_init(0, NULL));
    call_as_each(test_who, own_xstream());
    xstream = new_xstream();
    call_as_each(test_func_and_arg, pool_of(xstream));
    call_as_each(test_set_associated_pool, pool_of(xstream));
    call_as_each(test_suspend, NULL);
    test_suspend_many();
    test_scheduler_suspends();
    test_to_everywhere();
    thread = ult_in(pool_of(xstream), test_on_secondary, NULL);
    must(ABT_thread_free(&thread));
    test_to_by_primary();
    test_exit_to_joined();
    test_exit_to_in_place(ABT_self_exit_to);
    test_exit_to_in_place(ABT_self_resume_exit_to);
    if (!ABT_NULL)
        test_to_by_scheduler();
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
