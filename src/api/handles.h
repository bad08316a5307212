/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the public functions: null handles, and kinds of callers. */
#ifndef ABTI_API_HANDLES_H
#define ABTI_API_HANDLES_H

#include "api/misuse.h"
#include "base/assert.h"
#include "pool/builtin.h"
#include "pool/member.h"
#include "rt/handle.h"
#include "rt/rt.h"

#define ABTI_XSTREAM_IS_NULL(h) ABTI_IS_NULL(h, ABT_XSTREAM_NULL)
#define ABTI_SCHED_IS_NULL(h) ABTI_IS_NULL(h, ABT_SCHED_NULL)
#define ABTI_POOL_IS_NULL(h) ABTI_IS_NULL(h, ABT_POOL_NULL)
#define ABTI_UNIT_IS_NULL(h) ABTI_IS_NULL(h, ABT_UNIT_NULL)
#define ABTI_ATTR_IS_NULL(h) ABTI_IS_NULL(h, ABT_THREAD_ATTR_NULL)
#define ABTI_KEY_IS_NULL(h) ABTI_IS_NULL(h, ABT_KEY_NULL)

/* The null handles of ULTs and tasklets stand for each other. */
ABTI_INLINE bool abti_thread_is_null(ABT_thread h)
{
    return ABTI_UNLIKELY(ABTI_IS_NULL(h, ABT_THREAD_NULL));
}

/* Null, or stale while misuse is looked for. */
#define ABTI_XSTREAM_IS_BAD(h) ABTI_IS_BAD(h, ABT_XSTREAM_NULL, ABTI_HANDLE_XSTREAM)
#define ABTI_SCHED_IS_BAD(h) ABTI_SCHED_IS_BAD_IN(h, __func__)
#define ABTI_SCHED_IS_BAD_IN(h, function) ABTI_IS_BAD_IN(h, ABT_SCHED_NULL, ABTI_HANDLE_SCHED, function)
#define ABTI_POOL_IS_BAD(h) ABTI_POOL_IS_BAD_IN(h, __func__)
#define ABTI_POOL_IS_BAD_IN(h, function) ABTI_IS_BAD_IN(h, ABT_POOL_NULL, ABTI_HANDLE_POOL, function)
#define ABTI_ATTR_IS_BAD(h) ABTI_IS_BAD(h, ABT_THREAD_ATTR_NULL, ABTI_HANDLE_THREAD_ATTR)
#define ABTI_KEY_IS_BAD(h) ABTI_IS_BAD(h, ABT_KEY_NULL, ABTI_HANDLE_KEY)
#define ABTI_THREAD_IS_BAD(h) ABTI_THREAD_IS_BAD_IN(h, __func__)
#define ABTI_THREAD_IS_BAD_IN(h, function) ABTI_IS_BAD_IN(h, ABT_THREAD_NULL, ABTI_HANDLE_UNIT, function)

/* Whether the library is up. An ES's own threads need not ask. */
ABTI_INLINE bool abti_is_up(abti_es *es)
{
    return es || abti_rt_is_up();
}

/*
 * Whether the unit cannot be joined or freed: there is none, or it is the caller itself, the primary ULT, or a main
 * scheduler.
 */
ABTI_INLINE bool abti_is_not_joinable(abti_es *es, abti_unit *unit)
{
    return abti_thread_is_null(unit) || (unit->flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_MAIN_SCHED)) ||
           (es && es->cur == unit);
}

/* The same, told while misuse is looked for. */
#define ABTI_CANNOT_JOIN(es, unit, function)                                                                           \
    (ABTI_MISUSED(abti_misuse_of_join(es, unit, function)) || abti_is_not_joinable(es, unit))

/*
 * Returns ABT_SUCCESS if the caller is a unit that can yield, INV_XSTREAM for external threads, and INV_THREAD for
 * tasklets.
 */
ABTI_INLINE int abti_check_ult(abti_es *es)
{
    if (ABTI_UNLIKELY(!es))
        return ABT_ERR_INV_XSTREAM;
    if (ABTI_UNLIKELY(abti_unit_is_tasklet(es->cur)))
        return ABT_ERR_INV_THREAD;
    return ABT_SUCCESS;
}

/* Whether an ES creates a unit in a pool, and has a descriptor for it. */
ABTI_INLINE bool abti_create_may_be_quick(abti_es *es, ABT_pool pool)
{
    return es && !abti_handle_is_slow(pool) && abti_cache_top(&es->units);
}

