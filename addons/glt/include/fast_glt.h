/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of the functions of glt.h, which includes this file with FASTGLT. libglt.so is made of the same ones. The
 * files of a program that include it share one team.
 *
 * A function that succeeds costs two instructions more than the call below it: the test of its code. Hence the table of
 * pools by thread: any number of a thread leads to a pool, without a test or a division.
 */
#ifndef FAST_GLT_H_INCLUDED
#define FAST_GLT_H_INCLUDED

#include <glt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GLT_MAX_THREADS = 1024 };

struct glt_state {
    glt_team_t team;
    GLT_pool pool_of[GLT_MAX_THREADS]; /* of the thread of that number; entries beyond the threads count on */
};

/* Weak, so that each file may define it, and hidden, so that the team of libglt.so or of a plugin is another one. */
extern struct glt_state glt_state;
__attribute__((weak, visibility("hidden"))) struct glt_state glt_state;

/* ---- Errors -------------------------------------------------------------------------------------------------------
 */

__attribute__((cold, noinline, unused)) static void glt_fail(const char *function, const char *why, int code)
{
    const char *errors = getenv("GLT_ERRORS");

    if (errors != NULL && strcmp(errors, "ignore") == 0)
        return;
    fprintf(stderr, "GLT: %s: %s (%d)\n", function, why, code);
    abort();
}

/* Codes of the library below; 0 is success. */
__attribute__((cold, noinline, unused)) static void glt_fail_by_code(const char *function, int code)
{
    char why[128];

    glt_get_error_str(code, why, NULL);
    glt_fail(function, why, code);
}

#define GLT_CHECK(call)                                                                                                \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (__builtin_expect(code_ != 0, 0))                                                                           \
            glt_fail_by_code(__func__, code_);                                                                         \
    } while (0)

/* ---- The team -----------------------------------------------------------------------------------------------------
 */

/* The value of a variable, which is 1 to max, or what stands for a missing one. */
__attribute__((unused)) static int glt_read_number(const char *name, int missing, int max)
{
    const char *text = getenv(name);
    char *end;

    if (text == NULL || *text == '\0')
        return missing;
    long number = strtol(text, &end, 10);
    if (*end == '\0' && number >= 1 && number <= max)
        return (int)number;
    fprintf(stderr, "GLT: %s=%s is not a number from 1 to %d\n", name, text, max);
    glt_fail("glt_init", "a variable has a wrong value", 0);
    return missing;
}

/* Reads the environment, and makes room for the handles of the team. */
__attribute__((unused)) static void glt_make_team(int processors)
{
    glt_team_t *team = &glt_state.team;

    if (processors < 1 || processors > GLT_MAX_THREADS)
        processors = processors < 1 ? 1 : GLT_MAX_THREADS;
    team->num_xstreams = glt_read_number("GLT_NUM_THREADS", processors, GLT_MAX_THREADS);
    team->num_pools = glt_read_number("GLT_NUM_POOLS", team->num_xstreams, team->num_xstreams);
    team->team = (GLT_thread *)calloc((size_t)team->num_xstreams, sizeof(*team->team));
    team->pools = (GLT_pool *)calloc((size_t)team->num_pools, sizeof(*team->pools));
    if (team->team == NULL || team->pools == NULL) {
        fputs("GLT: glt_init: out of memory\n", stderr);
        abort();
    }
}

/* Enters the pools of the team into the table: those of its threads, and then what is there again and again. */
__attribute__((unused)) static void glt_enter_pools(void)
{
    glt_team_t *team = &glt_state.team;
    size_t number = 0, more;

    for (; number < (size_t)team->num_xstreams; number++)
        glt_state.pool_of[number] = team->pools[number % (size_t)team->num_pools];
    for (; number < GLT_MAX_THREADS; number += more) {
        more = number < GLT_MAX_THREADS - number ? number : GLT_MAX_THREADS - number;
        memcpy(&glt_state.pool_of[number], glt_state.pool_of, more * sizeof(GLT_pool));
    }
}

