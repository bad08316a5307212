/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an idle ES may take a unit of a pool that others serve, too. Such a unit is likely to be one that a unit of
 * theirs has just woken, and is about to wait for: then they are the ones to run it, without moving it from cache to
 * cache. So an idle ES takes it only when it has been there at several looks in a row, and once it has found that
 * others were faster, it looks less often: each look costs them an access to the pool.
 *
 * The policy looks at no pool: stream/sched_loop.c looks, tells it what it has seen, and asks.
 */
#ifndef ABTI_STREAM_COURTESY_H
#define ABTI_STREAM_COURTESY_H

#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

enum {
    /* Looks in a row that see the same unit before the ES takes it. With four, an eventual's ping-pong in a pool of two
     * streams took 1/2.3 of the time, a mutex of 8 with a yield inside 1/2.5, measured; four were too few, since an ES
     * often found a unit there that number of times by chance; sixteen gave the same as eight. */
    ABTI_COURTESY_LOOKS = 8,
    /* Pauses between two looks when others have been faster. Without, an eventual's ping-pong took 2.4 times as long,
     * the mutex 1.9 times, measured; with 8 and 256 the same within the noise. */
    ABTI_COURTESY_GAP = 64,
    /* So many units that others were faster to take, and the ES takes the next one that it sees. An ES that does not
     * sleep while it is idle (it is asked to finish, or waits actively) would else leave units to others for ever that
     * are in the pool for moments only, as a unit is that yields until it runs on a certain ES. Chosen: rarely enough
     * not to be noticed in a ping-pong. */
    ABTI_COURTESY_MISSES = 1000,
};

struct abti_courtesy {
    const void *seen; /* what the last look found. Only to be compared */
    unsigned looks;   /* looks in a row that found it */
    unsigned misses;  /* units that others have taken meanwhile */
};

/* The courtesy of an ES that has just run something. */
static const struct abti_courtesy abti_courtesy_new = {NULL, 0, 0};

/* How many pauses there are before the next look. */
ABTI_INLINE unsigned abti_courtesy_gap(const struct abti_courtesy *courtesy)
{
    return courtesy->misses > 0 ? ABTI_COURTESY_GAP : 1;
}

/*
 * What a look finds is the address of the one unit that there is, NULL for nothing, or one of these: several units, or
 * one that cannot be distinguished from the next; and something that the ES may take at once, since nobody else might.
 */
extern const char abti_courtesy_several, abti_courtesy_mine;

/* Tells that the ES has looked, and found this. */
void abti_courtesy_learn(struct abti_courtesy *courtesy, const void *seen);

/* Whether the ES may take what the last look has found. */
bool abti_courtesy_may_take(const struct abti_courtesy *courtesy);

#endif
