/* SPDX-License-Identifier: BSD-3-Clause */
/* A million units created before any of them runs, then run and joined: ULTs and tasklets, in private and shared pools.
 */
#include "stress.h"

enum { MANY = SCALED(1000000, 100000, 5000) };

static atomic_long run;

static void body(void *arg)
{
    ++*(unsigned char *)arg;
    atomic_fetch_add_explicit(&run, 1, memory_order_relaxed);
}

static void play(struct rng *rng, enum layout layout, ABT_pool_kind kind, bool tasklets, int size)
{
    struct team team;
    ABT_thread *threads = malloc(MANY * sizeof(*threads));
    unsigned char *times = calloc(MANY, 1);
    ABT_sched_predef predef = all_scheds[below(rng, 4)];
    size_t total = 0;
    long wrong = 0;
    team_begin(&team, size, layout, predef, kind);
    atomic_store(&run, 0);
    for (int i = 0; i < MANY; i++) {
        ABT_pool pool = team_pool(&team, rng);
        if (tasklets)
            must(ABT_task_create(pool, body, &times[i], &threads[i]));
        else
            must(ABT_thread_create(pool, body, &times[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    must(ABT_pool_get_total_size(team.pools[0], &total));
    if (size == 1)
        is_int(total, MANY, "all are in the pool");
    if (one_in(rng, 2))
        must(ABT_thread_join_many(MANY, threads));
    must(ABT_thread_free_many(MANY, threads));
    for (int i = 0; i < MANY; i++)
        wrong += times[i] != 1;
    is_int(wrong, 0, "%d %s, %d ESs, %s, %s over %s", MANY, tasklets ? "tasklets" : "ULTs", size, layout_names[layout],
           sched_name(predef), kind_name(kind));
    is_int(atomic_load(&run), MANY, "and no more");
    team_end(&team);
    free(threads);
    free(times);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(3);

    play(&rng, PRIV, ABT_POOL_FIFO, false, 1);
    play(&rng, PRIV, ABT_POOL_FIFO, true, 1);
    play(&rng, SHARED, all_kinds[below(&rng, 3)], false, 4);
    play(&rng, STEAL, all_kinds[below(&rng, 3)], true, 3);
    return done_testing();
}
