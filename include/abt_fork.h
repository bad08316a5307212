/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fork and join at the price of a call. What is forked is a task: a function and its arguments, which are in the frame
 * of the forker. A task that nobody takes meanwhile is run by its forker when that joins it, at the price of a call;
 * one that a stream without work takes becomes an ordinary ULT there, and may do all that ULTs may.
 *
 *   ABTX_TASK(long, fib, (int, n))
 *   {
 *       if (n < 2)
 *           return n;
 *       ABTX_FORK(fib, one, n - 1);
 *       long two = ABTX_CALL(fib, n - 2);
 *       return ABTX_JOIN(fib, one) + two;
 *   }
 *
 *   long f = ABTX_RUN(fib, 30);
 *
 * Which streams take tasks is said once: ABTX_fork_start(num, streams). Rules:
 *
 * - What is forked is joined in the same function, in the reverse order, before the function returns.
 * - A forker may block, yield and migrate. What it has forked may then be run by others.
 * - A task that was taken and waits for one that it has forked may go on on the stream that has run that one. The own
 *   ULT of a program stays where it is, and so does a pinned one.
 * - Anybody may fork: what a tasklet or a thread outside of the library forks, it runs itself. So it is without memory.
 *
 * doc/fork-join.md says more. This header is C99 with the extensions of gcc and clang, and C++11.
 */
#ifndef ABT_FORK_H
#define ABT_FORK_H

#include <abt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Forking by hand: what the macros are made of ---------------------------------------------------------------- */

/*
 * Where a ULT is among what it has forked: the place of its next task in its deque. It is passed by value, to each
 * function that forks, and so stays in a register.
 */
typedef struct abtx_task *volatile *abtx_at;

/* A task, in front of its arguments. It does not move from fork to join. */
struct abtx_task {
    void (*run)(abtx_at here, struct abtx_task *task);
    void *state; /* the library's, once the task may be taken by others */
};

/* Between enter and leave a function may fork. They may nest. */
struct abtx_region {
    void *deque;
    ABTX_switch_link link;
};

/* Begins a region, in which the caller may fork, at the position that is returned. The region is the caller's. */
abtx_at ABTX_fork_enter(struct abtx_region *region) ABT_API_PUBLIC;
/* Ends it. What has been forked in it must have been joined: else that is reported on stderr. */
void ABTX_fork_leave(struct abtx_region *region) ABT_API_PUBLIC;

/* The slow paths of abtx_fork and abtx_join. */
abtx_at ABTX_fork_slow(abtx_at here, struct abtx_task *task) ABT_API_PUBLIC;
int ABTX_fork_join_slow(abtx_at here) ABT_API_PUBLIC;

enum { ABTX_DEQUE_BYTES = 16384 };

/* What a deque begins with, at a multiple of ABTX_DEQUE_BYTES. */
struct abtx_deque {
    struct abtx_task *volatile full; /* is where the position points to behind the last entry of the deque before */
    uintptr_t limit;                 /* atomic: tasks in entries below it are not known to be the owner's alone */
    const volatile int *idle;        /* not 0: a stream has asked for tasks */
};

#define ABTX_LIKELY_(condition) (__builtin_expect(!!(condition), 1) != 0)

static inline struct abtx_deque *abtx_deque_of(abtx_at here)
{
    return (struct abtx_deque *)((uintptr_t)here & ~(uintptr_t)(ABTX_DEQUE_BYTES - 1));
}

static inline int abtx_is_plain(abtx_at here)
{
    return ABTX_LIKELY_((uintptr_t)here >= __atomic_load_n(&abtx_deque_of(here)->limit, __ATOMIC_RELAXED));
}

/* Whether a stream would take a task at once: a hint. */
static inline int abtx_is_wanted(abtx_at here)
{
    return __atomic_load_n(abtx_deque_of(here)->idle, __ATOMIC_RELAXED) > 0;
}

/* Forks. Returns where the caller is from now on. */
static inline abtx_at abtx_fork(abtx_at here, struct abtx_task *task, void (*run)(abtx_at, struct abtx_task *))
{
    task->run = run;
    *here = task;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the entry is written before the limit is read, by this thread alone */
    return abtx_is_plain(here) ? here + 1 : ABTX_fork_slow(here, task);
}

