/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forked tasks under random delays: trees whose tasks yield, sleep, take a mutex, wait for a sibling, move to another
 * stream, and fork loops, on 1 to 16 streams with pools and schedulers of all kinds. Each tree counts its tasks, and
 * none is lost, run twice or waited for in vain.
 */
#include "stress.h"

#include <abt_fork.h>

enum { FORKERS = 3, DEPTH = 7, LOOP = 300 };

static struct team team;
static ABT_mutex mutex;
static atomic_long tasks, elements, guarded_errors;
static int inside;

static void add_elements(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    struct rng rng = {stress_seed ^ (uint64_t)begin};
    jitter(&rng);
    atomic_fetch_add(&elements, end - begin);
}

static void with_mutex(struct rng *rng)
{
    must(ABT_mutex_lock(mutex));
    atomic_fetch_add(&guarded_errors, inside++ != 0);
    if (below(rng, 2))
        must(ABT_self_yield());
    inside--;
    must(ABT_mutex_unlock(mutex));
}

/* One of many things that a unit may do. */
static void disturb(struct rng *rng)
{
    jitter(rng);
    switch (below(rng, 24)) {
    case 0: must(ABT_self_yield()); break;
    case 1: must(ABTX_self_sleep(below(rng, 100) * 1000)); break;
    case 2: with_mutex(rng); break;
    case 3: abtx_for(0, LOOP, 1 + (ptrdiff_t)below(rng, 20), add_elements, NULL); break;
    case 4:
        if (team.layout != PRIV)
            (void)ABT_self_set_associated_pool(team.pools[below(rng, (unsigned)team.size)]);
        break;
    default: break;
    }
}

ABTX_TASK(long, signal_it, (ABT_eventual, eventual))
{
    (void)abtx_here;
    atomic_fetch_add(&tasks, 1);
    must(ABT_eventual_set(eventual, NULL, 0));
    return 1;
}

/* Waits for what the task that it has forked does: which is then run by others, or by this stream meanwhile. */
static long wait_for_sibling(abtx_at abtx_here)
{
    ABT_eventual eventual;
    must(ABT_eventual_create(0, &eventual));
    ABTX_FORK(signal_it, sibling, eventual);
    must(ABT_eventual_wait(eventual, NULL));
    long num = ABTX_JOIN(signal_it, sibling);
    must(ABT_eventual_free(&eventual));
    return num;
}

ABTX_TASK(long, tree, (int, depth), (uint64_t, seed))
{
    struct rng rng = {seed};
    long num = 1;
    disturb(&rng);
    atomic_fetch_add(&tasks, 1);
    if (depth > 0) {
        ABTX_FORK(tree, one, depth - 1, mix(seed + 1));
        disturb(&rng);
        ABTX_FORK(tree, two, depth - 1, mix(seed + 2));
        num += ABTX_CALL(tree, depth - 1, mix(seed + 3));
        if (below(&rng, 16) == 0)
            num += wait_for_sibling(abtx_here);
        num += ABTX_JOIN(tree, two);
        disturb(&rng);
        num += ABTX_JOIN(tree, one);
    }
    return num;
}

static atomic_long answers;

static void forker(void *arg)
{
    atomic_fetch_add(&answers, ABTX_RUN(tree, DEPTH - (UNDER_TSAN ? 2 : 0), (uint64_t)(uintptr_t)arg));
}

static void one_round(struct rng *rng)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 16};
    int size = sizes[below(rng, UNDER_TSAN ? 4 : 6)];
    enum layout layout = (enum layout)below(rng, NUM_LAYOUTS);
    ABT_thread forkers[FORKERS];
    team_begin(&team, size, layout, all_scheds[below(rng, 4)], all_kinds[below(rng, 3)]);
    must(ABT_mutex_create(&mutex));
    must(ABTX_fork_start(team.size, team.xstreams));
    atomic_store(&tasks, 0);
    atomic_store(&answers, 0);
    for (int i = 0; i < FORKERS; i++)
        must(ABT_thread_create(team.pools[below(rng, (unsigned)(layout == PRIV ? 1 : size))], forker,
                               (void *)(uintptr_t)mix(rng->state + (uint64_t)i), ABT_THREAD_ATTR_NULL, &forkers[i]));
    for (int i = 0; i < FORKERS; i++)
        must(ABT_thread_free(&forkers[i]));
    if (atomic_load(&tasks) != atomic_load(&answers))
        bail_out("%ld tasks have run, %ld were counted", atomic_load(&tasks), atomic_load(&answers));
    if (below(rng, 2))
        must(ABTX_fork_stop());
    while (!on_primary())
        must(ABT_self_yield());
    must(ABT_mutex_free(&mutex));
    team_end(&team);
}

int main(void)
{
    stress_begin();
    struct rng rng = {stress_seed};
    long rounds = stress_play(one_round, &rng, 3);

    ok(rounds > 0, "%ld rounds of trees", rounds);
    ok(atomic_load(&guarded_errors) == 0, "one at a time had the mutex");
    return done_testing();
}
