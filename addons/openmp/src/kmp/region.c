/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions of clang, and what their members do together but for loops. */
#include "loop/share.h"
#include "ompt/tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "kmp/kmp.h"

/* -- Regions -- */

/* The function of a region: two pointers to numbers of the thread, then one for each variable. */
typedef void (*kmp_microtask)(void);

/* What the next region of this thread is to have. The program calls between nothing that could change the thread. */
static _Thread_local struct {
    unsigned num, bind, teams, limit;
} asked;

ABTOMP_API void __kmpc_push_num_threads(KMP_CALLER, int32_t num)
{
    asked.num = num > 0 ? (unsigned)num : 0;
}

ABTOMP_API void __kmpc_push_proc_bind(KMP_CALLER, int32_t bind)
{
    asked.bind = bind > 0 ? (unsigned)bind : 0;
}

enum { FEW = 16, MANY = 64, MOST = 256 };

/*
 * A call of the program's function. The member that opens a region keeps it for its next one, so that nothing is
 * written that has its value already: the other members have read it.
 */
struct kmp_call {
    kmp_microtask fn;
    int32_t num, room; /* of arguments: FEW, MANY or MOST, of which the function looks at `num` */
    void *args[];
};

#define P4 void *, void *, void *, void *
#define P16 P4, P4, P4, P4
#define P64 P16, P16, P16, P16
#define P256 P64, P64, P64, P64
#define A4(i) args[i], args[(i) + 1], args[(i) + 2], args[(i) + 3]
#define A16(i) A4(i), A4((i) + 4), A4((i) + 8), A4((i) + 12)
#define A64(i) A16(i), A16((i) + 16), A16((i) + 32), A16((i) + 48)
#define A256(i) A64(i), A64((i) + 64), A64((i) + 128), A64((i) + 192)
#define CALL(params, ...) ((void (*)(int32_t *, int32_t *, params))call->fn)(num, num, __VA_ARGS__)

static __attribute__((noinline)) void call_with_many(const struct kmp_call *call, int32_t *num)
{
    void *const *args = call->args;
    if (call->num <= FEW)
        CALL(P16, A16(0));
    else if (call->num <= MANY)
        CALL(P64, A64(0));
    else
        CALL(P256, A256(0));
}

/*
 * Runs the function with its arguments, and with more than it has: by the calling conventions of all systems that the
 * library is for the caller places and removes them, so that a function does not see what it has no name for. It only
 * reads the two numbers, which are both that of the member.
 */
static inline void call_function(const struct kmp_call *call)
{
    void *const *args = call->args;
    int32_t *num = &abtomp_current->num;
    if (ABTOMP_LIKELY(call->num <= 4))
        CALL(P4, A4(0));
    else
        call_with_many(call, num);
}

KMP_RUN(run_call, call_function)

/* The next call of the member is another one than its last. */
static __attribute__((noinline)) struct kmp_call *call_change(struct abtomp_member *me, int32_t num, kmp_microtask fn)
{
    struct kmp_call *call = me->call;
    if (!call || call->room < num) {
        if (num > MOST)
            abtomp_fail("a region shares more variables than the library has room for: 256");
        int32_t room = num <= FEW ? FEW : num <= MANY ? MANY : MOST;
        size_t size = (sizeof(*call) + (size_t)room * sizeof(call->args[0]) + 63) & ~(size_t)63;
        free(call);
        me->call = call = memset(abtomp_must_have(aligned_alloc(64, size)), 0, size);
        call->room = room;
    }
    call->fn = fn;
    call->num = num;
    return call;
}

/* The next call of the member, which has that function and number of arguments. */
static inline struct kmp_call *call_of(struct abtomp_member *me, int32_t num, kmp_microtask fn)
{
    struct kmp_call *call = me->call;
    return ABTOMP_LIKELY(call && call->fn == fn && call->num == num) ? call : call_change(me, num, fn);
}

static inline void set_arg(struct kmp_call *call, int32_t i, void *arg)
{
    if (call->args[i] != arg)
        call->args[i] = arg;
}

