/*
 * The kinds of callers that a public function may have, for tests that try each of them. The ULTs and tasklets run on an
 * execution stream of their own, so that the primary ULT may wait for what they do in any way it likes.
 */
#ifndef TEST_CALLERS_H
#define TEST_CALLERS_H

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "abt.h"
#include "tap.h"

#ifdef ABT_ENABLE_VER_20_API
enum { VER20 = 1 };
#else
enum { VER20 = 0 };
#endif

enum caller { PRIMARY, SECONDARY, TASKLET, EXTERNAL, NUM_CALLERS };

static const char *const caller_names[NUM_CALLERS] = {"primary ULT", "secondary ULT", "tasklet", "external thread"};

/* The stream that ULTs and tasklets run on. */
static ABT_xstream caller_es;

/* One activity that is not the primary ULT. */
struct activity {
    enum caller kind;
    ABT_thread unit;
    pthread_t thread;
    void (*func)(void *);
    void *arg;
};

static inline void callers_init(void)
{
    if (ABT_init(0, NULL) || ABT_xstream_create(ABT_SCHED_NULL, &caller_es))
        bail_out("no execution stream");
}

static inline void callers_fini(void)
{
    ok_abt(ABT_xstream_join(caller_es));
    ok_abt(ABT_xstream_free(&caller_es));
    ok_abt(ABT_finalize());
}

static inline void *activity_main(void *arg)
{
    struct activity *a = arg;
    a->func(a->arg);
    return NULL;
}

/* Starts func(arg) on an execution stream; EXTERNAL on a thread of its own. */
static inline void start_on(struct activity *a, enum caller kind, ABT_xstream es, void (*func)(void *), void *arg)
{
    int code = ABT_SUCCESS;

    *a = (struct activity){.kind = kind, .func = func, .arg = arg};
    if (kind == TASKLET)
        code = ABT_task_create_on_xstream(es, func, arg, &a->unit);
    else if (kind == SECONDARY)
        code = ABT_thread_create_on_xstream(es, func, arg, ABT_THREAD_ATTR_NULL, &a->unit);
    else
        code = pthread_create(&a->thread, NULL, activity_main, a);
    if (code)
        bail_out("no %s: %d", caller_names[kind], code);
}

static inline void start(struct activity *a, enum caller kind, void (*func)(void *), void *arg)
{
    start_on(a, kind, caller_es, func, arg);
}

static inline void finish(struct activity *a)
{
    int code = a->kind == EXTERNAL ? pthread_join(a->thread, NULL) : ABT_thread_free(&a->unit);

    if (code)
        bail_out("%s cannot be joined: %d", caller_names[a->kind], code);
}

/* func(arg) by a caller of that kind, to its end. */
static inline void run_as(enum caller kind, void (*func)(void *), void *arg)
{
    struct activity a;

    if (kind == PRIMARY) {
        func(arg);
        return;
    }
    start(&a, kind, func, arg);
    finish(&a);
}

/* Is this caller refused by functions that wait? */
static inline bool may_not_wait(enum caller kind)
{
    return kind == TASKLET && !VER20;
}

/* Lets others run; any caller. */
static inline void pause_caller(void)
{
    struct timespec ts = {.tv_nsec = 200000};

    if (ABT_self_yield() != ABT_SUCCESS)
        nanosleep(&ts, NULL);
    else
        sched_yield();
}

static inline void wait_until_is(atomic_int *word, int value)
{
    while (atomic_load(word) != value)
        pause_caller();
}

/* Waits until a ULT is blocked; for the others, long enough for them to sleep. */
static inline void wait_until_blocked(struct activity *a)
{
    struct timespec ts = {.tv_nsec = 20000000};
    ABT_thread_state state = ABT_THREAD_STATE_READY;

    if (a->kind != SECONDARY) {
        nanosleep(&ts, NULL);
        return;
    }
    while (state != ABT_THREAD_STATE_BLOCKED) {
        if (ABT_thread_get_state(a->unit, &state))
            bail_out("no state");
        pause_caller();
    }
}

/* A point in time on the scale of timed waits. */
static inline struct timespec after_ms(long ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += ms % 1000 * 1000000;
    ts.tv_sec += ms / 1000 + ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

/* Any value that no function stores, to see that an out-parameter was left alone. */
#define UNTOUCHED ((void *)(uintptr_t)0x1230)

#endif
