/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that wait, without giving their streams away, until as many of them run as were pushed: each needs a stream of
 * its own, though some are awake, some sleep and some are about to, and two ULTs keep waking each other meanwhile. If a
 * push wakes nobody because somebody seems to be coming, who then does not come, the run hangs.
 */
#include "stress.h"

enum { STREAMS = SCALED(16, 16, 8), TOO_BUSY = 3 /* streams: of the caller, and of the two ULTs */ };

static atomic_int expected, present;
static atomic_bool stop;
static ABT_eventual turns[2];

static void meets(void *arg)
{
    (void)arg;
    int num = atomic_load(&expected);
    atomic_fetch_add(&present, 1);
    /* It counts up to `expected`, and then to twice that, when all have seen it. */
    while (atomic_load(&present) < num)
        sched_yield();
    atomic_fetch_add(&present, 1);
}

static void plays(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct rng rng = rng_fresh();

    for (;;) {
        must(ABT_eventual_wait(turns[me], NULL));
        if (atomic_load(&stop))
            break;
        must(ABT_eventual_reset(turns[me]));
        jitter(&rng);
        must(ABT_eventual_set(turns[!me], NULL, 0));
    }
    (void)ABT_eventual_set(turns[!me], NULL, 0); /* it may be set, if the other is the first to stop */
}

static void push(const struct team *team, struct rng *rng, int num)
{
    ABT_pool pool = team_pool(team, rng);

    for (int i = 0; i < num; i++) {
        if (one_in(rng, 2))
            must(ABT_task_create(team_pool(team, rng), meets, NULL, NULL));
        else
            must(ABT_thread_create(pool, meets, NULL, ABT_THREAD_ATTR_NULL, NULL));
        jitter(rng);
    }
}

struct job {
    const struct team *team;
    double end;
    long rounds;
};

static void *push_on(void *arg)
{
    struct job *job = arg;
    struct rng rng = rng_fresh();

    while (now() < job->end) {
        int num = 1 + (int)below(&rng, STREAMS - TOO_BUSY);
        atomic_store(&present, 0);
        atomic_store(&expected, num);
        push(job->team, &rng, num);
        while (atomic_load(&present) < 2 * num)
            yield_if_ult(), sched_yield();
        job->rounds++;
        if (one_in(&rng, 2))
            nap_us((long)below(&rng, 60));
    }
    return NULL;
}

static void play(enum layout layout, ABT_sched_predef predef, ABT_pool_kind kind, bool from_outside, double seconds)
{
    struct team team;
    struct job job = {&team, now() + seconds, 0};
    ABT_thread players[2];
    pthread_t outside;

    team_begin(&team, STREAMS, layout, predef, kind);
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        must(ABT_eventual_create(0, &turns[i]));
    int num_players = policy_is_active() ? 0 : 2; /* on a single CPU streams that never sleep leave them no end */
    for (int i = 0; i < num_players; i++)
        must(ABT_thread_create(team.pools[STREAMS - 1 - i], plays, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL,
                               &players[i]));
    must(ABT_eventual_set(turns[0], NULL, 0));
    if (from_outside) {
        must(pthread_create(&outside, NULL, push_on, &job));
        must(pthread_join(outside, NULL));
    } else {
        push_on(&job);
    }
    atomic_store(&stop, true);
    must(ABT_thread_free_many(num_players, players));
    for (int i = 0; i < 2; i++)
        must(ABT_eventual_free(&turns[i]));
    team_end(&team);
    pass("%s, %s, %s, %s: %ld meetings", layout_names[layout], sched_name(predef), kind_name(kind),
         from_outside ? "from outside" : "from a ULT", job.rounds);
}

int main(void)
{
    enum { LAYOUTS = 2, SCHEDS = 4, KINDS = 2, PUSHERS = 2, RUNS = LAYOUTS * SCHEDS * KINDS * PUSHERS };
    static const enum layout layouts[LAYOUTS] = {SHARED, STEAL};
    static const ABT_pool_kind kinds[KINDS] = {ABT_POOL_FIFO, ABT_POOL_RANDWS};

    stress_begin();
    double seconds = tap_seconds(4) / RUNS;
    for (int i = 0; i < RUNS; i++)
        play(layouts[i % LAYOUTS], all_scheds[i / LAYOUTS % SCHEDS], kinds[i / (LAYOUTS * SCHEDS) % KINDS],
             i / (LAYOUTS * SCHEDS * KINDS) != 0, seconds);
    return done_testing();
}
