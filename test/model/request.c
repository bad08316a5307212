/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests and hand-offs: pool/request.c with the ring of a RANDWS pool and its biased lock as they are. A thief asks,
 * a waker gives, and the stream that holds the lock, by its bias, answers after a push. Each unit comes to one, who
 * sees what was done before it was pushed or offered, and nobody touches a request or a hand-off when its frame is
 * left.
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/stolen.c"
#include "pool/make.c"
#include "pool/parking.c"
#include "pool/pool.c"
#include "pool/randws.c"
#include "pool/ring.c"
#include "pool/request.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "request";
const char *const model_subjects[] = {"src/pool/request.c", 0};

enum { UNITS = 4 };

static abti_pool pool;
static abti_unit *ring[8];
static int made[UNITS], got[UNITS];

/* A ring with two units that nobody has touched, and one that is blocked. */
static void reset(void)
{
    model_reset();
    pool = (abti_pool){.ops = &abti_pool_randws_ops};
    model_pool_init(&pool);
    abti_queue_init(&pool.queue);
    abti_queue_init(&pool.inbox);
    model_split(&pool.blocked.in_place, 1 << 4);
    for (int i = 0; i < UNITS; i++) {
        abti_unit_init(&model_units[i], NULL, &made[i], &pool, 0);
        made[i] = got[i] = 0;
    }
    model_assert(abti_ring_init(&pool.ring));
    for (int i = 0; i < 2; i++) {
        made[i] = 1;
        abti_ring_push(&pool.ring, &model_units[i], false);
    }
    abti_store_relaxed(&pool.lock.owner, &model_bias[0]);
}

static void take(abti_unit *unit)
{
    int index = (int)(unit - model_units);
    model_assert(*(int *)unit->arg == 1);
    model_assert(got[index]++ == 0);
}

static __attribute__((noinline)) void write_over(void)
{
    volatile char room[400];
    for (unsigned i = 0; i < sizeof room; i += 8)
        *(volatile uint64_t *)&room[i] = 1;
}

static __attribute__((noinline)) abti_unit *ask(void)
{
    abti_unit *unit;
    model_linger(20);
    (void)abti_pool_ask(&pool, &unit, NULL, 0);
    return unit;
}

static __attribute__((noinline)) bool give(abti_unit *unit)
{
    model_linger(20);
    return abti_pool_give(NULL, &pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

/* The owner pushes, and answers, then pops what is left. */
static void serve(void)
{
    abti_es *es = model_enter(0);
    for (int i = 2; i < 3; i++) {
        made[i] = 1;
        abti_pool_push_shared(es, &pool, &model_units[i], ABT_POOL_CONTEXT_OP_THREAD_CREATE, false);
    }
    for (int i = 0; i < 3; i++) {
        abti_pool_lock(es, &pool);
        abti_unit *unit = abti_pool_take_head_locked(&pool);
        abti_pool_answer_locked(&pool);
        abti_pool_unlock(es, &pool);
        if (unit)
            take(unit);
    }
}

static void asking(int index)
{
    if (index == 0) {
        serve();
    } else {
        abti_unit *unit = ask();
        write_over();
        if (unit)
            take(unit);
    }
}

static void giving(int index)
{
    if (index == 0) {
        serve();
    } else {
        made[3] = 1;
        bool given = give(&model_units[3]);
        write_over();
        if (!given) /* it is the giver's still */
            take(&model_units[3]);
        /* a unit that was given, and this frame, belong to others now */
    }
}

static void both(int index)
{
    if (index == 2)
        giving(index);
    else
        asking(index);
}

static void after(void)
{
    model_assert(!pool.request);
    int in_ring = (int)abti_ring_size(&pool.ring), taken = 0;
    for (int i = 0; i < UNITS; i++)
        taken += got[i];
    int known = made[0] + made[1] + made[2] + made[3];
    model_assert(in_ring + taken == known);
    abti_ring_fini(&pool.ring);
}

const struct model_program model_programs[] = {
    {"a thief asks", 2, 4000, reset, asking, after},
    {"a waker gives", 2, 4000, reset, giving, after},
    {"a thief asks, a waker gives", 3, 4000, reset, both, after},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_pool_ask", "&none", "release", "the sources say that an acquire is of no use; there is no swap without it"},
    {"abti_pool_ask", "&none", "failure relaxed", "likewise"},
    {"abti_pool_ask", "&mine", NULL, "likewise: the request is the caller's own, or the unit orders what follows"},
    {"abti_pool_give", "&none", "release", "likewise"},
    {"abti_pool_give", "&none", "failure relaxed", "likewise"},
    {"abti_pool_give", "&mine", NULL, "likewise: the handoff is the caller's own, or DONE orders what follows"},
    {"abti_pool_answer_locked", "compare_exchange", "acquire", "likewise, the release: what follows publishes"},
    {"abti_pool_answer_locked", "compare_exchange", "failure relaxed", "likewise, one that fails reads nothing"},
    {0},
};

const char *const model_own_mutants[] = {0};
