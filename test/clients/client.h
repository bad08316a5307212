/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs in the style of real clients share: a watchdog and the size of a run. ABT_TEST_STREAMS says how
 * many execution streams there are besides the primary one.
 */
#ifndef TEST_CLIENTS_CLIENT_H
#define TEST_CLIENTS_CLIENT_H

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "must.h"
#include "watchdog.h"

enum { MAX_STREAMS = 64 };

/* First of all. */
static inline void client_begin(void)
{
    watchdog_begin(0);
}

static inline int client_streams(void)
{
    const char *text = getenv("ABT_TEST_STREAMS");
    int num = text && *text ? atoi(text) : 4;

    return num < 1 ? 1 : num > MAX_STREAMS ? MAX_STREAMS : num;
}

static inline void nap_us(long us)
{
    struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    nanosleep(&ts, NULL);
}

/* Of the CPU time that a native thread has used. */
static inline clockid_t cpu_clock_of(pthread_t thread)
{
    clockid_t clock;

    must(pthread_getcpuclockid(thread, &clock));
    return clock;
}

static inline size_t size_of(ABT_pool pool)
{
    size_t size;

    must(ABT_pool_get_size(pool, &size));
    return size;
}

static inline size_t total_size_of(ABT_pool pool)
{
    size_t size;

    must(ABT_pool_get_total_size(pool, &size));
    return size;
}

/* soon(cond): it becomes true before long. ULTs yield meanwhile. */
#define soon(cond)                                                                                                     \
    ({                                                                                                                 \
        bool is_met;                                                                                                   \
        for (double end = now() + 60; !(is_met = (cond)) && now() < end; nap_us(100))                                  \
            client_yield();                                                                                            \
        is_met;                                                                                                        \
    })

static inline void client_yield(void)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;

    if (ABT_self_get_type(&type) == ABT_SUCCESS && type == ABT_UNIT_TYPE_THREAD)
        must(ABT_thread_yield());
}

/* The pool gets to that total size, and nobody in it is ready then: all are blocked. */
static inline bool settles_at(ABT_pool pool, size_t total)
{
    bool is_met = soon(total_size_of(pool) == total && size_of(pool) == 0);

    if (!is_met)
        diag("total size %zu, size %zu", total_size_of(pool), size_of(pool));
    return is_met;
}

#endif
