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
    /*
     * Looks, with a pause each, of a crowd that can run at once: about a millisecond. Two threads on two cores that
     * meet again and again take 0.18 us for each meeting; with 256 they took 12, measured where a wake takes longer
     * than those. A program that opens OpenMP regions a few 100 us apart took 2.0 s and 1.8 s of CPU with 1024 looks,
     * which learnt from each sleep to look less; 0.4 s and 0.54 s with 16384, and libgomp 0.4 s and 0.61 s, measured.
     */
    ABTI_THRIFT_LOOKS = 16384,
    /* After this number of looks the thread gives way once, and again after as many more. Without that two members of
     * an OpenMP region that the system had put on one CPU took 370 us for a region after a pause, since the other one
     * ran when the looks had ended; 14 us with 512, and 1 to 6 us with 128, measured. */
    ABTI_THRIFT_LOOKS_TO_YIELD = 128,
    /* For the first time it does so after this number, which two that meet on two CPUs rarely need. Beside a program
     * that computes, two members share a CPU: a region took 4.3 us with 128, 2.3 with 48, 1.9 with 32 and 1.5 with 16,
     * libgomp 2.6; on CPUs of their own 0.39, 0.37, 0.40 and 0.57, measured. */
    ABTI_THRIFT_LOOKS_AT_FIRST = 32,
    /* A sleep that was shorter, its wake included, would better have been looks: the crowd looks as long as at first
     * next time. With 150 us in place of that the program above took 0.5 to 0.9 s, on a busy machine. */
    ABTI_THRIFT_SHORT_NS = 1000000,
    /*
     * Once in that number of wakes a crowd that finds nothing looks as long as at first, in case its threads were kept
     * from running, or one was late. Without this two threads took 12 us in place of 0.18, as above. Barriers of 4 and
     * of 8 native threads on two CPUs took the same time, within 10 %, with 16, 128 and 1024; one of two threads that
     * share a CPU takes 1.63 us with 128, and 1.50 with 512 and with 1024, measured.
     */
    ABTI_THRIFT_AGAIN = 512,
    /* The most that a crowd learns to save, in powers of two: from 16384 looks down to 4. Two threads on a busy machine
     * took 1.15 times the CPU time with 6, measured. */
    ABTI_THRIFT_MOST = 12,
    /* How often a crowd of more threads than CPUs gives way. With it 64 threads take 0.46 to 0.58 of the time of
     * pthread_barrier on two CPUs, and 256 threads 0.52 to 0.58, measured. Without, 4 threads take 21 times as long, 16
     * threads 5.1 times and 64 threads 3.4 times, at real-time priority. */
    ABTI_THRIFT_YIELDS = 4,
    /* A yield returns at once where no other thread wants this CPU, while the thread that is waited for runs on another
     * one. So the crowd also gives way for at least that long, at first: about what a wake by the system takes. Without
     * it barriers of 3 and of 4 threads on two CPUs took 33 and 24 us in place of 0.9 and 1.6, and twice to 15 times
     * the CPU time, measured. */
    ABTI_THRIFT_YIELD_LEAST_NS = 20000,
    /* Only yields that took less than this count there: no other thread wanted the CPU. While others use it, the crowd
     * goes on to give way. Regions of 16 members that share 100 us of work, each bound to one of two CPUs, took 0.63 of
     * the time of one thread in place of 1.1, since members that were done first slept and had to be woken. A thread
     * that finds its CPU idle sleeps soon, so that the system moves others to it: when all yields counted up to 400
     * us, regions of 4 members that are not bound and share 1 ms of work took 78 % in half of the runs, in place of
     * 56, measured. */
    ABTI_THRIFT_YIELD_ALONE_NS = 2000,
    /* How long the crowd may take for that: a fixed part, below a time slice, which is 700 us or more, and as much as
     * its own threads run until it is the caller's turn again, at 10 us each. Without a limit 4 threads on one CPU
     * beside one that computes met 950 times in 2 s in place of 48,000, measured. With 1 ms for any number 256 threads
     * took 1.07 times as long, and 500 threads 2.4 times; the two numbers were chosen. */
    ABTI_THRIFT_YIELD_NS = 400000,
    ABTI_THRIFT_YIELD_EACH_NS = 10000,
    /* After more than that, the waits of some meetings begin with sleep, twice as many each time. Beside one or two
     * threads that compute, 4 to 256 threads then meet 0.9 to 1.3 times as often as if they never gave way, measured.
     * With 256 each time, 4 threads beside one that computes took 1.6 times as long on one CPU; with 1024, 64 threads
     * that sometimes lost a CPU 2.3 times. The two numbers were chosen. */
    ABTI_THRIFT_LEAST_MEETINGS = 16,
    ABTI_THRIFT_MOST_MEETINGS = 4096,
    /* More threads than that count as that number, so that no product overflows. */
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
    uint64_t least_ns; /* more yields than that, while those that returned at once have taken less, all together */
    uint64_t limit_ns; /* of all yields together */
    uint32_t level;    /* what the crowd had learnt when the wait began */
};

/* Allows looks to a crowd that can run at once. `wakes` counts the wakes of the crowd. */
struct abti_thrift_leave abti_thrift_allow_looks(struct abti_thrift *thrift, uint32_t wakes);

/*
 * Tells that the looks, which were allowed when the crowd had learnt `level`, have not failed; or, if they do not pay,
 * that another program had the CPU for long meanwhile.
 */
void abti_thrift_learn_looks(struct abti_thrift *thrift, uint32_t level, bool pays);

/* Tells that they have failed, and how long the thread slept then. */
void abti_thrift_learn_sleep(struct abti_thrift *thrift, uint32_t level, uint64_t slept_ns);

/*
 * Allows yields to a crowd of `num` threads, which are too many for the CPUs. `cpus` may be 0, when it is not known.
 * `wakes` as above.
 */
struct abti_thrift_leave abti_thrift_allow_yields(struct abti_thrift *thrift, uint32_t wakes, uint32_t num,
                                                  uint32_t cpus);

/* Tells that the yields which were allowed, some at least, have ended, and how long they took. */
void abti_thrift_learn_yields(struct abti_thrift *thrift, struct abti_thrift_leave leave, uint32_t num, bool woken,
                              uint64_t took_ns);

#endif
