/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A unit gets into a private pool in each way that there is, by others than the stream which serves the pool: by a ULT
 * of another stream, and by a native thread that is none. It runs. So do those of a pool that nobody serves yet, that
 * two streams serve, whose scheduler was replaced, and which another stream pops from.
 */
#include "regress.h"

enum server { BASIC, PRIO, RANDWS, BASIC_WAIT, POPS, WAITS, NUM_SERVERS };

static const char *const server_names[] = {"BASIC", "PRIO", "RANDWS", "BASIC_WAIT", "one that pops", "one that waits"};

static atomic_int runs;

static void run(void *arg)
{
    atomic_fetch_add(&runs, 1);
}

/* Whether so many units have run, since runs was 0: if they never do, the watchdog bites. */
static void await_runs(int num)
{
    while (atomic_load(&runs) < num)
        nap_ms(1);
    atomic_store(&runs, 0);
}

static void run_loop(ABT_sched sched, bool waits)
{
    ABT_bool stop = ABT_FALSE;
    ABT_thread thread;
    ABT_pool pool;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    while (stop == ABT_FALSE) {
        if (waits)
            must(ABT_pool_pop_wait_thread(pool, &thread, 0.01));
        else
            must(ABT_pool_pop_thread(pool, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void run_popping(ABT_sched sched)
{
    run_loop(sched, false);
}

static void run_waiting(ABT_sched sched)
{
    run_loop(sched, true);
}

static ABT_sched make_sched(enum server server, ABT_pool pool)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    ABT_sched_def run_def = {.type = ABT_SCHED_TYPE_ULT, .run = server == POPS ? run_popping : run_waiting};
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    if (server < POPS) {
        must(ABT_sched_create_basic(predefs[server], 1, &pool, config, &sched));
    } else {
        must(ABT_sched_create(&run_def, 1, &pool, config, &sched));
    }
    must(ABT_sched_config_free(&config));
    return sched;
}

/* --- The ways. Each makes one unit that runs once in the pool. Units that they name they leave in `named`. --- */

static ABT_pool aside; /* a shared pool that nobody serves */
static ABT_thread named[3];

static void by_thread_create(ABT_pool pool)
{
    must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
}

static void by_unnamed(ABT_pool pool)
{
    must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
}

static void by_task_create(ABT_pool pool)
{
    must(ABT_task_create(pool, run, NULL, &named[0]));
}

static void by_create_many(ABT_pool pool)
{
    ABT_pool pools[3] = {pool, pool, pool};
    void (*funcs[3])(void *) = {run, run, run};

    must(ABT_thread_create_many(3, pools, funcs, NULL, ABT_THREAD_ATTR_NULL, named));
    while (atomic_load(&runs) < 3)
        nap_ms(1);
    atomic_fetch_sub(&runs, 2);
}

static ABT_thread popped(void)
{
    ABT_thread thread;

    must(ABT_thread_create(aside, run, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
    must(ABT_pool_pop_thread(aside, &thread));
    return thread;
}

static void by_push_thread(ABT_pool pool)
{
    must(ABT_pool_push_thread(pool, popped()));
}

static void by_push(ABT_pool pool)
{
    ABT_unit unit;

    must(ABT_thread_create(aside, run, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
    must(ABT_pool_pop(aside, &unit));
    must(ABT_pool_push(pool, unit));
}

static void by_push_threads(ABT_pool pool)
{
    ABT_thread threads[2] = {ABT_THREAD_NULL, popped()};

    must(ABT_pool_push_threads(pool, threads, 2));
}

static void ended(ABT_pool pool)
{
    must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
    must(ABT_thread_join(named[0]));
    atomic_fetch_sub(&runs, 1);
}

static void by_revive(ABT_pool pool)
{
    ended(pool);
    must(ABT_thread_revive(pool, run, NULL, &named[0]));
}

static void by_task_revive(ABT_pool pool)
{
    must(ABT_task_create(pool, run, NULL, &named[0]));
    must(ABT_task_join(named[0]));
    atomic_fetch_sub(&runs, 1);
    must(ABT_task_revive(pool, run, NULL, &named[0]));
}

static void by_add_sched(ABT_pool pool)
{
    ABT_pool inner = make_pool(ABT_POOL_ACCESS_PRIV);
    ABT_sched sched;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_thread_create(inner, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_pool_add_sched(pool, sched));
}

/* Only a ULT can do the rest. */

static void migrates(void *arg)
{
    ABT_thread self;

    must(ABT_self_get_thread(&self));
    must(ABT_thread_migrate_to_pool(self, arg));
    must(ABT_self_yield());
    run(NULL);
}

static ABT_pool own_pool(void)
{
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    return pool;
}

static void by_migration(ABT_pool pool)
{
    must(ABT_thread_create(own_pool(), migrates, pool, ABT_THREAD_ATTR_NULL, &named[0]));
}

static void yields(void *arg)
{
    must(ABT_self_yield());
    run(NULL);
}

/* It runs here, and goes to its pool when it yields. */
static void by_create_to(ABT_pool pool)
{
    must(ABT_thread_create_to(pool, yields, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
}

static void by_revive_to(ABT_pool pool)
{
    ended(pool);
    must(ABT_thread_revive_to(pool, yields, NULL, &named[0]));
}

static void by_schedule(ABT_pool pool)
{
    must(ABT_thread_create(aside, yields, NULL, ABT_THREAD_ATTR_NULL, &named[0]));
    must(ABT_pool_pop_thread(aside, &named[0]));
    must(ABT_self_schedule(named[0], pool));
}

static void by_associated_pool(ABT_pool pool)
{
    ABT_pool own = own_pool();

    must(ABT_self_set_associated_pool(pool));
    must(ABT_self_yield());
    must(ABT_self_set_associated_pool(own));
    must(ABT_self_yield());
    run(NULL);
}

static const struct way {
    const char *name;
    void (*act)(ABT_pool pool);
    bool by_ult;
} ways[] = {
    {"thread_create", by_thread_create, false},
    {"an unnamed one", by_unnamed, false},
    {"task_create", by_task_create, false},
    {"thread_create_many", by_create_many, false},
    {"pool_push_thread", by_push_thread, false},
    {"pool_push", by_push, false},
    {"pool_push_threads", by_push_threads, false},
    {"thread_revive", by_revive, false},
    {"task_revive", by_task_revive, false},
    {"pool_add_sched", by_add_sched, false},
    {"thread_migrate_to_pool", by_migration, true},
    {"thread_create_to", by_create_to, true},
    {"thread_revive_to", by_revive_to, true},
    {"self_schedule", by_schedule, true},
    {"self_set_associated_pool", by_associated_pool, true},
};
enum { NUM_WAYS = sizeof(ways) / sizeof(ways[0]) };

static void go(const struct way *way, ABT_pool pool)
{
    for (int i = 0; i < 3; i++)
        named[i] = ABT_THREAD_NULL;
    way->act(pool);
    while (atomic_load(&runs) < 1)
        ABT_thread_yield();
    await_runs(1);
    for (int i = 0; i < 3; i++) {
        if (named[i] != ABT_THREAD_NULL)
            must(ABT_thread_free(&named[i]));
    }
}

static void *go_natively(void *pool)
{
    for (int i = 0; i < NUM_WAYS; i++) {
        if (!ways[i].by_ult)
            go(&ways[i], pool);
    }
    return NULL;
}

/* The second time the stream sleeps, or is about to. */
static void push_to(enum server server)
{
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_PRIV);
    ABT_xstream es;
    pthread_t native;

    must(ABT_xstream_create(make_sched(server, pool), &es));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < NUM_WAYS; i++) {
            go(&ways[i], pool);
            if (round == 1)
                nap_ms(1);
        }
    }
    pass("by a ULT, to a pool of %s", server_names[server]);
    must(pthread_create(&native, NULL, go_natively, pool));
    must(pthread_join(native, NULL));
    must(ABT_xstream_free(&es));
    pass("by a native thread, to a pool of %s", server_names[server]);
}

/* --- Whose pool it is --- */

static void nobodys(void)
{
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_PRIV);
    ABT_thread thread;
    ABT_xstream es;
    size_t size = 0;

    for (int i = 0; i < 3; i++)
        must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_pool_get_size(pool, &size));
    is_int(size, 4, "units are in a pool that nobody serves");
    must(ABT_pool_pop_thread(pool, &thread));
    must(ABT_pool_push_thread(pool, thread));
    es = make_es(1, &pool);
    await_runs(4);
    must(ABT_xstream_join(es));
    must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_pool_get_size(pool, &size));
    is_int(size, 1, "and in one whose stream has ended");
    must(ABT_xstream_revive(es));
    await_runs(1);
    must(ABT_xstream_free(&es));
    pass("they run when a stream serves it");
}

static atomic_bool stop;

/* Keeps a stream busy with units of its own pool, which it makes by the quick ways. */
static void work(void *arg)
{
    ABT_thread thread;

    while (!atomic_load(&stop)) {
        must(ABT_thread_create(arg, run, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_self_yield());
        must(ABT_thread_free(&thread));
    }
}

static void of_two_streams(void)
{
    ABT_pool pool;
    ABT_xstream streams[2];
    ABT_thread workers[2];

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_FALSE, &pool));
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        streams[i] = make_es(1, &pool);
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, work, pool, ABT_THREAD_ATTR_NULL, &workers[i]));
    while (atomic_load(&runs) < 1000)
        nap_ms(1);
    atomic_store(&stop, true);
    must(ABT_thread_free_many(2, workers));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    atomic_store(&runs, 0);
    streams[0] = make_es(1, &pool); /* which has ended before the other one may be its host, or not */
    go(&ways[0], pool);
    must(ABT_xstream_free(&streams[0]));
    must(ABT_pool_free(&pool));
    pass("two streams serve it");
}

