/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an idle ES may take a unit of a pool that others serve, too. Such a unit is likely to be one that a unit of
 * theirs has just woken, and is about to wait for: then they are the ones to run it, without moving it from cache to
 * cache. So an idle ES takes it only when it has been the first one there at several polls in a row, and once it has
 * found that others were faster, it polls less often: each poll costs them an access to the pool.
 *
 * The policy looks at no pool: stream/sched_loop.c polls, tells it what it has seen, and asks.
 */
#ifndef ABTI_STREAM_POOL_BACKOFF_H
#define ABTI_STREAM_POOL_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/* The worth of each: doc/tuning.md. */
enum {
    ABTI_POOL_BACKOFF_POLLS = 16,    /* polls in a row that see the same unit before the ES takes it */
    ABTI_POOL_BACKOFF_GAP = 64,      /* pauses between two polls when others have been faster */
    ABTI_POOL_BACKOFF_MISSES = 1000, /* after this number of units that others were faster to take the ES takes one.
                                    Else an ES that never sleeps would leave a unit that yields until it runs there */
};

struct abti_pool_backoff {
    const void *seen; /* what the last poll found. Only to be compared */
    unsigned polls;   /* polls in a row that found it. 0: that was long ago */
    unsigned misses;  /* units that others have taken meanwhile */
};

/* The backoff of an ES that has just run something. */
static const struct abti_pool_backoff abti_pool_backoff_new = {NULL, 0, 0};

/* How many pauses there are before the next poll. */
ABTI_INLINE unsigned abti_pool_backoff_gap(const struct abti_pool_backoff *backoff)
{
    return backoff->misses > 0 ? ABTI_POOL_BACKOFF_GAP : 1;
}

/*
 * What a poll finds is the address of the first unit, NULL for nothing, or one of these: units of which the first is
 * not known; and something that the ES may take at once, since nobody else might.
 */
extern const char abti_pool_backoff_several, abti_pool_backoff_mine;

/* Tells that the ES has made a pause, in which anything may have happened. */
ABTI_INLINE void abti_pool_backoff_forget(struct abti_pool_backoff *backoff)
{
    backoff->polls = 0;
}

/* Tells that the ES has polled, and found this. */
void abti_pool_backoff_learn(struct abti_pool_backoff *backoff, const void *seen);

/* Whether the ES may take what the last poll has found. */
bool abti_pool_backoff_may_take(const struct abti_pool_backoff *backoff);

#endif
