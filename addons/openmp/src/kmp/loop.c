/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of clang, and sections, which are static loops. Their bounds are both inclusive. */
#include "kmp/doacross.h"
#include "ompt/tool.h"

/* Loops of each type: its name in functions, itself, and the one of its steps. */
#define KMP_LOOP_TYPES(X)                                                                                              \
    X(4, int32_t, int32_t)                                                                                             \
    X(4u, uint32_t, int32_t)                                                                                           \
    X(8, int64_t, int64_t)                                                                                             \
    X(8u, uint64_t, int64_t)

/* Kinds: unordered ones, and from ORDERED on the same for ordered loops. The upper bits say whether it is monotonic. */
enum {
    CHUNKED = 33,
    EVEN = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    RUNTIME = 37,
    AUTO = 38,
    TRAPEZOIDAL = 39,
    STEAL = 44,
    BALANCED = 45,
    GUIDED_SIMD = 46,
    RUNTIME_SIMD = 47,
    ORDERED = 32,
    FIRST_ORDERED = 65,
    LAST_ORDERED = 71,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    IS_MONOTONIC = 1 << 29,
    IS_NONMONOTONIC = 1 << 30
};

static inline int32_t kind_of(int32_t kind)
{
    return kind & ~(IS_MONOTONIC | IS_NONMONOTONIC);
}

/* How many iterations there are. */
static inline uint64_t count_iterations(bool is_empty, uint64_t lower, uint64_t upper, int64_t step)
{
    if (is_empty)
        return 0;
    if (ABTOMP_LIKELY(step == 1)) /* without a division */
        return upper - lower + 1;
    return step > 0 ? (upper - lower) / (uint64_t)step + 1 : (lower - upper) / -(uint64_t)step + 1;
}

/* -- Static loops -- */

/* The first part of a member, how many iterations that has, and how many are between two parts. */
struct part {
    uint64_t first, num, stride;
    bool is_last; /* it has the last iteration, in this part or a later one */
};

static struct part chunked_part(uint64_t member, uint64_t members, uint64_t num, uint64_t chunk)
{
    uint64_t first = member * chunk, last = (num - 1) / chunk % members;
    uint64_t own = first >= num ? 0 : num - first < chunk ? num - first : chunk;
    return (struct part){first, own, members * chunk, member == last};
}

static inline struct part even_part(uint64_t member, uint64_t members, uint64_t num)
{
    uint64_t each = num / members, more = num % members;
    struct part part = {each * member + (member < more ? member : more), each + (member < more), num, false};
    part.is_last = part.num > 0 && part.first + part.num == num;
    return part;
}

/* Parts of whole chunks. */
static struct part balanced_part(uint64_t member, uint64_t members, uint64_t num, uint64_t chunk)
{
    uint64_t each = (num / members + (num % members > 0) + chunk - 1) / chunk * chunk, first = each * member;
    if (first >= num)
        return (struct part){num, 0, num, false};
    uint64_t own = num - first < each ? num - first : each;
    return (struct part){first, own, num, first + own == num};
}

static __attribute__((noinline)) struct part other_part(const struct abtomp_member *me, int32_t kind, uint64_t num,
                                                        int64_t chunk)
{
    uint64_t member = (uint64_t)me->num, members = (uint64_t)me->team->num, each = chunk > 0 ? (uint64_t)chunk : 1;
    if (kind_of(kind) >= DISTRIBUTE_CHUNKED) {
        member = (uint64_t)me->league.own;
        members = me->league.num > 0 ? (uint64_t)me->league.num : 1;
    }
    switch (kind_of(kind)) {
    case DISTRIBUTE_CHUNKED:
    case CHUNKED: return chunked_part(member, members, num, each);
    case BALANCED: return balanced_part(member, members, num, each);
    default: return even_part(member, members, num);
    }
}

static inline struct part static_part(const struct abtomp_member *me, int32_t kind, uint64_t num, int64_t chunk)
{
    return ABTOMP_LIKELY(kind == EVEN) ? even_part((uint64_t)me->num, (uint64_t)me->team->num, num)
                                       : other_part(me, kind, num, chunk);
}

