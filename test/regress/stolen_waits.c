/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thief of small units takes several at once. One that waits for another one, without a yield, must not keep it from
 * the other streams, though these have units all the time.
 */
#include <abt.h>
#include <stdatomic.h>
#include "must.h"
#include "tap.h"
#include "watchdog.h"

enum { SMALL = 256, ROUNDS = 30, GRAIN = 2000 };

static atomic_int arrived, begun, held;

static void toil(void *arg)
{
    for (volatile int left = GRAIN; left > 0; left--)
        ;
}

static void waits(void *arg)
{
    atomic_store(&begun, 1);
    while (atomic_load(&arrived) == 0)
        ;
}

static void arrives(void *arg)
{
    atomic_fetch_add(&arrived, 1);
}

/* Keeps the thief until what comes next is in the pool, but for no longer than a small unit takes. */
static void holds(void *arg)
{
    atomic_store(&held, 1);
    for (int i = 0; i < 2; i++)
        toil(arg);
}

/* Its stream always has something to run. */
static void yields(void *arg)
{
    while (atomic_load(&arrived) == 0)
        must(ABT_thread_yield());
}

/* The thief learns that units are small, and then finds one that waits, with what it waits for behind it. */
static void play(ABT_pool pool)
{
    ABT_thread units[SMALL], holding, waiting, awaited, yielding, more[3];

    atomic_store(&arrived, 0);
    atomic_store(&begun, 0);
    atomic_store(&held, 0);
    for (int i = 0; i < SMALL; i++)
        must(ABT_thread_create(pool, toil, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    for (int i = 0; i < SMALL; i++)
        must(ABT_thread_free(&units[i]));
    must(ABT_thread_create(pool, holds, NULL, ABT_THREAD_ATTR_NULL, &holding));
    for (double start = now(); !atomic_load(&held) && now() < start + 0.1;)
        ;
    must(ABT_thread_create(pool, waits, NULL, ABT_THREAD_ATTR_NULL, &waiting));
    must(ABT_thread_create(pool, arrives, NULL, ABT_THREAD_ATTR_NULL, &awaited));
    for (int i = 0; i < 3; i++)
        must(ABT_thread_create(pool, toil, NULL, ABT_THREAD_ATTR_NULL, &more[i]));
    for (double start = now(); !atomic_load(&begun) && now() < start + 0.1;)
        ; /* the thief takes it meanwhile, and what is behind it, or it is too slow */
    must(ABT_thread_create(pool, yields, NULL, ABT_THREAD_ATTR_NULL, &yielding));
    yields(NULL);
    must(ABT_thread_free(&yielding));
    for (int i = 0; i < 3; i++)
        must(ABT_thread_free(&more[i]));
    must(ABT_thread_free(&holding));
    must(ABT_thread_free(&waiting));
    must(ABT_thread_free(&awaited));
}

static void play_arg(void *arg)
{
    play((ABT_pool)arg);
}

/* By a ULT of the pool, which its stream runs until it waits. */
static void play_there(ABT_pool pool)
{
    ABT_thread player = ult_in(pool, play_arg, pool);
    must(ABT_thread_free(&player));
}

int main(void)
{
    ABT_pool pools[3], swapped[2];
    ABT_xstream self, other;
    ABT_sched sched;

    watchdog_begin(0);
    must(ABT_init(0, NULL));
    for (int i = 0; i < 3; i++)
        must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    swapped[0] = pools[1];
    swapped[1] = pools[0];
    must(ABT_xstream_self(&self));
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_RANDWS, 3, pools));
    must(ABT_self_set_associated_pool(pools[2])); /* which nobody else serves */
    must(ABT_sched_create_basic(ABT_SCHED_RANDWS, 2, swapped, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &other));
    for (int i = 0; i < ROUNDS; i++)
        play_there(pools[0]);
    must(ABT_xstream_free(&other));
    must(ABT_finalize());
    pass("no unit waits for one that a thief keeps");
    return done_testing();
}