/*
 * Joins the newest task, with the position that it was forked at, where the caller is again. Not 0: nobody has
 * taken it, and the caller runs it.
 */
static inline int abtx_join(abtx_at here)
{
    if (!abtx_is_plain(here))
        return ABTX_fork_join_slow(here);
    *here = NULL;
    return 1;
}

/* ---- Tasks with types -------------------------------------------------------------------------------------------- */

/*
 * ABTX_TASK(type, name, (type, parameter)...) begins the definition of a task with up to eight parameters, and
 * ABTX_VOID_TASK(name, (type, parameter)...) that of one without a result; what follows is the body of a static
 * function, in which these stand for statements and expressions:
 *
 * ABTX_FORK(task, variable, argument...);   forks: declares a variable that stands for the task
 * ABTX_JOIN(task, variable)                 its result, when it has run
 * ABTX_CALL(task, argument...)              calls a task as a function
 *
 * ABTX_RUN(task, argument...)               calls a task from any other function
 *
 * Tasks that fork each other are first declared, by ABTX_TASK_DECLARE(type, name, ...); or
 * ABTX_VOID_TASK_DECLARE(name, ...); and then defined, by ABTX_TASK_DEFINE(type, name, ...) or
 * ABTX_VOID_TASK_DEFINE(name, ...) and the body.
 */
#define ABTX_TASK(...)                                                                                                 \
    ABTX_TASK_DECLARE(__VA_ARGS__);                                                                                    \
    ABTX_TASK_DEFINE(__VA_ARGS__)
#define ABTX_TASK_DECLARE(...) ABTX_2_OR_MORE_(ABTX_TASK_DECLARE_, __VA_ARGS__)(__VA_ARGS__)
#define ABTX_TASK_DEFINE(...) ABTX_2_OR_MORE_(ABTX_TASK_DEFINE_, __VA_ARGS__)(__VA_ARGS__)
#define ABTX_VOID_TASK(...)                                                                                            \
    ABTX_VOID_TASK_DECLARE(__VA_ARGS__);                                                                               \
    ABTX_VOID_TASK_DEFINE(__VA_ARGS__)
#define ABTX_VOID_TASK_DECLARE(...) ABTX_1_OR_MORE_(ABTX_VOID_TASK_DECLARE_, __VA_ARGS__)(__VA_ARGS__)
#define ABTX_VOID_TASK_DEFINE(...) ABTX_TASK_DEFINE(void, __VA_ARGS__)

#define ABTX_FORK(...) ABTX_2_OR_MORE_(ABTX_FORK_, __VA_ARGS__)(__VA_ARGS__)
#define ABTX_JOIN(name, variable) (abtx_here = variable##_at, name##_join(&variable, variable##_at))
#define ABTX_CALL(...) ABTX_1_OR_MORE_(ABTX_CALL_, __VA_ARGS__)(__VA_ARGS__)
#define ABTX_RUN(...) ABTX_1_OR_MORE_(ABTX_RUN_, __VA_ARGS__)(__VA_ARGS__)

/* ---- Loops, reductions and functions side by side ---------------------------------------------------------------- */

/*
 * Calls body(begin, end, arg) on parts of [begin, end), in any order and side by side, until all is done. A part has at
 * most `grain` elements (at least one), unless nobody would take any: no task is made then. Called from anywhere.
 */
static inline void abtx_for(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain,
                            void (*body)(ptrdiff_t begin, ptrdiff_t end, void *arg), void *arg);

/*
 * abtx_for with a result: body adds its part to *sum, and combine adds *right, of the part to the right, to *left. A
 * sum has `size` bytes and begins as a copy of *empty; *result, in which the whole is added up, is the caller's and is
 * given as it is to begin with. Sums of more than ABTX_SUM_BYTES need memory; without, the parts are added one by one.
 */
