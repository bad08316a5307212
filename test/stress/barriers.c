/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs of several streams that meet again and again, each time at a barrier that one of them frees as soon as it is
 * through: those that looked for the end of the round, or were woken, use it no more. Or it serves several rounds
 * before, of which each ends for all, whether they look, block, or have just stopped to look. Nobody is through before
 * all have come. With two, streams have CPUs enough to look; with more they block.
 */
#include <limits.h>

#include "stress.h"

enum { MOST = 4 };

static ABT_barrier barriers[2];
static atomic_long num_come, last_round, errors;

struct actor {
    int number, num;
    int uses; /* rounds that a barrier serves */
    double end;
};

/*
 * Round i is at barriers[i % 2]. After it one of them makes the other one anew, before it comes to the round that
 * is before that one's.
 */
static void renew(long round, int num)
{
    must(ABT_barrier_free(&barriers[round % 2]));
    must(ABT_barrier_create((uint32_t)num, &barriers[round % 2]));
}

static void meet_on(void *arg)
{
    const struct actor *actor = arg;
    struct rng rng = rng_fresh();
    for (long i = 0; i < atomic_load(&last_round); i++) {
        if (actor->number == 0 && now() >= actor->end && atomic_load(&last_round) == LONG_MAX)
            atomic_store(&last_round, i + 2); /* all see it after this round */
        if (one_in(&rng, 8))
            jitter(&rng);
        if (one_in(&rng, 64))
            nap_us((long)below(&rng, 60));
        atomic_fetch_add(&num_come, 1);
        must(ABT_barrier_wait(barriers[i % 2]));
        if (atomic_load(&num_come) < (i + 1) * actor->num)
            atomic_fetch_add(&errors, 1);
        if (i % actor->num == actor->number && i / 2 % actor->uses == 0)
            renew(i, actor->num);
    }
}

static void play(enum layout layout, ABT_sched_predef predef, int num, int uses, double seconds)
{
    struct team team;
    struct actor actors[MOST];
    ABT_thread ults[MOST];
    team_begin(&team, num + 1, layout, predef, ABT_POOL_FIFO); /* the primary stream only waits */
    atomic_store(&num_come, 0);
    atomic_store(&errors, 0);
    atomic_store(&last_round, LONG_MAX);
    for (int i = 0; i < 2; i++)
        must(ABT_barrier_create((uint32_t)num, &barriers[i]));
    for (int i = 0; i < num; i++) {
        actors[i] = (struct actor){i, num, uses, now() + seconds};
        must(ABT_thread_create(team.pools[i + 1], meet_on, &actors[i], ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    must(ABT_thread_free_many(num, ults));
    for (int i = 0; i < 2; i++)
        must(ABT_barrier_free(&barriers[i]));
    team_end(&team);
    is_int((int)atomic_load(&errors), 0, "%s, %s, %d streams, %d rounds of a barrier: all come to each of %ld",
           layout_names[layout], sched_name(predef), num, uses, atomic_load(&last_round));
}

int main(void)
{
    enum { LAYOUTS = 2, SCHEDS = 4, KINDS = 4, RUNS = LAYOUTS * SCHEDS * KINDS };
    static const enum layout layouts[LAYOUTS] = {SHARED, OWN};
    static const int nums[KINDS] = {2, 2, MOST, MOST}, uses[KINDS] = {1, 20, 1, 20};
    stress_begin();
    double seconds = tap_seconds(4) / RUNS;
    for (int i = 0; i < RUNS; i++) {
        int kind = i / (LAYOUTS * SCHEDS);
        play(layouts[i % LAYOUTS], all_scheds[i / LAYOUTS % SCHEDS], nums[kind], uses[kind], seconds);
    }
    return done_testing();
}
