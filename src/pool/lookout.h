/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lookout of a pool. The deadlines of its ULTs are in the heaps of the streams on which they wait (sync/timer.h).
 * A stream that runs a long unit does not poll its heap; then another one that serves the pool does
 * (sync/lookout.h), at an event check, when `next_ns` has come. So that there is one while they all sleep, one of those
 * that sleep on the pool is its lookout, and sleeps no longer than until then. The others sleep until they are woken.
 *
 *   nobody -> P    when P goes to sleep on the pool, next_ns is not NEVER, and others than P's own stream have armed
 *                  timers (abti_parking_enter)
 *   P -> nobody    when P has slept. If its time was up it checks events, and then mostly goes to sleep again; if it
 *                  was woken, it wakes another one, which finds nothing to run and goes to sleep again, as the lookout
 *
 * So whenever others have timers and somebody sleeps on the pool, there is a lookout, or a stream is awake that is to
 * become it. One whose time was up may find a unit instead. That was pushed while it was awake, and a push wakes
 * one that sleeps, which is then the lookout, or runs the unit itself.
 *
 * Nothing here is written when a timer is armed, as long as the stream's bit is set in `timed`. The stream that polls
 * clears the bits; so a stream that arms a timer tells once after each poll, and otherwise only loads.
 * doc/memory-model.md proves that no timer is missed.
 */
#ifndef ABTI_POOL_LOOKOUT_H
#define ABTI_POOL_LOOKOUT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"
#include "lock/spin.h"
#include "os/clock.h"

struct abti_parking;

struct abti_lookout {
    _Atomic(uint64_t) next_ns;    /* when somebody is to poll; NEVER: nobody has armed a timer lately. Stored under the
                                     pool's lock */
    _Atomic(uint64_t) timed;      /* bits of streams that have armed a timer of a ULT of the pool since the last poll */
    struct abti_parking *parking; /* the pool's lock: the lookout; NULL: nobody */
    struct abti_spin lock;        /* held by the stream that polls. Nobody waits for it */
    _Atomic(uint64_t) known;      /* lock: bits of streams that may have armed timers. Read under the pool's lock */
    unsigned quiet;               /* lock: polls in a row before which nobody had armed a timer */
};

ABTI_INLINE void abti_lookout_init(struct abti_lookout *lookout)
{
    abti_store_relaxed(&lookout->next_ns, ABTI_CLOCK_NEVER); /* relaxed: nobody knows the pool yet */
    abti_spin_init(&lookout->lock, ABTI_RANK_LOOKOUT);
}

/* The bit of a stream with this index. Streams from ABTI_LOOKOUT_SHARED on share one. */
enum { ABTI_LOOKOUT_SHARED = 63 };

ABTI_INLINE uint64_t abti_lookout_bit(unsigned index)
{
    return UINT64_C(1) << (index < ABTI_LOOKOUT_SHARED ? index : ABTI_LOOKOUT_SHARED);
}

/*
 * Whether the stream with this bit need not tell that it has armed a timer. relaxed: the caller holds the lock of its
 * timers, by which the stream that clears the bits sees the timer, or this load the cleared bit, see sync/lookout.c.
 */
ABTI_INLINE bool abti_lookout_has(const struct abti_lookout *lookout, uint64_t bit)
{
    return abti_load_relaxed(&lookout->timed) & bit;
}

/* Whether a stream is to poll at some time. relaxed: a racy read, which is repeated. */
ABTI_INLINE bool abti_lookout_is_needed(const struct abti_lookout *lookout)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&lookout->next_ns) != ABTI_CLOCK_NEVER);
}

#endif
