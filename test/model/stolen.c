/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boxes: pool/stolen.c with the ring of a RANDWS pool and its lock as they are. A thief fills its box and runs what is
 * in it, others find units there, the stream of the pool takes them back or removes one. Each unit comes to one, who
 * sees what was done before it was pushed, and is found wherever it is.
 *
 *   a box      empty, free -> locked      by its thief (abti_stolen_reserve), which alone may have it filled
 *              locked -> with units       by the holder of the pool's lock, while the thief has the box
 *              with units -> fewer        by anybody who has got its lock by a try
 *              with units -> empty        by the same, who then clears its bit
 *   a unit     ring -> box -> ring        under the pool's lock, so that its holder sees it in one of the two
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/make.c"
#include "pool/parking.c"
#include "pool/pool.c"
#include "pool/queue.c"
#include "pool/ring.c"
#include "pool/request.c"
#include "wait/sleeper.c"
#include "wait/word.c"

/* Mutants: these calls of pool/stolen.c do nothing. */
static void lock_to_recall(abti_es *es, abti_pool *pool)
{
    if (!model_is_mutant("a recall without the pool's lock"))
        abti_pool_lock(es, pool);
}

static size_t unlock_after_recall(abti_pool *pool, size_t num)
{
    return model_is_mutant("a recall without the pool's lock") ? 0 : abti_parking_unlock_and_wake(pool, num);
}

static bool lock_box(struct abti_spin *lock)
{
    return model_is_mutant("boxes without locks") || abti_spin_trylock(lock);
}

#define abti_pool_lock lock_to_recall
#define abti_parking_unlock_and_wake unlock_after_recall
#define abti_spin_trylock lock_box
#include "pool/stolen.c"
#undef abti_pool_lock
#undef abti_parking_unlock_and_wake
#undef abti_spin_trylock
#include "pool/randws.c"

const char model_name[] = "stolen";
const char *const model_subjects[] = {"src/pool/stolen.c", 0};

enum { UNITS = 5, MORE = 2, THIEF = 1 };

static abti_pool pool;
static int made[UNITS], got[UNITS];

/* A ring with so many units that nobody has touched. */
static void fill(int num)
{
    model_reset();
    pool = (abti_pool){.ops = &abti_pool_randws_ops};
    model_pool_init(&pool);
    abti_queue_init(&pool.queue);
    abti_queue_init(&pool.inbox);
    model_split(&pool.blocked.in_place, 1 << 4);
    model_assert(abti_ring_init(&pool.ring));
    for (int i = 0; i < UNITS; i++) {
        abti_unit_init(&model_units[i], NULL, &made[i], &pool, 0);
        got[i] = 0;
        made[i] = i < num;
        if (made[i])
            abti_ring_push(&pool.ring, &model_units[i], false);
    }
}

static void reset_some(void)
{
    fill(UNITS - 1);
}

static void reset_all(void)
{
    fill(UNITS);
}

static void take(abti_unit *unit)
{
    model_assert(*(int *)unit->arg == 1);
    model_assert(got[unit - model_units]++ == 0);
}

static bool take_if(abti_unit *unit)
{
    if (unit)
        take(unit);
    return unit != NULL;
}

/* A thief steals, and runs so many of those that it has taken beside the first. */
static void steal(abti_es *es, int num)
{
    struct abti_stolen *box = abti_stolen_reserve(&pool, es->index);
    if (box && model_is_mutant("a box that is unlocked early"))
        (void)abti_stolen_unreserve(box);
    abti_unit *unit = abti_randws_steal(&pool, box, MORE);
    bool filled = box && (model_is_mutant("a box that is unlocked early") ? true : abti_stolen_unreserve(box));
    take_if(unit);
    for (int i = 0; i < num && filled; i++)
        take_if(abti_stolen_take(&pool, es->index));
}

/* The stream of the pool pushes one unit and pops some, and two steal. */
static void stealing(int index)
{
    abti_es *es = model_enter(index);
    if (index > 0) {
        steal(es, MORE);
        take_if(abti_stolen_find(&pool, es->index));
        return;
    }
    made[UNITS - 1] = 1;
    abti_pool_push_shared_form(&pool, &model_units[UNITS - 1], ABT_POOL_CONTEXT_OP_THREAD_YIELD, false);
    for (int i = 0; i < 2; i++)
        take_if(randws_pop(&pool, ABT_POOL_CONTEXT_OWNER_PRIMARY));
}

static void recall(void)
{
    enum { LONG_NS = 200000 };
    for (int i = 0; i < 2; i++) {
        abti_stolen_recall(&pool);
        model_pass_time(LONG_NS);
    }
    abti_stolen_recall(&pool);
}

/* A thief is held up, the stream of the pool recalls what it has left, and another one helps. */
static void recalling(int index)
{
    abti_es *es = model_enter(index);
    if (index == THIEF) {
        steal(es, 1);
    } else if (index == 0) {
        model_linger(40);
        recall();
        take_if(randws_pop(&pool, ABT_POOL_CONTEXT_OWNER_PRIMARY));
    } else {
        model_linger(60);
        take_if(abti_stolen_find(&pool, es->index));
    }
}

static int remove_unit(abti_unit *unit)
{
    if (!model_is_mutant("ring and boxes under no common lock"))
        return randws_remove(&pool, unit);
    bool busy;
    abti_pool_lock(abti_es_self, &pool);
    bool found = abti_ring_remove(&pool.ring, unit);
    abti_pool_unlock(abti_es_self, &pool);
    if (found)
        return ABT_SUCCESS;
    do {
        abti_pool_lock(abti_es_self, &pool);
        found = abti_stolen_remove_locked(&pool, unit, &busy);
        abti_pool_unlock(abti_es_self, &pool);
    } while (!found && busy);
    return found ? ABT_SUCCESS : ABT_ERR_POOL;
}

/* The unit behind the one that the thief runs is removed, in the ring, in the box, or on its way back. */
static void removing(int index)
{
    abti_es *es = model_enter(index);
    if (index == THIEF) {
        steal(es, 0);
    } else if (index == 0) {
        model_linger(40);
        recall();
    } else {
        model_linger(80);
        abti_unit *unit = &model_units[UNITS - 3];
        model_assert(remove_unit(unit) == ABT_SUCCESS);
        take(unit);
    }
}

static void after(void)
{
    int left = (int)abti_ring_size(&pool.ring), boxed = 0;
    for (int i = 0; i < ABTI_STOLEN_BOXES && pool.boxes; i++) {
        boxed += (int)pool.boxes[i].num;
        model_assert((pool.boxes[i].num > 0) == ((pool.filled & (uint64_t)1 << i) != 0));
        model_assert(!pool.boxes[i].lock.word);
    }
    int taken = 0, known = 0;
    for (int i = 0; i < UNITS; i++) {
        taken += got[i];
        known += made[i];
    }
    model_assert(left + boxed + taken == known);
    abti_ring_fini(&pool.ring);
    abti_stolen_fini(&pool);
}

const struct model_program model_programs[] = {
    {"two thieves take in bulk", 3, 4000, reset_some, stealing, after},
    {"units are recalled", 3, 4000, reset_all, recalling, after},
    {"a unit is removed", 3, 8000, reset_all, removing, after},
    {0},
};

const struct model_kept model_kept[] = {
    {"boxes_of", "boxes", NULL, "publishes zeros that memset has stored, which the checker does not see"},
    {"make_boxes", "boxes", NULL, "likewise"},
    {0},
};

const char *const model_own_mutants[] = {"a recall without the pool's lock", "boxes without locks",
                                         "a box that is unlocked early", "ring and boxes under no common lock", 0};
