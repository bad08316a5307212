/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units get into private pools by others than the streams that serve them, all at once: streams with a private pool
 * each, whose units create, revive, migrate and join units of any of those pools, and native threads that do the same.
 * Meanwhile main schedulers are replaced by others over the same pools, and streams end and are revived. Every unit
 * runs exactly once, no joiner waits for good, and the pools count nobody in the end.
 */
#include "stress.h"

enum { NATIVES = 2, ROOTS = 3, LIVES = SCALED(300, 100, 60), MAX_CHILDREN = 6 };

static struct team team;
static atomic_long made, ran;

static ABT_pool any_pool(struct rng *rng)
{
    return team.pools[below(rng, (unsigned)team.size)];
}

static void leaf_main(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

/* It comes to another pool on its way, or yields home from where it runs. */
static void wander_main(void *arg)
{
    struct rng rng = rng_fresh();
    ABT_thread self;

    (void)arg;
    must(ABT_self_get_thread(&self));
    int code = ABT_thread_migrate_to_pool(self, any_pool(&rng));
    if (code != ABT_SUCCESS && code != ABT_ERR_MIGRATION_TARGET && code != ABT_ERR_MIGRATION_NA)
        fail("a migration gives %d", code);
    must(ABT_self_yield());
    atomic_fetch_add(&ran, 1);
}

static ABT_thread make_one(struct rng *rng)
{
    ABT_thread thread;
    ABT_pool pool = any_pool(rng);

    atomic_fetch_add(&made, 1);
    switch (below(rng, 4)) {
    case 0: must(ABT_task_create(pool, leaf_main, NULL, &thread)); break;
    case 1: must(ABT_thread_create(pool, wander_main, NULL, ABT_THREAD_ATTR_NULL, &thread)); break;
    default: must(ABT_thread_create(pool, leaf_main, NULL, ABT_THREAD_ATTR_NULL, &thread)); break;
    }
    return thread;
}

/* Makes some units, and joins them in any order. */
static void live(struct rng *rng)
{
    ABT_thread children[MAX_CHILDREN];
    unsigned num = 1 + below(rng, MAX_CHILDREN);

    for (unsigned i = 0; i < num; i++)
        children[i] = make_one(rng);
    if (one_in(rng, 3)) {
        atomic_fetch_add(&made, 1);
        must(ABT_thread_create(any_pool(rng), leaf_main, NULL, ABT_THREAD_ATTR_NULL, NULL));
    }
    jitter(rng);
    if (one_in(rng, 2)) {
        must(ABT_thread_join(children[0]));
        atomic_fetch_add(&made, 1);
        must(ABT_thread_revive(any_pool(rng), leaf_main, NULL, &children[0]));
    }
    while (num > 0) {
        unsigned i = below(rng, num);
        must(ABT_thread_free(&children[i]));
        children[i] = children[--num];
    }
}

static void root_main(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    for (int i = 0; i < LIVES; i++) {
        live(&rng);
        if (one_in(&rng, 4))
            must(ABT_self_yield());
    }
}

static void *native_main(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    for (int i = 0; i < LIVES; i++)
        live(&rng);
    return NULL;
}

/*
 * A ULT of a stream gives it another scheduler over the same pool, which has no host for a moment. That is when nobody
 * is blocked out of the pool, so that the primary stream, whose ULT waits for this one, keeps its scheduler.
 */
static void replace_main(void *arg)
{
    struct rng rng = rng_fresh();
    ABT_xstream self;
    int rank;

    (void)arg;
    must(ABT_self_get_xstream(&self));
    must(ABT_self_get_xstream_rank(&rank));
    must(ABT_xstream_set_main_sched_basic(self, all_scheds[below(&rng, 4)], 1, &team.pools[rank]));
}

/* The last stream ends and begins again. It ends when its pool is empty, and pushes go on. */
static void end_and_revive(void)
{
    must(ABT_xstream_join(team.xstreams[team.size - 1]));
    must(ABT_xstream_revive(team.xstreams[team.size - 1]));
}

static void play(struct rng *rng)
{
    ABT_thread roots[MAX_TEAM * ROOTS];
    pthread_t natives[NATIVES];
    int size = 2 + (int)below(rng, SCALED(7, 4, 3)), num_roots = 0;

    team_begin(&team, size, PRIV, all_scheds[below(rng, 4)], all_kinds[below(rng, 2)]);
    for (int i = 0; i < size * ROOTS; i++)
        must(ABT_thread_create(team.pools[i % size], root_main, NULL, ABT_THREAD_ATTR_NULL, &roots[num_roots++]));
    for (int i = 0; i < NATIVES; i++)
        must(pthread_create(&natives[i], NULL, native_main, NULL));
    for (int i = 0; i < 10; i++) {
        ABT_thread thread;
        ABT_pool pool = team.pools[1 + below(rng, (unsigned)size - 1)];
        must(ABT_thread_create(pool, replace_main, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        jitter(rng);
    }
    for (int i = 0; i < num_roots; i++)
        must(ABT_thread_free(&roots[i]));
    for (int i = 0; i < 3; i++)
        end_and_revive();
    for (int i = 0; i < NATIVES; i++) {
        while (pthread_tryjoin_np(natives[i], NULL) != 0)
            must(ABT_self_yield());
    }
    while (atomic_load(&ran) < atomic_load(&made))
        must(ABT_self_yield());
    is_int(atomic_load(&ran), atomic_load(&made), "%d streams: every unit has run once", size);
    for (int i = 1; i < size; i++) {
        size_t total = 99;
        must(ABT_xstream_join(team.xstreams[i]));
        must(ABT_pool_get_total_size(team.pools[i], &total));
        if (total != 0)
            fail("pool %d counts %zu", i, total);
    }
    team_end(&team);
}

int main(void)
{
    stress_begin();
    need_cancel_and_migrate();
    struct rng rng = rng_make(1);
    stress_play(play, &rng, 3);
    return done_testing();
}
