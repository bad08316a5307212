/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling unit. */
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

/* --- Who and where --- */

RETURNS(ABT_self_get_xstream, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_xstream));
RETURNS(ABT_self_get_xstream_rank, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(int));
RETURNS(ABT_self_get_thread, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_thread));
RETURNS(ABT_self_get_task, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_thread));
RETURNS(ABT_self_get_thread_id, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_unit_id));
RETURNS(ABT_self_get_task_id, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_unit_id));
RETURNS(ABT_self_is_unnamed, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_bool));
RETURNS(ABT_self_get_last_pool, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_pool));
RETURNS(ABT_self_get_unit, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(ABT_unit));

typedef void (*unit_func)(void *);
RETURNS(ABT_self_get_thread_func, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(unit_func));

RETURNS(ABT_self_get_last_pool_id, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT_PRESET(int, -1));
RETURNS(ABT_self_get_last_pool_id, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT_PRESET(int, -1));

RETURNS(ABT_self_get_type, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised",
        OUT_GETS(ABT_unit_type, ABT_UNIT_TYPE_EXT));
RETURNS(ABT_self_get_type, ABT_ERR_INV_XSTREAM, BY_EXTERNAL | API1, "not on an ES",
        OUT_GETS(ABT_unit_type, ABT_UNIT_TYPE_EXT));
RETURNS(ABT_self_get_type, ABT_SUCCESS, BY_EXTERNAL | UNINITED | API2 | ALWAYS, "not on an ES",
        OUT_GETS(ABT_unit_type, ABT_UNIT_TYPE_EXT));

RETURNS(ABT_self_is_primary, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT_GETS(ABT_bool, ABT_FALSE));
RETURNS(ABT_self_is_primary, ABT_ERR_INV_XSTREAM, BY_EXTERNAL | API1, "not on an ES", OUT_GETS(ABT_bool, ABT_FALSE));
RETURNS(ABT_self_is_primary, ABT_ERR_INV_THREAD, TASKLETS | API1, "by a tasklet", OUT_GETS(ABT_bool, ABT_FALSE));
RETURNS(ABT_self_is_primary, ABT_SUCCESS, BY_EXTERNAL | TASKLETS | UNINITED | API2, "by who cannot be it",
        OUT_GETS(ABT_bool, ABT_FALSE));

RETURNS(ABT_self_on_primary_xstream, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised",
        OUT_GETS(ABT_bool, ABT_FALSE));
RETURNS(ABT_self_on_primary_xstream, ABT_ERR_INV_XSTREAM, BY_EXTERNAL | API1, "not on an ES",
        OUT_GETS(ABT_bool, ABT_FALSE));
RETURNS(ABT_self_on_primary_xstream, ABT_SUCCESS, BY_EXTERNAL | UNINITED | API2, "not on an ES",
        OUT_GETS(ABT_bool, ABT_FALSE));

