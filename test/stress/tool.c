/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool interface under load. Units of all kinds do everything that makes events, on more streams than there are
 * cores, and a callback checks that the events of each make sense in their order. Then callbacks are exchanged for one
 * another and removed meanwhile: each must come with its own argument.
 */
#include "stress.h"
#include "tool_watch.h"

enum { ROUND_UNITS = 40, ACTIONS = 12 };

static struct team team;
static ABT_mutex mutex;
static long inside; /* mutex */
static atomic_bool stop;
static atomic_int natives_done;

static void act_some(void *arg);

static ABT_thread child(struct rng *rng, void (*func)(void *), void *arg)
{
    ABT_thread thread;
    ABT_pool pool = team_pool(&team, rng);

    if (func == act_some && one_in(rng, 3))
        must(ABT_task_create(pool, func, arg, &thread));
    else
        must(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, &thread));
    return thread;
}

static void resume_blocked(void *unit)
{
    ABT_thread_state state;

    do {
        ABT_self_yield();
        must(ABT_thread_get_state(unit, &state));
    } while (state != ABT_THREAD_STATE_BLOCKED);
    must(ABT_thread_resume(unit));
}

static void set_eventual(void *eventual)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void yield_some(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    for (unsigned i = below(&rng, 4); i > 0; i--)
        ABT_self_yield();
}

static void lock_and_yield(struct rng *rng)
{
    must(ABT_mutex_lock(mutex));
    inside++;
    if (one_in(rng, 2))
        ABT_self_yield();
    must(ABT_mutex_unlock(mutex));
}

static void wait_for_child(struct rng *rng)
{
    ABT_eventual eventual;
    ABT_thread thread;

    must(ABT_eventual_create(0, &eventual));
    thread = child(rng, set_eventual, eventual);
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_thread_free(&thread));
    must(ABT_eventual_free(&eventual));
}

static void suspend_until_resumed(struct rng *rng)
{
    ABT_thread self, thread;

    must(ABT_self_get_thread(&self));
    thread = child(rng, resume_blocked, self);
    must(ABT_self_suspend());
    must(ABT_thread_free(&thread));
}

/* A unit that may be cancelled or migrated on its way, and runs again. */
static void push_around(struct rng *rng)
{
    ABT_thread thread = child(rng, yield_some, NULL);

    if (one_in(rng, 2))
        must(ABT_thread_cancel(thread));
    else if (team.layout != PRIV)
        (void)ABT_thread_migrate_to_pool(thread, team_pool(&team, rng)); /* refused when it is there already */
    if (one_in(rng, 2)) {
        must(ABT_thread_join(thread));
        must(ABT_thread_revive(team_pool(&team, rng), yield_some, NULL, &thread));
    }
    must(ABT_thread_free(&thread));
}

/* What ULTs may do, and tasklets leave. `arg`: how many generations may follow. */
static void act_some(void *arg)
{
    struct rng rng = rng_fresh();
    intptr_t left = (intptr_t)arg;
    ABT_unit_type type;
    ABT_thread thread;

    must(ABT_self_get_type(&type));
    if (type != ABT_UNIT_TYPE_THREAD || left == 0)
        return;
    for (int i = 0; i < ACTIONS; i++) {
        jitter(&rng);
        switch (below(&rng, 7)) {
        case 0: ABT_self_yield(); break;
        case 1: lock_and_yield(&rng); break;
        case 2: wait_for_child(&rng); break;
        case 3: suspend_until_resumed(&rng); break;
        case 4: push_around(&rng); break;
        case 5: must(ABT_thread_create(team_pool(&team, &rng), yield_some, NULL, ABT_THREAD_ATTR_NULL, NULL)); break;
        default:
            thread = child(&rng, act_some, (void *)(left - 1));
            must(ABT_thread_free(&thread));
            break;
        }
    }
}

static void *act_native(void *arg)
{
    struct rng rng = rng_fresh();

    for (int i = 0; i < ACTIONS && team.layout != PRIV; i++) {
        ABT_thread thread = child(&rng, act_some, arg);
        must(ABT_thread_free(&thread));
    }
    atomic_fetch_add(&natives_done, 1);
    return NULL;
}

