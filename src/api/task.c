/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_task_*: tasklets. Most are the functions of ULTs, with INV_TASK where those say INV_THREAD. */
#include "api/handles.h"
#include "run/create.h"
#include "run/quick.h"
#include "run/sched.h"
#include "rt/handle.h"
#include "run/join.h"

static int as_task(int code)
{
    return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

static int task_create(abti_pool *pool, void (*func)(void *), void *arg, ABT_task *newtask)
{
    return abti_error(abti_create(pool, func, arg, ABT_THREAD_ATTR_NULL, ABTI_UNIT_TASKLET, newtask));
}

static ABTI_NOINLINE int task_create_checked(ABT_pool pool, void (*func)(void *), void *arg, ABT_task *newtask)
{
    if (newtask)
        ABTI_PRESET_OUT(newtask, ABT_TASK_NULL);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD_IN(pool, "ABT_task_create"), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(func, "ABT_task_create")), ABT_ERR_INV_ARG);
    ABTI_USES_POOL_IN(pool, "ABT_task_create");
    return task_create(pool, func, arg, newtask);
}

static ABTI_NOINLINE int task_create_shared(ABT_pool pool, void (*func)(void *), void *arg, ABT_task *newtask)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!abti_create_is_quick_shared(es, pool) || !newtask))
        return task_create_checked(pool, func, arg, newtask);
    return abti_create_quick_shared(es, pool, func, arg, ABTI_UNIT_TASKLET | ABTI_UNIT_NAMED, newtask);
}

/* Like ABT_thread_create this handles the common case by itself. */
ABTI_HOT int ABT_task_create(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *newtask)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!abti_create_is_quick(es, pool) || !newtask))
        return task_create_shared(pool, task_func, arg, newtask);
    *newtask = abti_create_quick(es, pool, task_func, arg, ABTI_UNIT_TASKLET | ABTI_UNIT_NAMED);
    return ABT_SUCCESS;
}

int ABT_task_create_on_xstream(ABT_xstream xstream, void (*task_func)(void *), void *arg, ABT_task *newtask)
{
    if (newtask)
        ABTI_PRESET_OUT(newtask, ABT_TASK_NULL);
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /*
     * acquire: pairs with the store in install_replacement (stream/main.c). The scheduler is complete before it is
     * found
     */
    abti_sched *sched = abti_load_acquire(&xstream->main_sched);
    ABTI_REFUSE_IF(sched->num_pools == 0, ABT_ERR_INV_XSTREAM);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(task_func, __func__)), ABT_ERR_INV_ARG);
    ABTI_USES_POOL(sched->pools[0]);
    return task_create(sched->pools[0], task_func, arg, newtask);
}

int ABT_task_revive(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *task)
{
    return as_task(ABT_thread_revive(pool, task_func, arg, task));
}

static ABTI_NOINLINE int task_free_checked(abti_es *es, ABT_task *task)
{
    ABTI_REFUSE_IF(!abti_is_up(es), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_CANNOT_JOIN(es, *task, "ABT_task_free"), ABT_ERR_INV_TASK);
    if (!es || !abti_try_join_lone(es, *task, task))
        abti_join(es, *task, task);
    *task = ABT_TASK_NULL;
    return ABT_SUCCESS;
}

static ABTI_NOINLINE int task_free_lone(abti_es *es, ABT_task *task)
{
    if (!abti_try_join_lone(es, *task, task))
        return task_free_checked(es, task);
    *task = ABT_TASK_NULL;
    return ABT_SUCCESS;
}

ABTI_HOT int ABT_task_free(ABT_task *task)
{
    abti_unit *unit = *task;
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!es || abti_handle_is_to_check(unit)))
        return task_free_checked(es, task);
    if (ABTI_UNLIKELY(!abti_may_free_at_once(es, unit)))
        return task_free_lone(es, task);
    abti_unit_release_quick(es, unit);
    *task = ABT_TASK_NULL;
    return ABT_SUCCESS;
}

int ABT_task_join(ABT_task task)
{
    return as_task(ABT_thread_join(task));
}

int ABT_task_cancel(ABT_task task)
{
    return as_task(ABT_thread_cancel(task));
}

int ABT_task_self(ABT_task *task)
{
    ABTI_PRESET_OUT(task, ABT_TASK_NULL);
    ABTI_CALLING_ES_WHEN_UP(es);
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_unit_is_tasklet(es->cur), ABT_ERR_INV_TASK);
    *task = es->cur;
    return ABT_SUCCESS;
}

int ABT_task_self_id(uint64_t *id)
{
    ABT_task self;
    int code = ABT_task_self(&self);
    if (code == ABT_SUCCESS)
        *id = abti_unit_id(self);
    return code;
}

int ABT_task_get_xstream(ABT_task task, ABT_xstream *xstream)
{
    return as_task(ABT_thread_get_last_xstream(task, xstream));
}

int ABT_task_get_state(ABT_task task, ABT_task_state *state)
{
    ABT_thread_state thread_state;
    int code = as_task(ABT_thread_get_state(task, &thread_state));
    if (code != ABT_SUCCESS)
        return code;
    *state = thread_state == ABT_THREAD_STATE_READY        ? ABT_TASK_STATE_READY
             : thread_state == ABT_THREAD_STATE_TERMINATED ? ABT_TASK_STATE_TERMINATED
                                                           : ABT_TASK_STATE_RUNNING;
    return ABT_SUCCESS;
}

int ABT_task_get_last_pool(ABT_task task, ABT_pool *pool)
{
    return as_task(ABT_thread_get_last_pool(task, pool));
}

int ABT_task_get_last_pool_id(ABT_task task, int *id)
{
    return as_task(ABT_thread_get_last_pool_id(task, id));
}

int ABT_task_set_migratable(ABT_task task, ABT_bool flag)
{
    return as_task(ABT_thread_set_migratable(task, flag));
}

int ABT_task_is_migratable(ABT_task task, ABT_bool *flag)
{
    return as_task(ABT_thread_is_migratable(task, flag));
}

int ABT_task_equal(ABT_task task1, ABT_task task2, ABT_bool *result)
{
    return ABT_thread_equal(task1, task2, result);
}

int ABT_task_get_id(ABT_task task, uint64_t *task_id)
{
    return as_task(ABT_thread_get_id(task, task_id));
}

int ABT_task_get_arg(ABT_task task, void **arg)
{
    return as_task(ABT_thread_get_arg(task, arg));
}
