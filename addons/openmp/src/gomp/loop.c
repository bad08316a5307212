/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops, as compilers ask for them: by functions for each kind of schedule, of long and of unsigned long long. */
#include "loop/share.h"
#include "ompt/tool.h"

#include <stdarg.h>
#include "gomp/loop.versions.h"

typedef unsigned long long ull;

/* -- The program's numbers -- */

static struct abtomp_loop loop_of(bool is_up, uint64_t start, uint64_t end, uint64_t step, unsigned kind,
                                  uint64_t chunk)
{
    struct abtomp_loop loop = {.start = start, .end = end, .step = step, .kind = kind, .chunk = chunk};
    uint64_t distance = is_up ? end - start : start - end, each = is_up ? step : -step;
    loop.num = (distance - 1) / each + 1;
    return loop;
}

/* A loop of no iterations has the end for its start. */
static struct abtomp_loop signed_loop(long start, long end, long step, unsigned kind, long chunk)
{
    if (step > 0 ? start >= end : start <= end)
        return (struct abtomp_loop){.kind = kind, .chunk = (uint64_t)chunk};
    return loop_of(step > 0, (uint64_t)start, (uint64_t)end, (uint64_t)step, kind, (uint64_t)chunk);
}

static struct abtomp_loop ull_loop(bool is_up, ull start, ull end, ull step, unsigned kind, ull chunk)
{
    if (is_up ? start >= end : start <= end)
        return (struct abtomp_loop){.kind = kind, .chunk = chunk};
    return loop_of(is_up, start, end, step, kind, chunk);
}

/* A loop of iterations that wait for others: over the numbers of the outermost one. */
static struct abtomp_loop doacross_loop(unsigned num, const void *counts, unsigned kind, uint64_t chunk)
{
    struct abtomp_loop loop = {.step = 1, .kind = kind, .chunk = chunk, .num_sinks = num, .sink_counts = counts};
    loop.end = loop.num = *(const uint64_t *)counts;
    return loop;
}

static struct abtomp_loop make_ordered(struct abtomp_loop loop)
{
    loop.is_ordered = true;
    return loop;
}

/* What the program gets: the last part ends where the loop does, exactly. */
static inline void say_part(const struct abtomp_member *me, uint64_t *from, uint64_t *to)
{
    const struct abtomp_loop *loop = &me->share->loop;
    *from = loop->start + me->first * loop->step;
    *to = me->end == loop->num ? loop->end : loop->start + me->end * loop->step;
}

static inline bool next_part(struct abtomp_member *me, uint64_t *from, uint64_t *to)
{
    if (!abtomp_loop_take(me))
        return false;
    say_part(me, from, to);
    return true;
}

static bool next_ordered(struct abtomp_member *me, uint64_t *from, uint64_t *to)
{
    abtomp_ordered_pass(me);
    me->has_turn = false;
    return next_part(me, from, to);
}

static bool start_loop(struct abtomp_member *me, struct abtomp_loop loop, uint64_t *from, uint64_t *to,
                       uintptr_t *reductions, void **memory)
{
    abtomp_loop_enter(me, &loop, reductions, memory);
    if (!from)
        return true;
    return loop.is_ordered ? next_ordered(me, from, to) : next_part(me, from, to);
}

static inline uint64_t *part_at(long *at)
{
    return (uint64_t *)(void *)at;
}

static inline uint64_t *ull_part(ull *at)
{
    return (uint64_t *)(void *)at;
}

/* -- Starts of loops. Without "monotonic" in its name, dynamic and guided are, since older compilers mean that. -- */

#define MONOTONIC(kind) ((kind) | ABTOMP_MONOTONIC)

#define START(name, kind, wrap)                                                                                        \
    ABTOMP_API bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *from, long *to)        \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), wrap(signed_loop(start, end, step, kind, chunk)), part_at(from),           \
                          part_at(to), NULL, NULL);                                                                    \
    }                                                                                                                  \
    ABTOMP_API bool GOMP_loop_ull_##name##_start(bool is_up, ull start, ull end, ull step, ull chunk, ull *from,       \
                                                 ull *to)                                                              \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), wrap(ull_loop(is_up, start, end, step, kind, chunk)), ull_part(from),      \
                          ull_part(to), NULL, NULL);                                                                   \
    }

