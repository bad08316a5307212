/* SPDX-License-Identifier: BSD-3-Clause */
/* ULTs giving way to each other: yields, resumptions, and what makes or revives with a switch. */
#include "errors.h"

/* --- Yielding --- */

RETURNS(ABT_thread_yield, ABT_SUCCESS, BY_EXTERNAL | TASKLETS | API1 | ALWAYS,
        "asks nothing of those who cannot yield");
RETURNS(ABT_thread_yield, ABT_ERR_INV_XSTREAM, BY_EXTERNAL | API2, "not on an ES");
RETURNS(ABT_thread_yield, ABT_ERR_INV_THREAD, TASKLETS | API2, "by a tasklet");

RETURNS(ABT_thread_yield_to, ABT_SUCCESS, BY_EXTERNAL | TASKLETS, "asks nothing of those who cannot yield",
        world.ready);
NULLS(ABT_thread_yield_to, ABT_SUCCESS, BY_EXTERNAL | TASKLETS, ABT_THREAD_NULL, h);
NULLS(ABT_thread_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, ABT_THREAD_NULL, h);
RETURNS(ABT_thread_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "a tasklet", world.ready_task);
RETURNS(ABT_thread_yield_to, ABT_ERR_INV_THREAD, ULTS | BY_SCHED, "itself", self());
RETURNS(ABT_thread_yield_to, ABT_ERR_INV_THREAD, BY_SCHED, "by a main scheduler", world.ready);
RETURNS(ABT_thread_yield_to, ABT_ERR_POOL, ULTS, "the pool cannot remove", world.in_bare);
RETURNS(ABT_thread_yield_to, ABT_ERR_POOL, ULTS, "the pool of the old kind cannot remove", world.in_old_bare);
RETURNS(ABT_thread_yield_to, ABT_ERR_POOL, ULTS, "p_remove fails", world.in_old_full);

/* --- Resuming --- */

NULLS(ABT_thread_resume, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h);
RETURNS(ABT_thread_resume, ABT_ERR_INV_THREAD, INITED, "a tasklet", world.ready_task);
RETURNS(ABT_thread_resume, ABT_ERR_THREAD, INITED | API1, "a ready one", world.ready);
RETURNS(ABT_thread_resume, ABT_ERR_THREAD, INITED | API1, "a terminated one", world.ended_ult);
RETURNS(ABT_thread_resume, ABT_ERR_THREAD, ULTS | BY_SCHED | API1, "itself", self());

/* --- Making and reviving --- */

RETURNS(ABT_thread_create_to, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_POOL_NULL, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", ABT_POOL_NULL, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.worker_pool,
        do_nothing, NULL, ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
NULLS(ABT_thread_create_to, ABT_ERR_INV_POOL, ULTS, ABT_POOL_NULL, h, do_nothing, NULL, ABT_THREAD_ATTR_NULL,
      OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
NULLS(ABT_thread_create_to, ABT_ERR_INV_POOL, ULTS, ABT_POOL_NULL, h, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL);
RETURNS(ABT_thread_create_to, ABT_ERR_OTHER, ULTS | ALWAYS, "the pool makes no unit", world.refusing, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));

RETURNS(ABT_thread_revive_to, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", ABT_POOL_NULL, do_nothing, NULL,
        IN_OUT(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, TASKLETS | BY_SCHED, "by who cannot be left", world.worker_pool,
        do_nothing, NULL, IN_OUT(ABT_thread, world.ended_ult));
NULLS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, ULTS, ABT_THREAD_NULL, ABT_POOL_NULL, do_nothing, NULL,
      IN_OUT(ABT_thread, h));
RETURNS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, ULTS, "a ready one", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, world.ready));
RETURNS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, ULTS, "a blocked one", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, world.blocked));
RETURNS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, ULTS, "itself", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, self()));
RETURNS(ABT_thread_revive_to, ABT_ERR_INV_THREAD, ULTS, "a tasklet, to no pool", ABT_POOL_NULL, do_nothing, NULL,
        IN_OUT(ABT_thread, world.ended_task));
NULLS(ABT_thread_revive_to, ABT_ERR_INV_POOL, ULTS, ABT_POOL_NULL, h, do_nothing, NULL,
      IN_OUT(ABT_thread, world.ended_ult));
RETURNS(ABT_thread_revive_to, ABT_ERR_OTHER, ULTS | ALWAYS, "the pool makes no unit", world.refusing, do_nothing, NULL,
        IN_OUT(ABT_thread, world.ended_ult));

TRY_ALL(nothing_to_set_up, nothing_to_set_up)
