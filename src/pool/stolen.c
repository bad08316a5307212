/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/stolen.h"

#include <stdlib.h>
#include <string.h>
#include "os/clock.h"
#include "pool/builtin.h"

/* A batch of which nobody has taken a unit for so long is recalled. */
enum { STALE_NS = 100000 };

/* Two cache lines. A unit that is taken is the oldest. */
struct abti_stolen {
    struct abti_spin lock;
    _Atomic(uint32_t) num; /* lock: how many units there are. Others read it without */
    uint32_t first;        /* lock: the index of the oldest */
    uint32_t takes, seen;  /* lock: how often a unit was taken; and when it was looked at last */
    uint64_t seen_ns;      /* lock: when that was; 0: it was filled since */
    abti_unit *units[ABTI_STOLEN_UNITS];
} ABTI_ALIGNED(ABTI_CACHE_LINE);

static unsigned box_of(unsigned index)
{
    return index % ABTI_STOLEN_BOXES;
}

static uint64_t stolen_bit(unsigned i)
{
    return (uint64_t)1 << i;
}

/* Returns the boxes, NULL when there are none yet. acquire: pairs with the release in make_boxes. */
static struct abti_stolen *boxes_of(abti_pool *pool)
{
    return abti_load_acquire(&pool->boxes);
}

/* Makes the boxes. Returns NULL when there is no memory. */
static ABTI_COLD struct abti_stolen *make_boxes(abti_pool *pool)
{
    struct abti_stolen *boxes = aligned_alloc(ABTI_CACHE_LINE, ABTI_STOLEN_BOXES * sizeof(*boxes)), *others = NULL;
    if (!boxes)
        return NULL;
    memset(boxes, 0, ABTI_STOLEN_BOXES * sizeof(*boxes));
    for (unsigned i = 0; i < ABTI_STOLEN_BOXES; i++)
        abti_spin_init(&boxes[i].lock, ABTI_RANK_STOLEN);
    /* release: publishes the boxes to boxes_of. acquire: pairs with it, for those that another thread has made */
    if (abti_cas_acq_rel(&pool->boxes, &others, boxes))
        return boxes;
    free(boxes);
    return others;
}

struct abti_stolen *abti_stolen_reserve(abti_pool *pool, unsigned index)
{
    struct abti_stolen *boxes = boxes_of(pool);
    if (ABTI_UNLIKELY(!boxes) && !(boxes = make_boxes(pool)))
        return NULL;
    struct abti_stolen *box = &boxes[box_of(index)];
    /* relaxed: a racy read comes first, and the lock orders the other one */
    if (abti_load_relaxed(&box->num) > 0 || !abti_spin_trylock(&box->lock))
        return NULL;
    if (abti_load_relaxed(&box->num) == 0)
        return box;
    abti_spin_unlock(&box->lock);
    return NULL;
}

void abti_stolen_fill_locked(abti_pool *pool, struct abti_stolen *box, unsigned want)
{
    abti_assert(abti_pool_is_locked(pool) && abti_load_relaxed(&box->num) == 0);
    size_t half = abti_ring_size(&pool->ring) / 2;
    uint32_t num = want < half ? want : (uint32_t)half;
    num = num < ABTI_STOLEN_UNITS ? num : ABTI_STOLEN_UNITS;
    if (num == 0)
        return;
    /* relaxed: the pool's lock orders it for threads that search there; the others take it for a hint */
    abti_fetch_or_relaxed(&pool->filled, stolen_bit((unsigned)(box - boxes_of(pool))));
    for (uint32_t i = 0; i < num; i++)
        box->units[i] = abti_ring_pop(&pool->ring, true);
    box->first = 0;
    box->seen_ns = 0;
    abti_store_relaxed(&box->num, num); /* relaxed: the lock orders it */
}

bool abti_stolen_unreserve(struct abti_stolen *box)
{
    bool filled = abti_load_relaxed(&box->num) > 0; /* relaxed: the lock is held */
    abti_spin_unlock(&box->lock);
    return filled;
}

/* Takes a unit out of a box that is locked. NULL: it is empty. */
static abti_unit *take_from_locked_box(abti_pool *pool, struct abti_stolen *box, unsigned i)
{
    uint32_t num = abti_load_relaxed(&box->num); /* relaxed, as below: the lock is held */
    if (num == 0)
        return NULL;
    abti_unit *unit = box->units[box->first++];
    box->takes++;
    abti_store_relaxed(&box->num, num - 1);
    if (num == 1)
        abti_fetch_and_relaxed(&pool->filled, ~stolen_bit(i)); /* relaxed: as in abti_stolen_fill_locked */
    return unit;
}

static abti_unit *take_from_box(abti_pool *pool, struct abti_stolen *boxes, unsigned i)
{
    struct abti_stolen *box = &boxes[i];
    if (abti_load_relaxed(&box->num) == 0 || !abti_spin_trylock(&box->lock))
        return NULL;
    abti_unit *unit = take_from_locked_box(pool, box, i);
    abti_spin_unlock(&box->lock);
    return unit;
}