#define START_RUNTIME(name, kind, wrap)                                                                                \
    ABTOMP_API bool GOMP_loop_##name##_start(long start, long end, long step, long *from, long *to)                    \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), wrap(signed_loop(start, end, step, kind, 0)), part_at(from), part_at(to),  \
                          NULL, NULL);                                                                                 \
    }                                                                                                                  \
    ABTOMP_API bool GOMP_loop_ull_##name##_start(bool is_up, ull start, ull end, ull step, ull *from, ull *to)         \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), wrap(ull_loop(is_up, start, end, step, kind, 0)), ull_part(from),          \
                          ull_part(to), NULL, NULL);                                                                   \
    }

START(static, ABTOMP_STATIC, )
START(dynamic, MONOTONIC(ABTOMP_DYNAMIC), )
START(guided, MONOTONIC(ABTOMP_GUIDED), )
START(nonmonotonic_dynamic, ABTOMP_DYNAMIC, )
START(nonmonotonic_guided, ABTOMP_GUIDED, )
START(ordered_static, ABTOMP_STATIC, make_ordered)
START(ordered_dynamic, ABTOMP_DYNAMIC, make_ordered)
START(ordered_guided, ABTOMP_GUIDED, make_ordered)
START_RUNTIME(runtime, MONOTONIC(ABTOMP_RUNTIME), )
START_RUNTIME(nonmonotonic_runtime, ABTOMP_RUNTIME, )
START_RUNTIME(maybe_nonmonotonic_runtime, ABTOMP_RUNTIME, )
START_RUNTIME(ordered_runtime, ABTOMP_RUNTIME, make_ordered)

#define START_DOACROSS(name, kind)                                                                                     \
    ABTOMP_API bool GOMP_loop_doacross_##name##_start(unsigned num, long *counts, long chunk, long *from, long *to)    \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, kind, (uint64_t)chunk), part_at(from),          \
                          part_at(to), NULL, NULL);                                                                    \
    }                                                                                                                  \
    ABTOMP_API bool GOMP_loop_ull_doacross_##name##_start(unsigned num, ull *counts, ull chunk, ull *from, ull *to)    \
    {                                                                                                                  \
        return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, kind, chunk), ull_part(from), ull_part(to),     \
                          NULL, NULL);                                                                                 \
    }

START_DOACROSS(static, ABTOMP_STATIC)
START_DOACROSS(dynamic, ABTOMP_DYNAMIC)
START_DOACROSS(guided, ABTOMP_GUIDED)

ABTOMP_API bool GOMP_loop_doacross_runtime_start(unsigned num, long *counts, long *from, long *to)
{
    return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, ABTOMP_RUNTIME, 0), part_at(from), part_at(to), NULL,
                      NULL);
}

ABTOMP_API bool GOMP_loop_ull_doacross_runtime_start(unsigned num, ull *counts, ull *from, ull *to)
{
    return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, ABTOMP_RUNTIME, 0), ull_part(from), ull_part(to),
                      NULL, NULL);
}

/* -- Starts of any kind, with reductions of tasks and memory for all -- */

ABTOMP_API bool GOMP_loop_start(long start, long end, long step, long kind, long chunk, long *from, long *to,
                                uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), signed_loop(start, end, step, (unsigned)kind, chunk), part_at(from),
                      part_at(to), reductions, memory);
}

ABTOMP_API bool GOMP_loop_ull_start(bool is_up, ull start, ull end, ull step, long kind, ull chunk, ull *from, ull *to,
                                    uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), ull_loop(is_up, start, end, step, (unsigned)kind, chunk), ull_part(from),
                      ull_part(to), reductions, memory);
}

