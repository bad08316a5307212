/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: the units in which schedulers run, and how deep units are that they run. */
#include "tool.h"

/* --- Streams --- */

static void *join_and_free_native(void *arg)
{
    must(ABT_xstream_free(arg));
    return NULL;
}

/* Keeps a stream from ending before the primary ULT waits for it. */
static void outlast(void *arg)
{
    while (state_of(primary_ult) != ABT_THREAD_STATE_BLOCKED)
        nap_ms(0.02);
}

static void test_xstream(void)
{
    ABT_xstream xstream, copy;
    ABT_thread sched, thread, unit;
    pthread_t native;

    log_all();
    copy = xstream = new_xstream();
    sched = created_on(xstream);
    is_event(sched, 'C', 0, .xstream = copy, .caller = primary_ult);
    unit = thread = ult_in(pool_of(xstream), do_nothing, NULL);
    wait_for(state_of(thread) == ABT_THREAD_STATE_TERMINATED);
    is_event(thread, 'R', 0, .xstream = copy, .depth = 1, .caller = sched);
    must(ABT_thread_free(&thread));
    is_event(unit, 'J', 0, .xstream = primary_es, .caller = primary_ult);

    must(ABT_xstream_join(xstream));
    must(ABT_xstream_join(xstream));
    is_story(sched, "CRNJJ", "a stream's life is that of its main scheduler's unit");
    is_event(sched, 'R', 0, .xstream = copy, .depth = 0);
    is_event(sched, 'N', 0, .xstream = copy, .depth = 0);
    is_event(sched, 'J', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(sched, 'J', 1, .xstream = primary_es, .caller = primary_ult);

    log_all();
    must(ABT_xstream_revive(xstream));
    must(ABT_thread_create(pool_of(xstream), outlast, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_xstream_free(&xstream));
    is_story(sched, "VRNJJF", "revived and freed: the stream is joined, and so is the unit that is freed");
    is_event(sched, 'V', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(sched, 'R', 0, .xstream = copy, .depth = 0);
    is_event(sched, 'F', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(primary_ult, 'S', 0, .xstream = primary_es, .pool = own_pool(), .depth = 1,
             .reason = ABT_SYNC_EVENT_TYPE_THREAD_JOIN, .object = sched);
    is_event(primary_ult, 'W', 0, .xstream = copy, .pool = own_pool(), .caller = sched);

    log_all();
    xstream = new_xstream();
    sched = created_on(xstream);
    must(pthread_create(&native, NULL, join_and_free_native, &xstream));
    pthread_join(native, NULL);
    log_stop();
    is_story(sched, "CRNJJF", "freed by an external thread");
    is_event(sched, 'J', 0, .xstream = NULL);
    is_event(sched, 'J', 1, .xstream = NULL);
    is_event(sched, 'F', 0, .xstream = NULL);
}

static void exit_xstream(void *arg)
{
    ABT_xstream_exit();
}

static void test_xstream_exit(void)
{
    ABT_xstream xstream;
    ABT_thread sched, thread, copy;

    log_all();
    xstream = new_xstream();
    sched = created_on(xstream);
    copy = thread = ult_in(pool_of(xstream), exit_xstream, NULL);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
    log_stop();
    is_story(copy, "CRNJF", "a ULT that ends its stream");
    is_story(sched, "CRNJJF", "which ends");
}

/* The primary stream's first switch: its main scheduler has not run yet. */
static void test_first(void)
{
    ABT_thread sched;

    must(ABT_init(0, NULL));
    primary_es = own_xstream();
    primary_ult = self();
    log_all();
    must(ABT_thread_yield());
    log_stop();
    is_story(primary_ult, "YR", "a first yield");
    is_event(primary_ult, 'Y', 0, .xstream = primary_es, .pool = own_pool(), .depth = 1,
             .reason = ABT_SYNC_EVENT_TYPE_USER);
    sched = nth(primary_ult, 'R', 0).caller;
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = sched);
    is_story(sched, "", "the main scheduler has run since ABT_init, before anybody listened");
    must(ABT_finalize());
}

static void test_replace(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);

    log_all();
    must(ABT_xstream_set_main_sched_basic(primary_es, ABT_SCHED_BASIC, 1, &pool));
    log_stop();
    is_story(primary_ult, "SWR", "waits for the new scheduler");
    is_event(primary_ult, 'S', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_OTHER);
    is_event(primary_ult, 'W', 0, .xstream = primary_es, .pool = pool, .caller = main_ult);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
    is_story(main_ult, "", "the main scheduler's unit stays");
}

/* --- Schedulers of the user's that yield and block --- */

struct own_sched {
    ABT_thread unit; /* runs it */
    int yields, suspends;
    atomic_bool blocked;
    bool exits;
};

static void own_run(ABT_sched sched)
{
    struct own_sched *own;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    own = data;
    own->unit = self();
    while (own->yields-- > 0)
        must(ABT_self_yield());
    while (own->suspends-- > 0) {
        atomic_store(&own->blocked, true);
        must(ABT_self_suspend());
    }
    if (own->exits)
        ABT_self_exit();
    run_until_stop(sched);
}

static ABT_sched own_sched(ABT_pool pool, struct own_sched *own)
{
    ABT_sched_def def = {.run = own_run};
    ABT_sched sched = automatic_sched(&def, 1, &pool);

    must(ABT_sched_set_data(sched, own));
    return sched;
}

static void test_main_sched(void)
{
    struct own_sched own = {.yields = 1, .suspends = 1};
    ABT_xstream xstream, copy;
    ABT_thread sched;

    log_all();
    must(ABT_xstream_create(own_sched(new_pool(ABT_POOL_FIFO, ABT_TRUE), &own), &xstream));
    copy = xstream;
    sched = created_on(xstream);
    wait_for(atomic_load(&own.blocked) && state_of(sched) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_thread_resume(sched));
    must(ABT_xstream_free(&xstream));
    log_stop();
    is_ptr(own.unit, sched, "the unit that runs it");
    is_story(sched, "CRYRSWRNJJF", "a main scheduler that yields and blocks");
    is_event(sched, 'Y', 0, .xstream = copy, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(sched, 'S', 0, .xstream = copy, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(sched, 'W', 0, .xstream = primary_es, .caller = primary_ult);
    is_event(sched, 'R', 2, .xstream = copy, .depth = 0);
}

static void test_main_sched_exit(void)
{
    struct own_sched own = {.exits = true};
    ABT_xstream xstream, copy;
    ABT_thread sched;

    log_all();
    must(ABT_xstream_create(own_sched(new_pool(ABT_POOL_FIFO, ABT_TRUE), &own), &xstream));
    copy = xstream;
    sched = created_on(xstream);
    must(ABT_xstream_free(&xstream));
    log_stop();
    is_story(sched, "CRNJJF", "a main scheduler that exits");
    is_event(sched, 'N', 0, .xstream = copy, .depth = 0);
}

/* --- Depth --- */

static void yield_once(void *unit)
{
    if (unit)
        *(ABT_thread *)unit = self();
    must(ABT_self_yield());
}

static void test_stacked(ABT_xstream xstream)
{
    ABT_pool pool = pool_of(xstream), middle = new_pool(ABT_POOL_FIFO, ABT_TRUE),
             inner = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    struct own_sched owns[2] = {{.yields = 1}, {.yields = 0}};
    ABT_thread ult, tasklet, copies[2];

    log_all();
    copies[0] = ult = ult_in(inner, yield_once, NULL);
    must(ABT_task_create(inner, do_nothing, NULL, &tasklet));
    copies[1] = tasklet;
    must(ABT_pool_add_sched(middle, own_sched(inner, &owns[1])));
    must(ABT_pool_add_sched(pool, own_sched(middle, &owns[0])));
    must(ABT_thread_free(&ult));
    must(ABT_task_free(&tasklet));
    wait_for(nth(owns[0].unit, 'F', 0).kind);
    log_stop();

    is_story(owns[0].unit, "CRYRNF", "a stacked scheduler, which yields once");
    is_event(owns[0].unit, 'C', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
    is_event(owns[0].unit, 'R', 0, .xstream = xstream, .depth = 1, .caller = nth(owns[0].unit, 'F', 0).caller);
    is_event(owns[0].unit, 'Y', 0, .xstream = xstream, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(owns[0].unit, 'N', 0, .xstream = xstream, .depth = 1);
    is_story(owns[1].unit, "CRNF", "one that it runs");
    is_event(owns[1].unit, 'C', 0, .xstream = primary_es, .pool = middle, .caller = primary_ult);
    is_event(owns[1].unit, 'R', 0, .xstream = xstream, .depth = 2, .caller = owns[0].unit);
    is_event(owns[1].unit, 'N', 0, .xstream = xstream, .depth = 2);
    is_event(owns[1].unit, 'F', 0, .xstream = xstream, .caller = owns[0].unit);
    is_story(copies[0], "CRYRNJF", "a ULT that that runs");
    is_event(copies[0], 'R', 0, .xstream = xstream, .depth = 3, .caller = owns[1].unit);
    is_event(copies[0], 'Y', 0, .xstream = xstream, .pool = inner, .depth = 3, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(copies[0], 'N', 0, .xstream = xstream, .depth = 3);
    is_story(copies[1], "CRNJF", "a tasklet");
    is_event(copies[1], 'R', 0, .xstream = xstream, .depth = 3, .caller = owns[1].unit);
    is_event(copies[1], 'N', 0, .xstream = xstream, .depth = 3);
}

static void test_stacked_basic(ABT_xstream xstream)
{
    ABT_pool pool = pool_of(xstream), inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread threads[2], copies[2];
    ABT_sched sched;

    log_all();
    for (int i = 0; i < 2; i++)
        copies[i] = threads[i] = ult_in(inner, yield_once, NULL);
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_pool_add_sched(pool, sched));
    must(ABT_thread_free_many(2, threads));
    log_stop();
    /* The scheduler has let go of its pool when another unit runs. */
    threads[0] = ult_in(pool, do_nothing, NULL);
    must(ABT_thread_free(&threads[0]));
    for (int i = 0; i < 2; i++) {
        is_story(copies[i], "CRYRNJF", "a ULT of a stacked predefined scheduler");
        is_int(nth(copies[i], 'R', 0).depth, 2, "of depth two");
        is_int(nth(copies[i], 'R', 1).depth, 2, "the second time, too");
    }
    must(ABT_pool_free(&inner));
}

/* Any ULT may schedule. */
static void schedule(void *thread)
{
    must(ABT_self_schedule(thread, ABT_POOL_NULL));
}

static void test_self_schedule(void)
{
    ABT_pool parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread child = ult_in(parked, do_nothing, NULL), thread;

    must(ABT_pool_pop_thread(parked, &child));
    log_all();
    thread = ult_in(own_pool(), schedule, child);
    must(ABT_thread_join(thread));
    log_stop();
    is_event(child, 'R', 0, .xstream = primary_es, .depth = 2, .caller = thread);
    is_event(thread, 'N', 0, .xstream = primary_es, .depth = 1);
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&child));
    must(ABT_pool_free(&parked));
}

int main(void)
{
    ABT_xstream xstream;

    if (!tool_is_built())
        skip_all("built without the tool interface");
    test_first();
    tool_init();
    test_xstream();
    test_xstream_exit();
    test_replace();
    test_main_sched();
    test_main_sched_exit();
    test_self_schedule();
    test_stacked(primary_es);
    test_stacked_basic(primary_es);
    xstream = new_xstream();
    test_stacked(xstream);
    test_stacked_basic(xstream);
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
    return done_testing();
}