__attribute__((unused)) static void glt_free_team(void)
{
    free(glt_state.team.team);
    free(glt_state.team.pools);
    memset(&glt_state, 0, sizeof(glt_state));
}

/* The pool of a thread. The mask keeps any number within the table. */
__attribute__((unused)) static inline GLT_pool glt_pool_of(int thread)
{
    return glt_state.pool_of[(unsigned)thread % GLT_MAX_THREADS];
}

GLT_API int glt_get_num_threads(void)
{
    return glt_state.team.num_xstreams;
}

GLT_API glt_team_t *glt_get_team(void)
{
    return &glt_state.team;
}

GLT_API void glt_workunit_get_thread_id(int *id)
{
    *id = glt_get_thread_num();
}

GLT_API void glt_start(void)
{
}

GLT_API void glt_end(void)
{
}

/* ---- What all libraries below have in common ----------------------------------------------------------------------
 */

GLT_API int glt_can_event_functions(void)
{
    return 0;
}

GLT_API int glt_can_malleability(void)
{
    return 0;
}

GLT_API void glt_thread_enable(void)
{
}

GLT_API void glt_thread_enable_id(int id)
{
    (void)id;
}

GLT_API void glt_thread_disable(void)
{
}

GLT_API void glt_thread_disable_id(int id)
{
    (void)id;
}

/* Says once that something does not exist here. */
__attribute__((cold, noinline, unused)) static void glt_say_missing(const char *what, unsigned char *said)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) /* one line, whoever comes first; it orders nothing */
        fprintf(stderr, "GLT: there are no %s here; calls of them do nothing\n", what);
}

extern unsigned char glt_said_no_events;
__attribute__((weak, visibility("hidden"))) unsigned char glt_said_no_events;

GLT_API void glt_event_add_callbac(GLT_event_kind kind, GLT_event_cb_fn ask, void *ask_arg, GLT_event_cb_fn act,
                                   void *act_arg, int *id)
{
    (void)kind;
    (void)ask;
    (void)ask_arg;
    (void)act;
    (void)act_arg;
    glt_say_missing("events", &glt_said_no_events);
    if (id != NULL)
        *id = -1;
}

GLT_API void glt_event_del_callback(GLT_event_kind kind, int id)
{
    (void)kind;
    (void)id;
    glt_say_missing("events", &glt_said_no_events);
}

/* A null pointer, as a result of its own: what calls this at its end has nothing to keep on its stack. */
__attribute__((cold, noinline, unused)) static void *glt_fail_without_memory(const char *function, int number)
{
    glt_fail(function, "out of memory", number);
    return NULL;
}

/* A negative number is a size that no memory has. */
GLT_API GLT_ult *glt_ult_malloc(int number)
{
    GLT_ult *ults = (GLT_ult *)malloc((size_t)number * sizeof(GLT_ult));

    if (__builtin_expect(ults == NULL && number != 0, 0))
        return (GLT_ult *)glt_fail_without_memory(__func__, number);
    return ults;
}

GLT_API GLT_tasklet *glt_tasklet_malloc(int number)
{
    GLT_tasklet *tasklets = (GLT_tasklet *)malloc((size_t)number * sizeof(GLT_tasklet));

    if (__builtin_expect(tasklets == NULL && number != 0, 0))
        return (GLT_tasklet *)glt_fail_without_memory(__func__, number);
    return tasklets;
}

GLT_API void glt_ult_free(GLT_ult *ult)
{
    if (*ult != GLT_ULT_NULL)
        glt_ult_join(ult);
}

GLT_API void glt_tasklet_free(GLT_tasklet *tasklet)
{
    if (*tasklet != GLT_TASKLET_NULL)
        glt_tasklet_join(tasklet);
}

#if defined(GLT_QTHREADS)
#include <glt/qthreads_bodies.h>
#include <glt/generic_bodies.h>
#elif defined(GLT_MASSIVETHREADS)
#include <glt/massivethreads_bodies.h>
#include <glt/generic_bodies.h>
#else
#include <glt/libabt_bodies.h>
#endif

#ifdef __cplusplus
}
#endif

#endif
