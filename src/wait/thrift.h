/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a crowd of native threads looks, or gives way, before it sleeps: what it has learnt of its last waits, and
 * what the next one may do. The policy neither waits nor has a clock: wait/crowd.c waits, as long as it may, and tells
 * how that went.
 *
 * All threads of a crowd share what it has learnt. relaxed, everywhere: only time depends on it, no other memory does,
 * and what is lost when two threads learn at once does not matter.
 */
#ifndef ABTI_WAIT_THRIFT_H
#define ABTI_WAIT_THRIFT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"

enum {
    /* Looks, with a pause each, of a crowd that can run at once: for about as long as a wake takes. Two threads on two
     * cores that meet again and again keep step by it, 0.2 us for each meeting in place of 4, measured. */
    ABTI_THRIFT_LOOKS = 256,
    /*
     * Once in so many wakes a crowd that finds nothing looks as long as at first, in case its threads were kept from
     * running. Barriers of 4 and of 8 native threads on two CPUs took the same time, within 10 %, with 16, 128 and
     * 1024, measured.
     */
    ABTI_THRIFT_AGAIN = 128,
    /* The most that a crowd learns to save, in powers of two: from 256 looks down to 4. On a busy machine, where
     * looking fails, waits take 1.05 times pthread's CPU time with it and 1.2 times without it, measured. */
    ABTI_THRIFT_MOST = 6,
    /* How often a crowd of more threads than CPUs gives way. With it 64 threads take 0.46 to 0.58 of the time of
     * pthread_barrier on two CPUs, and 256 threads 0.52 to 0.58, measured. */
    ABTI_THRIFT_YIELDS = 4,
    /* How long the crowd may take for that: a fixed part, below a time slice, which is 700 us or more, and as much as
     * its own threads run until it is the caller's turn again, at 10 us each. Without a limit 4 threads on one CPU
     * beside one that computes met 950 times in 2 s in place of 48,000, measured; the two numbers were chosen. */
    ABTI_THRIFT_YIELD_NS = 400000,
    ABTI_THRIFT_YIELD_EACH_NS = 10000,
    /* After more than that, the waits of so many meetings begin with sleep, twice as many each time. Beside one or two
     * threads that compute, 4 to 256 threads then meet 0.9 to 1.3 times as often as if they never gave way, measured;
     * the two numbers were chosen. */
    ABTI_THRIFT_LEAST_MEETINGS = 16,
    ABTI_THRIFT_MOST_MEETINGS = 4096,
    /* More threads than that count as so many, so that no product overflows. */
    ABTI_THRIFT_MOST_THREADS = 65536,
};

/* What a crowd has learnt. It is all zeros at first. */
struct abti_thrift {
    /* How many powers of two fewer looks it takes than at first. More than ABTI_THRIFT_MOST says how many of its waits
     * are to begin with sleep, since other threads want the CPU. */
    _Atomic(uint32_t) level;
    _Atomic(uint32_t)
        waits_asleep; /* how many were to begin with sleep the last time, less those that went well since */
};

/* What one wait may do before it sleeps. */
struct abti_thrift_leave {
    uint32_t times;    /* looks or yields; 0: it sleeps at once */
    uint64_t limit_ns; /* of all yields together */
    uint32_t level;    /* what the crowd had learnt when the wait began */
};

/* Allows looks to a crowd that can run at once. `wakes` counts the wakes of the crowd. */
struct abti_thrift_leave abti_thrift_allow_looks(struct abti_thrift *thrift, uint32_t wakes);

/* Tells that the looks are over. `woken` says that they did not fail. */
void abti_thrift_learn_looks(struct abti_thrift *thrift, struct abti_thrift_leave leave, bool woken);

/* Allows yields to a crowd of `num` threads, which are too many for the CPUs. `cpus` may be 0, when it is not known. */
struct abti_thrift_leave abti_thrift_allow_yields(struct abti_thrift *thrift, uint32_t num, uint32_t cpus);

/* Tells that the yields which were allowed, some at least, are over, and how long they took. */
void abti_thrift_learn_yields(struct abti_thrift *thrift, struct abti_thrift_leave leave, uint32_t num, bool woken,
                              uint64_t took_ns);

#endif
