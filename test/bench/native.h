/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native threads on a mutex, a cond and a barrier: the same work for any objects of that kind. Threads that are not
 * more than the cores get one each: left to the system, two often share a core, where they never meet.
 */
#ifndef ABT_TEST_BENCH_NATIVE_H
#define ABT_TEST_BENCH_NATIVE_H

#include <sched.h>

/* Binds the calling thread to the n-th of these cores. */
void native_stay_on_core(int n, const cpu_set_t *cores);

/* One kind of objects. */
struct native_kind {
    void (*lock)(void), (*unlock)(void);
    void (*wait)(void), (*signal)(void), (*broadcast)(void);
    void (*meet)(void);
};

/* pthread's. The barrier is for this many threads. */
extern const struct native_kind native_pthread;
void native_pthread_start(int threads);
void native_pthread_stop(void);

enum native_work {
    NATIVE_LOCKS,      /* lock, count, unlock */
    NATIVE_SIGNALS,    /* half of the threads make tokens and the others take them; alone, a thread does both */
    NATIVE_BROADCASTS, /* the last one to come wakes the others */
    NATIVE_MEETS,      /* a barrier */
};

/* Wall and CPU time of one operation in ns: so many threads do a total of so many. Ends the program on a wrong count.
 */
void native_measure(const struct native_kind *kind, enum native_work work, int threads, long total, double *wall,
                    double *cpu);

#endif
