/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of synchronisation objects from the inside share: actors of each kind that waits in a way of its own,
 * and races of many.
 */
#ifndef TEST_UNIT_SYNC_SYNC_TEST_H
#define TEST_UNIT_SYNC_SYNC_TEST_H

#include <abt.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "os/clock.h"
#include "sync/waitq.h"
#include "tap.h"
#include "watchdog.h"

/* A ULT of the primary stream's private pool, one of a shared pool on another stream, an external thread. */
enum kind { HOME, AWAY, NATIVE, NUM_KINDS };

static const char *const kind_names[NUM_KINDS] = {"a ULT at home", "a ULT of another stream", "an external thread"};

/* Races end after so many seconds: on a slow machine fewer rounds will do. */
enum { RACE_SECONDS = 3, MAX_ACTORS = 16 };

static ABT_pool home_pool, away_pool;
static ABT_xstream away_es;
static uint64_t race_end_ns;

static inline void must(int code)
{
    if (code)
        bail_out("error %d", code);
}

static inline uint64_t in_us(uint64_t us)
{
    return abti_clock_mono_ns() + us * 1000;
}

static inline void nap_us(long us)
{
    struct timespec ts = {.tv_nsec = us * 1000};

    nanosleep(&ts, NULL);
}

/* The primary ULT moves to the private pool, where it and the actors at home block in the shortest way. */
static inline void sync_begin(void)
{
    ABT_xstream self;

    watchdog_begin(0);
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &home_pool));
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &home_pool));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &away_pool));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &away_pool, ABT_SCHED_CONFIG_NULL, &away_es));
}

static inline int sync_end(void)
{
    must(ABT_xstream_free(&away_es));
    must(ABT_finalize());
    return done_testing();
}

/* --- Actors --- */

struct actor {
    enum kind kind;
    void (*act)(void *);
    void *arg;
    ABT_thread ult;
    pthread_t thread;
};

static inline void *actor_main(void *arg)
{
    struct actor *actor = arg;

    actor->act(actor->arg);
    return NULL;
}

static inline void start(struct actor *actor, enum kind kind, void (*act)(void *), void *arg)
{
    *actor = (struct actor){.kind = kind, .act = act, .arg = arg};
    if (kind == NATIVE)
        must(pthread_create(&actor->thread, NULL, actor_main, actor));
    else
        must(ABT_thread_create(kind == HOME ? home_pool : away_pool, act, arg, ABT_THREAD_ATTR_NULL, &actor->ult));
}

static inline void finish(struct actor *actor)
{
    if (actor->kind == NATIVE)
        must(pthread_join(actor->thread, NULL));
    else
        must(ABT_thread_free(&actor->ult));
}

/* --- Races --- */

/* An actor's arg is its number: actors of the kinds take turns. */
static inline void race(int num, void (*act)(void *))
{
    struct actor actors[MAX_ACTORS];

    race_end_ns = abti_clock_mono_ns() + (uint64_t)RACE_SECONDS * 1000000000;
    for (int i = 0; i < num; i++)
        start(&actors[i], (enum kind)(i % NUM_KINDS), act, (void *)(intptr_t)i);
    /* Units first: while the caller joins a native thread, units of its stream do not run, which that may wait for. */
    for (int i = 0; i < num; i++)
        if (actors[i].kind != NATIVE)
            finish(&actors[i]);
    for (int i = 0; i < num; i++)
        if (actors[i].kind == NATIVE)
            finish(&actors[i]);
}

static inline bool race_goes_on(void)
{
    return abti_clock_mono_ns() < race_end_ns;
}

#endif
