/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a group of native threads polls, or yields its CPU, before it sleeps: an estimate from its last waits, and
 * the limits of the next one. The policy neither waits nor reads a clock: wait/group.c waits within the limits, and
 * reports the result.
 *
 * All threads of a group share the estimate. relaxed, everywhere: only time depends on it, no other memory does, and an
 * update that is lost when two threads learn at once does not matter.
 */
#ifndef ABTI_WAIT_ADAPTIVE_H
#define ABTI_WAIT_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"

/* The worth of each: doc/tuning.md. */
enum {
    ABTI_ADAPTIVE_SPINS = 16384,          /* spins, with a pause each, of a group that can run at once */
    ABTI_ADAPTIVE_SPINS_TO_YIELD = 4096,  /* after this number the thread yields once */
    ABTI_ADAPTIVE_SHORT_NS = 1000000,     /* after a sleep that was shorter, with its wake, more polls are made */
    ABTI_ADAPTIVE_AGAIN = 512,            /* in one wake of this number the group polls as long as at first */
    ABTI_ADAPTIVE_MOST = 12,              /* the largest reduction, in powers of two */
    ABTI_ADAPTIVE_YIELDS = 4,             /* how often a group of more threads than CPUs yields */
    ABTI_ADAPTIVE_YIELD_LEAST_NS = 20000, /* it goes on for this time while its yields find nobody else */
    ABTI_ADAPTIVE_YIELD_ALONE_NS = 2000,  /* a yield that took less has found nobody else */
    ABTI_ADAPTIVE_YIELD_NS = 400000,      /* all yields together take no longer than this, below a time slice, */
    ABTI_ADAPTIVE_YIELD_EACH_NS = 10000,  /* and this for each thread of the group on a CPU */
    ABTI_ADAPTIVE_LEAST_MEETINGS = 16,    /* after that, or polls that lost the CPU, this number begin with sleep, */
    ABTI_ADAPTIVE_MOST_MEETINGS = 4096,   /* doubled each time, up to this number */
    ABTI_ADAPTIVE_MOST_THREADS = 65536,   /* more threads count as that number, so that no product overflows */
};

/* The estimate of a group. It is all zeros at first. */
struct abti_adaptive {
    /* By how many powers of two its polls are fewer than at first. A value above ABTI_ADAPTIVE_MOST says how many of
     * its waits are to begin with sleep, since other threads want the CPU. */
    _Atomic(uint32_t) level;
    _Atomic(uint32_t)
        waits_asleep; /* how many were to begin with sleep the last time, less those that went well since */
};

/* The limits of one wait before it sleeps. */
struct abti_adaptive_leave {
    uint32_t times;    /* polls or yields; 0: it sleeps at once */
    uint64_t least_ns; /* more yields than that, while those that returned at once have taken less, all together */
    uint64_t limit_ns; /* of all yields together */
    uint32_t level;    /* of the estimate when the wait began */
};

/* Allows polls to a group that can run at once. `wakes` counts the wakes of the group. */
struct abti_adaptive_leave abti_adaptive_allow_spins(struct abti_adaptive *adaptive, uint32_t wakes);

/*
 * Reports that the polls, which were allowed to `num` threads when the estimate was `level`, have not failed; or, if
 * they do not pay, that another program had the CPU for long meanwhile.
 */
void abti_adaptive_learn_spins(struct abti_adaptive *adaptive, uint32_t level, uint32_t num, bool pays);

/* Reports that they have failed, and how long the thread slept then. */
void abti_adaptive_learn_sleep(struct abti_adaptive *adaptive, uint32_t level, uint64_t slept_ns);

/*
 * Allows yields to a group of `num` threads, which are too many for the CPUs. `cpus` may be 0, when it is not known.
 * `wakes` as above.
 */
struct abti_adaptive_leave abti_adaptive_allow_yields(struct abti_adaptive *adaptive, uint32_t wakes, uint32_t num,
                                                      uint32_t cpus);

/* Reports that the yields which were allowed, some at least, have ended, and how long they took. */
void abti_adaptive_learn_yields(struct abti_adaptive *adaptive, struct abti_adaptive_leave leave, uint32_t num,
                                bool woken, uint64_t took_ns);

#endif
