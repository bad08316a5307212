/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks of the part that is measured, for the simulator (test/tools/cores.c), and the time of it. */
#ifndef ABT_TEST_BENCH_CORES_MARKS_H
#define ABT_TEST_BENCH_CORES_MARKS_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MARK = 0x5EED };

static struct timespec begun;

/* For programs that have a clock of their own. The system knows no such call. */
static inline void mark_begin(void)
{
    syscall(MARK, 0);
}

static inline void mark_end(double operations)
{
    syscall(MARK, 1, (long)operations);
}

static inline void begin(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begun);
    mark_begin();
}

static inline void end(const char *work, long threads, double operations)
{
    struct timespec now;
    mark_end(operations);
    clock_gettime(CLOCK_MONOTONIC, &now);
    double ns = (double)(now.tv_sec - begun.tv_sec) * 1e9 + (double)(now.tv_nsec - begun.tv_nsec);
    printf("%s %ld %.2f ns\n", work, threads, ns / operations);
    fflush(stdout);
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until so many are here. They spin. */
static inline void meet(long num)
{
    static _Alignas(128) _Atomic(long) arrivals;
    long round = atomic_fetch_add(&arrivals, 1) / num;
    while (atomic_load(&arrivals) < (round + 1) * num)
        relax();
}

#endif
