/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs migrate at random. One that asks for itself and yields is on the target afterwards, and its callback has been
 * called once for every move. Others are pushed around from outside while they yield, block and join, and none is lost.
 */
#include "stress.h"

enum { NUM_ES = 4, WALKERS = SCALED(40, 40, 16), STEPS = SCALED(60, 40, 20) };

static struct team team;
static atomic_long called, asked, done;
static atomic_bool stop;

static void on_move(ABT_thread thread, void *counter)
{
    ABT_bool is_null;
    must(ABT_thread_equal(thread, ABT_THREAD_NULL, &is_null));
    if (is_null)
        bail_out("the callback gets no unit");
    atomic_fetch_add((atomic_long *)counter, 1);
}

static ABT_thread make(ABT_pool pool, void (*body)(void *), void *arg, atomic_long *counter)
{
    ABT_thread_attr attr;
    ABT_thread thread;
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_callback(attr, on_move, counter));
    must(ABT_thread_create(pool, body, arg, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    return thread;
}

/* --- Those who walk by themselves --- */

static void walk(void *arg)
{
    struct rng rng = rng_fresh();
    ABT_thread self;
    ABT_pool pool;
    int rank;
    must(ABT_self_get_thread(&self));
    for (int i = 0; i < STEPS; i++) {
        int to = (int)below(&rng, NUM_ES);
        must(ABT_self_get_last_pool(&pool));
        if (pool == team.pools[to]) {
            if (ABT_thread_migrate_to_pool(self, pool) != ABT_ERR_MIGRATION_TARGET)
                bail_out("a unit may migrate to where it is");
            continue;
        }
        if (one_in(&rng, 2))
            must(ABT_thread_migrate_to_pool(self, team.pools[to]));
        else
            must(ABT_thread_migrate_to_xstream(self, team.xstreams[to]));
        must(ABT_self_yield());
        atomic_fetch_add(&asked, 1);
        must(ABT_self_get_xstream_rank(&rank));
        must(ABT_self_get_last_pool(&pool));
        if (rank != to || pool != team.pools[to])
            bail_out("asked for ES %d, is on %d", to, rank);
        jitter(&rng);
    }
    atomic_fetch_add(&done, 1);
}

/* --- Those who are pushed --- */

static void be_pushed(void *arg)
{
    struct rng rng = rng_fresh();
    ABT_pool pool;
    ABT_thread child;
    for (int i = 0; i < STEPS; i++) {
        must(ABT_self_yield());
        if (one_in(&rng, 4)) {
            must(ABT_self_get_last_pool(&pool));
            must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &child));
            must(ABT_thread_free(&child));
        }
        jitter(&rng);
    }
    atomic_fetch_add(&done, 1);
}

struct pushing {
    ABT_thread *threads;
    long accepted;
};

static void *push_around(void *arg)
{
    struct pushing *pushing = arg;
    struct rng rng = rng_fresh();
    while (!atomic_load(&stop)) {
        ABT_thread thread = pushing->threads[below(&rng, WALKERS)];
        int code = one_in(&rng, 3) ? ABT_thread_migrate(thread)
                                   : ABT_thread_migrate_to_pool(thread, team.pools[below(&rng, NUM_ES)]);
        if (code == ABT_SUCCESS)
            pushing->accepted++;
        else if (code != ABT_ERR_MIGRATION_TARGET && code != ABT_ERR_MIGRATION_NA)
            bail_out("migration gives %d", code);
        jitter(&rng);
    }
    return NULL;
}

static void play(struct rng *rng)
{
    ABT_thread walkers[WALKERS], pushed[WALKERS];
    struct pushing pushing = {.threads = pushed};
    atomic_long pushed_called = 0;
    pthread_t native;
    atomic_store(&called, 0);
    atomic_store(&asked, 0);
    atomic_store(&done, 0);
    atomic_store(&stop, false);
    team_begin(&team, NUM_ES, OWN, all_scheds[below(rng, 4)], all_kinds[below(rng, 3)]);
    for (int i = 0; i < WALKERS; i++) {
        walkers[i] = make(team_pool(&team, rng), walk, NULL, &called);
        pushed[i] = make(team_pool(&team, rng), be_pushed, NULL, &pushed_called);
    }
    must(pthread_create(&native, NULL, push_around, &pushing));
    must(ABT_thread_join_many(WALKERS, pushed));
    must(ABT_thread_free_many(WALKERS, walkers));
    atomic_store(&stop, true);
    pthread_join(native, NULL);
    must(ABT_thread_free_many(WALKERS, pushed));
    is_int(atomic_load(&called), atomic_load(&asked), "a callback for each move");
    is_int(atomic_load(&done), 2 * WALKERS, "all units have come to their end");
    ok(atomic_load(&pushed_called) <= pushing.accepted, "%ld moves on %ld requests of others",
       atomic_load(&pushed_called), pushing.accepted);
    for (int i = 0; i < NUM_ES; i++) {
        size_t total = 99;
        must(ABT_pool_get_total_size(team.pools[i], &total));
        if (total != 0)
            bail_out("%zu units are counted in an empty pool", total);
    }
    team_end(&team);
}

int main(void)
{
    stress_begin();
    need_cancel_and_migrate();
    struct rng rng = rng_make(6);

    stress_play(play, &rng, 2);
    return done_testing();
}