struct abtx_reduction {
    size_t size;
    const void *empty;
    void (*body)(ptrdiff_t begin, ptrdiff_t end, void *sum, void *arg);
    void (*combine)(void *left, const void *right, void *arg);
    void *arg;
};
static inline void abtx_reduce(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, const struct abtx_reduction *how,
                               void *result);
enum { ABTX_SUM_BYTES = 128 };

/* Calls funcs[i](args[i]) of all i < num, side by side. */
static inline void abtx_invoke(int num, void (*const *funcs)(void *), void *const *args);

/* ---- The rest is how it is done ---------------------------------------------------------------------------------- */

#define ABTX_CAT_(a, b) ABTX_CAT2_(a, b)
#define ABTX_CAT2_(a, b) a##b
#define ABTX_11TH_(a, b, c, d, e, f, g, h, i, j, k, ...) k

/* name_1 or name_2 if there is that number of arguments, and else name_MORE. */
#define ABTX_1_OR_MORE_(name, ...)                                                                                     \
    ABTX_CAT_(name, ABTX_11TH_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, 1, 0))
#define ABTX_2_OR_MORE_(name, ...)                                                                                     \
    ABTX_CAT_(name, ABTX_11TH_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, 2, 1, 0))

/* How many pairs there are behind the first argument, which is there for the sake of none. */
#define ABTX_COUNT_(...) ABTX_11TH_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
/* f(pair) of each pair, and with a comma before each. */
#define ABTX_EACH_(f, ...) ABTX_CAT_(ABTX_EACH_, ABTX_COUNT_(__VA_ARGS__))(f, __VA_ARGS__)
#define ABTX_EACH_0(f, z)
#define ABTX_EACH_1(f, z, a) f a
#define ABTX_EACH_2(f, z, a, b) f a f b
#define ABTX_EACH_3(f, z, a, b, c) f a f b f c
#define ABTX_EACH_4(f, z, a, b, c, d) f a f b f c f d
#define ABTX_EACH_5(f, z, a, b, c, d, e) f a f b f c f d f e
#define ABTX_EACH_6(f, z, a, b, c, d, e, g) f a f b f c f d f e f g
#define ABTX_EACH_7(f, z, a, b, c, d, e, g, h) f a f b f c f d f e f g f h
#define ABTX_EACH_8(f, z, a, b, c, d, e, g, h, i) f a f b f c f d f e f g f h f i
#define ABTX_LIST_(f, ...) ABTX_CAT_(ABTX_LIST_, ABTX_COUNT_(__VA_ARGS__))(f, __VA_ARGS__)
#define ABTX_LIST_0(f, z)
#define ABTX_LIST_1(f, z, a) , f a
#define ABTX_LIST_2(f, z, a, b) , f a, f b
#define ABTX_LIST_3(f, z, a, b, c) , f a, f b, f c
#define ABTX_LIST_4(f, z, a, b, c, d) , f a, f b, f c, f d
#define ABTX_LIST_5(f, z, a, b, c, d, e) , f a, f b, f c, f d, f e
#define ABTX_LIST_6(f, z, a, b, c, d, e, g) , f a, f b, f c, f d, f e, f g
#define ABTX_LIST_7(f, z, a, b, c, d, e, g, h) , f a, f b, f c, f d, f e, f g, f h
#define ABTX_LIST_8(f, z, a, b, c, d, e, g, h, i) , f a, f b, f c, f d, f e, f g, f h, f i
#define ABTX_FIELD_(type, name) type name;
#define ABTX_PARAMETER_(type, name) type name
#define ABTX_STORE_(type, name) abtx_t->name = name;
#define ABTX_LOAD_(type, name) abtx_t->name
#define ABTX_NAME_(type, name) name

/* A task need not fork. */
#define ABTX_UNUSED_ __attribute__((unused))
#define ABTX_TASK_DEFINE_2(type, name) static ABTX_UNUSED_ type name##_body(abtx_at abtx_here ABTX_UNUSED_)
#define ABTX_TASK_DEFINE_MORE(type, name, ...)                                                                         \
    static ABTX_UNUSED_ type name##_body(abtx_at abtx_here ABTX_UNUSED_ ABTX_LIST_(ABTX_PARAMETER_, ~, __VA_ARGS__))

