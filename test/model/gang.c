/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gang: pool/gang.c with pool/parking.c, wait/sleeper.c, the RANDWS pool and stream/park.c as they are. Thieves that
 * share three pools go to sleep in one list, while units come to the pools. Each takes one, which never ends: so none
 * may sleep on while there is another unit, which relacy calls a deadlock. gang.pml says more of who wakes whom, in a
 * memory that is sequentially consistent.
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/gang.c"
#include "pool/loot.c"
#include "pool/make.c"
#include "pool/parking.c"
#include "pool/pool.c"
#include "pool/queue.c"
#include "pool/randws.c"
#include "pool/ring.c"
#include "pool/wish.c"
#include "pick/sched.c"
#include "stream/events.c"
#include "idle/idle.c"
#include "stream/park.c"
#include "idle/relook.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "gang";
const char *const model_subjects[] = {"src/pool/gang.c", 0};

/* LONG: what a thief does from its wake to its next sleep. */
enum { THIEVES = 3, POOLS = 3, UNITS = 3, LONG = 150 };

static abti_pool pools[POOLS];
static int made[UNITS], got[UNITS];
static struct abti_idle idle[THIEVES];
static struct abti_timers timers; /* there are none */
static struct ABT_sched_opaque scheds[THIEVES];
static abti_pool *lists[THIEVES][POOLS];
static struct abti_parking parkings[THIEVES][POOLS + 1];

static void reset_pool(abti_pool *pool)
{
    *pool = (abti_pool){.ops = &abti_pool_randws_ops};
    model_pool_init(pool);
    abti_queue_init(&pool->queue);
    abti_queue_init(&pool->inbox);
    model_split(&pool->blocked.in_place, 1 << 4);
    model_assert(abti_ring_init(&pool->ring));
}

static void reset_thief(int i)
{
    abti_sched *sched = &scheds[i];
    idle[i] = (struct abti_idle){.period_ns = ABTI_CLOCK_NEVER};
    model_es[i].idle = &idle[i];
    memset(parkings[i], 0, sizeof parkings[i]);
    *sched = (struct ABT_sched_opaque){.es = &model_es[i],
                                       .use = ABTI_SCHED_MAIN,
                                       .num_pools = POOLS,
                                       .pools = lists[i],
                                       .parkings = parkings[i],
                                       .in_gang = &parkings[i][POOLS]};
    for (int k = 0; k < POOLS; k++) {
        lists[i][k] = &pools[(i + k) % POOLS];
        parkings[i][k] = (struct abti_parking){.seeks = true, .until_ns = ABTI_CLOCK_NEVER};
    }
    sched->gang = abti_gang_join(POOLS, lists[i], sched->in_gang);
    model_assert(sched->gang && sched->gang == scheds[0].gang);
}

static void reset(int thieves)
{
    model_reset();
    for (int i = 0; i < POOLS; i++)
        reset_pool(&pools[i]);
    timers = (struct abti_timers){.next = ABTI_CLOCK_NEVER};
    for (int i = 0; i < MODEL_THREADS; i++)
        model_es[i].timers = &timers;
    for (int i = 0; i < thieves; i++)
        reset_thief(i);
    for (int i = 0; i < UNITS; i++) {
        abti_unit_init(&model_units[i], NULL, &made[i], &pools[0], 0);
        made[i] = got[i] = 0;
    }
}

static void reset_two(void)
{
    reset(2);
}

static void reset_three(void)
{
    reset(3);
}

static void push(int pool, int unit)
{
    made[unit] = 1;
    abti_pool_push(&pools[pool], &model_units[unit], ABT_POOL_CONTEXT_OP_THREAD_CREATE);
}

/* Takes one unit, as a scheduler does that sleeps whenever it finds none. */
static void take_one(int index)
{
    abti_es *es = model_enter(index);
    abti_sched *sched = &scheds[index];
    for (abti_unit *unit = NULL; !unit;) {
        for (int i = 0; i < POOLS && !unit; i++)
            unit = abti_pool_pop(sched->pools[i], ABT_POOL_CONTEXT_OWNER_SECONDARY);
        if (unit) {
            abti_es_pass_wake(es, sched);
            model_assert(*(int *)unit->arg == 1 && got[unit - model_units]++ == 0);
        } else {
            abti_es_park(es, sched, ABTI_CLOCK_NEVER);
        }
    }
}

/* Two units of one pool, which is a thief's own. */
static void one_pool(int index)
{
    if (index < 2) {
        take_one(index);
    } else {
        push(0, 0);
        push(0, 1);
    }
}

/* Two units of two pools, one of which is nobody's own. */
static void two_pools(int index)
{
    if (index < 2) {
        take_one(index);
    } else {
        model_linger(LONG);
        push(2, 0);
        model_linger(LONG);
        push(1, 1);
    }
}

/* Two that push. */
static void two_push(int index)
{
    if (index < 2)
        take_one(index);
    else
        push(index - 1, index - 2);
}

/* One of three thieves makes the units of the two others, in its own pool. */
static void one_makes(int index)
{
    if (index > 0) {
        take_one(index);
        return;
    }
    model_enter(0);
    model_linger(LONG);
    push(0, 0);
    push(0, 1);
}

/* The unit for which a thief is woken is taken away, and comes to another pool. */
static void taken_away(int index)
{
    if (index == 0) {
        take_one(0);
        return;
    }
    model_linger(LONG);
    push(0, 0);
    abti_unit *unit = abti_pool_pop(&pools[0], ABT_POOL_CONTEXT_OWNER_SECONDARY);
    model_linger(LONG);
    if (unit)
        push(1, 0);
}

static void end(void)
{
    for (int i = 0; i < THIEVES; i++) {
        if (scheds[i].gang)
            abti_gang_quit(scheds[i].gang, POOLS, lists[i], scheds[i].in_gang);
        scheds[i].gang = NULL;
    }
    for (int i = 0; i < POOLS; i++) {
        model_assert(!pools[i].parked.first && !pools[i].deputy);
        abti_ring_fini(&pools[i].ring);
    }
}

static void all_taken(void)
{
    model_assert(got[0] + got[1] == 2);
    end();
}

static void one_taken(void)
{
    model_assert(got[0] == 1);
    end();
}

const struct model_program model_programs[] = {
    {"two units of one pool", 3, 2000, reset_two, one_pool, all_taken},
    {"two units of two pools", 3, 2000, reset_two, two_pools, all_taken},
    {"two that push", 4, 2000, reset_two, two_push, all_taken},
    {"one of three makes units", 3, 2000, reset_three, one_makes, all_taken},
    {"a unit is taken away", 2, 2000, reset_two, taken_away, one_taken},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_gang_finds_empty", "deputy->linked", "relaxed",
     "it takes one who links the deputy, and then finds another unit than the one it has seen"},
    {"abti_gang_finds_empty", "fence", NULL, "no program takes units in bulk"},
    {0},
};

const char *const model_own_mutants[] = {0};