ABTOMP_API bool GOMP_loop_ordered_start(long start, long end, long step, long kind, long chunk, long *from, long *to,
                                        uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), make_ordered(signed_loop(start, end, step, (unsigned)kind, chunk)),
                      part_at(from), part_at(to), reductions, memory);
}

ABTOMP_API bool GOMP_loop_ull_ordered_start(bool is_up, ull start, ull end, ull step, long kind, ull chunk, ull *from,
                                            ull *to, uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), make_ordered(ull_loop(is_up, start, end, step, (unsigned)kind, chunk)),
                      ull_part(from), ull_part(to), reductions, memory);
}

ABTOMP_API bool GOMP_loop_doacross_start(unsigned num, long *counts, long kind, long chunk, long *from, long *to,
                                         uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, (unsigned)kind, (uint64_t)chunk), part_at(from),
                      part_at(to), reductions, memory);
}

ABTOMP_API bool GOMP_loop_ull_doacross_start(unsigned num, ull *counts, long kind, ull chunk, ull *from, ull *to,
                                             uintptr_t *reductions, void **memory)
{
    return start_loop(ABTOMP_CALLER(0), doacross_loop(num, counts, (unsigned)kind, chunk), ull_part(from), ull_part(to),
                      reductions, memory);
}

/* -- The next part: the loop knows its kind -- */

#define NEXT(name, next)                                                                                               \
    ABTOMP_API bool GOMP_loop_##name##_next(long *from, long *to)                                                      \
    {                                                                                                                  \
        return next(abtomp_self(), part_at(from), part_at(to));                                                        \
    }                                                                                                                  \
    ABTOMP_API bool GOMP_loop_ull_##name##_next(ull *from, ull *to)                                                    \
    {                                                                                                                  \
        return next(abtomp_self(), ull_part(from), ull_part(to));                                                      \
    }

NEXT(static, next_part)
NEXT(dynamic, next_part)
NEXT(guided, next_part)
NEXT(runtime, next_part)
NEXT(nonmonotonic_dynamic, next_part)
NEXT(nonmonotonic_guided, next_part)
NEXT(nonmonotonic_runtime, next_part)
NEXT(maybe_nonmonotonic_runtime, next_part)
NEXT(ordered_static, next_ordered)
NEXT(ordered_dynamic, next_ordered)
NEXT(ordered_guided, next_ordered)
NEXT(ordered_runtime, next_ordered)

/* -- Iterations that wait for others -- */

ABTOMP_API void GOMP_ordered_start(void)
{
    abtomp_ordered_await(ABTOMP_CALLER(0));
}

/* The turn is passed when the chunk has ended. */
ABTOMP_API void GOMP_ordered_end(void)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_unlock(abtomp_self()->share, ompt_mutex_ordered);
}

ABTOMP_API void GOMP_doacross_post(long *at)
{
    abtomp_doacross_post(abtomp_self(), (const uint64_t *)(const void *)at);
}

ABTOMP_API void GOMP_doacross_ull_post(ull *at)
{
    abtomp_doacross_post(abtomp_self(), (const uint64_t *)(const void *)at);
}

/* The arguments are the iteration's numbers in all dimensions, of 8 bytes each. */
#define AWAIT(first, type)                                                                                             \
    struct abtomp_member *me = abtomp_self();                                                                          \
    const struct abtomp_doacross *doacross = abtomp_doacross_of(me);                                                   \
    if (!doacross || me->team->num == 1 || doacross->counts[0] <= (uint64_t)(first))                                   \
        return;                                                                                                        \
    uint64_t number = (uint64_t)(first);                                                                               \
    va_list rest;                                                                                                      \
    va_start(rest, first);                                                                                             \
    for (unsigned i = 1; i < doacross->num_counts; i++)                                                                \
        number = number * doacross->counts[i] + (uint64_t)va_arg(rest, type);                                          \
    va_end(rest);                                                                                                      \
    abtomp_doacross_await(me, (uint64_t)(first), number)

ABTOMP_API void GOMP_doacross_wait(long first, ...)
{
    AWAIT(first, long);
}

