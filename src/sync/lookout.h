/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that poll the deadlines of others. One that runs a long unit does not poll its timers; their waits are
 * ended by another stream that serves the pool of the ULTs and checks events: because it runs short units, or because
 * it is the lookout among those that sleep (pool/lookout.h). The ULTs are pushed to their pool, as always.
 *
 * Whether a stream has not polled for some time is shown by its timers alone: the first of them is overdue. So a stream
 * that polls says nothing to the others, and the one that polls for them touches what it finds overdue, and racy reads
 * of the rest.
 */
#ifndef ABTI_SYNC_LOOKOUT_H
#define ABTI_SYNC_LOOKOUT_H

#include "run/sched.h"
#include "pool/pool.h"
#include "sync/timer.h"

/* The worth of each: doc/tuning.md. */
enum {
    ABTI_LOOKOUT_EVERY_NS = 8000000, /* from one poll to the next, at most, as long as timers are armed, */
    ABTI_LOOKOUT_LEAST_NS = 4000000, /* and at least. A timer that is armed after a poll may be this late */
    ABTI_LOOKOUT_GRACE_NS = 1000000, /* a timer that is this late is overdue. Its own stream is woken some 50 us late */
    ABTI_LOOKOUT_QUIET = 2, /* after this number of polls before which nobody armed a timer, the next one is when the
                               first timer is overdue */
};

/*
 * Tells that a timer of a ULT of the pool has been armed in these timers, where abti_lookout_has has said that nobody
 * knows. The caller holds no lock of a pool.
 */
void abti_lookout_note(abti_pool *pool, struct abti_timers *timers);

/* Looks at the timers of other streams, if that is due. The caller holds no lock. */
void abti_lookout_poll(abti_pool *pool);

/* The same for all pools of a scheduler, at an event check. */
ABTI_INLINE void abti_lookouts_poll(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (abti_lookout_is_needed(&sched->pools[i]->lookout))
            abti_lookout_poll(sched->pools[i]);
    }
}

#endif
