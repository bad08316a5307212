/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that create and join in pools of their own, and steal from each other when these are empty: by asking, which
 * is granted by the next push, join or pick of the pool's stream, or taken back, or by taking. Every unit runs exactly
 * once: one that is handed to a thief who has just gone would be missing, and its joiner waits for ever.
 */
#include "stress.h"

enum { BATCH = 64 };

struct item {
    atomic_int runs;
    int creator; /* rank */
    unsigned spins;
};

static atomic_long num_units, num_stolen;

static void run_item(void *arg)
{
    struct item *item = arg;
    for (volatile unsigned i = item->spins; i > 0; i--)
        ;
    atomic_fetch_add(&item->runs, 1);
    if (own_rank() != item->creator)
        atomic_fetch_add(&num_stolen, 1);
}

static void run_batch(const struct team *team, struct rng *rng)
{
    struct item items[BATCH];
    ABT_thread units[BATCH];
    int num = 1 + (int)below(rng, BATCH), rank = own_rank();
    bool tasklets = one_in(rng, 4), last_first = !one_in(rng, 4), delays = one_in(rng, 4);
    unsigned spins = one_in(rng, 2) ? 0 : below(rng, 2000);
    for (int i = 0; i < num; i++) {
        items[i] = (struct item){.creator = rank, .spins = spins};
        if (tasklets)
            must(ABT_task_create(team->pools[rank], run_item, &items[i], &units[i]));
        else
            must(ABT_thread_create(team->pools[rank], run_item, &items[i], ABT_THREAD_ATTR_NULL, &units[i]));
        if (delays)
            jitter(rng);
    }
    for (int i = 0; i < num; i++) {
        int k = last_first ? num - 1 - i : i;
        must(ABT_thread_free(&units[k]));
        if (atomic_load(&items[k].runs) != 1)
            bail_out("a unit has run %d times", atomic_load(&items[k].runs));
        if (delays)
            jitter(rng);
    }
    atomic_fetch_add(&num_units, num);
}

struct creator {
    const struct team *team;
    double end;
    ABT_thread ult;
};

static void creates(void *arg)
{
    struct creator *self = arg;
    struct rng rng = rng_fresh();
    while (now() < self->end) {
        run_batch(self->team, &rng);
        if (one_in(&rng, 50))
            must(ABT_self_yield()); /* to the tail, where thieves take: it goes on elsewhere */
    }
}

static void play(int streams, int num_creators, double seconds)
{
    struct team team;
    struct creator creators[MAX_TEAM];
    atomic_store(&num_units, 0);
    atomic_store(&num_stolen, 0);
    team_begin(&team, streams, STEAL, ABT_SCHED_RANDWS, ABT_POOL_RANDWS);
    for (int i = 0; i < num_creators; i++) {
        creators[i] = (struct creator){.team = &team, .end = now() + seconds};
        must(ABT_thread_create(team.pools[i], creates, &creators[i], ABT_THREAD_ATTR_NULL, &creators[i].ult));
    }
    for (int i = 0; i < num_creators; i++)
        must(ABT_thread_free(&creators[i].ult));
    team_end(&team);
    pass("%d streams, %d creators: %ld units, %ld of them ran elsewhere", streams, num_creators,
         atomic_load(&num_units), atomic_load(&num_stolen));
}

int main(void)
{
    static const int sizes[][2] = {{2, 1}, {2, 2}, {3, 1}, {4, 2}, {8, 3}, {SCALED(16, 16, 8), 8}};
    enum { RUNS = sizeof(sizes) / sizeof(sizes[0]) };
    stress_begin();
    for (int i = 0; i < RUNS; i++)
        play(sizes[i][0], sizes[i][1], tap_seconds(3) / RUNS);
    return done_testing();
}