/* A static loop whose iterations wait for others: its share says which member has which. */
static __attribute__((noinline)) void enter_crossing(struct abtomp_member *me, int32_t kind, uint64_t num,
                                                     int64_t chunk)
{
    struct abtomp_loop loop = {.step = 1, .num = num, .kind = ABTOMP_STATIC};
    if (kind_of(kind) == CHUNKED)
        loop.chunk = chunk > 0 ? (uint64_t)chunk : 1;
    abtomp_crossing_begin(me->crossing, &loop);
    me->crossing->is_static = true;
    abtomp_loop_enter(me, &loop, NULL, NULL);
}

static inline struct abtomp_member *begin_static(int32_t kind, uint64_t num, int64_t chunk)
{
    struct abtomp_member *me = abtomp_self();
    if (abtomp_crossing_comes(me))
        enter_crossing(me, kind, num, chunk);
    return me;
}

/* What a construct with iterations is, for tools. */
static unsigned char work_at(const ident_t *at)
{
    int32_t flags = at ? at->flags : 0;
    return flags & KMP_AT_SECTIONS     ? ompt_work_sections
           : flags & KMP_AT_DISTRIBUTE ? ompt_work_distribute
                                       : ompt_work_loop;
}

static __attribute__((noinline)) void tell_static(const ident_t *at, int endpoint, uint64_t num, uint64_t lower,
                                                  uint64_t own)
{
    unsigned char work = work_at(at);
    if (!abtomp_is_ready())
        return;
    abtomp_tool_work(abtomp_current, work, endpoint, num);
    if (own > 0 && work != ompt_work_distribute)
        abtomp_tool_chunk(abtomp_current, work == ompt_work_sections, lower, own);
}

/* What has no iterations begins behind its end: with numbers that each type has. How many there are. */
#define STATIC_INIT(name, type, step_type)                                                                             \
    static inline uint64_t divide_##name(int32_t kind, int32_t *is_last, type *lower, type *upper, step_type *stride,  \
                                         step_type step, step_type chunk)                                              \
    {                                                                                                                  \
        uint64_t num =                                                                                                 \
            count_iterations(step > 0 ? *upper < *lower : *lower < *upper, (uint64_t)*lower, (uint64_t)*upper, step);  \
        struct part part = {.stride = 1};                                                                              \
        const struct abtomp_member *me = begin_static(kind, num, chunk);                                               \
        if (ABTOMP_LIKELY(num > 0)) {                                                                                  \
            part = static_part(me, kind, num, chunk);                                                                  \
            *lower = part.num == 0 ? step > 0 : (type)((uint64_t)*lower + part.first * (uint64_t)step);                \
            *upper = part.num == 0 ? step < 0 : (type)((uint64_t)*lower + (part.num - 1) * (uint64_t)step);            \
        }                                                                                                              \
        *stride = (step_type)(part.stride * (uint64_t)step);                                                           \
        if (is_last)                                                                                                   \
            *is_last = part.is_last;                                                                                   \
        return num;                                                                                                    \
    }                                                                                                                  \
    ABTOMP_API void __kmpc_for_static_init_##name(KMP_CALLER, int32_t kind, int32_t *is_last, type *lower,             \
                                                  type *upper, step_type *stride, step_type step, step_type chunk)     \
    {                                                                                                                  \
        uint64_t num = divide_##name(kind, is_last, lower, upper, stride, step, chunk);                                \
        if (ABTOMP_NOTE(0))                                                                                            \
            tell_static(at, ompt_scope_begin, num, (uint64_t)*lower,                                                   \
                        count_iterations(step > 0 ? *upper < *lower : *lower < *upper, (uint64_t)*lower,               \
                                         (uint64_t)*upper, step));                                                     \
    }
KMP_LOOP_TYPES(STATIC_INIT)

/* -- Loops of other kinds, and ordered ones -- */

