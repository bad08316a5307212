/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the public functions share: the kinds of caller, waiting with a limit, and small helpers. */
#ifndef TEST_API_COMMON_H
#define TEST_API_COMMON_H

#include <pthread.h>
#include <time.h>

#include "must.h"

/* Differences between the two versions of the API are tested as `ver20 ? this : that`. */
#ifdef ABT_ENABLE_VER_20_API
static const bool ver20 = true;
#else
static const bool ver20 = false;
#endif

/* A handle that points to nothing, to see whether a function stored into an out-parameter. */
#define UNTOUCHED(type) ((type)(uintptr_t)0x1000)

/* --- Waiting --- */

/* Lets others run: a ULT yields, and all give their CPU away for a moment. */
static inline void let_others_run(void)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;

    ABT_self_get_type(&type);
    if (type == ABT_UNIT_TYPE_THREAD)
        ABT_self_yield();
    nap_ms(0.02);
}

/* How many seconds are enough for anything, on a slow machine too: ABT_TEST_PATIENCE, or 60. */
static inline double patience(void)
{
    const char *text = getenv("ABT_TEST_PATIENCE");

    return text && *text ? strtod(text, NULL) : 60.0;
}

/* soon(cond): the condition becomes true before long. Nobody hangs here for ever. */
#define soon(cond)                                                                                                     \
    ({                                                                                                                 \
        double soon_end = now() + patience();                                                                          \
        bool soon_true;                                                                                                \
        while (!(soon_true = (cond)) && now() < soon_end)                                                              \
            let_others_run();                                                                                          \
        soon_true;                                                                                                     \
    })

/* wait_for(cond): the same for what the test needs. */
#define wait_for(cond)                                                                                                 \
    do {                                                                                                               \
        if (!soon(cond))                                                                                               \
            bail_out("%s:%d: waited in vain for %s", __FILE__, __LINE__, #cond);                                       \
    } while (0)

/* A unit that keeps its ES busy, once it is running, until it is told to stop. */
struct spinner {
    atomic_bool running, stop;
};

static inline void keep_spinning(void *arg)
{
    struct spinner *s = arg;

    atomic_store(&s->running, true);
    while (!atomic_load(&s->stop))
        ;
}

/* The ULTs of the caller's pool run until they have ended or wait for something, if nobody else is at it. */
static inline void yield_a_while(void)
{
    for (int i = 0; i < 100; i++)
        ABT_thread_yield();
}

/* --- Callers --- */

enum caller {
    PRIMARY_ULT,   /* main */
    PLAIN_ULT,     /* another ULT of the primary ES */
    SECONDARY_ULT, /* a ULT of a secondary ES */
    TASKLET,       /* of the primary ES */
    EXTERNAL,      /* a native thread that is no ES */
    NUM_CALLERS
};

static const char *const caller_names[] = {"primary ULT", "ULT", "ULT of a secondary ES", "tasklet", "external thread"};

static inline bool is_ult(enum caller who)
{
    return who == PRIMARY_ULT || who == PLAIN_ULT || who == SECONDARY_ULT;
}

/* What routines answer that ask for a caller which can yield; `code` for those that can. */
static inline int code_for_ult(enum caller who, int code)
{
    return who == EXTERNAL ? ABT_ERR_INV_XSTREAM : who == TASKLET ? ABT_ERR_INV_THREAD : code;
}

/* The same for those that ask for an ES. */
static inline int code_for_es(enum caller who, int code)
{
    return who == EXTERNAL ? ABT_ERR_INV_XSTREAM : code;
}

/* A build without checks refuses nothing: whoever may not call is left out there. */
static inline bool is_left_out(bool may_call)
{
    return ABT_NULL && !may_call;
}

struct call {
    void (*func)(enum caller who, void *arg);
    enum caller who;
    void *arg;
    atomic_bool done;
};

static inline void call_ult(void *arg)
{
    struct call *call = arg;

    call->func(call->who, call->arg);
    atomic_store(&call->done, true);
}

static inline void *call_external(void *arg)
{
    call_ult(arg);
    return NULL;
}

/* The first main pool of an ES. */
static inline ABT_pool pool_of(ABT_xstream xstream)
{
    ABT_pool pool = ABT_POOL_NULL;

    must(ABT_xstream_get_main_pools(xstream, 1, &pool));
    return pool;
}

static inline ABT_xstream own_xstream(void)
{
    ABT_xstream xstream = ABT_XSTREAM_NULL;

    must(ABT_self_get_xstream(&xstream));
    return xstream;
}

static inline ABT_pool own_pool(void)
{
    return pool_of(own_xstream());
}

/* Calls func(who, arg) from that kind of caller. The primary ULT goes on yielding until it has returned. */
static inline void call_as(enum caller who, void (*func)(enum caller who, void *arg), void *arg)
{
    struct call call = {.func = func, .who = who, .arg = arg};
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    ABT_thread thread = ABT_THREAD_NULL;
    pthread_t native;

    diag("as %s", caller_names[who]);
    switch (who) {
    case PLAIN_ULT: must(ABT_thread_create(own_pool(), call_ult, &call, ABT_THREAD_ATTR_NULL, &thread)); break;
    case SECONDARY_ULT:
        must(ABT_xstream_create(ABT_SCHED_NULL, &xstream));
        must(ABT_thread_create(pool_of(xstream), call_ult, &call, ABT_THREAD_ATTR_NULL, &thread));
        break;
    case TASKLET: must(ABT_task_create(own_pool(), call_ult, &call, &thread)); break;
    case EXTERNAL: must(pthread_create(&native, NULL, call_external, &call)); break;
    default: call_ult(&call); return;
    }
    wait_for(atomic_load(&call.done));
    if (who == EXTERNAL)
        pthread_join(native, NULL);
    else
        must(ABT_thread_free(&thread));
    if (who == SECONDARY_ULT)
        must(ABT_xstream_free(&xstream));
}

static inline void call_as_each(void (*func)(enum caller who, void *arg), void *arg)
{
    for (int who = 0; who < NUM_CALLERS; who++)
        call_as((enum caller)who, func, arg);
}

/* --- Work units --- */

static inline ABT_pool last_pool_of(ABT_thread thread)
{
    ABT_pool pool = ABT_POOL_NULL;

    must(ABT_thread_get_last_pool(thread, &pool));
    return pool;
}

static inline ABT_thread self(void)
{
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_self_get_thread(&thread));
    return thread;
}

