/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Park and wake: pool/parking.c with wait/sleeper.c, the shared and the private FIFO, stream/park.c and idle/idle.c
 * as they are. A unit is pushed to a pool, or something is asked of a stream, while threads and streams go to sleep:
 * none sleeps on when there is a unit for it, which relacy calls a deadlock, and what the pusher did is seen with the
 * unit. park.pml says more of the counts, in a memory that is sequentially consistent.
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/fifo.c"
#include "pool/make.c"
#include "pool/parking.c"
#include "pool/pool.c"
#include "pool/user.c"
#include "pool/request.c"
#include "rt/self.c"
#include "run/sched.c"
#include "stream/events.c"
#include "idle/idle.c"
#include "stream/park.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "parking";
const char *const model_subjects[] = {
    "src/pool/parking.c", "src/pool/pool.h",   "src/pool/blocked.c",  "src/pool/user.c", "src/run/sched.c",
    "src/wait/sleeper.c", "src/stream/park.c", "src/stream/events.c", "src/rt/self.c",   0};

static abti_pool pools[2];
static int made[2];
static _Atomic(int) popped;
static struct abti_idle idle;
static struct abti_timers timers; /* there are none */
static struct ABT_sched_opaque sched;

static void reset_pool(abti_pool *pool, bool is_private)
{
    *pool = (abti_pool){.ops = is_private ? &abti_pool_fifo_priv_ops : &abti_pool_fifo_ops,
                        .form = is_private ? ABTI_POOL_PRIVATE_FIFO : ABTI_POOL_SHARED_FIFO};
    model_pool_init(pool);
    abti_queue_init(&pool->queue);
    abti_queue_init(&pool->inbox);
    model_split(&pool->blocked.in_place, 1 << 4);
}

static void reset(void)
{
    model_reset();
    reset_pool(&pools[0], false);
    reset_pool(&pools[1], false);
    idle = (struct abti_idle){.period_ns = ABTI_CLOCK_NEVER};
    sched = (struct ABT_sched_opaque){.es = &model_es[0], .use = ABTI_SCHED_MAIN};
    timers = (struct abti_timers){.next = ABTI_CLOCK_NEVER};
    for (int i = 0; i < MODEL_THREADS; i++)
        model_es[i].timers = &timers;
    model_es[0].idle = &idle;
    made[0] = made[1] = 0;
    popped = 0;
    for (int i = 0; i < 2; i++)
        model_unit(i, NULL, &made[i], 0);
}

static void make(abti_pool *pool, int index)
{
    made[index] = 1;
    abti_pool_push(pool, &model_units[index], ABT_POOL_CONTEXT_OP_THREAD_CREATE);
}

static void look_at(abti_unit *unit)
{
    model_assert(unit && *(int *)unit->arg == 1);
    *(int *)unit->arg = 2;
    atomic_fetch_add_explicit(&popped, 1, memory_order_relaxed);
}

static void pop(abti_pool *pool)
{
    look_at(abti_park_pop(pool, ABTI_CLOCK_NEVER, ABT_POOL_CONTEXT_OP_THREAD_CREATE));
}

/* Two threads that sleep, and two units for them. */
static void threads_pop(int index)
{
    if (index < 2) {
        pop(&pools[0]);
    } else {
        make(&pools[0], 0);
        make(&pools[0], 1);
    }
}

/* The pusher has the bias of the pool's lock. */
static void biased(void)
{
    reset();
    abti_store_relaxed(&pools[0].lock.owner, &model_bias[1]);
}

static void owner_pushes(int index)
{
    if (index == 0) {
        pop(&pools[0]);
        pop(&pools[0]);
    } else {
        model_enter(1);
        make(&pools[0], 0);
        make(&pools[0], 1);
    }
}

/* A stream with two pools, which sleeps until it has a unit of each and a request. */
static void stream_of_two_pools(int index)
{
    if (index == 1) {
        make(&pools[0], 0);
    } else if (index == 2) {
        make(&pools[1], 1);
        abti_es_notify(&model_es[0], ABTI_ES_REQ_CHECK);
    } else {
        abti_es *es = model_enter(0);
        abti_pool *both[] = {&pools[0], &pools[1]};
        struct abti_parking parkings[2] = {{.own = true, .seeks = true}, {.seeks = true}};
        struct abti_park_set set = {.num = 2, .pools = both, .parkings = parkings};
        bool asked = false;
        for (int got = 0; got < 2 || !asked;) {
            abti_unit *unit = NULL;
            for (int i = 0; i < 2 && !unit; i++)
                unit = abti_pool_pop(&pools[i], 0);
            if (unit) {
                for (int i = 0; i < 2; i++)
                    abti_parking_settle(&parkings[i], &pools[i]);
                look_at(unit);
                got++;
            } else if (atomic_load(&es->requests) & ABTI_ES_REQ_CHECK) {
                atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK);
                asked = true;
            } else {
                abti_es_park_on(es, &sched, &set, ABTI_CLOCK_NEVER);
            }
        }
    }
}

