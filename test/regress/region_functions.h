/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of functions for region_functions.c: ROW(name, call) says how a function is called, and gives its code. Whoever
 * calls finds the world of test/errors, and leaves it as it is.
 */
#ifndef TEST_REGRESS_REGION_FUNCTIONS_H
#define TEST_REGRESS_REGION_FUNCTIONS_H

#include "../errors/world.h"

struct row {
    const char *name;
    int (*call)(void);
    void *function; /* in place of `call`: what is called with a null handle */
    struct row *next;
};

static struct row *first_row, **last_row = &first_row;

#define ROW(name, ...)                                                                                                 \
    static int call_##name(void)                                                                                       \
    {                                                                                                                  \
        return (__VA_ARGS__);                                                                                          \
    }                                                                                                                  \
    __attribute__((constructor)) static void add_##name(void)                                                          \
    {                                                                                                                  \
        static struct row row = {#name, call_##name, NULL, NULL};                                                      \
        *last_row = &row;                                                                                              \
        last_row = &row.next;                                                                                          \
    }                                                                                                                  \
    struct row

/* Room for an answer that nobody looks at. */
#define OUT(type) (&(type){0})

/* The code of a call, after which something is to be done. */
#define THEN(call, ...)                                                                                                \
    ({                                                                                                                 \
        int then_code = (call);                                                                                        \
        __VA_ARGS__;                                                                                                   \
        then_code;                                                                                                     \
    })

/* The same with a handle `h` that is made before. */
#define WITH(type, make, call, ...)                                                                                    \
    ({                                                                                                                 \
        type h = (type)0;                                                                                              \
        must(make);                                                                                                    \
        THEN(call, __VA_ARGS__);                                                                                       \
    })

static inline FILE *nowhere(void)
{
    static FILE *file;
    return file ? file : (file = fopen("/dev/null", "w"));
}

/* Something that another stream does a moment later. */
static inline void later(void (*func)(void *), void *arg)
{
    must(ABT_thread_create(world.worker_pool, func, arg, ABT_THREAD_ATTR_NULL, NULL));
}

static inline struct timespec a_minute_on(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 60;
    return time;
}

/* A ULT or a tasklet of the worker's that takes a moment. */
static inline void take_a_moment(void *unused)
{
    nap_ms(1);
}

static inline ABT_thread a_ult(void)
{
    return ult_in(world.worker_pool, take_a_moment, NULL);
}

static inline ABT_task a_task(void)
{
    return task_in(world.worker_pool, take_a_moment, NULL);
}

static inline ABT_thread an_ended_ult(void)
{
    ABT_thread thread = a_ult();
    must(ABT_thread_join(thread));
    return thread;
}

/* A pool with a ULT in it, which the caller frees by empty_and_free. */
static inline ABT_pool pool_with_one(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
    return pool;
}

static inline void empty_and_free(ABT_pool *pool)
{
    empty_pool(*pool);
    must(ABT_pool_free(pool));
}

#endif
