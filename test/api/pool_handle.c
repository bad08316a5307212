/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined pools whose units are the work units themselves, and for contrast those that make units of their own:
 * free_unit is called once for each create_unit, and never for a unit that is in use. The pools see to that themselves,
 * see handle_pool.h; here everything is done to work units that comes between.
 */
#include "common.h"

#include "handle_pool.h"
#include "watchdog.h"

enum { SOME = 12, REFUSALS = 10000 };

/* The pool under test, one of the other kind, one that no stream serves, and a built-in one. */
static struct handle_pool here, there, attic;
static ABT_pool plain;
static ABT_key key;
static atomic_int destroyed, wrong;

/* --- Work --- */

/* Until it is told to end, or cancelled. */
struct long_work {
    struct work work;
    atomic_bool stop;
};

static void work_long(void *arg)
{
    struct long_work *work = arg;

    count_up(&work->work.begun);
    while (!atomic_load(&work->stop))
        ABT_thread_yield();
    count_up(&work->work.ended);
}

static void stop_soon(struct long_work *work)
{
    wait_for(atomic_load(&work->work.begun));
    atomic_store(&work->stop, true);
}

/* How many units `here` has that the caller's case did not make. */
static int base;

static void are_gone(const char *what)
{
    is_int(handles_alive(&here), base, "%s: each unit is freed", what);
    ok(handles_alive(&there) == 0 && handles_alive(&attic) == 0, "nor has another pool any");
}

static void all_ran(const struct work *works, int num, const char *what)
{
    int ran = 0;

    for (int i = 0; i < num; i++)
        ran += works[i].begun == 1 && works[i].ended == 1;
    is_int(ran, num, "%s: all have run once", what);
}

/* --- Freed, joined, unnamed, with and without a stack of their own --- */

typedef void (*body)(void *);

static ABT_thread make_one(struct work *work, body func, ABT_thread_attr attr, bool tasklet, bool named)
{
    ABT_thread thread = ABT_THREAD_NULL;

    if (tasklet)
        must(ABT_task_create(here.pool, func, work, named ? &thread : NULL));
    else
        must(ABT_thread_create(here.pool, func, work, attr, named ? &thread : NULL));
    return thread;
}

/* How a unit is made, and when its joiner comes. */
static void try_ends(const char *what, body func, ABT_thread_attr attr, bool tasklet)
{
    struct work works[4 * SOME] = {0};
    ABT_thread threads[4 * SOME];
    int num = 0;

    for (int i = 0; i < SOME; i++, num++) {
        threads[0] = make_one(&works[num], func, attr, tasklet, true);
        must(ABT_thread_free(&threads[0]));
        if (threads[0] != ABT_THREAD_NULL || handles_alive(&here) != base)
            fail("%s: freed at once, %d units are left", what, handles_alive(&here) - base);
    }
    for (int i = 0; i < SOME; i++, num++) {
        threads[0] = make_one(&works[num], func, attr, tasklet, true);
        wait_for(state_of(threads[0]) == ABT_THREAD_STATE_TERMINATED);
        must(ABT_thread_join(threads[0]));
        if (handles_alive(&here) != base + 1)
            fail("%s: joined, %d units are left", what, handles_alive(&here) - base);
        must(ABT_thread_free(&threads[0]));
        if (handles_alive(&here) != base)
            fail("%s: freed, %d units are left", what, handles_alive(&here) - base);
    }
    for (int i = 0; i < 2 * SOME; i++)
        threads[i] = make_one(&works[num + i], func, attr, tasklet, i >= SOME);
    num += 2 * SOME;
    must(ABT_thread_join_many(SOME / 2, &threads[SOME]));
    must(ABT_thread_free_many(SOME, &threads[SOME]));
    wait_for(handles_alive(&here) == base);
    all_ran(works, num, what);
    are_gone(what);
}

