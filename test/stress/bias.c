/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared pools that are each one stream's own most of the time, so that it gets the bias of the lock, and now and then
 * anybody's: thieves, pushes and pops by native threads, walks over the pool, streams that sleep. Many more streams
 * than cores. Every unit runs exactly once, no pool is left with anything, and nobody sleeps for good.
 */
#include "stress.h"

enum { MAX_ES = 12, UNITS = SCALED(1200, 600, 300), NATIVES = 2 };

static struct team team;
static atomic_bool stop;
static atomic_int natives_left;
static atomic_long disturbances;

struct leaf {
    atomic_int runs;
    bool yields;
};

static void leaf_main(void *arg)
{
    struct leaf *leaf = arg;
    if (leaf->yields)
        must(ABT_self_yield());
    atomic_fetch_add(&leaf->runs, 1);
}

/* A stream's program: bursts of units in its own pool, joined newest first, oldest first, or not waited for. */
static void root_main(void *arg)
{
    struct leaf *leaves = calloc(UNITS, sizeof(*leaves));
    ABT_thread *threads = calloc(UNITS, sizeof(*threads));
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg + 17);
    ABT_pool pool = team.pools[(uintptr_t)arg];
    for (int done = 0; done < UNITS;) {
        int burst = 1 + (int)below(&rng, one_in(&rng, 4) ? 100 : 6), order = (int)below(&rng, 3);
        if (burst > UNITS - done)
            burst = UNITS - done;
        for (int i = done; i < done + burst; i++) {
            leaves[i].yields = one_in(&rng, 5);
            must(ABT_thread_create(pool, leaf_main, &leaves[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        }
        for (int i = 0; i < burst; i++) {
            int which = done + (order == 0 ? i : burst - 1 - i);
            if (order == 2 && i % 2)
                must(ABT_thread_join(threads[which]));
            must(ABT_thread_free(&threads[which]));
        }
        if (one_in(&rng, 50))
            jitter(&rng);
        if (one_in(&rng, 8))
            must(ABT_self_yield());
        done += burst;
    }
    for (int i = 0; i < UNITS; i++) {
        if (atomic_load(&leaves[i].runs) != 1)
            bail_out("a unit ran %d times", atomic_load(&leaves[i].runs));
    }
    free(leaves);
    free(threads);
}

static void count_unit(void *arg, ABT_thread thread)
{
    ++*(int *)arg;
}

/* Takes a unit out of one pool, or walks over it, or has one run there. */
static void disturb(struct rng *rng)
{
    ABT_pool pool = team.pools[below(rng, (unsigned)team.size)];
    ABT_thread thread;
    struct leaf leaf = {.yields = one_in(rng, 2)};
    size_t total;
    int num = 0;
    switch (below(rng, 4)) {
    case 0:
        must(ABT_pool_pop_thread_ex(pool, &thread, ABT_POOL_CONTEXT_OWNER_SECONDARY));
        if (thread != ABT_THREAD_NULL)
            must(ABT_pool_push_thread(pool, thread));
        break;
    case 1: must(ABT_pool_print_all_threads(pool, &num, count_unit)); break;
    case 2: must(ABT_pool_get_total_size(pool, &total)); break;
    default:
        must(ABT_thread_create(pool, leaf_main, &leaf, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        if (atomic_load(&leaf.runs) != 1)
            bail_out("a native thread's unit ran %d times", atomic_load(&leaf.runs));
    }
    atomic_fetch_add(&disturbances, 1);
}

static void *native_main(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg + 1000);
    while (!atomic_load(&stop)) {
        disturb(&rng);
        nap_us(1 + (long)below(&rng, one_in(&rng, 3) ? 3000 : 30));
    }
    atomic_fetch_sub(&natives_left, 1);
    return NULL;
}

static void play(struct rng *rng)
{
    ABT_thread roots[MAX_ES];
    pthread_t natives[NATIVES];
    int size = 1 + (int)below(rng, MAX_ES);
    enum layout layout = one_in(rng, 3) ? OWN : STEAL;
    ABT_sched_predef predef = all_scheds[below(rng, 4)];
    ABT_pool_kind kind = one_in(rng, 3) ? ABT_POOL_FIFO : ABT_POOL_RANDWS;
    team_begin(&team, size, layout, predef, kind);
    atomic_store(&stop, false);
    atomic_store(&natives_left, NATIVES);
    for (uintptr_t i = 0; i < NATIVES; i++)
        must(pthread_create(&natives[i], NULL, native_main, (void *)(i + below(rng, 1000000) * NATIVES)));
    for (uintptr_t i = 0; i < (uintptr_t)size; i++)
        must(ABT_thread_create(team.pools[i], root_main, (void *)i, ABT_THREAD_ATTR_NULL, &roots[i]));
    must(ABT_thread_free_many(size, roots));
    atomic_store(&stop, true);
    while (atomic_load(&natives_left) > 0) /* one may wait for a unit that this stream is to run */
        must(ABT_self_yield());
    for (int i = 0; i < NATIVES; i++)
        pthread_join(natives[i], NULL);
    size_t total = 0;
    for (int i = 0; i < size; i++) {
        size_t one;
        must(ABT_pool_get_total_size(team.pools[i], &one));
        total += one;
    }
    is_int(total, 0, "nothing is left of %d x %d units in %s, %s, %s", size, UNITS, layout_names[layout],
           sched_name(predef), kind_name(kind));
    team_end(&team);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(3);

    stress_play(play, &rng, 2.5);
    diag("%ld times disturbed", atomic_load(&disturbances));
    return done_testing();
}
