/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that sleep on a pool until a unit comes. doc/memory-model.md proves that none misses its wake. */
#ifndef ABTI_POOL_PARKING_H
#define ABTI_POOL_PARKING_H

#include <stdbool.h>
#include "rt/types.h"
#include "wait/sleeper.h"

/* One sleeper's entry in one pool's list of those that wait for a unit. It is guarded by the pool's lock. */
struct abti_parking {
    struct abti_parking *next, *prev;
    struct abti_sleeper *sleeper;
    bool own;   /* the pool is the sleeper's own; the others only steal from it. Constant */
    bool seeks; /* when woken, its thread looks at the pool for a unit, and tells when it stops polling. Constant */
    bool may_look_out; /* its thread is a stream that checks events after its sleep. Constant */
    bool linked;       /* its thread alone changes it, which may read it without the lock */
    bool coming;       /* it seeks, was woken for the pool or has pushed to it itself, and has neither found a unit nor
                          gone to sleep again */
    uint64_t until_ns; /* its thread may sleep so long: as the lookout of the pool no longer than to its next poll, see
                          pool/lookout.h */
} ABTI_ALIGNED(ABTI_CACHE_LINE); /* a waker fetches one line */

/* The longest sleeper comes first, so that a unit which is offered again and again gets around to everybody. */
struct abti_parking_list {
    _Atomic(struct abti_parking *) first; /* also looked at without the lock */
    struct abti_parking *last;
};

/*
 * Enters a pool's list. Returns false when the pool is not empty. A push that puts its unit in before the lock was
 * taken is seen by the emptiness test; one that comes later sees the entry.
 */
bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s);

/*
 * Leaves the list, if the entry is in it. `woken`: its thread was, and may find something to run, so that another
 * one becomes the lookout in its place. Otherwise its time is up, and it checks events.
 */
void abti_parking_leave(struct abti_parking *p, abti_pool *pool, bool woken);

/*
 * A thread that seeks and was woken for a pool is expected there: as long as there are no more units than sleepers
 * coming, a push wakes nobody. It is expected until it enters the list again, or calls this function because it has
 * found a unit, here or elsewhere, or will not poll.
 */
void abti_parking_settle(struct abti_parking *p, abti_pool *pool);

/* Several pools to sleep on at once, with an entry for each pool. */
struct abti_park_set {
    int num;
    abti_pool **pools;
    struct abti_parking *parkings;
};

/*
 * Picks one that sleeps on the pool and has not been woken yet, if more are needed and the caller does not come itself.
 * The caller holds the pool's lock.
 */
abti_wakeup abti_parking_claim_surplus(abti_pool *pool);

/*
 * Picks up to `num` in the same way, but no more than ABTI_PARKING_WAKES, unlocks, and wakes them. The caller holds the
 * lock and has pushed as many units. Returns how many more there may be.
 */
enum { ABTI_PARKING_WAKES = 4 };
size_t abti_parking_unlock_and_wake(abti_pool *pool, size_t num);

/*
 * Wakes one that sleeps on the pool, if the pool is not empty. The caller was claimed, perhaps for a unit of this pool,
 * and takes none from it. One that enters the list meanwhile sees that the pool is not empty.
 */
void abti_parking_pass(abti_pool *pool);

/* Wakes the one that has slept longest on the pool, even if others are coming. */
void abti_parking_offer(abti_pool *pool);

/* Wakes one that becomes the lookout of the pool, if it needs one and has none. The caller is not going to poll. */
void abti_parking_replace_lookout(abti_pool *pool);

/* Sees to it that somebody looks out at that time at the latest, if anybody sleeps on the pool. */
void abti_parking_look_out_by(abti_pool *pool, uint64_t time_ns);

#endif