static void test_ends(void)
{
    static char stack[64 * 1024] __attribute__((aligned(64)));
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 64 * 1024));
    try_ends("a ULT that ends at once", work_quickly, ABT_THREAD_ATTR_NULL, false);
    try_ends("a ULT that yields", work_and_yield, ABT_THREAD_ATTR_NULL, false);
    try_ends("a ULT that exits", work_and_exit, ABT_THREAD_ATTR_NULL, false);
    try_ends("a tasklet", work_quickly, ABT_THREAD_ATTR_NULL, true);
    try_ends("a stack of its own", work_quickly, attr, false);
    try_ends("a stack of its own, and it yields", work_and_yield, attr, false);
    try_ends("a stack of its own, and it exits", work_and_exit, attr, false);
    for (int i = 0; i < SOME; i++) {
        struct work work = {0};
        must(ABT_thread_attr_set_stack(attr, stack, sizeof(stack)));
        ABT_thread thread = make_one(&work, i % 2 ? work_and_yield : work_and_exit, attr, false, true);
        if (i % 3 == 0)
            must(ABT_thread_join(thread));
        must(ABT_thread_free(&thread));
    }
    are_gone("the user's stack");
    must(ABT_thread_attr_free(&attr));
}

static void test_running(void)
{
    for (int i = 0; i < SOME; i++) {
        struct long_work work = {0};
        ABT_thread thread = ult_in(here.pool, work_long, &work);
        stop_soon(&work);
        must(ABT_thread_free(&thread));
    }
    are_gone("freed while it runs");
}

static void test_cancelled(void)
{
    if (!has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL))
        return;
    for (int i = 0; i < SOME; i++) {
        struct long_work work = {.work = {.is_cut = true}};
        ABT_thread thread = ult_in(here.pool, work_long, &work);
        if (i % 2)
            wait_for(atomic_load(&work.work.begun));
        must(ABT_thread_cancel(thread));
        if (i % 3)
            must(ABT_thread_join(thread));
        must(ABT_thread_free(&thread));
    }
    are_gone("cancelled");
}

/* --- To other pools and back --- */

static void test_revived(void)
{
    struct work work = {0};
    ABT_thread thread = make_one(&work, work_and_yield, ABT_THREAD_ATTR_NULL, false, true);
    ABT_pool pools[] = {here.pool, plain, here.pool, there.pool, here.pool, here.pool};
    int made = here.created;

    for (int i = 0; i < 6; i++) {
        must(ABT_thread_join(thread));
        must(ABT_thread_revive(pools[i], i % 2 ? work_quickly : work_and_yield, &work, &thread));
        is_ptr(last_pool_of(thread), pools[i], "revived");
        if (i == 0)
            ok(here.created == made && handles_alive(&here) == base + 1, "in the same pool it keeps its unit");
        if (i == 1)
            is_int(handles_alive(&here), base, "in another it does not");
    }
    is_int(here.created, made + 2, "a unit each time it comes back");
    must(ABT_thread_free(&thread));
    is_int(work.ended, 7, "it has run each time");
    are_gone("revived");
}

static void wait_until_in(ABT_pool pool)
{
    wait_for((ABT_self_yield(), last_pool_of(self()) == pool));
}

/* The argument of a unit is its work. */
static void migrate_around(void *arg)
{
    ABT_pool pools[] = {plain, here.pool, there.pool, here.pool, attic.pool, here.pool, plain};
    struct work *work = arg;

    count_up(&work->begun);
    for (int i = 0; i < 7; i++) {
        if (i % 2 == 0 && pools[i] != attic.pool && has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
            must(ABT_thread_migrate_to_pool(self(), pools[i]));
            wait_until_in(pools[i]);
        } else {
            must(ABT_self_set_associated_pool(pools[i]));
        }
    }
    count_up(&work->ended);
}

static void test_migrated(void)
{
    for (int i = 0; i < SOME; i++) {
        struct work work = {.may_leave = true};
        ABT_thread thread = ult_in(here.pool, migrate_around, &work);
        if (i % 2)
            must(ABT_thread_join(thread));
        must(ABT_thread_free(&thread));
        is_int(work.ended, 1, "it was in all pools");
    }
    are_gone("migrated");
}