RETURNS(ABT_self_set_associated_pool, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", ABT_POOL_NULL);
NULLS(ABT_self_set_associated_pool, ABT_ERR_INV_POOL, ON_ES, ABT_POOL_NULL, h);
RETURNS(ABT_self_set_associated_pool, ABT_ERR_OTHER, ON_ES | ALWAYS, "the pool makes no unit", world.refusing);

RETURNS(ABT_self_set_arg, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", &key);
RETURNS(ABT_self_set_arg, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", &key);
RETURNS(ABT_self_get_arg, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT_PRESET(void *, NULL));
RETURNS(ABT_self_get_arg, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT_PRESET(void *, NULL));

/* --- Specific data --- */

NULLS(ABT_self_set_specific, ABT_ERR_INV_KEY, ANYTIME, ABT_KEY_NULL, h, &key);
RETURNS(ABT_self_set_specific, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", UNTOUCHED(ABT_key), &key);
RETURNS(ABT_self_set_specific, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", key, &key);
NULLS(ABT_key_set, ABT_ERR_INV_KEY, ANYTIME, ABT_KEY_NULL, h, &key);
RETURNS(ABT_key_set, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", UNTOUCHED(ABT_key), &key);
RETURNS(ABT_key_set, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", key, &key);
NULLS(ABT_self_get_specific, ABT_ERR_INV_KEY, INITED, ABT_KEY_NULL, h, OUT(void *));
RETURNS(ABT_self_get_specific, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", key, OUT(void *));
NULLS(ABT_key_get, ABT_ERR_INV_KEY, ANYTIME, ABT_KEY_NULL, h, OUT(void *));
RETURNS(ABT_key_get, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", UNTOUCHED(ABT_key), OUT(void *));
RETURNS(ABT_key_get, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", key, OUT(void *));
NULLS(ABT_key_free, ABT_ERR_INV_KEY, ANYTIME, ABT_KEY_NULL, IN_OUT(ABT_key, h));

/* --- Giving way --- */

RETURNS(ABT_self_yield, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES");
RETURNS(ABT_self_yield, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet");
RETURNS(ABT_self_suspend, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES");
RETURNS(ABT_self_suspend, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet");

NULLS(ABT_self_yield_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_yield_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ready);
RETURNS(ABT_self_yield_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.ready);
NULLS(ABT_self_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to itself", self());

NULLS(ABT_self_resume_yield_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_yield_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.blocked);
RETURNS(ABT_self_resume_yield_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.blocked);
NULLS(ABT_self_resume_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_resume_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_resume_yield_to, ABT_ERR_THREAD, ULTS, "to a ready one", world.ready);

NULLS(ABT_self_suspend_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_suspend_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ready);
RETURNS(ABT_self_suspend_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.ready);
NULLS(ABT_self_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to itself", self());

NULLS(ABT_self_resume_suspend_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_suspend_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.blocked);
RETURNS(ABT_self_resume_suspend_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.blocked);
NULLS(ABT_self_resume_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_resume_suspend_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_resume_suspend_to, ABT_ERR_THREAD, ULTS, "to a ready one", world.ready);

/* --- Ending --- */

RETURNS(ABT_self_exit, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES");
RETURNS(ABT_self_exit, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet");
RETURNS(ABT_self_exit, ABT_ERR_INV_THREAD, BY_PRIMARY, "the primary ULT");

NULLS(ABT_self_exit_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_exit_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ready);
RETURNS(ABT_self_exit_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED | BY_PRIMARY, "by who cannot be left", world.ready);
NULLS(ABT_self_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to itself", self());
RETURNS(ABT_self_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to the primary ULT", world.primary_ult);

NULLS(ABT_self_resume_exit_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_exit_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.blocked);
RETURNS(ABT_self_resume_exit_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED | BY_PRIMARY, "by who cannot be left",
        world.blocked);
NULLS(ABT_self_resume_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_self_resume_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a tasklet", world.ready_task);
RETURNS(ABT_self_resume_exit_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "to a main scheduler", world.main_ult);
RETURNS(ABT_self_resume_exit_to, ABT_ERR_THREAD, BY_ULT | BY_SECONDARY, "to a ready one", world.ready);

/* --- Running another --- */

NULLS(ABT_self_schedule, ABT_ERR_INV_THREAD, ANYTIME, ABT_THREAD_NULL, h, ABT_POOL_NULL);
RETURNS(ABT_self_schedule, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", UNTOUCHED(ABT_thread), ABT_POOL_NULL);
RETURNS(ABT_self_schedule, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ready, world.refusing);
RETURNS(ABT_self_schedule, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet", world.ready, world.refusing);

PROVOKE(ABT_self_schedule, ABT_ERR_OTHER, ULTS | BY_SCHED | ALWAYS, "the pool makes no unit")
{
    ABT_thread thread = popped_ult();
    int code = ABT_self_schedule(thread, world.refusing);

    (void)a;
    run_and_free(&thread);
    return code;
}

TRY_ALL(setup, teardown)
