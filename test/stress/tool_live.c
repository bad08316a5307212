/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool comes and goes while four streams run units of all kinds, in private and shared pools of their own, where all
 * quick paths are taken in between. From each coming on the events of each unit must make sense in their order; and
 * when the streams have come to rest with the tool there, no unit that was created meanwhile may be left.
 */
#include "stress.h"
#include "tool_watch.h"

enum { STREAMS = 4, CHILDREN = 6 };

static ABT_xstream xstreams[STREAMS];
static ABT_pool pools[STREAMS];
static ABT_mutex mutex;
static atomic_bool stop;
static atomic_long turns;

static void yield_twice(void *arg)
{
    must(ABT_self_yield());
    must(ABT_self_yield());
}

static void lock_and_yield(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_self_yield());
    must(ABT_mutex_unlock(mutex));
}

static void exit_early(void *arg)
{
    must(ABT_self_exit());
}

static void join_a_child(void *pool)
{
    ABT_thread thread = ult_in(pool, yield_twice, NULL);
    must(ABT_thread_join(thread));
    must(ABT_thread_free(&thread));
}

static void (*const acts[])(void *) = {do_nothing, yield_twice, lock_and_yield, exit_early, join_a_child};
enum { ACTS = sizeof(acts) / sizeof(acts[0]) };

static void many(ABT_pool pool)
{
    ABT_pool where[CHILDREN];
    void (*funcs[CHILDREN])(void *);
    void *args[CHILDREN];
    ABT_thread threads[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        where[i] = args[i] = pool;
        funcs[i] = acts[i % ACTS];
    }
    must(ABT_thread_create_many(CHILDREN, where, funcs, args, ABT_THREAD_ATTR_NULL, threads));
    must(ABT_thread_free_many(CHILDREN, threads));
}

static void one_turn(ABT_pool pool, struct rng *rng)
{
    void (*act)(void *) = acts[below(rng, ACTS)];
    ABT_task task;
    ABT_thread thread = ult_in(pool, act, pool);
    if (one_in(rng, 3))
        must(ABT_self_yield());
    must(one_in(rng, 4) ? ABT_thread_join(thread) : ABT_SUCCESS);
    must(ABT_thread_free(&thread));
    must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_task_create(pool, do_nothing, NULL, &task));
    must(ABT_task_free(&task));
    if (one_in(rng, 3))
        many(pool);
    must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_join(thread));
    must(ABT_thread_revive(pool, act, pool, &thread));
    must(ABT_thread_free(&thread));
}

static void work(void *pool)
{
    struct rng rng = rng_fresh();
    while (!atomic_load(&stop)) {
        one_turn(pool, &rng);
        atomic_fetch_add(&turns, 1);
        must(ABT_self_yield());
    }
}

static void let_work(long how_much)
{
    for (long until = atomic_load(&turns) + how_much; atomic_load(&turns) < until;)
        sched_yield();
}

/* The tool comes some times, is there for a while, and goes but for the last time. */
static void come_and_go(struct rng *rng)
{
    for (unsigned times = 1 + below(rng, 4); times > 0; times--) {
        let_work(below(rng, 200));
        must(ABT_tool_register_thread_callback(watch_event, ABT_TOOL_EVENT_THREAD_ALL, watch_arg));
        let_work(below(rng, 200));
        if (times == 1)
            return;
        must(ABT_tool_register_thread_callback(NULL, 0, NULL));
        atomic_store(&watch_arg, (char *)watch_arg + 1); /* for what still runs */
        (void)watch_end();
    }
}

static int run_round(struct rng *rng)
{
    ABT_thread workers[STREAMS];
    int left;
    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    atomic_store(&stop, false);
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, i % 2 == 0 ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC, ABT_TRUE,
                                   &pools[i]));
        must(ABT_thread_create(pools[i], work, pools[i], ABT_THREAD_ATTR_NULL, &workers[i]));
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pools[i], ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    }
    come_and_go(rng);
    atomic_store(&stop, true);
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_thread_free(&workers[i]));
        must(ABT_xstream_free(&xstreams[i]));
    }
    left = watch_end();
    must(ABT_mutex_free(&mutex));
    must(ABT_finalize());
    return left;
}

int main(void)
{
    want_tool();
    double seconds = tap_seconds(2);
    struct rng rng;
    bool built;
    int rounds = 0;

    stress_begin();
    rng = rng_make(0);
    must(ABT_init(0, NULL));
    built = has_tool();
    must(ABT_finalize());
    if (!built)
        skip_all("built without the tool interface");
    watch_init();
    for (double end = now() + seconds; now() < end; rounds++) {
        if (run_round(&rng) > 2)
            bail_out("units are left beside the primary ULT and scheduler");
    }
    ok(watch_events > 0, "%ld events in their order, in %d rounds", (long)watch_events, rounds);
    return done_testing();
}