abti_unit *abti_stolen_take(abti_pool *pool, unsigned index)
{
    struct abti_stolen *boxes = boxes_of(pool);
    return boxes ? take_from_box(pool, boxes, box_of(index)) : NULL;
}

abti_unit *abti_stolen_find_in_boxes(abti_pool *pool, unsigned index)
{
    struct abti_stolen *boxes = boxes_of(pool);
    uint64_t filled = abti_load_relaxed(&pool->filled); /* relaxed: it is a hint */
    abti_unit *unit = NULL;
    for (unsigned k = 0; boxes && k < ABTI_STOLEN_BOXES && !unit; k++) {
        unsigned i = box_of(index + k);
        unit = filled & stolen_bit(i) ? take_from_box(pool, boxes, i) : NULL;
    }
    return unit;
}

size_t abti_stolen_count(abti_pool *pool)
{
    struct abti_stolen *boxes = boxes_of(pool);
    size_t size = 0;
    for (unsigned i = 0; boxes && i < ABTI_STOLEN_BOXES; i++)
        size += abti_load_relaxed(&boxes[i].num); /* relaxed: a racy answer */
    return size;
}

/* Takes the unit out of a box that is locked. */
static bool remove_from_locked_box(abti_pool *pool, struct abti_stolen *box, unsigned i, abti_unit *unit)
{
    uint32_t num = abti_load_relaxed(&box->num), at = box->first; /* relaxed, as below: the lock is held */
    while (at < box->first + num && box->units[at] != unit)
        at++;
    if (at == box->first + num)
        return false;
    for (; at > box->first; at--)
        box->units[at] = box->units[at - 1];
    return take_from_locked_box(pool, box, i) != NULL;
}

bool abti_stolen_remove_locked(abti_pool *pool, abti_unit *unit, bool *busy)
{
    abti_assert(abti_pool_is_locked(pool));
    struct abti_stolen *boxes = abti_stolen_is_empty(pool) ? NULL : boxes_of(pool);
    bool found = false;
    *busy = false;
    for (unsigned i = 0; boxes && i < ABTI_STOLEN_BOXES && !found; i++) {
        if (!abti_spin_trylock(&boxes[i].lock)) { /* it is not waited for: its thief may wait for the pool's lock */
            *busy = true;
            continue;
        }
        found = remove_from_locked_box(pool, &boxes[i], i, unit);
        abti_spin_unlock(&boxes[i].lock);
    }
    return found;
}

void abti_stolen_print(abti_pool *pool, void *arg, void (*print)(void *arg, abti_unit *unit))
{
    struct abti_stolen *boxes = abti_stolen_is_empty(pool) ? NULL : boxes_of(pool);
    for (unsigned i = 0; boxes && i < ABTI_STOLEN_BOXES; i++) {
        struct abti_stolen *box = &boxes[i];
        abti_spin_lock(&box->lock);
        if (ABTI_BUILD_ASSERT)
            abti_lockrank_change(&box->lock, ABTI_RANK_WALK);
        for (uint32_t k = 0; k < abti_load_relaxed(&box->num); k++) /* relaxed: the lock is held */
            print(arg, box->units[box->first + k]);
        abti_spin_unlock(&box->lock);
    }
}

void abti_stolen_fini(abti_pool *pool)
{
    free(boxes_of(pool));
}

/* --- Recalls --- */

/* Whether nobody has taken a unit of the box, which is locked, for long. A first poll only takes the time. */
static bool stands_still(struct abti_stolen *box, uint64_t now_ns)
{
    if (box->seen_ns > 0 && box->seen == box->takes)
        return now_ns - box->seen_ns >= STALE_NS;
    box->seen = box->takes;
    box->seen_ns = now_ns;
    return false;
}

/* Moves all units of the box to the ring, behind the others. Both locks are held. */
static void recall_locked(abti_pool *pool, struct abti_stolen *box, unsigned i)
{
    abti_assert(abti_pool_is_locked(pool));
    for (abti_unit *unit; (unit = take_from_locked_box(pool, box, i)) != NULL;)
        pool->ops->push_locked(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
}

static void recall_from_box(abti_pool *pool, struct abti_stolen *box, unsigned i)
{
    if (!abti_spin_trylock(&box->lock))
        return;
    bool stale = stands_still(box, abti_clock_mono_ns());
    abti_spin_unlock(&box->lock);
    if (!stale)
        return;
    abti_pool_lock(abti_es_self, pool);
    if (abti_spin_trylock(&box->lock)) { /* it is not waited for: its thief may wait for the pool's lock */
        recall_locked(pool, box, i);
        abti_spin_unlock(&box->lock);
    }
    abti_parking_unlock_and_wake(pool, 1);
}

void abti_stolen_recall_from_boxes(abti_pool *pool)
{
    struct abti_stolen *boxes = boxes_of(pool);
    uint64_t filled = abti_load_relaxed(&pool->filled); /* relaxed: it is a hint */
    for (unsigned i = 0; boxes && i < ABTI_STOLEN_BOXES; i++) {
        if (filled & stolen_bit(i))
            recall_from_box(pool, &boxes[i], i);
    }
}
