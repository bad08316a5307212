/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stress tests share: random numbers from a printed seed (ABT_TEST_SEED repeats a run), random delays, a
 * watchdog that ends a run which hangs, and teams of execution streams over all kinds of pools and schedulers.
 */
#ifndef TEST_STRESS_H
#define TEST_STRESS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "must.h"
#include "rng.h"
#include "sanitizers.h"
#include "watchdog.h"

/* plain, or less where the limits and the speed of a sanitizer, or delays, say so. */
#define SCALED(plain, asan, tsan) (UNDER_TSAN ? (tsan) : UNDER_ASAN || UNDER_DELAYS ? (asan) : (plain))

/* --- Time --- */

static inline void nap_us(long us)
{
    struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    nanosleep(&ts, NULL);
}

/* The caller can yield and exit: who cannot may not ask for it in a build without checks. */
static inline bool is_by_ult(void)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;

    ABT_self_get_type(&type);
    return type == ABT_UNIT_TYPE_THREAD;
}

static inline void yield_if_ult(void)
{
    if (is_by_ult())
        ABT_self_yield();
}

/* --- Random numbers --- */

static uint64_t stress_seed;

static inline struct rng rng_make(uint64_t stream)
{
    return (struct rng){mix(stress_seed ^ mix(stream))};
}

/* Mostly nothing; sometimes a short spin, sometimes the CPU is given away, seldom for longer. */
static inline void jitter(struct rng *rng)
{
    unsigned dice = below(rng, 256);

    if (dice < 12)
        for (volatile unsigned i = below(rng, 500); i > 0; i--)
            ;
    else if (dice < 16)
        sched_yield();
    else if (dice == 16)
        nap_us((long)below(rng, 100));
}

/* First of all. */
static inline void stress_begin(void)
{
    const char *text = getenv("ABT_TEST_SEED");

    stress_seed = text && *text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    diag("ABT_TEST_SEED=%" PRIu64, stress_seed);
    watchdog_begin((unsigned)tap_seconds(0));
}

/* Plays again and again for that number of seconds, or the one that ABT_TEST_SECONDS says. Returns how often. */
static inline long stress_play(void (*play)(struct rng *rng), struct rng *rng, double seconds)
{
    long rounds = 0;
    for (double end = now() + tap_seconds(seconds); now() < end; rounds++)
        play(rng);
    return rounds;
}

/* --- Teams of execution streams --- */

enum { MAX_TEAM = 16 };

enum layout {
    SHARED, /* one pool for all */
    OWN,    /* each its own */
    STEAL,  /* each its own, and the others' behind it */
    PRIV,   /* each its own, which only its native thread touches */
    NUM_LAYOUTS
};

static const char *const layout_names[] = {"one shared pool", "own pools", "stealing", "private pools"};

static const ABT_sched_predef all_scheds[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
static const ABT_pool_kind all_kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};

static inline const char *sched_name(ABT_sched_predef predef)
{
    return predef == ABT_SCHED_BASIC    ? "BASIC"
           : predef == ABT_SCHED_PRIO   ? "PRIO"
           : predef == ABT_SCHED_RANDWS ? "RANDWS"
                                        : "BASIC_WAIT";
}

static inline const char *kind_name(ABT_pool_kind kind)
{
    return kind == ABT_POOL_FIFO ? "FIFO" : kind == ABT_POOL_FIFO_WAIT ? "FIFO_WAIT" : "RANDWS";
}

struct team {
    int size; /* execution streams, the primary one among them */
    enum layout layout;
    ABT_xstream xstreams[MAX_TEAM]; /* by rank */
    ABT_pool pools[MAX_TEAM];       /* first pool by rank; SHARED: all the same */
};

static inline bool on_primary(void)
{
    ABT_bool yes = ABT_FALSE;

    must(ABT_self_on_primary_xstream(&yes));
    return yes == ABT_TRUE;
}

/*
 * Starts the library and a team in which the primary ES, too, runs that scheduler over those pools. The primary ULT,
 * which must end on its own ES, lives in another pool that only the primary ES serves, unless all are private anyway.
 */
static inline void team_begin(struct team *team, int size, enum layout layout, ABT_sched_predef predef,
                              ABT_pool_kind kind)
{
    ABT_pool_access access = layout == PRIV ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC;

    *team = (struct team){.size = size, .layout = layout};
    must(ABT_init(0, NULL));
    for (int i = 0; i < size; i++) {
        if (i > 0 && layout == SHARED)
            team->pools[i] = team->pools[0];
        else
            must(ABT_pool_create_basic(kind, access, ABT_TRUE, &team->pools[i]));
    }
    for (int i = 0; i < size; i++) {
        ABT_pool pools[MAX_TEAM + 1];
        for (int j = 0; j < size; j++)
            pools[j] = team->pools[(i + j) % size];
        int num = layout == STEAL ? size : 1;
        if (i == 0) {
            must(ABT_xstream_self(&team->xstreams[0]));
            if (layout != PRIV)
                must(ABT_pool_create_basic(kind, access, ABT_TRUE, &pools[num++]));
            must(ABT_xstream_set_main_sched_basic(team->xstreams[0], predef, num, pools));
            must(ABT_self_set_associated_pool(pools[num - 1]));
            must(ABT_self_yield());
            while (!on_primary())
                must(ABT_self_yield());
        } else {
            must(ABT_xstream_create_basic(predef, num, pools, ABT_SCHED_CONFIG_NULL, &team->xstreams[i]));
        }
    }
}

static inline void team_end(struct team *team)
{
    for (int i = 1; i < team->size; i++)
        must(ABT_xstream_free(&team->xstreams[i]));
    must(ABT_finalize());
}

/* Where a unit may be created by the caller: the caller's own pool when they are private. */
static inline ABT_pool team_pool(const struct team *team, struct rng *rng)
{
    int rank = 0;

    if (team->layout != PRIV)
        return team->pools[below(rng, (unsigned)team->size)];
    must(ABT_self_get_xstream_rank(&rank));
    return team->pools[rank];
}

/* The calling unit's own source of random numbers. */
static inline struct rng rng_fresh(void)
{
    static _Atomic(uint64_t) streams = 1000;

    return rng_make(atomic_fetch_add(&streams, 1));
}

#endif
