/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources under random delays: streams that sleep, run units of their pools, come and go, while threads put work in
 * stock and wake one of them for each piece. No piece stays behind, none is given twice, and nobody is asked who was
 * detached.
 */
#include "stress.h"

enum { MAKERS = 2, MOST = 4 };

struct stock {
    ABTX_source source;
    atomic_long left, made, ran;
};

static struct team team;
static struct stock stocks[2];
static atomic_bool attached[MAX_TEAM]; /* to stocks[1] */
static atomic_long wrong;

static void take_part(void *arg)
{
    struct stock *stock = arg;
    struct rng rng = {stress_seed ^ (uint64_t)atomic_fetch_add(&stock->ran, 1)};

    jitter(&rng);
    if (below(&rng, 4) == 0)
        must(ABT_self_yield());
}

static ABT_bool give(void *arg, ABTX_work *work)
{
    struct stock *stock = arg;
    long left = atomic_load(&stock->left);
    int rank;

    if (stock == &stocks[1]) {
        must(ABT_self_get_xstream_rank(&rank));
        atomic_fetch_add(&wrong, !atomic_load(&attached[rank]));
    }
    while (left > 0 && !atomic_compare_exchange_weak(&stock->left, &left, left - 1))
        ;
    if (left <= 0)
        return ABT_FALSE;
    work->func = take_part;
    work->arg = stock;
    return ABT_TRUE;
}

static void put(struct stock *stock, long num)
{
    for (long i = 0; i < num; i++) {
        atomic_fetch_add(&stock->made, 1);
        atomic_fetch_add(&stock->left, 1);
        must(ABTX_source_wake_one(stock->source));
    }
}

/* Puts pieces in stock, and waits until all have run: nobody but the streams' own wakes helps. */
static void *make(void *arg)
{
    struct rng rng = {stress_seed + (uintptr_t)arg};

    for (int i = 0; i < (UNDER_TSAN ? 20 : 60); i++) {
        put(&stocks[0], 1 + (long)below(&rng, MOST));
        jitter(&rng);
        while (atomic_load(&stocks[0].ran) < atomic_load(&stocks[0].made))
            nap_us(20);
        if (below(&rng, 4) == 0)
            nap_us((long)below(&rng, 300)); /* the streams sleep */
    }
    return arg;
}

/* Attaches and detaches the other source. */
static void toggle(struct rng *rng)
{
    int rank = (int)below(rng, (unsigned)team.size);

    if (atomic_load(&attached[rank])) {
        must(ABTX_source_detach(stocks[1].source, team.xstreams[rank]));
        atomic_store(&attached[rank], false);
    } else {
        atomic_store(&attached[rank], true);
        must(ABTX_source_attach(stocks[1].source, team.xstreams[rank]));
    }
    put(&stocks[1], 1);
}

static void nothing(void *arg)
{
    (void)arg;
}

static void one_round(struct rng *rng)
{
    static const int sizes[] = {2, 3, 5, 8, 16};
    pthread_t makers[MAKERS];

    team_begin(&team, sizes[below(rng, UNDER_TSAN ? 3 : 5)], OWN, all_scheds[below(rng, 4)], all_kinds[below(rng, 3)]);
    for (int i = 0; i < 2; i++) {
        atomic_store(&stocks[i].left, 0);
        atomic_store(&stocks[i].made, 0);
        atomic_store(&stocks[i].ran, 0);
        must(ABTX_source_create(give, &stocks[i], &stocks[i].source));
    }
    for (int i = 0; i < team.size; i++) {
        atomic_store(&attached[i], false);
        if (i > 0)
            must(ABTX_source_attach(stocks[0].source, team.xstreams[i]));
    }
    for (intptr_t i = 0; i < MAKERS; i++) {
        if (pthread_create(&makers[i], NULL, make, (void *)i) != 0)
            bail_out("no thread");
    }
    for (int i = 0; i < 30; i++) {
        ABT_thread thread;
        toggle(rng);
        must(ABT_thread_create(team.pools[below(rng, (unsigned)team.size)], nothing, NULL, ABT_THREAD_ATTR_NULL,
                               &thread));
        must(ABT_thread_free(&thread));
        jitter(rng);
    }
    for (int i = 0; i < MAKERS; i++)
        pthread_join(makers[i], NULL);
    while (!on_primary())
        must(ABT_self_yield());
    must(ABTX_source_free(&stocks[1].source));
    team_end(&team);
    if (atomic_load(&stocks[0].ran) != atomic_load(&stocks[0].made))
        bail_out("%ld pieces have run of %ld", atomic_load(&stocks[0].ran), atomic_load(&stocks[0].made));
    must(ABTX_source_free(&stocks[0].source));
}

int main(void)
{
    stress_begin();
    struct rng rng = {stress_seed};
    long rounds = stress_play(one_round, &rng, 3);

    ok(rounds > 0, "%ld rounds of work by sources", rounds);
    ok(atomic_load(&wrong) == 0, "a stream that was detached does not ask");
    return done_testing();
}