/* The first three are read by name: they are in registers, whether the region has as many or not. */
#define SET_ARGS(call, num, a, b, c)                                                                                   \
    void *first[] = {a, b, c};                                                                                         \
    for (int32_t i = 0; i < 3 && i < num; i++)                                                                         \
        set_arg(call, i, first[i]);                                                                                    \
    if (num > 3) {                                                                                                     \
        va_list more;                                                                                                  \
        va_start(more, c);                                                                                             \
        for (int32_t i = 3; i < num; i++)                                                                              \
            set_arg(call, i, va_arg(more, void *));                                                                    \
        va_end(more);                                                                                                  \
    }

static inline void run_region(struct kmp_call *call)
{
    unsigned members = asked.num, bind = asked.bind;
    asked.num = asked.bind = 0;
    (void)abtomp_parallel(abtomp_is_observed() ? run_viewed : run_call, call, (void (*)(void *))call->fn, members, bind,
                          NULL);
}

ABTOMP_API void __kmpc_fork_call(KMP_AT, int32_t num, kmp_microtask fn, void *a, void *b, void *c, ...)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_runtime);
    struct kmp_call *call = call_of(abtomp_self(), num, fn);
    SET_ARGS(call, num, a, b, c);
    run_region(call);
}

/* The region has a condition, and one pointer for all its variables at most. */
ABTOMP_API void __kmpc_fork_call_if(KMP_AT, int32_t num, kmp_microtask fn, int32_t condition, void *arg)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_runtime);
    struct kmp_call *call = call_of(abtomp_self(), num, fn);
    set_arg(call, 0, arg);
    if (!condition)
        asked.num = 1;
    run_region(call);
}

ABTOMP_API void __kmpc_fork_teams(KMP_AT, int32_t num, kmp_microtask fn, void *a, void *b, void *c, ...)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_runtime);
    struct abtomp_member *me = abtomp_self();
    struct kmp_call *call = call_of(me, num, fn);
    SET_ARGS(call, num, a, b, c);
    unsigned teams = asked.teams, limit = asked.limit;
    asked.teams = asked.limit = 0;
    me->call = NULL; /* the teams are of the same member, and have regions */
    abtomp_teams(abtomp_is_observed() ? run_viewed : run_call, call, teams, limit);
    free(me->call);
    me->call = call;
}

ABTOMP_API void __kmpc_push_num_teams(KMP_CALLER, int32_t num, int32_t limit)
{
    asked.teams = num > 0 ? (unsigned)num : 0;
    asked.limit = limit > 0 ? (unsigned)limit : 0;
}

ABTOMP_API void __kmpc_push_num_teams_51(KMP_CALLER, int32_t least, int32_t most, int32_t limit)
{
    __kmpc_push_num_teams(at, gtid, most > 0 ? most : least, limit);
}

ABTOMP_API void __kmpc_set_thread_limit(KMP_CALLER, int32_t limit)
{
    if (limit > 0)
        abtomp_change_icvs(abtomp_self())->thread_limit = limit;
}

/* A region whose condition does not hold: the caller itself runs its function. */
ABTOMP_API void __kmpc_serialized_parallel(KMP_CALLER)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_runtime);
    asked.num = asked.bind = 0;
    abtomp_parallel_start(NULL, NULL, 1);
}

ABTOMP_API void __kmpc_end_serialized_parallel(KMP_CALLER)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_runtime);
    abtomp_parallel_end();
}

/* -- Numbers -- */

ABTOMP_API int32_t __kmpc_bound_thread_num(KMP_AT)
{
    return abtomp_self()->num;
}

ABTOMP_API int32_t __kmpc_global_thread_num(KMP_AT)
{
    return __kmpc_bound_thread_num(at);
}

ABTOMP_API int32_t __kmpc_bound_num_threads(KMP_AT)
{
    return abtomp_self()->team->num;
}

ABTOMP_API int32_t __kmpc_global_num_threads(KMP_AT)
{
    return __kmpc_bound_num_threads(at);
}

