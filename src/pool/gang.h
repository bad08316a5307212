/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gang: the schedulers that steal from the same RANDWS pools. A stream of theirs that goes to sleep would enter the
 * lists of all these pools, and leave them when it wakes: N streams that do so move N * N lines and more. So it enters
 * one list, that of its gang, and in the list of a pool a deputy stands for all that sleep there.
 *
 *   deputy   not linked -> linked   under the pool's lock, by a stream that has entered the gang's list and looks at
 *                                   the pool for the last time before it sleeps
 *            linked -> not linked   under the locks of the pool and of the gang, by a push that meets it, or wakes the
 *                                   last one, when nobody is in the gang's list
 *
 * A push that meets the deputy wakes the stream whose own pool this is, if it sleeps, or else the one that has slept
 * longest, unless enough are on their way: one that has found a unit wakes another one if it sees more units. A stream
 * that is claimed is taken out of the list, so that nobody looks at it again.
 *
 * Who sleeps there looks at the pools without their locks. doc/memory-model.md says why no unit is left.
 */
#ifndef ABTI_POOL_GANG_H
#define ABTI_POOL_GANG_H

#include "lock/spin.h"
#include "pool/pool.h"

/* It is the entry of a pool's list that has no sleeper. */
struct abti_deputy {
    struct abti_parking parking;
    struct abti_gang *gang; /* constant */
    abti_pool *pool;        /* constant */
    struct abti_parking
        *owner;     /* the pool's lock: in the gang's list, of the stream whose own pool it is; NULL: none */
    uint32_t stamp; /* gangs_lock (gang.c): when it was met last */
};

struct abti_gang {
    struct abti_spin lock;
    _Atomic(uint32_t) num_coming; /* lock: how many were woken, and have neither found a unit nor gone to sleep again.
                                     Read without the lock, behind a fence */
    struct abti_parking_list sleepers; /* lock */
    uint32_t num_pools;                /* constant */
    uint32_t num_scheds, stamp;        /* gangs_lock (gang.c) */
    struct abti_deputy deputies[] ABTI_ALIGNED(ABTI_CACHE_LINE);
};

/*
 * Joins the gang of those that steal from just the RANDWS pools among these; `p` is the entry in its list. NULL: they
 * are too few, or also in another gang, or there is no memory: the stream enters the lists of all pools then.
 */
struct abti_gang *abti_gang_join(int num, abti_pool **pools, struct abti_parking *p);

/* Leaves it again, with the same pools, which are all there still. Its stream is awake. */
void abti_gang_quit(struct abti_gang *gang, int num, abti_pool **pools, struct abti_parking *p);

/* Whether a stream of the gang need not enter the pool's list. It has to if the pool needs a lookout. */
ABTI_INLINE bool abti_gang_sees_to(const struct abti_gang *gang, const abti_pool *pool)
{
    return gang && pool->deputy && pool->deputy->gang == gang && !abti_lookout_is_needed(&pool->lookout);
}

/* Enters the gang's list. The stream has announced its sleep, and looks at all pools after this. */
void abti_gang_enter(struct abti_gang *gang, struct abti_parking *p, struct abti_sleeper *s);

/* Sees to it that a push to the pool finds the gang. True if there is no unit in it; one that comes later wakes. */
bool abti_gang_finds_empty(abti_pool *pool);

/* Leaves the list, if it is still there. */
void abti_gang_leave(struct abti_gang *gang, struct abti_parking *p);

/* The stream is not on its way any more: as abti_parking_settle. It looks at all pools after this. */
void abti_gang_settle(struct abti_gang *gang, struct abti_parking *p);

/*
 * Picks one that sleeps, for a unit of the pool: the one whose own pool it is, or (`own` is false) another. `anyway`:
 * though enough are coming. The pool's lock is held.
 */
abti_wakeup abti_gang_claim_locked(struct abti_deputy *deputy, abti_pool *pool, bool own, bool anyway);

#endif