#define ABTX_TASK_DECLARE_2(type, name) ABTX_VALUE_TASK_(type, name, ~)
#define ABTX_TASK_DECLARE_MORE(type, name, ...) ABTX_VALUE_TASK_(type, name, ~, __VA_ARGS__)
#define ABTX_VOID_TASK_DECLARE_1(name) ABTX_NO_VALUE_TASK_(name, ~)
#define ABTX_VOID_TASK_DECLARE_MORE(name, ...) ABTX_NO_VALUE_TASK_(name, ~, __VA_ARGS__)

/* What tasks with and without a result have in common. */
#define ABTX_TASK_BEGIN_(type, name, ...)                                                                              \
    static type name##_body(abtx_at abtx_here ABTX_LIST_(ABTX_PARAMETER_, __VA_ARGS__));                               \
    static inline                                                                                                      \
        __attribute__((unused)) void name##_set(struct name##_task *abtx_t ABTX_LIST_(ABTX_PARAMETER_, __VA_ARGS__))   \
    {                                                                                                                  \
        (void)abtx_t;                                                                                                  \
        ABTX_EACH_(ABTX_STORE_, __VA_ARGS__)                                                                           \
    }

#define ABTX_VALUE_TASK_(type, name, ...)                                                                              \
    struct name##_task {                                                                                               \
        struct abtx_task task;                                                                                         \
        type result;                                                                                                   \
        ABTX_EACH_(ABTX_FIELD_, __VA_ARGS__)                                                                           \
    };                                                                                                                 \
    ABTX_TASK_BEGIN_(type, name, __VA_ARGS__)                                                                          \
    static __attribute__((unused)) void name##_run(abtx_at abtx_here, struct abtx_task *abtx_task)                     \
    {                                                                                                                  \
        struct name##_task *abtx_t = (struct name##_task *)abtx_task;                                                  \
        abtx_t->result = name##_body(abtx_here ABTX_LIST_(ABTX_LOAD_, __VA_ARGS__));                                   \
    }                                                                                                                  \
    static inline __attribute__((unused)) type name##_join(struct name##_task *abtx_t, abtx_at abtx_here)              \
    {                                                                                                                  \
        if (ABTX_LIKELY_(abtx_join(abtx_here)))                                                                        \
            return name##_body(abtx_here ABTX_LIST_(ABTX_LOAD_, __VA_ARGS__));                                         \
        return abtx_t->result;                                                                                         \
    }                                                                                                                  \
    static inline __attribute__((unused)) type name##_root(int abtx_unused ABTX_LIST_(ABTX_PARAMETER_, __VA_ARGS__))   \
    {                                                                                                                  \
        struct abtx_region abtx_region;                                                                                \
        type abtx_result = name##_body(ABTX_fork_enter(&abtx_region) ABTX_LIST_(ABTX_NAME_, __VA_ARGS__));             \
        ABTX_fork_leave(&abtx_region);                                                                                 \
        (void)abtx_unused;                                                                                             \
        return abtx_result;                                                                                            \
    }                                                                                                                  \
    struct name##_task /* the semicolon follows */

#define ABTX_NO_VALUE_TASK_(name, ...)                                                                                 \
    struct name##_task {                                                                                               \
        struct abtx_task task;                                                                                         \
        ABTX_EACH_(ABTX_FIELD_, __VA_ARGS__)                                                                           \
    };                                                                                                                 \
    ABTX_TASK_BEGIN_(void, name, __VA_ARGS__)                                                                          \
    static __attribute__((unused)) void name##_run(abtx_at abtx_here, struct abtx_task *abtx_task)                     \
    {                                                                                                                  \
        struct name##_task *abtx_t = (struct name##_task *)abtx_task;                                                  \
        (void)abtx_t;                                                                                                  \
        name##_body(abtx_here ABTX_LIST_(ABTX_LOAD_, __VA_ARGS__));                                                    \
    }                                                                                                                  \
    static inline __attribute__((unused)) void name##_join(struct name##_task *abtx_t, abtx_at abtx_here)              \
    {                                                                                                                  \
        (void)abtx_t;                                                                                                  \
        if (ABTX_LIKELY_(abtx_join(abtx_here)))                                                                        \
            name##_body(abtx_here ABTX_LIST_(ABTX_LOAD_, __VA_ARGS__));                                                \
    }                                                                                                                  \
    static inline __attribute__((unused)) void name##_root(int abtx_unused ABTX_LIST_(ABTX_PARAMETER_, __VA_ARGS__))   \
    {                                                                                                                  \
        struct abtx_region abtx_region;                                                                                \
        name##_body(ABTX_fork_enter(&abtx_region) ABTX_LIST_(ABTX_NAME_, __VA_ARGS__));                                \
        ABTX_fork_leave(&abtx_region);                                                                                 \
        (void)abtx_unused;                                                                                             \
    }                                                                                                                  \
    struct name##_task /* the semicolon follows */