static void popped_by_another(void)
{
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_PRIV);
    ABT_xstream es = make_es(1, &pool);
    ABT_thread worker, thread;
    int moved = 0;

    atomic_store(&stop, false);
    must(ABT_thread_create(pool, work, pool, ABT_THREAD_ATTR_NULL, &worker));
    while (atomic_load(&runs) < 1000 || moved < 1000) {
        must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_pool_pop_thread(pool, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_pool_push_thread(pool, thread));
        moved++;
    }
    atomic_store(&stop, true);
    must(ABT_thread_free(&worker));
    must(ABT_xstream_free(&es));
    atomic_store(&runs, 0);
    pass("another stream pops from it");
}

/* The scheduler goes from the one pool to the other, and back. */
static void of_replaced(void)
{
    ABT_xstream self;
    ABT_pool pools[2];
    pthread_t native;

    must(ABT_self_get_xstream(&self));
    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_FALSE, &pools[i]));
    for (int i = 0; i < 6; i++) {
        must(ABT_xstream_set_main_sched(self, make_sched((enum server)i, pools[i % 2])));
        must(ABT_thread_create(pools[1 - i % 2], run, NULL, ABT_THREAD_ATTR_NULL, NULL));
        must(pthread_create(&native, NULL, go_natively, pools[i % 2]));
        while (pthread_tryjoin_np(native, NULL) != 0)
            must(ABT_self_yield());
        must(ABT_xstream_set_main_sched(self, make_sched(BASIC, pools[1 - i % 2])));
        while (atomic_load(&runs) < 1)
            must(ABT_self_yield());
        await_runs(1);
    }
    must(ABT_xstream_set_main_sched(self, make_sched(BASIC, make_pool(ABT_POOL_ACCESS_MPMC))));
    for (int i = 0; i < 2; i++)
        must(ABT_pool_free(&pools[i]));
    pass("its scheduler is replaced");
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &aside));
    for (int i = 0; i < NUM_SERVERS; i++)
        push_to((enum server)i);
    nobodys();
    of_two_streams();
    popped_by_another();
    of_replaced();
    must(ABT_pool_free(&aside));
    must(ABT_finalize());
    return done_testing();
}