static unsigned kind_in(int32_t kind)
{
    unsigned monotonic = kind & IS_NONMONOTONIC ? 0 : ABTOMP_MONOTONIC;
    int32_t plain = kind_of(kind);
    switch (plain >= FIRST_ORDERED && plain <= LAST_ORDERED ? plain - ORDERED : plain) {
    case DYNAMIC: return ABTOMP_DYNAMIC | monotonic;
    case STEAL: return ABTOMP_DYNAMIC;
    case GUIDED:
    case TRAPEZOIDAL:
    case GUIDED_SIMD: return ABTOMP_GUIDED | monotonic;
    case RUNTIME:
    case RUNTIME_SIMD: return ABTOMP_RUNTIME | monotonic;
    case AUTO: return ABTOMP_AUTO;
    default: return ABTOMP_STATIC;
    }
}

/* Iterations of a vector stay together: members take whole chunks, each of as many vectors as the program asks for. */
static void divide_in_units(struct abtomp_loop *loop, const struct abtomp_icvs *icvs, uint32_t unit)
{
    loop->chunk = 1;
    if ((loop->kind & ~ABTOMP_MONOTONIC) == ABTOMP_RUNTIME) {
        loop->kind = icvs->run_sched;
        loop->chunk = icvs->run_chunk > 0;
        unit *= icvs->run_chunk > 0 ? (uint32_t)icvs->run_chunk : 1;
    }
    loop->step *= unit;
    loop->all = loop->num;
    loop->num = (loop->num + unit - 1) / unit;
}

static void enter_loop(const ident_t *at, int32_t kind, uint64_t lower, uint64_t num, int64_t step, int64_t chunk)
{
    struct abtomp_loop loop = {.start = lower, .step = (uint64_t)step, .num = num, .kind = kind_in(kind)};
    loop.inside = loop.step;
    loop.end = lower + (num - 1) * loop.inside; /* which is the last iteration */
    loop.work = work_at(at);
    int32_t plain = kind_of(kind);
    bool has_parts = plain == CHUNKED || plain == CHUNKED + ORDERED || loop.kind != ABTOMP_STATIC;
    loop.chunk = has_parts && chunk > 0 ? (uint64_t)chunk : 0;
    if (plain == CHUNKED && loop.chunk == 0)
        loop.chunk = 1;
    loop.is_ordered = plain >= FIRST_ORDERED && plain <= LAST_ORDERED;
    struct abtomp_member *me = abtomp_self();
    if ((plain == GUIDED_SIMD || plain == RUNTIME_SIMD) && chunk > 1)
        divide_in_units(&loop, &me->icvs, (uint32_t)chunk);
    if (abtomp_crossing_comes(me))
        abtomp_crossing_begin(me->crossing, &loop);
    abtomp_loop_enter(me, &loop, NULL, NULL);
}

/* Loops that first teams divide, then the members of each. *whole_upper: the end of what the team has. */
#define DISTRIBUTE_INIT(name, type, step_type)                                                                         \
    ABTOMP_API void __kmpc_team_static_init_##name(KMP_CALLER, int32_t *is_last, type *lower, type *upper,             \
                                                   step_type *stride, step_type step, step_type chunk)                 \
    {                                                                                                                  \
        (void)divide_##name(DISTRIBUTE_CHUNKED, is_last, lower, upper, stride, step, chunk);                           \
    }                                                                                                                  \
    ABTOMP_API void __kmpc_dist_for_static_init_##name(KMP_CALLER, int32_t kind, int32_t *is_last, type *lower,        \
                                                       type *upper, type *whole_upper, step_type *stride,              \
                                                       step_type step, step_type chunk)                                \
    {                                                                                                                  \
        int32_t is_last_team = 0, is_last_member = 0;                                                                  \
        (void)divide_##name(DISTRIBUTE, &is_last_team, lower, upper, stride, step, 0);                                 \
        *whole_upper = *upper;                                                                                         \
        uint64_t num = divide_##name(kind, &is_last_member, lower, upper, stride, step, chunk);                        \
        if (ABTOMP_NOTE(0))                                                                                            \
            tell_static(at, ompt_scope_begin, num, (uint64_t)*lower,                                                   \
                        count_iterations(step > 0 ? *upper < *lower : *lower < *upper, (uint64_t)*lower,               \
                                         (uint64_t)*upper, step));                                                     \
        if (is_last)                                                                                                   \
            *is_last = is_last_team && is_last_member;                                                                 \
    }                                                                                                                  \
    ABTOMP_API void __kmpc_dist_dispatch_init_##name(KMP_CALLER, int32_t kind, int32_t *is_last, type lower,           \
                                                     type upper, step_type step, step_type chunk)                      \
    {                                                                                                                  \
        step_type stride;                                                                                              \
        (void)ABTOMP_NOTE(0);                                                                                          \
        (void)divide_##name(DISTRIBUTE, is_last, &lower, &upper, &stride, step, 0);                                    \
        bool is_empty = step > 0 ? upper < lower : lower < upper;                                                      \
        enter_loop(at, kind, (uint64_t)lower, count_iterations(is_empty, (uint64_t)lower, (uint64_t)upper, step),      \
                   step, chunk);                                                                                       \
    }