static inline ABT_pool new_pool(ABT_pool_kind kind, ABT_bool automatic)
{
    ABT_pool pool = ABT_POOL_NULL;

    must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, automatic, &pool));
    return pool;
}

static inline size_t size_of(ABT_pool pool)
{
    size_t size = (size_t)-1;

    must(ABT_pool_get_size(pool, &size));
    return size;
}

static inline size_t total_size_of(ABT_pool pool)
{
    size_t size = (size_t)-1;

    must(ABT_pool_get_total_size(pool, &size));
    return size;
}

/* Takes the next unit out of a pool as a scheduler does, and runs it. False: there is none. */
static inline bool run_next(ABT_pool pool)
{
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_pool_pop_thread(pool, &thread));
    if (thread != ABT_THREAD_NULL)
        must(ABT_self_schedule(thread, ABT_POOL_NULL));
    return thread != ABT_THREAD_NULL;
}

static inline ABT_pool first_pool_of(ABT_sched sched)
{
    ABT_pool pool;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    return pool;
}

/* The end of a scheduler's turn: whether it is the last one. */
static inline bool is_last_turn(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;

    must(ABT_xstream_check_events(sched));
    must(ABT_sched_has_to_stop(sched, &stop));
    return stop;
}

/* What schedulers of the tests run: the units of their first pool. */
static inline void run_until_stop(ABT_sched sched)
{
    do
        run_next(first_pool_of(sched));
    while (!is_last_turn(sched));
}

/* Blocks until it is resumed. */
static inline void suspend_once(void *counter)
{
    ABT_self_suspend();
    if (counter)
        count_up(counter);
}

#endif
