/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that thieves have taken of a pool in bulk, and have still to run. A thief of small units takes up to half of
 * what there is, so that the pool's lock is needed once for a dozen of them. It runs the oldest and leaves the others
 * in a box of its own, which belongs to the pool: they are units of the pool as before, and each stream that may take
 * from the pool may take them there. So no unit waits for a thief that is held up.
 *
 * A pool has ABTI_STOLEN_BOXES boxes, one for each stream by its index (some streams share one if there are more). A
 * box has a lock. Its thief keeps the box, which is empty, locked while it asks or waits for the pool's lock; all
 * others that come by only try to lock it, but for those that print the units.
 *
 *   bit of filled   0 -> 1   by the holder of the pool's lock, on behalf of the thief that holds the box's lock
 *                   1 -> 0   under the box's lock, when it is empty
 *
 * A holder of the pool's lock that sees no bit knows that no unit is in a box: units come there under that lock only.
 * Where a thread sees a bit, the units may be gone when it comes.
 *
 * A stream whose pool never gets empty, since its ULTs yield, would not see the boxes, and a thief may be in a long
 * unit while its box is full. So a stream looks at the boxes of its pool when it checks events, and recalls what has
 * been there since a poll long before.
 */
#ifndef ABTI_POOL_STOLEN_H
#define ABTI_POOL_STOLEN_H

#include "lock/spin.h"
#include "pool/pool.h"

/* Lets the thief with this index have its box, locked and empty, or returns NULL. The caller holds no lock. */
struct abti_stolen *abti_stolen_reserve(abti_pool *pool, unsigned index);

/* Moves half of the ring's units, and no more than `want`, to the box, oldest first. Both locks are held. */
void abti_stolen_fill_locked(abti_pool *pool, struct abti_stolen *box, unsigned want);

/* Unlocks a box that was reserved. Returns whether there are units in it. */
bool abti_stolen_unreserve(struct abti_stolen *box);

/* Takes a unit out of the box of this index, or finds one in any, beginning with it. NULL: none was found. */
abti_unit *abti_stolen_take(abti_pool *pool, unsigned index);
abti_unit *abti_stolen_find_in_boxes(abti_pool *pool, unsigned index);

/* Returns how many units are in boxes; a racy answer. */
size_t abti_stolen_count(abti_pool *pool);

/*
 * Takes `unit` out of the box where it is. The caller holds the pool's lock, so that no unit moves from a box to the
 * ring meanwhile, and has looked in the ring. False: it has not been found. *busy says then whether it may be in a box
 * that another thread has locked, and the caller looks again after it has unlocked the pool.
 */
bool abti_stolen_remove_locked(abti_pool *pool, abti_unit *unit, bool *busy);

/* Calls the user's function for each unit in a box. */
void abti_stolen_print(abti_pool *pool, void *arg, void (*print)(void *arg, abti_unit *unit));

/* Frees the boxes. */
void abti_stolen_fini(abti_pool *pool);

/* Moves what has been there for long back to the ring. */
void abti_stolen_recall_from_boxes(abti_pool *pool);

/* Whether no unit is in a box. relaxed: see above; without the pool's lock it is a racy answer. */
ABTI_INLINE bool abti_stolen_is_empty(abti_pool *pool)
{
    return ABTI_LIKELY(abti_load_relaxed(&pool->filled) == 0);
}

ABTI_INLINE abti_unit *abti_stolen_find(abti_pool *pool, unsigned index)
{
    return abti_stolen_is_empty(pool) ? NULL : abti_stolen_find_in_boxes(pool, index);
}

ABTI_INLINE size_t abti_stolen_size(abti_pool *pool)
{
    return abti_stolen_is_empty(pool) ? 0 : abti_stolen_count(pool);
}

ABTI_INLINE void abti_stolen_recall(abti_pool *pool)
{
    if (!abti_stolen_is_empty(pool))
        abti_stolen_recall_from_boxes(pool);
}

#endif
