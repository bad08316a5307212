/* Who sleeps on a pool until a unit comes. doc/memory-model.md has the argument. */
#ifndef ABTI_POOL_PARKING_H
#define ABTI_POOL_PARKING_H

#include <stdbool.h>
#include "rt/types.h"
#include "wait/sleeper.h"

/* One sleeper's entry in one pool's list of those who wait for a unit; guarded by the pool's lock. */
struct abti_parking {
    struct abti_parking *next, *prev;
    struct abti_sleeper *sleeper;
    bool own;   /* the pool is the sleeper's own, the others only steal from it. Constant */
    bool seeks; /* when woken its thread looks at the pool for a unit, and tells when it does no longer. Constant */
    bool linked;
    bool coming; /* it seeks, was woken for the pool, and has neither found a unit nor gone to sleep again */
};

/* Longest sleeper first: a unit that is offered again and again gets around to everybody. */
struct abti_parking_list {
    _Atomic(struct abti_parking *) first; /* looked at without the lock, too */
    struct abti_parking *last;
};

/*
 * Enters and leaves a pool's list. Entering fails when the pool is not empty. A pusher that puts its unit in before
 * the lock was taken is seen by the emptiness test, one that comes after sees the entry.
 */
bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s);

void abti_parking_leave(struct abti_parking *p, abti_pool *pool);

/*
 * Who seeks and was woken for a pool is expected there: as long as there are no more units than sleepers coming, a push
 * wakes nobody. It is so until it enters the list again, or this, which it calls when it has found a unit, here or
 * elsewhere, or will not look.
 */
void abti_parking_settle(struct abti_parking *p, abti_pool *pool);

/* Several pools to sleep on at once, with an entry for each. */
struct abti_park_set {
    int num;
    abti_pool **pools;
    struct abti_parking *parkings;
};

/* Picks somebody who sleeps on the pool and has not been woken yet, if more are needed; pool lock held. */
abti_wakeup abti_parking_claim_slow(abti_pool *pool);

/* Both, for who holds the lock and has pushed a unit. */
void abti_parking_unlock_and_wake(abti_pool *pool);

/*
 * Wakes somebody who sleeps on the pool, if it is not empty. By one who was claimed, perhaps for a unit of this pool,
 * and takes none from it. Who enters the list meanwhile sees that the pool is not empty.
 */
void abti_parking_pass(abti_pool *pool);

/* Wakes who has slept longest on the pool, whoever else is coming. */
void abti_parking_offer(abti_pool *pool);

#endif
