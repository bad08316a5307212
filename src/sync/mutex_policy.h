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

enum {
    /* Looks of a native thread. Each takes the mutex's line from its holder, so that the pauses between them double.
     * With 40 looks and equal pauses two external threads took 60 to 69 ns for an operation, with 6 they take 15 to 18,
     * measured. */
    ABTI_MUTEX_LOOKS = 6,
    /* When others are queued the holder does not run, most likely. 64 threads then take 21 to 28 ns of CPU time for an
     * operation, 256 threads 26 to 43, where those of pthread's mutex take 77 to 97 and 56 to 78, measured. */
    ABTI_MUTEX_LOOKS_BEHIND = 3,
    /* How often a waiter of another pool is passed over while it is the first. Eight ULTs with a yield inside, on two
     * streams with pools of their own, took 1.8 times as long with 0 in place of 128, 1.2 times with 8, 1.0 times with
     * 64 and 1.1 times with 1024, measured (medians of interleaved runs). */
    ABTI_MUTEX_PASSES = 128,
    /* How many unlocks wake nobody, at most, while a ULT that was woken from afar is coming. On 64 simulated streams,
     * whose wakes take 3 us, lock and unlock took 190 ns with 16, 160 ns with 64 and 170 ns with 126; on 16, which do
     * not sleep, 93, 88 and 88 ns. */
    ABTI_MUTEX_QUIET_UNLOCKS = 64,
    /* How long after it has queued a waiter looks first, and how far apart its looks come to be. Powers of two: the
     * times of all that have waited for long are rounded to the same ones, so that an ES wakes once for all of its
     * waiters. Chosen: later than most critical sections end, and some eight times a second. */
    ABTI_MUTEX_LOOK_FIRST_NS = 1 << 20,
    ABTI_MUTEX_LOOK_RARELY_NS = 1 << 27,
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
