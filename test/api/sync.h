/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of synchronisation objects share: callers that wait while the primary ULT goes on. */
#ifndef TEST_API_SYNC_H
#define TEST_API_SYNC_H

#include "common.h"

/* A stream for those who block theirs, and for ULTs that run beside the primary one. */
static ABT_xstream other_es;

static inline void sync_init(void)
{
    must(ABT_init(0, NULL));
    other_es = new_xstream();
}

static inline void sync_fini(void)
{
    must(ABT_xstream_free(&other_es));
    must(ABT_finalize());
}

/* A caller at work. Tasklets run on the other stream. */
struct activity {
    enum caller who;
    ABT_thread unit;
    pthread_t native;
    void (*func)(void *);
    void *arg;
    atomic_bool done;
};

static inline void activity_main(void *arg)
{
    struct activity *a = arg;

    a->func(a->arg);
    atomic_store(&a->done, true);
}

static inline void *activity_native(void *arg)
{
    activity_main(arg);
    return NULL;
}

static inline void start_in(struct activity *a, enum caller who, ABT_xstream es, void (*func)(void *), void *arg)
{
    a->who = who;
    a->func = func;
    a->arg = arg;
    atomic_store(&a->done, false);
    if (who == EXTERNAL)
        must(pthread_create(&a->native, NULL, activity_native, a));
    else if (who == TASKLET)
        must(ABT_task_create_on_xstream(es, activity_main, a, &a->unit));
    else
        must(ABT_thread_create_on_xstream(es, activity_main, a, ABT_THREAD_ATTR_NULL, &a->unit));
}

static inline void start(struct activity *a, enum caller who, void (*func)(void *), void *arg)
{
    start_in(a, who, who == PLAIN_ULT ? own_xstream() : other_es, func, arg);
}

static inline void finish(struct activity *a)
{
    wait_for(atomic_load(&a->done));
    if (a->who == EXTERNAL)
        must(pthread_join(a->native, NULL));
    else
        must(ABT_thread_free(&a->unit));
}

/* Until a ULT is blocked; for the others, who are not seen to sleep, a moment that suffices. */
static inline void wait_until_asleep(struct activity *a)
{
    if (is_ult(a->who))
        wait_for(state_of(a->unit) == ABT_THREAD_STATE_BLOCKED);
    else
        nap_ms(20);
}

/* In 1.x tasklets may wait for mutexes only, and are told so unless there are no checks. */
static inline bool may_wait(enum caller who)
{
    return who != TASKLET || ver20 || ABT_NULL;
}

/* A point in time for timed waits. */
static inline struct timespec in_ms(long ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_nsec -= 1000000000;
        ts.tv_sec++;
    }
    return ts;
}

#endif