/* A stream without pools, which sleeps until it has been asked twice, or its scheduler is told to end. */
static void asked_twice(int index)
{
    if (index != 0) {
        abti_es_notify(&model_es[0], index == 1 ? ABTI_ES_REQ_CHECK : ABTI_ES_REQ_STACKS);
        return;
    }
    abti_es *es = model_enter(0);
    struct abti_park_set none = {.num = 0};
    for (unsigned seen = 0; seen != (ABTI_ES_REQ_CHECK | ABTI_ES_REQ_STACKS);) {
        unsigned requests = atomic_load_explicit(&es->requests, memory_order_seq_cst);
        seen |= atomic_fetch_and_explicit(&es->requests, ~requests, memory_order_seq_cst) & requests;
        if (requests == 0)
            abti_es_park_on(es, &sched, &none, ABTI_CLOCK_NEVER);
    }
}

static void told_to_end(int index)
{
    if (index != 0) {
        abti_sched_request(&sched, ABTI_SCHED_REQ_EXIT);
        return;
    }
    abti_es *es = model_enter(0);
    struct abti_park_set none = {.num = 0};
    while (!abti_sched_has_to_stop(&sched))
        abti_es_park_on(es, &sched, &none, ABTI_CLOCK_NEVER);
}

/* The keeper of a private pool, whose blocked units others wake. */
static void with_private(void)
{
    reset();
    reset_pool(&pools[0], true);
    abti_store_relaxed(&pools[0].host, &model_es[0]);
    abti_store_relaxed(&pools[0].blocked.keeper, &model_es[0]);
    model_units[0].pool = model_units[1].pool = &pools[0];
}

static void inbox(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        pop(&pools[0]);
        pop(&pools[0]);
        model_assert(es->cur);
    } else {
        made[index - 1] = 1;
        abti_pool_push_unblocked(&pools[0], &model_units[index - 1], ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    }
}

/* A user-defined pool with room for a unit, whose callbacks order nothing but the unit. */
static _Atomic(abti_unit *) only;
static struct user_pool user;

static abti_unit *take_only(abti_pool *pool, ABT_pool_context context)
{
    (void)pool, (void)context;
    return atomic_exchange_explicit(&only, NULL, memory_order_acquire);
}

static bool is_only_empty(abti_pool *pool)
{
    return !atomic_load_explicit(&only, memory_order_relaxed);
}

static void with_user_pool(void)
{
    static struct abti_pool_ops ops = {.pop = take_only, .is_empty = is_only_empty};
    reset();
    pools[0].ops = &ops;
    pools[0].form = ABTI_POOL_USER;
    only = NULL;
}

static void user_pushes(int index)
{
    if (index == 0) {
        pop(&pools[0]);
    } else {
        made[0] = 1;
        atomic_store_explicit(&only, &model_units[0], memory_order_release);
        wake_one(&pools[0]);
    }
}

static void all_popped(void)
{
    model_assert(!pools[0].num_coming && !pools[1].num_coming && !pools[0].parked.first && !pools[1].parked.first);
}

const struct model_program model_programs[] = {
    {"threads pop", 3, 2000, reset, threads_pop, all_popped},
    {"the owner of the bias pushes", 2, 2000, biased, owner_pushes, all_popped},
    {"a stream of two pools", 3, 2000, reset, stream_of_two_pools, all_popped},
    {"a stream is asked twice", 3, 2000, reset, asked_twice, 0},
    {"a scheduler is told to end", 2, 2000, reset, told_to_end, 0},
    {"the inbox of a private pool", 3, 2000, with_private, inbox, all_popped},
    {"a user-defined pool", 2, 2000, with_user_pool, user_pushes, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_sleeper_sleep", "load", "acquire", "a look that is late costs a call: the system compares the word again"},
    {"abti_sleeper_sleep", "exchange", "acq_rel", "what is looked at next is looked at after the next announcement"},
    {"abti_sleeper_cancel", "exchange", "acq_rel", "likewise"},
    {"sleeper_claim", "compare_exchange", "acq_rel", "the load before it is the one that pairs"},
    {"abti_es_is_asked", "sched->requests", "acquire",
     "three looks follow the announcement, and one of them has to see"},
    {"abti_sched_has_to_stop", "sched->requests", "acquire", "likewise"},
    {"sleep_and_poll", "requests", "acquire", "likewise; the other is a hint, how long to sleep"},
    {"abti_sched_request", "sched->use", "relaxed", "no program here makes a stacked scheduler"},
    {"abti_sched_request", "sched->es", "acquire", "no program here changes the scheduler"},
    {"abti_pool_count_left_shared", "shared_left", "relaxed", "counts.c has it"},
    {0},
};

const char *const model_own_mutants[] = {0};