KMP_LOOP_TYPES(DISTRIBUTE_INIT)

/* The next iterations, of this loop. NULL: there are none. */
static const struct abtomp_loop *take_part(struct abtomp_member *me)
{
    const struct abtomp_loop *loop = &me->share->loop;
    if (loop->is_ordered) {
        abtomp_ordered_pass(me);
        me->has_turn = false;
    }
    return abtomp_loop_take(me) ? loop : NULL;
}

#define DISPATCH(name, type, step_type)                                                                                \
    ABTOMP_API void __kmpc_dispatch_init_##name(KMP_CALLER, int32_t kind, type lower, type upper, step_type step,      \
                                                step_type chunk)                                                       \
    {                                                                                                                  \
        (void)ABTOMP_NOTE(0);                                                                                          \
        bool is_empty = step > 0 ? upper < lower : lower < upper;                                                      \
        enter_loop(at, kind, (uint64_t)lower, count_iterations(is_empty, (uint64_t)lower, (uint64_t)upper, step),      \
                   step, chunk);                                                                                       \
    }                                                                                                                  \
    ABTOMP_API int32_t __kmpc_dispatch_next_##name(KMP_CALLER, int32_t *is_last, type *lower, type *upper,             \
                                                   step_type *step)                                                    \
    {                                                                                                                  \
        struct abtomp_member *me = abtomp_current;                                                                     \
        const struct abtomp_loop *loop = take_part(me);                                                                \
        if (!loop) {                                                                                                   \
            (void)ABTOMP_NOTE(0);                                                                                      \
            abtomp_share_leave(me);                                                                                    \
            return 0;                                                                                                  \
        }                                                                                                              \
        bool ends = me->end == loop->num;                                                                              \
        uint64_t next = loop->start + me->end * loop->step;                                                            \
        if (is_last)                                                                                                   \
            *is_last = ends;                                                                                           \
        *lower = (type)(loop->start + me->first * loop->step);                                                         \
        *upper = (type)(ends ? loop->end : next - loop->inside);                                                       \
        if (step)                                                                                                      \
            *step = (step_type)loop->inside;                                                                           \
        return 1;                                                                                                      \
    }
KMP_LOOP_TYPES(DISPATCH)

ABTOMP_API void __kmpc_ordered(KMP_CALLER)
{
    abtomp_ordered_await(ABTOMP_CALLER(0));
}

/* -- Ends at which there is nothing to do -- */

/* A turn is passed when its chunk has ended, and a member leaves a loop when it finds no more iterations. */

KMP_TOLD(end_ordered, abtomp_tool_unlock(abtomp_self()->share, ompt_mutex_ordered))
KMP_END(for_static_fini, if (ABTOMP_NOTE(0)) tell_static(at, ompt_scope_end, 0, 0, 0))
KMP_NOTHING(dispatch_fini_4)
KMP_NOTHING(dispatch_fini_4u)
KMP_NOTHING(dispatch_fini_8)
KMP_NOTHING(dispatch_fini_8u)
KMP_NOTHING(dispatch_deinit)