/* --- Exchanging callbacks --- */

static char args[2];

static void first_callback(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)event, (void)context;
    if (arg != &args[0])
        bail_out("the other one's argument");
}

static void second_callback(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)context;
    if (arg != &args[1] || event == ABT_TOOL_EVENT_THREAD_RUN)
        bail_out("the other one's argument or events");
}

static void *exchange_native(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    while (!atomic_load(&stop)) {
        switch (below(&rng, 3)) {
        case 0: must(ABT_tool_register_thread_callback(first_callback, ABT_TOOL_EVENT_THREAD_ALL, &args[0])); break;
        case 1:
            must(ABT_tool_register_thread_callback(
                second_callback, ABT_TOOL_EVENT_THREAD_ALL & ~(uint64_t)ABT_TOOL_EVENT_THREAD_RUN, &args[1]));
            break;
        default: must(ABT_tool_register_thread_callback(NULL, 0, NULL)); break;
        }
        jitter(&rng);
    }
    atomic_fetch_add(&natives_done, 1);
    return NULL;
}

/* --- Rounds --- */

/* What is left of the unnamed units runs to its end. */
static void drain(void)
{
    ABT_sched sched;
    size_t left;

    must(ABT_xstream_get_main_sched(team.xstreams[0], &sched));
    do {
        ABT_self_yield();
        must(ABT_sched_get_total_size(sched, &left));
    } while (left > 0);
}

static void run_round(int size, enum layout layout, ABT_tool_thread_callback_fn callback, void *(*native_func)(void *))
{
    struct rng rng = rng_fresh();
    ABT_sched_predef predef = all_scheds[below(&rng, 4)];
    ABT_pool_kind kind = all_kinds[below(&rng, 3)];
    ABT_thread threads[ROUND_UNITS];
    pthread_t natives[2];

    diag("%d ESs, %s, %s over %s", size, layout_names[layout], sched_name(predef), kind_name(kind));
    team_begin(&team, size, layout, predef, kind);
    must(ABT_mutex_create(&mutex));
    if (callback)
        must(ABT_tool_register_thread_callback(callback, ABT_TOOL_EVENT_THREAD_ALL, NULL));
    atomic_store(&stop, false);
    atomic_store(&natives_done, 0);
    must(pthread_create(&natives[0], NULL, act_native, (void *)1));
    must(pthread_create(&natives[1], NULL, native_func, (void *)1));
    for (int i = 0; i < ROUND_UNITS; i++)
        threads[i] = child(&rng, act_some, (void *)2);
    must(ABT_thread_free_many(ROUND_UNITS, threads));
    atomic_store(&stop, true);
    while (atomic_load(&natives_done) < 2)
        must(ABT_self_yield()); /* they may wait for this stream */
    for (int i = 0; i < 2; i++)
        pthread_join(natives[i], NULL);
    for (; size > 1; size--)
        must(ABT_xstream_free(&team.xstreams[size - 1]));
    drain();
    must(ABT_mutex_free(&mutex));
    must(ABT_finalize());
}

int main(void)
{
    want_tool();
    static const int sizes[] = {1, 2, 4, 8};
    double seconds = tap_seconds(2);
    struct rng rng;
    bool built;

    stress_begin();
    rng = rng_make(0);
    must(ABT_init(0, NULL));
    built = has_tool();
    must(ABT_finalize());
    if (!built)
        skip_all("built without the tool interface");
    watch_init();
    for (double end = now() + seconds / 2; now() < end;) {
        run_round(sizes[below(&rng, 4)], (enum layout)below(&rng, NUM_LAYOUTS), watch_event, act_native);
        if (watch_end() != 1)
            bail_out("units are left beside the primary ULT");
    }
    ok(watch_events > 0, "%ld events in their order", (long)watch_events);
    for (double end = now() + seconds / 2; now() < end;)
        run_round(sizes[below(&rng, 4)], (enum layout)below(&rng, NUM_LAYOUTS), NULL, exchange_native);
    pass("callbacks come with their arguments");
    return done_testing();
}