/* By those who have popped it. */
static void test_pushed(void)
{
    struct work work = {.may_leave = true};
    ABT_thread thread = ult_in(attic.pool, work_quickly, &work), popped;
    int made = attic.created;

    for (int i = 0; i < SOME; i++) {
        must(ABT_pool_pop_thread(attic.pool, &popped));
        is_ptr(popped, thread, "popped");
        is_int(handles_alive(&attic), 1, "which keeps its unit");
        switch (i % 4) {
        case 0: must(ABT_pool_push_thread(attic.pool, popped)); continue;
        case 1: must(ABT_thread_set_associated_pool(popped, plain)); break;
        case 2: must(ABT_thread_set_associated_pool(popped, here.pool)); break;
        default: must(ABT_thread_set_associated_pool(popped, there.pool)); break;
        }
        is_int(handles_alive(&attic), 0, "in another pool it has no more");
        is_int(handles_alive(&here), base + (i % 4 == 2), "but the one of that");
        must(ABT_pool_push_thread(attic.pool, popped));
        is_int(attic.created, made += 1, "and back");
    }
    must(ABT_pool_pop_thread(attic.pool, &popped));
    must(ABT_pool_push_thread(here.pool, popped));
    must(ABT_thread_free(&thread));
    is_int(work.ended, 1, "it has run");
    are_gone("pushed");
}

/* --- What a unit has beside its handle --- */

static void test_pinned(void)
{
    ABT_bool flag = ABT_TRUE;

    if (!has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION))
        return;
    for (int i = 0; i < SOME; i++) {
        struct long_work work = {0};
        ABT_thread thread = ult_in(here.pool, work_long, &work);
        must(ABT_thread_set_migratable(thread, ABT_FALSE));
        must(ABT_thread_is_migratable(thread, &flag));
        if (flag || ABT_thread_migrate_to_pool(thread, plain) == ABT_SUCCESS)
            fail("a pinned ULT may migrate");
        if (i % 2)
            must(ABT_thread_set_migratable(thread, ABT_TRUE));
        stop_soon(&work);
        must(ABT_thread_free(&thread));
    }
    are_gone("pinned");
}

static void on_destroy(void *value)
{
    if (value)
        count_up(&destroyed);
}

static void set_key(void *arg)
{
    struct work *work = arg;

    count_up(&work->begun);
    must(ABT_key_set(key, arg));
    ABT_thread_yield();
    count_up(&work->ended);
}

static void test_keys(void)
{
    int before = destroyed;

    for (int i = 0; i < SOME; i++) {
        struct work work = {0};
        ABT_thread thread = make_one(&work, i % 2 ? set_key : work_and_yield, ABT_THREAD_ATTR_NULL, false, true);
        if (i % 2 == 0)
            must(ABT_thread_set_specific(thread, key, &work));
        if (i % 3 == 0)
            must(ABT_thread_join(thread));
        must(ABT_thread_free(&thread));
        is_int(destroyed, before + i + 1, "a destructor is called once");
    }
    are_gone("keys");
}

static _Atomic(ABT_unit_id) id_asked;

static void ask_id(ABT_thread thread)
{
    ABT_unit_id id = (ABT_unit_id)-1;
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_thread back = ABT_THREAD_NULL;

    must(ABT_thread_get_id(thread, &id));
    atomic_store(&id_asked, id);
    must(ABT_thread_get_unit(thread, &unit));
    must(ABT_unit_get_thread(unit, &back));
    if (back != thread)
        count_up(&wrong);
}

/* It asks as often as those outside do. */
static void ask_own_id(void *arg)
{
    struct long_work *work = arg;
    ABT_unit_id first, id;

    count_up(&work->work.begun);
    must(ABT_self_get_thread_id(&first));
    while (!atomic_load(&work->stop)) {
        must(ABT_self_get_thread_id(&id));
        if (id != first)
            count_up(&wrong);
        ABT_thread_yield();
    }
    count_up(&work->work.ended);
}

static void test_ids(void)
{
    atomic_store(&here.on_create, ask_id);
    try_ends("an id asked for by create_unit", work_and_yield, ABT_THREAD_ATTR_NULL, false);
    for (int i = 0; i < SOME; i++) {
        struct work work = {0};
        ABT_unit_id id = 0;
        ABT_thread thread = make_one(&work, work_quickly, ABT_THREAD_ATTR_NULL, i % 2, true);
        must(ABT_thread_get_id(thread, &id));
        if (id != atomic_load(&id_asked))
            fail("the id is another than in create_unit");
        must(ABT_thread_free(&thread));
    }
    atomic_store(&here.on_create, NULL);
    for (int i = 0; i < SOME; i++) {
        struct long_work work = {0};
        ABT_thread thread = ult_in(here.pool, ask_own_id, &work);
        if (i % 2)
            wait_for(atomic_load(&work.work.begun));
        ask_id(thread);
        stop_soon(&work);
        must(ABT_thread_free(&thread));
    }
    is_int(wrong, 0, "ids are the same for all, and handles their units'");
    are_gone("an id asked for by others");
}

