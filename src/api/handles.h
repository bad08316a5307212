/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the public functions: null handles, and kinds of callers. */
#ifndef ABTI_API_HANDLES_H
#define ABTI_API_HANDLES_H

#include "api/misuse.h"
#include "base/assert.h"
#include "rt/handle.h"
#include "rt/rt.h"

#define ABTI_SCHED_IS_NULL(h) ABTI_IS_NULL(h, ABT_SCHED_NULL)
#define ABTI_POOL_IS_NULL(h) ABTI_IS_NULL(h, ABT_POOL_NULL)
#define ABTI_UNIT_IS_NULL(h) ABTI_IS_NULL(h, ABT_UNIT_NULL)
#define ABTI_ATTR_IS_NULL(h) ABTI_IS_NULL(h, ABT_THREAD_ATTR_NULL)

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

/* The same, reported while misuse is looked for. */
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

/* --- What these functions have of one another --- */

/* Work-unit specific data of a given unit. Setting returns an ABT code. */
int abti_unit_set_specific(abti_unit *unit, ABT_key key, void *value) ABTI_MUST_CHECK;
void *abti_unit_get_specific(abti_unit *unit, ABT_key key);

/*
 * What a scheduler is to be made of, while misuse is looked for: ABT_SUCCESS, or the code for what is none or has been
 * freed. `function` is the one that the user has called.
 */
int abti_sched_check_parts(int num_pools, ABT_pool *pools, ABT_sched_config config,
                           const char *function) ABTI_MUST_CHECK;

/* Does what ABT_sched_create_basic does. Returns an ABT code, without a report of the error. */
int abti_sched_make_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                          ABT_sched *newsched) ABTI_MUST_CHECK;

/* Undoes it. Pools that were made for it are destroyed, and the user's own stay. */
void abti_sched_unmake_basic(ABT_sched sched, int num_pools, ABT_pool *pools);

/* For a thread that enters a stream: the library is there from now on, at least until abti_init_leave. Returns an ABT
 * code. */
int abti_init_enter(void) ABTI_MUST_CHECK;

/* The thread has left its stream. */
void abti_init_leave(void);

#endif
