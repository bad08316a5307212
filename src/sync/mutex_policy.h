/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a native thread looks at a mutex before it queues, how often a queued waiter looks again, and how often it
 * is passed over. The policy looks at no mutex and has no clock: sync/mutex.c looks and wakes, tells it, and asks. All
 * of it is inline, so that the wake of a waiter stays one function.
 */
#ifndef ABTI_SYNC_MUTEX_POLICY_H
#define ABTI_SYNC_MUTEX_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* What each is worth: doc/tuning.md. */
enum {
    ABTI_MUTEX_LOOKS = 6,                /* of a native thread. The pauses between them double */
    ABTI_MUTEX_LOOKS_BEHIND = 3,         /* when others are queued the holder does not run, most likely */
    ABTI_MUTEX_PASSES = 128,             /* how often a waiter of another pool is passed over while it is the first */
    ABTI_MUTEX_QUIET_UNLOCKS = 64,       /* so many unlocks wake nobody, at most, while a ULT from afar is coming */
    ABTI_MUTEX_LOOK_FIRST_NS = 1 << 20,  /* how long after it has queued a waiter looks first, */
    ABTI_MUTEX_LOOK_RARELY_NS = 1 << 27, /* and how far apart its looks come to be. Powers of two: times are rounded to
                                            the same ones, so that an ES wakes once for all of its waiters */
};

/* --- A native thread looks before it queues --- */

struct abti_mutex_looks {
    int left;
    int pauses; /* after the next look */
};

ABTI_INLINE struct abti_mutex_looks abti_mutex_allow_looks(bool behind_others)
{
    return (struct abti_mutex_looks){behind_others ? ABTI_MUTEX_LOOKS_BEHIND : ABTI_MUTEX_LOOKS, 1};
}

/* A look failed. So many pauses are due. */
ABTI_INLINE int abti_mutex_learn_look(struct abti_mutex_looks *looks)
{
    int pauses = looks->pauses;
    looks->left--;
    looks->pauses = 2 * pauses;
    return pauses;
}

/* --- A queued waiter looks from time to time --- */

struct abti_mutex_relook {
    uint64_t step_ns; /* until the next look, at least */
};

/* Of a waiter that has just queued. */
static const struct abti_mutex_relook abti_mutex_relook_new = {.step_ns = ABTI_MUTEX_LOOK_FIRST_NS};

/* When to look next: in a step's time, or up to another step later. The step doubles. */
ABTI_INLINE uint64_t abti_mutex_relook_next(struct abti_mutex_relook *relook, uint64_t now_ns)
{
    uint64_t step = relook->step_ns;
    if (step < ABTI_MUTEX_LOOK_RARELY_NS)
        relook->step_ns = 2 * step;
    return (now_ns + 2 * step - 1) & ~(step - 1);
}

/* --- Waiters of the pool that has had the mutex come first --- */

/* Of one waiter. Zeros at first. */
struct abti_mutex_turn {
    unsigned passes; /* how often others were woken while it was the first of its queue */
};

/* Others may pass it over once more. */
ABTI_INLINE bool abti_mutex_turn_may_pass(const struct abti_mutex_turn *turn)
{
    return turn->passes < ABTI_MUTEX_PASSES;
}

/* They have done so. */
ABTI_INLINE void abti_mutex_turn_learn_pass(struct abti_mutex_turn *turn)
{
    turn->passes++;
}

#endif