static void test_units(void)
{
    ABT_pool pools[] = {here.pool, there.pool, plain};

    for (int i = 0; i < 3; i++) {
        struct work work = {0};
        ABT_thread thread = ult_in(pools[i], work_and_yield, &work), back = ABT_THREAD_NULL;
        ABT_unit unit = ABT_UNIT_NULL;
        must(ABT_thread_get_unit(thread, &unit));
        must(ABT_unit_get_thread(unit, &back));
        is_ptr(back, thread, "from unit to work unit and back");
        if (i < 2)
            is_int(unit == (ABT_unit)thread, (i ? &there : &here)->self, "its unit is what the pool has made");
        must(ABT_thread_free(&thread));
    }
    are_gone("units asked for");
}

/* --- What the pool does --- */

static ABT_thread seen[64];
static int num_seen;

static void see(ABT_thread thread)
{
    for (int i = 0; i < num_seen; i++) {
        if (seen[i] == thread)
            return;
    }
    if (num_seen < 64)
        seen[num_seen++] = thread;
}

static void see_and_ask(ABT_thread thread)
{
    see(thread);
    ask_id(thread);
}

static void test_refused(void)
{
    struct work work = {0};
    int codes = 0, handles = 0, refused = here.refused;

    num_seen = 0;
    atomic_store(&here.refuse, true);
    for (int i = 0; i < REFUSALS; i++) {
        ABT_thread thread = UNTOUCHED(ABT_thread);
        atomic_store(&here.on_create, i % 2 ? see : see_and_ask);
        codes += (i % 4 ? ABT_thread_create(here.pool, work_quickly, &work, ABT_THREAD_ATTR_NULL, &thread)
                        : ABT_task_create(here.pool, work_quickly, &work, &thread)) == ABT_ERR_OTHER;
        handles += thread == (ver20 ? UNTOUCHED(ABT_thread) : i % 4 ? ABT_THREAD_NULL : ABT_TASK_NULL);
    }
    atomic_store(&here.on_create, NULL);
    atomic_store(&here.refuse, false);
    is_int(codes, REFUSALS, "refused");
    is_int(handles, REFUSALS, "without a handle");
    is_int(here.refused, refused + REFUSALS, "the pool was asked once for each");
    ok(num_seen < 64, "and no descriptor is lost: there were %d", num_seen);
    is_int(work.begun, 0, "nothing has run");
    are_gone("refused");
}

/* A function of a pool uses the library. */
static void use_library(ABT_pool pool)
{
    ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    ABT_thread thread = ABT_THREAD_NULL;
    ABT_unit_id id;
    void *data = NULL;

    must(ABT_mutex_lock(mutex));
    if (ABT_self_get_thread(&thread) == ABT_SUCCESS && thread != ABT_THREAD_NULL)
        must(ABT_self_get_thread_id(&id));
    must(ABT_pool_get_data(pool, &data));
    if (data != &here)
        count_up(&wrong);
    must(ABT_mutex_unlock(mutex));
}

static void test_callbacks(void)
{
    atomic_store(&here.on_free, use_library);
    try_ends("free_unit uses the library", work_and_yield, ABT_THREAD_ATTR_NULL, false);
    atomic_store(&here.on_push, use_library);
    try_ends("push and free_unit use the library", work_quickly, ABT_THREAD_ATTR_NULL, false);
    try_ends("and for tasklets", work_quickly, ABT_THREAD_ATTR_NULL, true);
    atomic_store(&here.on_free, NULL);
    atomic_store(&here.on_push, NULL);
    is_int(wrong, 0, "they find what they look for");
}

static atomic_int tool_frees;

static void on_event(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)thread, (void)xstream, (void)context, (void)arg;
    if (event == ABT_TOOL_EVENT_THREAD_FREE)
        count_up(&tool_frees);
}

