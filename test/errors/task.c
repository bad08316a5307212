/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasklets. */
#include "errors.h"

/* --- Making and reviving --- */

NULLS(ABT_task_create, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL,
      OUT_PRESET(ABT_task, ABT_TASK_NULL));
NULLS(ABT_task_create, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL, NULL);
RETURNS(ABT_task_create, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", world.refusing, do_nothing, NULL,
        OUT_PRESET(ABT_task, ABT_TASK_NULL));
RETURNS(ABT_task_create, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit for an unnamed one", world.refusing,
        do_nothing, NULL, NULL);

NULLS(ABT_task_create_on_xstream, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, do_nothing, NULL,
      OUT_PRESET(ABT_task, ABT_TASK_NULL));
RETURNS(ABT_task_create_on_xstream, ABT_ERR_OTHER, INITED | ALWAYS, "its pool makes no unit", world.ended, do_nothing,
        NULL, OUT_PRESET(ABT_task, ABT_TASK_NULL));

PROVOKE(ABT_task_create_on_xstream, ABT_ERR_INV_XSTREAM, INITED, "an ES without pools")
{
    ABT_xstream xstream = ended_without_pools();
    int code = ABT_task_create_on_xstream(xstream, do_nothing, NULL, OUT_PRESET(ABT_task, ABT_TASK_NULL));

    must(ABT_xstream_free(&xstream));
    return code;
}

NULLS(ABT_task_revive, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, ABT_POOL_NULL, do_nothing, NULL, IN_OUT(ABT_task, h));
RETURNS(ABT_task_revive, ABT_ERR_INV_TASK, INITED, "a ready one", world.idle, do_nothing, NULL,
        IN_OUT(ABT_task, world.ready_task));
RETURNS(ABT_task_revive, ABT_ERR_INV_TASK, TASKLETS, "itself", ABT_POOL_NULL, do_nothing, NULL,
        IN_OUT(ABT_task, self()));
NULLS(ABT_task_revive, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL,
      IN_OUT(ABT_task, world.ended_task));
RETURNS(ABT_task_revive, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", world.refusing, do_nothing, NULL,
        IN_OUT(ABT_task, world.ended_task));

/* --- Joining, freeing, cancelling --- */

RETURNS(ABT_task_free, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", IN_OUT(ABT_task, ABT_TASK_NULL));
NULLS(ABT_task_free, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, IN_OUT(ABT_task, h));
NULLS(ABT_task_free, ABT_ERR_INV_TASK, INITED, ABT_THREAD_NULL, IN_OUT(ABT_task, h));
RETURNS(ABT_task_free, ABT_ERR_INV_TASK, ON_ES, "itself", IN_OUT(ABT_task, self()));
RETURNS(ABT_task_free, ABT_ERR_INV_TASK, INITED, "the primary ULT", IN_OUT(ABT_task, world.primary_ult));

NULLS(ABT_task_join, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h);
RETURNS(ABT_task_join, ABT_ERR_INV_TASK, ON_ES, "itself", self());
RETURNS(ABT_task_join, ABT_ERR_INV_TASK, INITED, "a main scheduler", world.main_ult);

RETURNS(ABT_task_cancel, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_CANCEL, "no cancellation", world.ready_task);
NULLS(ABT_task_cancel, ABT_ERR_INV_TASK, INITED | IF_CANCEL, ABT_TASK_NULL, h);
RETURNS(ABT_task_cancel, ABT_ERR_INV_TASK, INITED | IF_CANCEL, "the primary ULT", world.primary_ult);

/* --- The caller --- */

RETURNS(ABT_task_self, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT_PRESET(ABT_task, ABT_TASK_NULL));
RETURNS(ABT_task_self, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT_PRESET(ABT_task, ABT_TASK_NULL));
RETURNS(ABT_task_self, ABT_ERR_INV_TASK, ULTS | BY_SCHED | API1, "by a ULT", OUT_PRESET(ABT_task, ABT_TASK_NULL));
RETURNS(ABT_task_self, ABT_SUCCESS, ULTS | BY_SCHED | API2, "by a ULT", OUT_GETS(ABT_task, self()));

RETURNS(ABT_task_self_id, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT(uint64_t));
RETURNS(ABT_task_self_id, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(uint64_t));
RETURNS(ABT_task_self_id, ABT_ERR_INV_TASK, ULTS | BY_SCHED | API1, "by a ULT", OUT(uint64_t));
RETURNS(ABT_task_self_id, ABT_SUCCESS, ULTS | BY_SCHED | API2, "by a ULT", OUT_GETS(uint64_t, own_id()));

/* --- Null handles --- */

NULLS(ABT_task_get_xstream, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(ABT_xstream));
NULLS(ABT_task_get_state, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(ABT_task_state));
NULLS(ABT_task_get_last_pool, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(ABT_pool));
NULLS(ABT_task_get_last_pool_id, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(int));
NULLS(ABT_task_set_migratable, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, ABT_FALSE);
RETURNS(ABT_task_set_migratable, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_MIGRATE, "no migration", world.ready_task,
        ABT_FALSE);
NULLS(ABT_task_is_migratable, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(ABT_bool));
RETURNS(ABT_task_is_migratable, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_MIGRATE, "no migration", world.ready_task,
        OUT(ABT_bool));
NULLS(ABT_task_get_id, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(uint64_t));
NULLS(ABT_task_get_arg, ABT_ERR_INV_TASK, INITED, ABT_TASK_NULL, h, OUT(void *));

TRY_ALL(nothing_to_set_up, nothing_to_set_up)