/*
 * Creation for an ES and a private pool has two halves: the first tells whether the case is that simple, the second
 * creates. A thread that is no ES is no pool's host. It asks what abti_create_may_be_quick does, but for the pool's
 * kind before the descriptor: 2 instructions less here, and 7 where the pool is a shared one.
 */
ABTI_INLINE bool abti_create_is_quick(abti_es *es, ABT_pool pool)
{
    return !abti_handle_is_slow(pool) && abti_cpu_is_equal(&pool->quick_host, (uintptr_t)es) &&
           abti_cache_top(&es->units);
}

ABTI_INLINE abti_unit *abti_create_quick(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags)
{
    abti_assert(es == abti_es_self && abti_pool_is_host(es, pool) && abti_cache_top(&es->units));
    abti_unit *unit = abti_cache_get_quick(&es->units);
    abti_unit_init(unit, func, arg, pool, flags);
    abti_queue_push(&pool->queue, unit);
    return unit;
}

/* Creation has the same two halves for another built-in pool, which is guarded by a lock. */
ABTI_INLINE bool abti_create_is_quick_shared(abti_es *es, ABT_pool pool)
{
    return abti_create_may_be_quick(es, pool) && abti_cpu_is_set(&pool->quick_shared);
}

ABTI_INLINE int abti_create_quick_shared(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags,
                                         ABT_thread *handle)
{
    abti_assert(es == abti_es_self && pool->ops->push_locked && abti_cache_top(&es->units) && handle);
    abti_unit *unit = abti_cache_get_quick(&es->units);
    abti_unit_init(unit, func, arg, pool, flags);
    *handle = unit; /* this comes before the push: the unit may run at once */
    return abti_pool_push_shared(es, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE, pool->shared_fifo);
}

/* The second half for a user-defined pool. The first is abti_create_may_be_quick and pool->quick_user. */
ABTI_INLINE int abti_create_quick_user(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags,
                                       ABT_thread *handle)
{
    abti_assert(es == abti_es_self && pool->user_defined && abti_cache_top(&es->units) && handle);
    abti_unit *unit = abti_cache_get_quick(&es->units);
    abti_unit_init(unit, func, arg, pool, flags);
    int code = abti_unit_enter(unit, pool);
    if (ABTI_UNLIKELY(code != ABT_SUCCESS)) {
        abti_unit_release(abti_es_self, unit);
        return code;
    }
    *handle = unit; /* this comes before the push: the unit may run at once */
    pool->ops->push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
    return ABT_SUCCESS;
}

/*
 * Creates several units with functions and arguments of their own, and pushes them together. `args` may be NULL. It
 * creates as many as there are descriptors at hand, and at least one, and returns how many.
 */
ABTI_INLINE size_t abti_create_quick_shared_many(abti_es *es, abti_pool *pool, void (**funcs)(void *), void **args,
                                                 size_t num, unsigned flags, ABT_thread *handles)
{
    size_t n = 0;
    for (; n < num && abti_cache_top(&es->units); n++) {
        handles[n] = abti_cache_get_quick(&es->units);
        abti_unit_init(handles[n], funcs[n], args ? args[n] : NULL, pool, flags);
    }
    pool->ops->push_many(pool, handles, n, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
    return n;
}

/* Revives a terminated unit into a pool, without pushing it. Returns an ABT code. */
int abti_unit_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg) ABTI_MUST_CHECK;

/* A driver or a source is attached to streams. */
#define ABTI_CALLEE_IS_BAD(callee, kind, function) ABTI_IS_BAD_IN(callee, NULL, kind, function)

/* What is attached to streams, a driver or a source, and a stream: ABT_SUCCESS if both are there. */
ABTI_INLINE int abti_check_callee_and_xstream(const void *callee, enum abti_handle_kind kind, ABT_xstream xstream,
                                              const char *function)
{
    if (ABTI_REFUSE(ABTI_CALLEE_IS_BAD(callee, kind, function)))
        return ABT_ERR_INV_ARG;
    return ABTI_REFUSE(ABTI_IS_BAD_IN(xstream, ABT_XSTREAM_NULL, ABTI_HANDLE_XSTREAM, function)) ? ABT_ERR_INV_XSTREAM
                                                                                                 : ABT_SUCCESS;
}

#endif