#define ABTX_FORK_2(name, variable)                                                                                    \
    struct name##_task variable;                                                                                       \
    abtx_at variable##_at = abtx_here;                                                                                 \
    abtx_here = abtx_fork(abtx_here, &variable.task, name##_run)
#define ABTX_FORK_MORE(name, variable, ...)                                                                            \
    struct name##_task variable;                                                                                       \
    abtx_at variable##_at = abtx_here;                                                                                 \
    name##_set(&variable, __VA_ARGS__);                                                                                \
    abtx_here = abtx_fork(abtx_here, &variable.task, name##_run)
#define ABTX_CALL_1(name) name##_body(abtx_here)
#define ABTX_CALL_MORE(name, ...) name##_body(abtx_here, __VA_ARGS__)
#define ABTX_RUN_1(name) name##_root(0)
#define ABTX_RUN_MORE(name, ...) name##_root(0, __VA_ARGS__)

/* -- Loops -- */

/* How many there are: more than a ptrdiff_t holds, maybe. */
static inline size_t abtx_length(ptrdiff_t begin, ptrdiff_t end)
{
    return begin < end ? (size_t)end - (size_t)begin : 0;
}

/* The middle of what is not empty. */
static inline ptrdiff_t abtx_middle(ptrdiff_t begin, ptrdiff_t end)
{
    return begin + (ptrdiff_t)(abtx_length(begin, end) / 2);
}

struct abtx_loop {
    ptrdiff_t grain;
    void (*body)(ptrdiff_t, ptrdiff_t, void *);
    void *arg;
};

struct abtx_for_task {
    struct abtx_task task;
    const struct abtx_loop *loop;
    ptrdiff_t begin, end;
};

static inline void abtx_for_part(abtx_at here, const struct abtx_loop *loop, ptrdiff_t begin, ptrdiff_t end);

static __attribute__((unused)) void abtx_for_run(abtx_at here, struct abtx_task *task)
{
    struct abtx_for_task *t = (struct abtx_for_task *)task;
    abtx_for_part(here, t->loop, t->begin, t->end);
}

/* Goes on grain by grain as long as nobody wants any, and else forks the further half of what is left. */
static inline void abtx_for_part(abtx_at here, const struct abtx_loop *loop, ptrdiff_t begin, ptrdiff_t end)
{
    while (abtx_length(begin, end) > (size_t)loop->grain) {
        if (!abtx_is_wanted(here)) {
            loop->body(begin, begin + loop->grain, loop->arg);
            begin += loop->grain;
        } else {
            struct abtx_for_task rest;
            ptrdiff_t middle = abtx_middle(begin, end);
            rest.loop = loop;
            rest.begin = middle;
            rest.end = end;
            abtx_for_part(abtx_fork(here, &rest.task, abtx_for_run), loop, begin, middle);
            if (!abtx_join(here))
                return;
            begin = middle;
        }
    }
    if (begin < end)
        loop->body(begin, end, loop->arg);
}

static inline __attribute__((unused)) void abtx_for(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain,
                                                    void (*body)(ptrdiff_t, ptrdiff_t, void *), void *arg)
{
    struct abtx_region region;
    struct abtx_loop loop;
    loop.grain = grain > 0 ? grain : 1;
    loop.body = body;
    loop.arg = arg;
    if (abtx_length(begin, end) <= (size_t)loop.grain) { /* there is nothing to fork */
        if (begin < end)
            body(begin, end, arg);
        return;
    }
    abtx_for_part(ABTX_fork_enter(&region), &loop, begin, end);
    ABTX_fork_leave(&region);
}

/* -- Reductions -- */

struct abtx_reduce_task {
    struct abtx_task task;
    const struct abtx_reduction *how;
    ptrdiff_t begin, end, grain;
    void *sum;
    long double room[ABTX_SUM_BYTES / sizeof(long double)];
};

static inline void abtx_reduce_part(abtx_at here, const struct abtx_reduction *how, ptrdiff_t begin, ptrdiff_t end,
                                    ptrdiff_t grain, void *sum);

static __attribute__((unused)) void abtx_reduce_run(abtx_at here, struct abtx_task *task)
{
    struct abtx_reduce_task *t = (struct abtx_reduce_task *)task;
    abtx_reduce_part(here, t->how, t->begin, t->end, t->grain, t->sum);
}

static inline void abtx_reduce_part(abtx_at here, const struct abtx_reduction *how, ptrdiff_t begin, ptrdiff_t end,
                                    ptrdiff_t grain, void *sum)
{
    while (begin < end) {
        struct abtx_reduce_task rest;
        ptrdiff_t middle = abtx_middle(begin, end);
        int is_long = abtx_length(begin, end) > (size_t)grain;
        rest.sum = NULL;
        if (is_long && abtx_is_wanted(here))
            rest.sum = how->size > sizeof(rest.room) ? malloc(how->size) : rest.room;
        if (!rest.sum) {
            middle = is_long ? begin + grain : end;
            how->body(begin, middle, sum, how->arg);
            begin = middle;
            continue;
        }
        memcpy(rest.sum, how->empty, how->size);
        rest.how = how;
        rest.begin = middle;
        rest.end = end;
        rest.grain = grain;
        abtx_reduce_part(abtx_fork(here, &rest.task, abtx_reduce_run), how, begin, middle, grain, sum);
        begin = abtx_join(here) ? middle : end;
        if (begin == end)
            how->combine(sum, rest.sum, how->arg);
        if (rest.sum != (void *)rest.room)
            free(rest.sum);
    }
}

static inline __attribute__((unused)) void abtx_reduce(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain,
                                                       const struct abtx_reduction *how, void *result)
{
    struct abtx_region region;
    abtx_reduce_part(ABTX_fork_enter(&region), how, begin, end, grain > 0 ? grain : 1, result);
    ABTX_fork_leave(&region);
}

/* -- Functions side by side -- */

struct abtx_invoke_task {
    struct abtx_task task;
    int num;
    void (*const *funcs)(void *);
    void *const *args;
};

static inline void abtx_invoke_part(abtx_at here, int num, void (*const *funcs)(void *), void *const *args);

static __attribute__((unused)) void abtx_invoke_run(abtx_at here, struct abtx_task *task)
{
    struct abtx_invoke_task *t = (struct abtx_invoke_task *)task;
    abtx_invoke_part(here, t->num, t->funcs, t->args);
}

/* Forks the further half of what is left until one function is. */
static inline void abtx_invoke_part(abtx_at here, int num, void (*const *funcs)(void *), void *const *args)
{
    while (num > 1) {
        struct abtx_invoke_task rest;
        int near = num - num / 2;
        rest.num = num / 2;
        rest.funcs = funcs + near;
        rest.args = args + near;
        abtx_invoke_part(abtx_fork(here, &rest.task, abtx_invoke_run), near, funcs, args);
        if (!abtx_join(here))
            return;
        num = rest.num;
        funcs = rest.funcs;
        args = rest.args;
    }
    if (num == 1)
        funcs[0](args[0]);
}

static inline __attribute__((unused)) void abtx_invoke(int num, void (*const *funcs)(void *), void *const *args)
{
    struct abtx_region region;
    abtx_invoke_part(ABTX_fork_enter(&region), num, funcs, args);
    ABTX_fork_leave(&region);
}

#ifdef __cplusplus
}
#endif

#endif
