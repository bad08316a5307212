/* Shared by the public functions: null handles, and who is calling. */
#ifndef ABTI_API_HANDLES_H
#define ABTI_API_HANDLES_H

#include "api/check.h"
#include "core/rt.h"
#include "core/switch.h"

#define ABTI_XSTREAM_IS_NULL(h) ABTI_IS_NULL(h, ABT_XSTREAM_NULL)
#define ABTI_SCHED_IS_NULL(h) ABTI_IS_NULL(h, ABT_SCHED_NULL)
#define ABTI_POOL_IS_NULL(h) ABTI_IS_NULL(h, ABT_POOL_NULL)
#define ABTI_UNIT_IS_NULL(h) ABTI_IS_NULL(h, ABT_UNIT_NULL)
#define ABTI_ATTR_IS_NULL(h) ABTI_IS_NULL(h, ABT_THREAD_ATTR_NULL)
#define ABTI_KEY_IS_NULL(h) ABTI_IS_NULL(h, ABT_KEY_NULL)

/* The null handles of ULTs and tasklets stand for each other. Small numbers are never addresses: one comparison. */
ABTI_INLINE bool abti_thread_is_null(ABT_thread h)
{
    _Static_assert(ABT_NULL || ((uintptr_t)ABT_THREAD_NULL < 64 && (uintptr_t)ABT_TASK_NULL < 64), "null handles");
    return ABTI_UNLIKELY((uintptr_t)h < 64);
}

/* ABT_SUCCESS if the caller is a unit that can yield; INV_XSTREAM for external threads, INV_THREAD for tasklets. */
ABTI_INLINE int abti_check_ult(abti_es *es)
{
    if (ABTI_UNLIKELY(!es))
        return ABT_ERR_INV_XSTREAM;
    if (ABTI_UNLIKELY(abti_unit_is_tasklet(es->cur)))
        return ABT_ERR_INV_THREAD;
    return ABT_SUCCESS;
}

/* The function that stacks units; shared by ABT_thread_* and ABT_task_*. */
int abti_unit_create(abti_pool *pool, void (*func)(void *), void *arg, unsigned flags, abti_unit **unit) ABTI_MUST_CHECK;

/* Revives a terminated unit into a pool, without pushing it. ABT code. */
int abti_unit_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg) ABTI_MUST_CHECK;

/* Queries that ABT_thread_*, ABT_task_* and ABT_self_* have in common. */
abti_es *abti_unit_last_es(abti_unit *unit);
ABT_thread_state abti_unit_state(abti_unit *unit);

#endif
