/* SPDX-License-Identifier: BSD-3-Clause */
/* ults.c over MassiveThreads. */
#ifndef ABT_TEST_BENCH_ULTS_MASSIVETHREADS_H
#define ABT_TEST_BENCH_ULTS_MASSIVETHREADS_H

#include <myth/myth.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void (*func)(void *);
    void *arg;
    myth_thread_t thread;
} ult_t;

static inline void ult_init(int streams)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", streams);
    setenv("MYTH_NUM_WORKERS", text, 1);
    myth_init();
}

static inline void ult_fini(void)
{
    myth_fini();
}

static void *ult_start(void *arg)
{
    ult_t *ult = arg;
    ult->func(ult->arg);
    return NULL;
}

static inline void ult_create(ult_t *ult, void (*func)(void *), void *arg)
{
    ult->func = func;
    ult->arg = arg;
    ult->thread = myth_create(ult_start, ult);
}

static inline void ult_join(ult_t *ult)
{
    myth_join(ult->thread, NULL);
}

static inline void ult_yield(void)
{
    myth_yield();
}

typedef myth_mutex_t ult_mutex_t;

static inline void ult_mutex_init(ult_mutex_t *mutex)
{
    myth_mutex_init(mutex, NULL);
}

static inline void ult_mutex_lock(ult_mutex_t *mutex)
{
    myth_mutex_lock(mutex);
}

static inline void ult_mutex_unlock(ult_mutex_t *mutex)
{
    myth_mutex_unlock(mutex);
}

typedef struct {
    myth_mutex_t mutex;
    myth_cond_t cond;
    int is_set;
} ult_event_t;

static inline void ult_event_init(ult_event_t *event)
{
    myth_mutex_init(&event->mutex, NULL);
    myth_cond_init(&event->cond, NULL);
    event->is_set = 0;
}

static inline void ult_event_set(ult_event_t *event)
{
    myth_mutex_lock(&event->mutex);
    event->is_set = 1;
    myth_cond_signal(&event->cond);
    myth_mutex_unlock(&event->mutex);
}

static inline void ult_event_take(ult_event_t *event)
{
    myth_mutex_lock(&event->mutex);
    while (!event->is_set)
        myth_cond_wait(&event->cond, &event->mutex);
    event->is_set = 0;
    myth_mutex_unlock(&event->mutex);
}

#endif
