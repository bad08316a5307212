/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_tool_*: registering, asking, and the events in the life of units, streams and schedulers. tool_switch.c has the
 * rest. */
#include "tool.h"

static void fail_to_be_called(ABT_thread unit, ABT_xstream xstream, uint64_t kind, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)context, (void)arg;
    fail("not to be told of %c", letter_of(kind));
}

/* --- Without the tool interface --- */

static void refuse_from(enum caller who, void *arg)
{
    int depth = 77;

    (void)who, (void)arg;
    ok_err(ABT_tool_register_thread_callback(fail_to_be_called, ABT_TOOL_EVENT_THREAD_ALL, NULL), ABT_ERR_FEATURE_NA);
    ok_err(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL), ABT_ERR_FEATURE_NA);
    ok_err(ABT_tool_query_thread(ABT_TOOL_CONTEXT_NULL, 0, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &depth),
           ABT_ERR_FEATURE_NA);
    is_int(depth, 77, "nothing is stored");
}

static void test_not_built(void)
{
    ABT_thread thread;

    refuse_from(EXTERNAL, NULL);
    must(ABT_init(0, NULL));
    call_as_each(refuse_from, NULL);
    thread = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_thread_free(&thread));
    must(ABT_finalize());
}

/* --- Registering and asking --- */

static void create_and_free(void)
{
    ABT_thread thread = ult_in(own_pool(), do_nothing, NULL);

    must(ABT_thread_free(&thread));
}

static int asked;

static void ask_wrongly(ABT_thread unit, ABT_xstream xstream, uint64_t kind, ABT_tool_context context, void *arg)
{
    int depth = 77, other = 78;

    (void)unit, (void)xstream;
    is_ptr(arg, &asked, "the user's argument");
    ok_err(ABT_tool_query_thread(context, kind, (ABT_tool_query_kind)6, &depth), ABT_ERR_OTHER);
    ok_err(ABT_tool_query_thread(context, kind, (ABT_tool_query_kind)-1, &depth), ABT_ERR_OTHER);
    is_int(depth, 77, "nothing is stored");
    ok_abt(ABT_tool_query_thread(context, kind, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &depth));
    ok_abt(ABT_tool_query_thread(context, ~kind, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &other));
    is_int(other, depth, "the event is not examined");
    if (!ABT_NULL) {
        ok_err(ABT_tool_query_thread(ABT_TOOL_CONTEXT_NULL, kind, ABT_TOOL_QUERY_KIND_POOL, &depth),
               ABT_ERR_INV_TOOL_CONTEXT);
        ok_err(ABT_tool_query_thread(NULL, kind, ABT_TOOL_QUERY_KIND_POOL, &depth), ABT_ERR_INV_TOOL_CONTEXT);
    }
    asked++;
}

static void test_query(void)
{
    ok_abt(ABT_tool_register_thread_callback(ask_wrongly, ABT_TOOL_EVENT_THREAD_ALL, &asked));
    create_and_free();
    log_stop();
    ok(asked >= 8, "%d events", asked); /* of the unit C R N J F, of the primary ULT S W R */
}

/* Two callbacks that know each other's argument. */
static atomic_int calls[2];
static char args[2];

static void first_callback(ABT_thread unit, ABT_xstream xstream, uint64_t kind, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)kind, (void)context;
    if (arg != &args[0])
        bail_out("the other one's argument");
    atomic_fetch_add(&calls[0], 1);
}

static void second_callback(ABT_thread unit, ABT_xstream xstream, uint64_t kind, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)kind, (void)context;
    if (arg != &args[1])
        bail_out("the other one's argument");
    atomic_fetch_add(&calls[1], 1);
}

static void register_from(enum caller who, void *arg)
{
    (void)who, (void)arg;
    ok_abt(ABT_tool_register_thread_callback(first_callback, ABT_TOOL_EVENT_THREAD_CREATE, &args[0]));
    ok_abt(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_CREATE, &args[0]));
}

