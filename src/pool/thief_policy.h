/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a thief may steal: what a stream learns of the units that it takes from the pools of others, and how it
 * spares the others when what it steals is not worth what it costs both. The policy has no clock and looks at no pool:
 * pool/thief.c steals, tells it what has happened and when, and asks it. So does stream/source_ask.c, for what a stream
 * is given by its sources.
 */
#ifndef ABTI_POOL_THIEF_POLICY_H
#define ABTI_POOL_THIEF_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* What each is worth: doc/tuning.md. */
enum {
    ABTI_THIEF_SMALL_NS = 700,     /* a shorter unit should have been left to the ES that is busy with its pool */
    ABTI_THIEF_ENOUGH_SMALLS = 4,  /* so many small units in a row let the thief rest */
    ABTI_THIEF_REST_MIN_NS = 256,  /* the first rest; it doubles with each further small unit, */
    ABTI_THIEF_REST_DOUBLINGS = 6, /* so often */
    ABTI_THIEF_RIVALS = 3,         /* a thief of 16 pools and more rests after the first small unit */
    ABTI_THIEF_BULK_NS = 20000,    /* units that take no longer on the average are taken in bulk, */
    ABTI_THIEF_BULK = 12,          /* up to so many more than one: twice as many each time */
};

/* What a scheduler that steals, or an ES that has sources, remembers. It is all zeros at first, and that ES alone
 * uses it. */
struct abti_thief {
    uint64_t got_ns;  /* when it got the last unit from a busy ES; 0: that has been judged, or nobody was busy */
    uint64_t rest_ns; /* it rests until then; 0: it does not */
    uint32_t smalls;  /* how many of the last units that it got from a busy ES were too small */
    bool was_busy;    /* an ES is busy with the pool that it got the last unit from */
    uint8_t more;     /* how many units beside the first it wants next time */
    uint16_t ran;     /* how many of those beside the first it has run since */
    uint8_t rivals; /* half the number of pools that it steals from, as a logarithm: that number of thieves disturbs the
                       same ES, and rests are that much longer */
};

/* Whether the time matters: a unit is to be judged by it, or the thief rests. */
ABTI_INLINE bool abti_thief_needs_time(const struct abti_thief *thief)
{
    return ABTI_UNLIKELY((thief->got_ns | thief->rest_ns) != 0);
}

/* Tells that the thief has got a unit, at `now_ns`, from a pool that another ES is busy with and serves. */
void abti_thief_learn_booty(struct abti_thief *thief, uint64_t now_ns);

/*
 * Tells that it has got, at `now_ns`, a unit of a pool that nobody serves at the moment. There it may help as often as
 * it likes.
 */
void abti_thief_learn_other(struct abti_thief *thief, uint64_t now_ns);

/* Tells that it goes on with one of the units that it has taken beside the first. */
ABTI_INLINE void abti_thief_learn_more(struct abti_thief *thief)
{
    thief->ran++;
}

/* Tells that it is about to steal again: what was stolen, if anything, has been run. */
void abti_thief_learn_return(struct abti_thief *thief, uint64_t now_ns);

/* Whether it does not rest. The caller has called abti_thief_learn_return with the same time. */
bool abti_thief_may_steal(struct abti_thief *thief, uint64_t now_ns);

#endif
