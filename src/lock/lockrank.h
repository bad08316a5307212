/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the spin locks, checked in builds for tests (--enable-debug=ub_assert): a thread that waits for a lock
 * holds only locks of lower ranks. A lock that a thread could not get and did not wait for (trylock) keeps to no order.
 *
 * A rank is in the word of the lock, above its lowest bit, so that it costs no memory; other builds know nothing of
 * it. The locks of objects that users make of zeros have rank OBJECT, which is therefore 0 in the word.
 */
#ifndef ABTI_LOCK_LOCKRANK_H
#define ABTI_LOCK_LOCKRANK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/build.h"

/* Locks are taken in this order. The brackets say why a lock comes before others. */
enum abti_lockrank {
    ABTI_RANK_WAKEUP = 1, /* no lock: a wake that the thread has claimed and is to make (wait/sleeper.h) */
    ABTI_RANK_SOURCES,    /* which streams ask which source */
    ABTI_RANK_ASK,        /* the sources of a stream */
    ABTI_RANK_WALK,       /* the lock of a pool that is walked over (the user's function may do anything) */
    ABTI_RANK_HELPER,     /* `working` of a helper thread (a step of it takes the locks of slabs, or rt.lock) */
    ABTI_RANK_RT,         /* rt.lock */
    ABTI_RANK_OBJECT,     /* what units wait for: mutex, cond, gate, barrier, rwlock (a cond's, then its mutex's; a
                             waiter of a mutex arms a timer) */
    ABTI_RANK_LOOKOUT,    /* the lookout of a pool (it takes the locks of streams' timers) */
    ABTI_RANK_TIMERS,   /* timers of a stream (under rt.lock those of two streams, when timers are moved; one that looks
                           at an object only tries to take its lock) */
    ABTI_RANK_REPLACE,  /* es->replace.lock */
    ABTI_RANK_STOLEN,   /* a box of what thieves have taken of a pool (its thief waits for the pool's lock) */
    ABTI_RANK_POOL,     /* the lock of a pool, by the bias or not (a mutex takes the next waiter out of its pool) */
    ABTI_RANK_IDLE,     /* drivers of a stream */
    ABTI_RANK_KEYS,     /* the adding of slots to a table of values (which may take memory) */
    ABTI_RANK_EXTERNAL, /* rt.external_lock (the caches behind it take from slabs) */
    ABTI_RANK_SLAB,     /* a slab */
    ABTI_RANK_LEAF,     /* all that are held for a few stores: nothing else is taken under them */
    ABTI_NUM_RANKS
};

/* The word of a free lock holds this. */
#define ABTI_LOCKRANK_WORD(rank) (ABTI_BUILD_ASSERT ? (uint32_t)((rank) ^ ABTI_RANK_OBJECT) << 1 : 0)

/* The rest exists in builds that check. What the caller holds is noted for its native thread. */

static inline enum abti_lockrank abti_lockrank_of(uint32_t word)
{
    return (enum abti_lockrank)((word >> 1) ^ ABTI_RANK_OBJECT);
}

/* Checks that the calling thread may wait for the lock: otherwise it writes one line to stderr and aborts. */
void abti_lockrank_check(const void *lock, enum abti_lockrank rank);

/* Say that the calling thread has got the lock, and that it releases it. */
void abti_lockrank_enter(const void *lock, enum abti_lockrank rank);
void abti_lockrank_leave(const void *lock);

/*
 * The lock that the calling thread holds has another rank from now on. The check of the order is made as if the thread
 * had waited for the lock at that rank.
 */
void abti_lockrank_change(const void *lock, enum abti_lockrank rank);

/* Whether the calling thread holds the lock, and whether it holds no lock in which it may not sleep. */
bool abti_lockrank_holds(const void *lock);
bool abti_lockrank_may_sleep(void);

#endif
