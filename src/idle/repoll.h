/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an ES that sleeps polls for units and events without a wake: units that come to a user-defined pool without a
 * push of ours, and, when it has been asked to stop, units blocked out of its pools that end elsewhere. For the former
 * it polls less and less often while there are none.
 */
#ifndef ABTI_IDLE_REPOLL_H
#define ABTI_IDLE_REPOLL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/assert.h"
#include "base/compiler.h"

/* The worth of each: doc/tuning.md. */
enum {
    ABTI_REPOLL_NS = 1000000,                   /* the shortest sleep between two polls */
    ABTI_REPOLL_RARELY_NS = 8 * ABTI_REPOLL_NS, /* the longest one */
    ABTI_REPOLL_SOON_NS = 10000, /* a sleep that begins so soon after a poll follows one that has found nothing */
};

/* It belongs to one ES, which alone uses it. It is all zeros at first. */
struct abti_repoll {
    uint64_t polled_ns; /* when the ES last woke to poll */
    uint64_t step_ns;   /* after how long a sleep */
};

/* Returns when the ES, which goes to sleep now, is to poll again. `often`: after the shortest sleep in any case. */
ABTI_INLINE uint64_t abti_repoll_next(struct abti_repoll *repoll, uint64_t now_ns, bool often)
{
    abti_assert(now_ns >= repoll->polled_ns && repoll->step_ns <= ABTI_REPOLL_RARELY_NS);
    uint64_t step_ns = ABTI_REPOLL_NS;
    if (!often && now_ns - repoll->polled_ns < ABTI_REPOLL_SOON_NS)
        step_ns = repoll->step_ns < ABTI_REPOLL_RARELY_NS ? 2 * repoll->step_ns : ABTI_REPOLL_RARELY_NS;
    repoll->step_ns = step_ns;
    return now_ns + step_ns;
}

/* Tells that the ES has slept until the time that it was given, or was woken before, and is going to poll. */
ABTI_INLINE void abti_repoll_learn(struct abti_repoll *repoll, uint64_t now_ns)
{
    repoll->polled_ns = now_ns;
}

#endif