ABTOMP_API void GOMP_doacross_ull_wait(ull first, ...)
{
    AWAIT(first, ull);
}

/* -- The end, of sections as well -- */

#define END(name)                                                                                                      \
    ABTOMP_API void GOMP_##name##_end_nowait(void)                                                                     \
    {                                                                                                                  \
        abtomp_share_leave(ABTOMP_CALLER(0));                                                                          \
    }                                                                                                                  \
    ABTOMP_API void GOMP_##name##_end(void)                                                                            \
    {                                                                                                                  \
        struct abtomp_member *me = ABTOMP_CALLER(ompt_sync_region_barrier_implicit_workshare);                         \
        abtomp_share_leave(me);                                                                                        \
        abtomp_barrier(me);                                                                                            \
    }                                                                                                                  \
    ABTOMP_API bool GOMP_##name##_end_cancel(void)                                                                     \
    {                                                                                                                  \
        struct abtomp_member *me = ABTOMP_CALLER(ompt_sync_region_barrier_implicit_workshare);                         \
        abtomp_share_leave(me);                                                                                        \
        return abtomp_barrier_cancel(me);                                                                              \
    }

END(loop)
END(sections)

/* -- Regions that are a loop -- */

#define PARALLEL(name, kind)                                                                                           \
    ABTOMP_API void GOMP_parallel_loop_##name(void (*fn)(void *), void *data, unsigned num, long start, long end,      \
                                              long step, long chunk, unsigned flags)                                   \
    {                                                                                                                  \
        struct abtomp_loop loop = signed_loop(start, end, step, kind, chunk);                                          \
        (void)ABTOMP_NOTE(ompt_parallel_invoker_program);                                                              \
        abtomp_parallel_loop(fn, data, num, flags, &loop);                                                             \
    }

#define PARALLEL_RUNTIME(name, kind)                                                                                   \
    ABTOMP_API void GOMP_parallel_loop_##name(void (*fn)(void *), void *data, unsigned num, long start, long end,      \
                                              long step, unsigned flags)                                               \
    {                                                                                                                  \
        struct abtomp_loop loop = signed_loop(start, end, step, kind, 0);                                              \
        (void)ABTOMP_NOTE(ompt_parallel_invoker_program);                                                              \
        abtomp_parallel_loop(fn, data, num, flags, &loop);                                                             \
    }

#define PARALLEL_START(name, kind)                                                                                     \
    ABTOMP_API void GOMP_parallel_loop_##name##_start(void (*fn)(void *), void *data, unsigned num, long start,        \
                                                      long end, long step, long chunk)                                 \
    {                                                                                                                  \
        struct abtomp_loop loop = signed_loop(start, end, step, kind, chunk);                                          \
        (void)ABTOMP_NOTE(ompt_parallel_invoker_program);                                                              \
        abtomp_parallel_loop_start(fn, data, num, &loop);                                                              \
    }

PARALLEL(static, ABTOMP_STATIC)
PARALLEL(dynamic, MONOTONIC(ABTOMP_DYNAMIC))
PARALLEL(guided, MONOTONIC(ABTOMP_GUIDED))
PARALLEL(nonmonotonic_dynamic, ABTOMP_DYNAMIC)
PARALLEL(nonmonotonic_guided, ABTOMP_GUIDED)
PARALLEL_RUNTIME(runtime, MONOTONIC(ABTOMP_RUNTIME))
PARALLEL_RUNTIME(nonmonotonic_runtime, ABTOMP_RUNTIME)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime, ABTOMP_RUNTIME)
PARALLEL_START(static, ABTOMP_STATIC)
PARALLEL_START(dynamic, MONOTONIC(ABTOMP_DYNAMIC))
PARALLEL_START(guided, MONOTONIC(ABTOMP_GUIDED))

ABTOMP_API void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data, unsigned num, long start, long end,
                                                 long step)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    struct abtomp_loop loop = signed_loop(start, end, step, MONOTONIC(ABTOMP_RUNTIME), 0);
    abtomp_parallel_loop_start(fn, data, num, &loop);
}