static void test_register(void)
{
    call_as_each(register_from, NULL);
    atomic_store(&calls[0], 0);
    must(ABT_tool_register_thread_callback(first_callback, ABT_TOOL_EVENT_THREAD_CREATE, &args[0]));
    create_and_free();
    is_int(calls[0], 1, "one creation");
    ok_abt(ABT_tool_register_thread_callback(second_callback, ABT_TOOL_EVENT_THREAD_FREE, &args[1]));
    create_and_free();
    is_int(calls[0], 1, "the second callback replaces the first,");
    is_int(calls[1], 1, "with another mask");
    ok_abt(ABT_tool_register_thread_callback(first_callback, ABT_TOOL_EVENT_THREAD_FREE, &args[0]));
    create_and_free();
    is_int(calls[0], 2, "and the other way round");
    ok_abt(ABT_tool_register_thread_callback(first_callback, ABT_TOOL_EVENT_THREAD_NONE, &args[0]));
    create_and_free();
    is_int(calls[0], 2, "an empty mask tells nothing");
    ok_abt(ABT_tool_register_thread_callback(first_callback, ~ABT_TOOL_EVENT_THREAD_ALL, &args[0]));
    create_and_free();
    is_int(calls[0], 2, "unknown bits tell nothing");
    ok_abt(ABT_tool_register_thread_callback(first_callback, ~(uint64_t)0, &args[0]));
    create_and_free();
    is_int(calls[0], 10, "all bits tell everything");
    ok_abt(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_ALL, &args[0]));
    create_and_free();
    is_int(calls[0], 10, "NULL tells nothing");
}

static void test_mask(void)
{
    for (int i = 0; i < NUM_KINDS; i++) {
        ABT_thread thread, copy;
        char story[8], *end = story;
        log_only(letters[i].kind | ABT_TOOL_EVENT_THREAD_FINISH);
        copy = thread = ult_in(own_pool(), do_nothing, NULL);
        must(ABT_thread_free(&thread));
        log_stop();
        for (const char *c = "CRNJF"; *c; c++) {
            if (*c == letters[i].letter || *c == 'N')
                *end++ = *c;
        }
        *end = '\0';
        is_story(copy, story, "mask %c and N", letters[i].letter);
    }
}

static void run_in_finalize(void *arg)
{
    ABT_thread_yield();
    count_up(arg);
}