ABTOMP_API int32_t __kmpc_in_parallel(KMP_AT)
{
    return abtomp_self()->team->active_level > 0;
}

ABTOMP_API int32_t __kmpc_ok_to_fork(KMP_AT)
{
    return 1;
}

static inline __attribute__((always_inline)) int32_t begin_masked(int32_t filter)
{
    const struct abtomp_member *me = abtomp_self();
    if (me->num == filter && ABTOMP_NOTED(0))
        abtomp_tool_masked(abtomp_self(), ompt_scope_begin);
    return me->num == filter;
}

ABTOMP_API int32_t __kmpc_masked(KMP_CALLER, int32_t filter)
{
    return begin_masked(filter);
}

ABTOMP_API int32_t __kmpc_master(KMP_CALLER)
{
    return begin_masked(0);
}

/* -- Barriers and cancellation -- */

static int barrier_kind(const ident_t *at)
{
    int32_t flags = at ? at->flags : 0;
    return flags & KMP_AT_BARRIER ? ompt_sync_region_barrier_explicit
           : flags & KMP_AT_END   ? ompt_sync_region_barrier_implicit_workshare
                                  : ompt_sync_region_barrier_implementation;
}

/* A member that has left a loop by its cancellation is in the share of the loop still. */
static struct abtomp_member *leave_loop(void)
{
    struct abtomp_member *me = abtomp_self();
    abtomp_share_leave(me);
    return me;
}

ABTOMP_API void __kmpc_barrier(KMP_CALLER)
{
    (void)ABTOMP_NOTE(barrier_kind(at));
    abtomp_barrier(leave_loop());
}

ABTOMP_API int32_t __kmpc_barrier_master_nowait(KMP_CALLER)
{
    __kmpc_barrier(at, gtid);
    return __kmpc_master(at, gtid);
}

/* The master goes on alone, until it ends the barrier for the others. */
ABTOMP_API int32_t __kmpc_barrier_master(KMP_CALLER)
{
    (void)ABTOMP_NOTE(0);
    int32_t is_master = __kmpc_barrier_master_nowait(at, gtid);
    if (!is_master)
        abtomp_barrier(abtomp_self());
    return is_master;
}

ABTOMP_API void __kmpc_end_barrier_master(KMP_CALLER)
{
    __kmpc_barrier(at, gtid);
}

ABTOMP_API int32_t __kmpc_cancel_barrier(KMP_CALLER)
{
    (void)ABTOMP_NOTE(barrier_kind(at));
    return abtomp_barrier_cancel(leave_loop());
}

/* 1: parallel, 2: loop, 3: sections, 4: taskgroup */
static enum abtomp_cancellable cancel_kind(int32_t kind)
{
    return kind == 1 ? ABTOMP_CANCEL_REGION : kind == 4 ? ABTOMP_CANCEL_GROUP : ABTOMP_CANCEL_SHARE;
}

ABTOMP_API int32_t __kmpc_cancel(KMP_CALLER, int32_t kind)
{
    return abtomp_cancel(ABTOMP_CALLER(kind == 2 ? ompt_cancel_loop : ompt_cancel_sections), cancel_kind(kind));
}

ABTOMP_API int kmp_get_cancellation_status(int kind)
{
    return abtomp_is_cancelled(abtomp_self(), cancel_kind(kind));
}

ABTOMP_API int32_t __kmpc_cancellationpoint(KMP_CALLER, int32_t kind)
{
    return abtomp_is_cancelled(ABTOMP_CALLER(kind == 2 ? ompt_cancel_loop : ompt_cancel_sections), cancel_kind(kind));
}

/* -- Critical and reductions: of the 32 bytes of a name the first four are the mutex -- */

ABTOMP_API void __kmpc_critical(KMP_CALLER, void *name)
{
    ABTOMP_LOCK(name, ompt_mutex_critical);
}

ABTOMP_API void __kmpc_critical_with_hint(KMP_CALLER, void *name, uint32_t hint)
{
    (void)hint;
    __kmpc_critical(at, gtid, name);
}

