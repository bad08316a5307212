/* SPDX-License-Identifier: BSD-3-Clause */
/* ults.c over Qthreads. */
#ifndef ABT_TEST_BENCH_ULTS_QTHREADS_H
#define ABT_TEST_BENCH_ULTS_QTHREADS_H

#include <qthread/qthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void (*func)(void *);
    void *arg;
    aligned_t ended;
} ult_t;

static inline void ult_init(int streams)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", streams);
    /* A shepherd a stream, with one worker: a number of workers alone puts all of them into one shepherd. */
    unsetenv("QTHREAD_HWPAR");
    unsetenv("QT_HWPAR");
    setenv("QTHREAD_NUM_SHEPHERDS", text, 1);
    setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    if (qthread_initialize() != 0)
        exit(1);
}

static inline void ult_fini(void)
{
    qthread_finalize();
}

static aligned_t ult_start(void *arg)
{
    ult_t *ult = arg;
    ult->func(ult->arg);
    return 0;
}

static inline void ult_create(ult_t *ult, void (*func)(void *), void *arg)
{
    ult->func = func;
    ult->arg = arg;
    if (qthread_fork(ult_start, ult, &ult->ended) != 0)
        exit(1);
}

static inline void ult_create_on(ult_t *ult, void (*func)(void *), void *arg, int stream)
{
    ult->func = func;
    ult->arg = arg;
    if (qthread_fork_to(ult_start, ult, &ult->ended, (qthread_shepherd_id_t)stream) != 0)
        exit(1);
}
#define ult_create_to ult_create_on

static inline void ult_join(ult_t *ult)
{
    qthread_readFF(NULL, &ult->ended);
}

static inline void ult_yield(void)
{
    qthread_yield();
}

typedef aligned_t ult_mutex_t;

static inline void ult_mutex_init(ult_mutex_t *mutex)
{
    *mutex = 0;
    qthread_fill(mutex);
}

static inline void ult_mutex_lock(ult_mutex_t *mutex)
{
    qthread_lock(mutex);
}

static inline void ult_mutex_unlock(ult_mutex_t *mutex)
{
    qthread_unlock(mutex);
}

typedef aligned_t ult_event_t;

static inline void ult_event_init(ult_event_t *event)
{
    qthread_empty(event);
}

static inline void ult_event_set(ult_event_t *event)
{
    qthread_fill(event);
}

static inline void ult_event_take(ult_event_t *event)
{
    qthread_readFE(NULL, event);
}

#endif
