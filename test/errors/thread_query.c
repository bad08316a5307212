/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of a unit, its specific data, its pool. */
#include "errors.h"

static ABT_key key = ABT_KEY_NULL;

static void setup(void)
{
    must(ABT_key_create(NULL, &key));
}

static void teardown(void)
{
    must(ABT_key_free(&key));
}

/* --- The caller --- */

RETURNS(ABT_thread_self, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised",
        OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_self, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_self, ABT_ERR_INV_THREAD, TASKLETS | API1, "by a tasklet", OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_self, ABT_SUCCESS, TASKLETS | API2, "by a tasklet", OUT_GETS(ABT_thread, self()));

RETURNS(ABT_thread_self_id, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT(ABT_unit_id));
RETURNS(ABT_thread_self_id, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_unit_id));
RETURNS(ABT_thread_self_id, ABT_ERR_INV_THREAD, TASKLETS | API1, "by a tasklet", OUT(ABT_unit_id));
RETURNS(ABT_thread_self_id, ABT_SUCCESS, TASKLETS | API2, "by a tasklet", OUT_GETS(ABT_unit_id, own_id()));

/* --- Null handles --- */

NULLS(ABT_thread_get_last_xstream, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_xstream));
NULLS(ABT_thread_get_state, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_thread_state));
NULLS(ABT_thread_get_last_pool, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_pool));
NULLS(ABT_thread_get_last_pool_id, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(int));
NULLS(ABT_thread_get_unit, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_unit));
NULLS(ABT_thread_is_primary, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_bool));
NULLS(ABT_thread_is_unnamed, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_bool));
NULLS(ABT_task_is_unnamed, ABT_ERR_INV_THREAD, INITED, ABT_TASK_NULL, h, OUT(ABT_bool));
NULLS(ABT_thread_get_stacksize, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(size_t));
NULLS(ABT_thread_get_stack, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(void *), OUT(size_t));
NULLS(ABT_thread_get_id, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_unit_id));
NULLS(ABT_thread_set_arg, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, &key);
NULLS(ABT_thread_get_arg, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(void *));

typedef void (*unit_func)(void *);
NULLS(ABT_thread_get_thread_func, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(unit_func));

NULLS(ABT_thread_get_attr, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_thread_attr));
RETURNS(ABT_thread_get_attr, ABT_ERR_INV_THREAD, INITED | API1, "a tasklet", world.ended_task, OUT(ABT_thread_attr));

PROVOKE(ABT_thread_get_attr, ABT_SUCCESS, INITED | API2, "a tasklet: no stack")
{
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    int code = ABT_thread_get_attr(world.ended_task, &attr);

    must(ABT_thread_attr_get_stack(attr, OUT_GETS(void *, NULL), OUT_GETS(size_t, 0)));
    must(ABT_thread_attr_free(&attr));
    return code;
}

/* --- Specific data --- */

RETURNS(ABT_thread_set_specific, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL, ABT_KEY_NULL,
        NULL);
NULLS(ABT_thread_set_specific, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_KEY_NULL, NULL);
NULLS(ABT_thread_set_specific, ABT_ERR_INV_KEY, INITED, ABT_KEY_NULL, world.ready, h, &key);
RETURNS(ABT_task_set_specific, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_TASK_NULL, ABT_KEY_NULL, NULL);
NULLS(ABT_task_set_specific, ABT_ERR_INV_THREAD, INITED, ABT_TASK_NULL, h, key, NULL);
NULLS(ABT_task_set_specific, ABT_ERR_INV_KEY, INITED, ABT_KEY_NULL, world.ready_task, h, &key);

NULLS(ABT_thread_get_specific, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_KEY_NULL, OUT(void *));
NULLS(ABT_thread_get_specific, ABT_ERR_INV_KEY, INITED, ABT_KEY_NULL, world.ready, h, OUT(void *));
NULLS(ABT_task_get_specific, ABT_ERR_INV_THREAD, INITED, ABT_TASK_NULL, h, key, OUT(void *));
NULLS(ABT_task_get_specific, ABT_ERR_INV_KEY, INITED, ABT_KEY_NULL, world.ready_task, h, OUT(void *));

/* --- The pool --- */

NULLS(ABT_thread_set_associated_pool, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_POOL_NULL);
NULLS(ABT_thread_set_associated_pool, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, world.ended_ult, h);
RETURNS(ABT_thread_set_associated_pool, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", world.ended_ult,
        world.refusing);

/* A blocked one goes on counting where it was. */
PROVOKE(ABT_thread_set_associated_pool, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit for a blocked one")
{
    int code = ABT_thread_set_associated_pool(world.blocked, world.refusing);

    must(ABT_thread_get_last_pool(world.blocked, OUT_GETS(ABT_pool, world.worker_pool)));
    must(ABT_pool_get_total_size(world.refusing, OUT_GETS(size_t, 0)));
    return code;
}

TRY_ALL(setup, teardown)