static void test_finalize(void)
{
    atomic_int counter = 0;

    must(ABT_init(0, NULL));
    must(ABT_thread_create(own_pool(), run_in_finalize, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_tool_register_thread_callback(fail_to_be_called, ABT_TOOL_EVENT_THREAD_ALL, NULL));
    must(ABT_finalize());
    is_int(counter, 1, "run by finalize, without a word");
    must(ABT_init(0, NULL));
    create_and_free();
    must(ABT_finalize());
    pass("there is no callback in the next life");
}

/* --- Units --- */

static void test_ult(void)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;

    log_all();
    copy = thread = ult_in(pool, do_nothing, NULL);
    must(ABT_thread_join(thread));
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRNJJF", "a ULT");
    is_event(copy, 'C', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
    is_event(copy, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
    is_event(copy, 'N', 0, .xstream = primary_es, .depth = 1);
    is_event(copy, 'J', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(copy, 'J', 1, .xstream = primary_es, .caller = primary_ult);
    is_event(copy, 'F', 0, .xstream = primary_es, .caller = primary_ult);
    is_story(primary_ult, "SWR", "its joiner");
    is_event(primary_ult, 'S', 0, .xstream = primary_es, .pool = pool, .depth = 1,
             .reason = ABT_SYNC_EVENT_TYPE_THREAD_JOIN, .object = copy);
    is_event(primary_ult, 'W', 0, .xstream = primary_es, .pool = pool, .caller = copy);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = copy);
}

static void test_tasklet(void)
{
    ABT_pool pool = own_pool();
    ABT_task task, copy;

    log_all();
    must(ABT_task_create(pool, do_nothing, NULL, &task));
    copy = task;
    must(ABT_task_free(&task));
    log_stop();
    is_story(copy, "CRNJF", "a tasklet");
    is_event(copy, 'C', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
    is_event(copy, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
    is_event(copy, 'N', 0, .xstream = primary_es, .depth = 1);
    is_event(copy, 'J', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(copy, 'F', 0, .xstream = primary_es, .caller = primary_ult);
    is_story(primary_ult, "SWR", "its joiner");
    is_event(primary_ult, 'W', 0, .xstream = primary_es, .pool = pool, .caller = copy);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
}

static void keep_self(void *where)
{
    *(ABT_thread *)where = self();
}

static void test_unnamed(void)
{
    ABT_pool pool = own_pool();
    ABT_thread ult, tasklet;

    log_all();
    must(ABT_thread_create(pool, keep_self, &ult, ABT_THREAD_ATTR_NULL, NULL));
    ABT_thread_yield();
    is_story(ult, "CRNF", "an unnamed ULT");
    is_event(ult, 'F', 0, .xstream = primary_es, .caller = main_ult);
    is_story(primary_ult, "YR", "who yields");
    is_event(primary_ult, 'Y', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
    log_all();
    must(ABT_task_create(pool, keep_self, &tasklet, NULL));
    ABT_thread_yield();
    log_stop();
    is_story(tasklet, "CRNF", "an unnamed tasklet");
    is_event(tasklet, 'F', 0, .xstream = primary_es, .caller = main_ult);
}

static void exit_early(void *arg)
{
    ABT_self_exit();
}

/* Those with a stack of their own end on another path. */
static void test_own_stack(void)
{
    ABT_thread_attr attr;
    ABT_thread thread, copy;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 65536));
    log_all();
    must(ABT_thread_create(own_pool(), exit_early, NULL, attr, &thread));
    copy = thread;
    must(ABT_thread_free(&thread));
    is_story(copy, "CRNJF", "a ULT with its own stack that exits");
    is_event(copy, 'N', 0, .xstream = primary_es, .depth = 1);
    log_all();
    must(ABT_thread_create(own_pool(), keep_self, &copy, attr, NULL));
    ABT_thread_yield();
    log_stop();
    is_story(copy, "CRNF", "the same unnamed");
    is_event(copy, 'F', 0, .xstream = primary_es, .caller = main_ult);
    must(ABT_thread_attr_free(&attr));
}

static void test_many(void)
{
    ABT_pool pools[3] = {own_pool(), own_pool(), own_pool()};
    void (*funcs[3])(void *) = {do_nothing, do_nothing, do_nothing};
    ABT_thread threads[3], copies[3];

    log_all();
    must(ABT_thread_create_many(3, pools, funcs, NULL, ABT_THREAD_ATTR_NULL, threads));
    memcpy(copies, threads, sizeof(copies));
    must(ABT_thread_join_many(3, threads));
    must(ABT_thread_free_many(3, threads));
    log_stop();
    for (int i = 0; i < 3; i++)
        is_story(copies[i], "CRNJJF", "number %d of many", i);
}

/* --- Who calls --- */

static ABT_thread other_main; /* runs the main scheduler of the stream that test_caller is given */

static void test_caller(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg);
    ABT_xstream es = who == EXTERNAL ? NULL : own_xstream();
    ABT_thread thread, copy, me = who == EXTERNAL ? NULL : self();

    log_all();
    copy = thread = ult_in(pool, do_nothing, NULL);
    must(ABT_thread_join(thread));
    must(ABT_thread_revive(pool, do_nothing, NULL, &thread));
    must(ABT_thread_free(&thread));
    is_story(copy, "CRNJVRNJF", "a unit made by a %s", caller_names[who]);
    is_event(copy, 'C', 0, .xstream = es, .pool = pool, .caller = me);
    is_event(copy, 'J', 0, .xstream = es, .caller = me);
    is_event(copy, 'V', 0, .xstream = es, .pool = pool, .caller = me);
    is_event(copy, 'R', 1, .xstream = arg, .depth = 1, .caller = other_main);
    is_event(copy, 'N', 1, .xstream = arg, .depth = 1);
    is_event(copy, 'J', 1, .xstream = es, .caller = me);
    is_event(copy, 'F', 0, .xstream = es, .caller = me);
}

/* Ends when the unit waits for it. */
static void end_when_joined(void *unit)
{
    while (state_of(unit) != ABT_THREAD_STATE_BLOCKED)
        ABT_thread_yield();
}

static void test_callers(void)
{
    ABT_xstream xstream;
    ABT_thread thread, copy;

    log_all();
    xstream = new_xstream();
    other_main = created_on(xstream);
    call_as_each(test_caller, xstream);

    log_all();
    copy = thread = ult_in(pool_of(xstream), end_when_joined, primary_ult);
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(primary_ult, "SWR", "a joiner on another stream");
    is_event(primary_ult, 'W', 0, .xstream = xstream, .pool = own_pool(), .caller = copy);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
    must(ABT_xstream_free(&xstream));
}

int main(void)
{
    want_tool();
    if (!tool_is_built()) {
        test_not_built();
        return done_testing();
    }
    tool_init();
    test_query();
    test_register();
    test_mask();
    test_ult();
    test_tasklet();
    test_unnamed();
    test_own_stack();
    test_many();
    test_callers();
    must(ABT_finalize());
    test_finalize();
    return done_testing();
}