/* A tool comes while units are alive, and goes before some of them end. */
static void test_tool(void)
{
    if (!has_tool())
        return;
    for (int late = 0; late < 2; late++) {
        struct long_work works[SOME] = {0};
        ABT_thread threads[SOME];
        for (int i = 0; i < SOME; i++)
            threads[i] = ult_in(here.pool, work_long, &works[i]);
        wait_for(atomic_load(&works[0].work.begun));
        tool_frees = 0;
        must(ABT_tool_register_thread_callback(on_event, ABT_TOOL_EVENT_THREAD_ALL, NULL));
        for (int i = 0; i < SOME / 2; i++) {
            stop_soon(&works[i]);
            must(ABT_thread_free(&threads[i]));
        }
        is_int(tool_frees, SOME / 2, "a tool is told of those that were there before it");
        if (late)
            must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
        for (int i = SOME / 2; i < SOME; i++) {
            stop_soon(&works[i]);
            must(ABT_thread_free(&threads[i]));
        }
        must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
        are_gone("a tool");
    }
}

/* The unit of a scheduler is a unit of the pool, too. */
static void test_scheduler(void)
{
    for (int i = 0; i < 2; i++) {
        ABT_pool inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
        struct work works[SOME] = {0};
        ABT_thread threads[SOME];
        int made = here.created;
        for (int j = 0; j < SOME; j++)
            threads[j] = ult_in(inner, j % 2 ? work_and_yield : work_quickly, &works[j]);
        atomic_store(&here.takes_schedulers, true);
        must(ABT_pool_add_sched(here.pool, handle_sched(1, &inner)));
        atomic_store(&here.takes_schedulers, false);
        is_int(here.created, made + 1, "the scheduler has a unit");
        must(ABT_thread_free_many(SOME, threads));
        all_ran(works, SOME, "under a scheduler in the pool");
        wait_for(handles_alive(&here) == base);
        must(ABT_pool_free(&inner));
    }
    are_gone("a scheduler");
}

/* --- Who asks, and who serves --- */

static void run_cases(enum caller who, void *arg)
{
    (void)who, (void)arg;
    base = handles_alive(&here);
    test_ends();
    test_running();
    test_cancelled();
    test_revived();
    test_migrated();
    test_pushed();
    test_pinned();
    test_keys();
    test_ids();
    test_units();
    test_refused();
    test_callbacks();
    test_tool();
    test_scheduler();
}

static void run_cases_in_pool(void *arg)
{
    struct work *work = arg;

    count_up(&work->begun);
    run_cases(PLAIN_ULT, NULL);
    count_up(&work->ended);
}

enum server { USER_SCHED, PREDEF, BOTH, NUM_SERVERS };
static const char *const server_names[] = {"a scheduler of the user's", "a predefined one", "both"};

static void play(bool old, bool is_self, enum server server)
{
    struct work work = {0};
    ABT_xstream xstreams[2];
    int num = 0;

    diag("%s, %s, %s", old ? "old" : "new", is_self ? "their own handles" : "handles", server_names[server]);
    must(ABT_init(0, NULL));
    must(ABT_key_create(on_destroy, &key));
    handle_pool_begin(&here, old, is_self);
    handle_pool_begin(&there, old, !is_self);
    handle_pool_begin(&attic, false, is_self);
    plain = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_pool pools[] = {here.pool, there.pool, plain};
    if (server != PREDEF)
        xstreams[num++] = handle_xstream(3, pools);
    if (server != USER_SCHED)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 3, pools, ABT_SCHED_CONFIG_NULL, &xstreams[num++]));
    call_as(PRIMARY_ULT, run_cases, NULL);
    call_as(EXTERNAL, run_cases, NULL);
    diag("as one of the pool");
    ABT_thread thread = ult_in(here.pool, run_cases_in_pool, &work);
    must(ABT_thread_free(&thread));
    while (num-- > 0)
        must(ABT_xstream_free(&xstreams[num]));
    ok(handles_alive(&here) == 0 && handles_alive(&there) == 0 && handles_alive(&attic) == 0, "no unit is left");
    handle_pool_end(&here);
    handle_pool_end(&there);
    handle_pool_end(&attic);
    must(ABT_pool_free(&plain));
    must(ABT_key_free(&key));
    must(ABT_finalize());
}

int main(void)
{
    want_tool();
    watchdog_begin(60);
    for (int i = 0; i < 4 * NUM_SERVERS; i++)
        play(i % 2, i / 2 % 2, (enum server)(i / 4));
    return done_testing();
}