ABTOMP_API void __kmpc_end_critical(KMP_CALLER, void *name)
{
    ABTOMP_UNLOCK(name, ompt_mutex_critical);
}

/* Each member adds its own part: that is what the answer 1 says. Functions without a name have one for all. */
static _Atomic(uint32_t) unnamed;

ABTOMP_API int32_t __kmpc_reduce_nowait(KMP_CALLER, int32_t num, size_t size, void *data,
                                        void (*reduce)(void *, void *), void *name)
{
    (void)num, (void)size, (void)data, (void)reduce;
    abtomp_users_lock(name ? name : &unnamed);
    if (ABTOMP_NOTED(0))
        abtomp_tool_scope(abtomp_self(), ompt_sync_region_reduction, ompt_scope_begin);
    return 1;
}

ABTOMP_API void __kmpc_end_reduce_nowait(KMP_CALLER, void *name)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_scope(abtomp_self(), ompt_sync_region_reduction, ompt_scope_end);
    abtomp_mutex_unlock(name ? name : &unnamed);
}

ABTOMP_API int32_t __kmpc_reduce(KMP_CALLER, int32_t num, size_t size, void *data, void (*reduce)(void *, void *),
                                 void *name)
{
    return __kmpc_reduce_nowait(at, gtid, num, size, data, reduce, name);
}

ABTOMP_API void __kmpc_end_reduce(KMP_CALLER, void *name)
{
    __kmpc_end_reduce_nowait(at, gtid, name);
    __kmpc_barrier(at, gtid);
}

/* -- Single -- */

ABTOMP_API int32_t __kmpc_single(KMP_CALLER)
{
    return abtomp_single(ABTOMP_CALLER(0));
}

/* The member that ran the construct hands out where its values are. It keeps them until all have copied them. */
ABTOMP_API void __kmpc_copyprivate(KMP_CALLER, size_t size, void *data, void (*copy)(void *, void *), int32_t is_single)
{
    (void)size;
    struct abtomp_member *me = ABTOMP_CALLER(0);
    if (is_single)
        me->team->copied = data;
    abtomp_barrier(me);
    if (!is_single)
        copy(data, me->team->copied);
    abtomp_barrier(me);
}

/* The same, but for the copying itself, and the barrier after it. */
ABTOMP_API void *__kmpc_copyprivate_light(KMP_CALLER, void *data)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    if (data)
        me->team->copied = data;
    abtomp_barrier(me);
    return me->team->copied;
}

/* -- Memory, and messages -- */

ABTOMP_API void __kmpc_error(KMP_AT, int severity, const char *message)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_error(severity == 2, message, SIZE_MAX);
    abtomp_error(severity == 2, message, SIZE_MAX);
}

ABTOMP_API void __kmpc_flush(KMP_AT)
{
    atomic_thread_fence(memory_order_seq_cst); /* seq_cst: pairs with this atomic_thread_fence, of others */
    if (ABTOMP_NOTED(0))
        abtomp_tool_flush();
}

/* -- Ends of constructs at which there is nothing to do -- */

KMP_TOLD(end_master, abtomp_tool_masked(abtomp_self(), ompt_scope_end))
KMP_TOLD(end_masked, abtomp_tool_masked(abtomp_self(), ompt_scope_end))
KMP_TOLD(end_single, abtomp_tool_single_end(abtomp_self()))
KMP_NOTHING(pop_num_threads)

ABTOMP_API void __kmpc_begin(KMP_AT, int32_t flags)
{
    (void)flags;
}

ABTOMP_API void __kmpc_end(KMP_AT)
{
}

ABTOMP_API void __kmpc_scope(KMP_CALLER, void *unused)
{
    (void)unused;
    if (ABTOMP_NOTED(0))
        abtomp_tool_work(abtomp_self(), ompt_work_scope, ompt_scope_begin, 0);
}

ABTOMP_API void __kmpc_end_scope(KMP_CALLER, void *unused)
{
    (void)unused;
    if (ABTOMP_NOTED(0))
        abtomp_tool_work(abtomp_self(), ompt_work_scope, ompt_scope_end, 0);
}
