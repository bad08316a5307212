/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams without pools, for models of what a stream calls beside its units and in place of sleep: idle/idle.c,
 * idle/driver.c and idle/leader.c with stream/park.c, stream/events.c and wait/sleeper.c as they are.
 * The descriptor that a stream is woken by orders nothing here. Memory is not used again, and is written over when it
 * is freed.
 */
#ifndef MODEL_IDLE_H
#define MODEL_IDLE_H

#include "units.h"
#include "rt/self.c"
#include "run/cancel.c"
#include <stdlib.h>

static void *model_calloc(size_t num, size_t size);
static void model_free(void *memory);
#define calloc(num, size) model_calloc(num, size)
#define free(memory) model_free(memory)
#include "idle/driver.c"
#include "idle/idle.c"
#include "idle/leader.c"
#undef calloc
#undef free
#include "run/sched.c"
#include "stream/events.c"
#include "stream/park.c"
#include "wait/sleeper.c"
#include "wait/word.c"

enum { STREAMS = 2 };
static struct abti_idle idles[STREAMS];
static struct abti_timers timers; /* there are none */
static struct ABT_sched_opaque scheds[STREAMS];

/* --- Memory that is not used again --- */

enum { CALLEES = 8 };
static struct abti_callee callees[CALLEES];
static _Atomic(int) num_callees;

static void *model_calloc(size_t num, size_t size)
{
    model_assert(num * size <= sizeof callees[0]);
    return &callees[atomic_fetch_add_explicit(&num_callees, 1, memory_order_relaxed)];
}

static void model_free(void *memory)
{
    if (memory)
        *(struct abti_callee *)memory = (struct abti_callee){.removed = true};
}

/* --- Descriptors --- */

enum { FDS = 4 };
static struct {
    _Atomic(uint32_t) signals;
    _Atomic(uint32_t) is_open;
} fds[FDS];
static _Atomic(int) num_fds;

int abti_wakefd_open(struct abti_wakefd *w)
{
    int fd = atomic_fetch_add_explicit(&num_fds, 1, memory_order_relaxed);
    *w = (struct abti_wakefd){fd, fd};
    atomic_store_explicit(&fds[fd].is_open, 1, memory_order_relaxed);
    return 0;
}

/* A read-modify-write, which sees the last value. */
static bool is_open(int fd)
{
    return atomic_fetch_or_explicit(&fds[fd].is_open, 0, memory_order_relaxed);
}

void abti_wakefd_close(struct abti_wakefd *w)
{
    model_assert(is_open(w->signal_fd));
    atomic_store_explicit(&fds[w->signal_fd].is_open, 0, memory_order_relaxed);
}

void abti_wakefd_signal(int fd)
{
    model_linger(10);
    model_assert(is_open(fd));
    atomic_fetch_add_explicit(&fds[fd].signals, 1, memory_order_relaxed);
    abti_futex_wake_all((uint32_t *)&fds[fd].signals);
}

uint64_t abti_wakefd_drain(struct abti_wakefd *w)
{
    return atomic_exchange_explicit(&fds[w->wait_fd].signals, 0, memory_order_relaxed);
}

void abti_wakefd_wait(struct abti_wakefd *w, int milliseconds)
{
    _Atomic(uint32_t) *mine = &fds[w->wait_fd].signals;
    while (atomic_load_explicit(mine, memory_order_relaxed) == 0)
        abti_futex_wait((uint32_t *)mine, 0, ABTI_CLOCK_NEVER);
}

/* --- A stream without pools --- */

static void reset(void)
{
    model_reset();
    timers = (struct abti_timers){.next = ABTI_CLOCK_NEVER};
    for (int i = 0; i < STREAMS; i++) {
        idles[i] = (struct abti_idle){.period_ns = ABTI_CLOCK_NEVER};
        scheds[i] = (struct ABT_sched_opaque){.es = &model_es[i], .use = ABTI_SCHED_MAIN};
        model_es[i].timers = &timers;
        model_es[i].idle = &idles[i];
    }
    num_callees = 0;
    memset(callees, 0, sizeof callees);
    num_fds = 0;
    memset(fds, 0, sizeof fds);
}

/* What a scheduler does that never finds a unit, until it is to stop. False: it is. */
static bool run_once(abti_es *es)
{
    abti_sched *sched = &scheds[es - model_es];
    struct abti_park_set none = {.num = 0};
    abti_es_check_events(es, sched);
    if (abti_sched_has_to_stop(sched))
        return false;
    abti_es_park_on(es, sched, &none, ABTI_CLOCK_NEVER);
    return true;
}

static void stop(int stream)
{
    abti_sched_request(&scheds[stream], ABTI_SCHED_REQ_EXIT);
}

int abti_yield_slow(abti_es *es, ABT_pool_context context)
{
    (void)es, (void)context;
    abort(); /* nobody here is a ULT that may yield */
}

#endif
