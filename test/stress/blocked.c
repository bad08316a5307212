/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many blocked ULTs, and the count of them: 100,000 at once; and a group that is suspended and resumed from everywhere
 * while ESs come and go, with somebody reading the count all the time. Those who stay blocked are never missing from
 * it.
 */
#include "stress.h"

static struct team team;

static size_t total_of(ABT_pool pool)
{
    size_t total = 0;
    must(ABT_pool_get_total_size(pool, &total));
    return total;
}

static size_t total_of_team(void)
{
    size_t sum = 0;
    for (int i = 0; i < (team.layout == SHARED ? 1 : team.size); i++)
        sum += total_of(team.pools[i]);
    return sum;
}

/* Wakers count a unit as left after they have pushed it: the sum may lag a little. */
static bool total_becomes(size_t expected)
{
    for (double end = now() + 60; now() < end; ABT_self_yield()) {
        if (total_of_team() == expected)
            return true;
    }
    diag("%zu instead of %zu", total_of_team(), expected);
    return false;
}

/* --- A hundred thousand --- */

static void suspend_once(void *counter)
{
    must(ABT_self_suspend());
    atomic_fetch_add((atomic_long *)counter, 1);
}

static void mass(struct rng *rng)
{
    enum { MASS = SCALED(100000, 20000, 1500) };
    ABT_thread *threads = malloc(MASS * sizeof(*threads));
    atomic_long went_on = 0;
    team_begin(&team, 1 + (int)below(rng, 3), below(rng, 2) ? OWN : SHARED, all_scheds[below(rng, 4)],
               all_kinds[below(rng, 3)]);
    for (int i = 0; i < MASS; i++)
        must(ABT_thread_create(team_pool(&team, rng), suspend_once, &went_on, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (int i = 0; i < MASS; i++) {
        while (!is_blocked(threads[i]))
            must(ABT_self_yield());
    }
    ok(total_becomes(MASS), "all %d are counted as blocked", MASS);
    for (int i = 0; i < MASS; i++)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(MASS, threads));
    is_int(atomic_load(&went_on), MASS, "all have gone on");
    ok(total_becomes(0), "and none is counted any more");
    team_end(&team);
    free(threads);
}

/* --- A group --- */

enum { STAYING = 50, GROUP = 60, TURNS = SCALED(300, 150, 25) };

static ABT_pool pool; /* of the group */
static ABT_thread staying[STAYING], group[GROUP];
static atomic_bool stop;
static atomic_long finished, too_few, samples;

static void group_body(void *arg)
{
    struct rng rng = rng_fresh();
    for (int i = 0; i < TURNS; i++) {
        must(ABT_self_suspend());
        jitter(&rng);
    }
    atomic_fetch_add(&finished, 1);
}

/* Each member of the group has one waker; a waker has several members. */
static void wake_group(int first, int step)
{
    struct rng rng = rng_fresh();
    int turns[GROUP] = {0};
    for (int left = 1; left > 0;) {
        left = 0;
        for (int i = first; i < GROUP; i += step) {
            left += turns[i] < TURNS;
            if (turns[i] < TURNS && is_blocked(group[i])) {
                turns[i]++;
                must(ABT_thread_resume(group[i]));
            }
        }
        jitter(&rng);
        yield_if_ult();
    }
}

static void waker_ult(void *number)
{
    wake_group((int)(intptr_t)number, 4);
}

static void *waker_external(void *number)
{
    wake_group((int)(intptr_t)number, 4);
    return NULL;
}

static void *sampler(void *arg)
{
    while (!atomic_load(&stop)) {
        size_t total = total_of(pool);
        atomic_fetch_add(&samples, 1);
        if (total < STAYING)
            atomic_fetch_add(&too_few, 1);
        sched_yield();
    }
    return arg;
}

static void come_and_go(struct rng *rng)
{
    atomic_long went_on = 0;
    pthread_t natives[3];
    ABT_thread wakers[2];
    bool shared = one_in(rng, 2);
    atomic_store(&stop, false);
    atomic_store(&finished, 0);
    team_begin(&team, 2, shared ? SHARED : OWN, ABT_SCHED_BASIC, all_kinds[below(rng, 3)]);
    pool = team.pools[1];
    for (int i = 0; i < STAYING; i++)
        must(ABT_thread_create(pool, suspend_once, &went_on, ABT_THREAD_ATTR_NULL, &staying[i]));
    for (int i = 0; i < STAYING; i++) {
        while (!is_blocked(staying[i]))
            must(ABT_self_yield());
    }
    for (int i = 0; i < GROUP; i++)
        must(ABT_thread_create(pool, group_body, NULL, ABT_THREAD_ATTR_NULL, &group[i]));
    must(pthread_create(&natives[0], NULL, sampler, NULL));
    for (int i = 0; i < 2; i++) {
        must(pthread_create(&natives[1 + i], NULL, waker_external, (void *)(intptr_t)i));
        must(ABT_thread_create(team.pools[i], waker_ult, (void *)(intptr_t)(2 + i), ABT_THREAD_ATTR_NULL, &wakers[i]));
    }
    /* ESs that serve the pool for a short time, each perhaps the owner of its counts. */
    while (atomic_load(&finished) < GROUP) {
        ABT_xstream es;
        must(ABT_xstream_create_basic(all_scheds[below(rng, 4)], 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
        for (unsigned i = below(rng, 50); i > 0; i--)
            must(ABT_self_yield());
        must(ABT_xstream_free(&es));
    }
    must(ABT_thread_free_many(2, wakers));
    must(ABT_thread_free_many(GROUP, group));
    pthread_join(natives[1], NULL);
    pthread_join(natives[2], NULL);
    ok(total_becomes(STAYING), "those who stay are counted, exactly");
    atomic_store(&stop, true);
    pthread_join(natives[0], NULL);
    is_int(atomic_load(&too_few), 0, "and were never missing, %ld times", atomic_load(&samples));
    for (int i = 0; i < STAYING; i++)
        must(ABT_thread_resume(staying[i]));
    must(ABT_thread_free_many(STAYING, staying));
    ok(total_becomes(0), "none is counted in the end");
    team_end(&team);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(4);

    mass(&rng);
    stress_play(come_and_go, &rng, 1.5);
    return done_testing();
}
