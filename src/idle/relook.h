/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an ES that sleeps looks again at what nobody tells it about: units that come to a user-defined pool without a
 * push of ours, and, when it has been asked to stop, units blocked out of its pools that end elsewhere. For the former
 * it looks less and less often while there are none.
 */
#ifndef ABTI_IDLE_RELOOK_H
#define ABTI_IDLE_RELOOK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/assert.h"
#include "base/compiler.h"

/* What each is worth: doc/tuning.md. */
enum {
    ABTI_RELOOK_NS = 1000000,                   /* the shortest sleep between two looks */
    ABTI_RELOOK_RARELY_NS = 8 * ABTI_RELOOK_NS, /* the longest one */
    ABTI_RELOOK_SOON_NS = 10000, /* a sleep that begins so soon after a look follows one that has found nothing */
};

/* It belongs to one ES, which alone uses it. It is all zeros at first. */
struct abti_relook {
    uint64_t looked_ns; /* when the ES last woke to look */
    uint64_t step_ns;   /* after how long a sleep */
};

/* Returns when the ES, which goes to sleep now, is to look again. `often`: after the shortest sleep in any case. */
ABTI_INLINE uint64_t abti_relook_next(struct abti_relook *relook, uint64_t now_ns, bool often)
{
    abti_assert(now_ns >= relook->looked_ns && relook->step_ns <= ABTI_RELOOK_RARELY_NS);
    uint64_t step_ns = ABTI_RELOOK_NS;
    if (!often && now_ns - relook->looked_ns < ABTI_RELOOK_SOON_NS)
        step_ns = relook->step_ns < ABTI_RELOOK_RARELY_NS ? 2 * relook->step_ns : ABTI_RELOOK_RARELY_NS;
    relook->step_ns = step_ns;
    return now_ns + step_ns;
}

/* Tells that the ES has slept until the time that it was given, or was woken before, and is going to look. */
ABTI_INLINE void abti_relook_learn(struct abti_relook *relook, uint64_t now_ns)
{
    relook->looked_ns = now_ns;
}

#endif
