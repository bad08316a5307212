/* SPDX-License-Identifier: BSD-3-Clause */
/* ults.c over GLT. */
#ifndef ABT_TEST_BENCH_ULTS_GLT_H
#define ABT_TEST_BENCH_ULTS_GLT_H

#include <glt.h>
#include <stdio.h>
#include <stdlib.h>

typedef GLT_ult ult_t;

static inline void ult_init(int streams)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", streams);
    setenv("GLT_NUM_THREADS", text, 1);
    glt_init(0, NULL);
}

static inline void ult_fini(void)
{
    glt_finalize();
}

static inline void ult_create(ult_t *ult, void (*func)(void *), void *arg)
{
    glt_ult_create(func, arg, ult);
}

static inline void ult_create_on(ult_t *ult, void (*func)(void *), void *arg, int stream)
{
    glt_ult_create_to(func, arg, ult, stream);
}
#define ult_create_to ult_create_on

static inline void ult_join(ult_t *ult)
{
    glt_ult_join(ult);
}

static inline void ult_yield(void)
{
    glt_yield();
}

typedef GLT_mutex ult_mutex_t;

static inline void ult_mutex_init(ult_mutex_t *mutex)
{
    glt_mutex_create(mutex);
}

static inline void ult_mutex_lock(ult_mutex_t *mutex)
{
    glt_mutex_lock(*mutex);
}

static inline void ult_mutex_unlock(ult_mutex_t *mutex)
{
    glt_mutex_unlock(*mutex);
}

/* Set and taken in turns. */
typedef struct {
    GLT_mutex mutex;
    GLT_cond cond;
    int is_set;
} ult_event_t;

static inline void ult_event_init(ult_event_t *event)
{
    glt_mutex_create(&event->mutex);
    glt_cond_create(&event->cond);
    event->is_set = 0;
}

static inline void ult_event_set(ult_event_t *event)
{
    glt_mutex_lock(event->mutex);
    event->is_set = 1;
    glt_cond_signal(event->cond);
    glt_mutex_unlock(event->mutex);
}

static inline void ult_event_take(ult_event_t *event)
{
    glt_mutex_lock(event->mutex);
    while (!event->is_set)
        glt_cond_wait(event->cond, event->mutex);
    event->is_set = 0;
    glt_mutex_unlock(event->mutex);
}

#endif
