/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a thief may steal: what streams learn of the units that they take from the pools of others, and how they
 * spare the others when the stolen units are too small for the cost on both sides. All thieves of a pool have one truce
 * with it: what one has learnt serves all, since each try costs the ES that is busy with the pool. While units are
 * small one thief at a time tries whether they still are. The policy has no clock and looks at no pool: pool/thief.c
 * steals, tells it what has happened and when, and asks it. So does stream/source_ask.c, for what a stream is given by
 * its sources, with which it has a truce of its own.
 */
#ifndef ABTI_POOL_THIEF_POLICY_H
#define ABTI_POOL_THIEF_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* The worth of each: doc/tuning.md. */
enum {
    ABTI_THIEF_SMALL_NS = 700,     /* a shorter unit should have been left to the ES that is busy with its pool */
    ABTI_THIEF_ENOUGH_SMALLS = 4,  /* this number of small units in a row begins a truce */
    ABTI_THIEF_REST_MIN_NS = 256,  /* the first one; it doubles with each further small unit, */
    ABTI_THIEF_REST_DOUBLINGS = 6, /* this often */
    ABTI_THIEF_BULK_NS = 20000,    /* units that take no longer on the average are taken in bulk, */
    ABTI_THIEF_BULK = 12,          /* up to this number more than one, doubled each time */
};

/*
 * One word, 0 at first; by the standard's names, since companions have it, too. Its lower bits say until when the truce
 * holds, 0: there is none; above them is how many of the last units that were got from a busy ES were too small. A
 * large one halves that number: in a crowd of thieves a small unit, too, takes long now and then. relaxed, all: it
 * publishes nothing, so that no load has to pair with a store; the pool's lock guards the units. Thieves alone write
 * it, each both parts at once, so one that overtakes another makes a truce shorter, or at most the longest, 16 us,
 * longer: then there is a try, for which one of those that find it passed wins the compare-and-swap.
 */
struct abti_truce {
    _Atomic(uint64_t) word;
};
#define ABTI_TRUCE_SMALL ((uint64_t)1 << 60)

/* The memory of a scheduler that steals, or of an ES that has sources. It is all zeros at first, and that ES alone
 * uses it. */
struct abti_thief {
    uint64_t got_ns; /* when it got the last unit from a busy ES; 0: that has been judged, or nobody was busy */
    bool was_busy;   /* an ES is busy with the pool that it got the last unit from */
    bool is_warm;    /* it is past its first unit, which tells nothing: it takes long, as the ES has no stack yet */
    uint8_t more;    /* how many units beside the first it wants next time */
    uint16_t ran;    /* how many of those beside the first it has run since */
};

/* Until when thieves are to leave the pool alone. */
ABTI_INLINE uint64_t abti_truce_until(const struct abti_truce *truce)
{
    return atomic_load_explicit(&truce->word, memory_order_relaxed) % ABTI_TRUCE_SMALL;
}

/* Whether the time matters: a unit is to be judged by it, or there may be a truce. */
ABTI_INLINE bool abti_thief_needs_time(const struct abti_thief *thief, const struct abti_truce *truce)
{
    return ABTI_UNLIKELY((thief->got_ns | abti_truce_until(truce)) != 0);
}

/*
 * Tells that the thief has got a unit at `now_ns`, from a pool that another ES is busy with, or not: there it may help
 * as often as it likes.
 */
void abti_thief_learn_steal(struct abti_thief *thief, uint64_t now_ns, bool was_busy);

/* Tells that it goes on with one of the units that it has taken beside the first. */
ABTI_INLINE void abti_thief_learn_more(struct abti_thief *thief)
{
    thief->ran++;
}

/*
 * Tells that it is about to steal again: what was stolen, if anything, has been run. The truce is that of the pool
 * that it was stolen from.
 */
void abti_thief_learn_return(struct abti_thief *thief, struct abti_truce *truce, uint64_t now_ns);

/* Whether the caller may steal. If the last units were small it is the one that tries, and no other one for a while. */
bool abti_truce_try(struct abti_truce *truce, uint64_t now_ns);

/* Ends it, but keeps the count. Returns until when it held. */
uint64_t abti_truce_end(struct abti_truce *truce);

#endif
