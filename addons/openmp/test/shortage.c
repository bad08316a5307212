/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions in regions while the system gives no more threads: members that need not wait for each other all run, those
 * that wait go on as soon as there are threads, and the program ends with a message when that is never so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "modes.h"

enum { MEMBERS = 6, LONG_NS = 10000000, SHORTAGE_NS = 50000000 };

static int refused, is_short; /* how often; and whether there are no threads */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (__atomic_load_n(&is_short, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
        return EAGAIN;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, func, arg);
}

static void set_short(int value)
{
    __atomic_store_n(&is_short, value, __ATOMIC_RELEASE);
}

static void pass_time(long nanoseconds)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += nanoseconds;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* The outer threads, and the one that looks for long members, are made while there is no shortage. */
static void warm_up(void)
{
#pragma omp parallel num_threads(num_outer)
#pragma omp single
#pragma omp parallel num_threads(2)
    (void)omp_get_thread_num();
}

/* Each takes so long that the others are to get threads. */
static void take_long(void)
{
    int runs = 0, numbers = 0;
#pragma omp parallel num_threads(num_outer)
#pragma omp single
#pragma omp parallel num_threads(MEMBERS) reduction(+ : runs, numbers)
    {
        pass_time(LONG_NS);
        runs++;
        numbers += 1 << omp_get_thread_num();
    }
    check(runs == MEMBERS && numbers == (1 << MEMBERS) - 1, "members that take long run");
}

/* The first one waits for all others, and one that it waits for before them ends the shortage. */
static void meet(void)
{
    int ahead = 0, wrong = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            while (__atomic_load_n(&refused, __ATOMIC_RELAXED) < 3)
                sched_yield();
            pass_time(SHORTAGE_NS);
            set_short(0);
        } else {
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
            {
                for (int i = 1; i <= 3; i++) {
                    __atomic_fetch_add(&ahead, 1, __ATOMIC_RELAXED);
#pragma omp barrier
                    wrong += __atomic_load_n(&ahead, __ATOMIC_RELAXED) < i * MEMBERS;
#pragma omp barrier
                }
            }
        }
    }
    check(wrong == 0 && ahead == 3 * MEMBERS, "members that wait go on when there are threads");
}

static void shortage(void)
{
    warm_up();
    set_short(1);
    take_long();
    __atomic_store_n(&refused, 0, __ATOMIC_RELAXED);
    meet();
    set_short(1);
    take_long();
    set_short(0);
}

/* Nobody can go on. */
static void stay_short(void)
{
    warm_up();
    set_short(1);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp barrier
    }
}

static int stay_in_mode(void *arg)
{
    return run_mode("u", stay_short);
}

/* It ends with a message and a signal. */
static void end_stuck(void)
{
    char text[1000];
    int status = child_run(stay_in_mode, NULL, text, sizeof(text));
    ok(strstr(text, "libabtomp: the system gives no more threads") != NULL && status > 128,
       "a program of which no thread can go on ends with a message");
}

int main(void)
{
    if (is_emulated()) {
        is_int(run_mode("u", shortage), 0, "regions in regions while there are no threads");
        return done_testing();
    }
    run_in_child("u", shortage);
    end_stuck();
    return done_testing();
}
