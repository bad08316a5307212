/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution streams and their main schedulers. Affinity is in affinity.c. */
#include "errors.h"

/* --- Making --- */

RETURNS(ABT_xstream_create, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_SCHED_NULL,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create, ABT_ERR_INV_SCHED, INITED | API1, "a scheduler in use", world.used,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));

RETURNS(ABT_xstream_create_basic, ABT_ERR_INV_ARG, ANYTIME, "less than no pools", ABT_SCHED_DEFAULT, -1, &world.idle,
        ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_basic, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_SCHED_DEFAULT, 0, NULL,
        ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_basic, ABT_ERR_UNINITIALIZED, UNINITED, "nor is it a scheduler", (ABT_sched_predef)99, 0,
        NULL, ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_basic, ABT_ERR_INV_SCHED_PREDEF, INITED, "no scheduler, over pools to be made",
        (ABT_sched_predef)99, 0, NULL, ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_basic, ABT_ERR_INV_SCHED_PREDEF, INITED, "no scheduler, over a pool", (ABT_sched_predef)-1,
        1, &world.idle, ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));

RETURNS(ABT_xstream_create_with_rank, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_SCHED_NULL, -1,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_with_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "less than 0", ABT_SCHED_NULL, -1,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_with_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "the primary ES's", world.unused, 0,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_with_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "another's, with a scheduler in use",
        world.used, 1, OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_create_with_rank, ABT_ERR_INV_SCHED, INITED | API1, "a scheduler in use", world.used, 100,
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));

/* --- Joining and freeing --- */

RETURNS(ABT_xstream_free, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", IN_OUT(ABT_xstream, ABT_XSTREAM_NULL));
NULLS(ABT_xstream_free, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, IN_OUT(ABT_xstream, h));
RETURNS(ABT_xstream_free, ABT_ERR_INV_XSTREAM, ON_ES, "its own", IN_OUT(ABT_xstream, own_xstream()));
RETURNS(ABT_xstream_free, ABT_ERR_INV_XSTREAM, INITED, "the primary one", IN_OUT(ABT_xstream, world.primary));

NULLS(ABT_xstream_join, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h);
RETURNS(ABT_xstream_join, ABT_ERR_INV_XSTREAM, INITED, "the primary one", world.primary);
RETURNS(ABT_xstream_join, ABT_ERR_INV_XSTREAM, BY_SCHED, "its own", own_xstream());

NULLS(ABT_xstream_revive, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h);
RETURNS(ABT_xstream_revive, ABT_ERR_INV_XSTREAM, INITED, "a running one", world.worker);
RETURNS(ABT_xstream_revive, ABT_ERR_INV_XSTREAM, INITED, "the primary one", world.primary);

RETURNS(ABT_xstream_exit, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised");
RETURNS(ABT_xstream_exit, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES");
RETURNS(ABT_xstream_exit, ABT_ERR_INV_XSTREAM, BY_PRIMARY | BY_ULT | BY_TASKLET, "the primary one");
RETURNS(ABT_xstream_exit, ABT_ERR_INV_THREAD, BY_TASKLET2, "by a tasklet");

NULLS(ABT_xstream_cancel, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h);
RETURNS(ABT_xstream_cancel, ABT_ERR_INV_XSTREAM, INITED, "the primary one", world.primary);

/* --- Queries --- */

RETURNS(ABT_xstream_self, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised",
        OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));
RETURNS(ABT_xstream_self, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT_PRESET(ABT_xstream, ABT_XSTREAM_NULL));

RETURNS(ABT_xstream_self_rank, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", OUT(int));
RETURNS(ABT_xstream_self_rank, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", OUT(int));

RETURNS(ABT_xstream_set_rank, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_XSTREAM_NULL, -1);
NULLS(ABT_xstream_set_rank, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, -1);
RETURNS(ABT_xstream_set_rank, ABT_ERR_INV_XSTREAM, INITED, "the primary one", world.primary, -1);
RETURNS(ABT_xstream_set_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "less than 0", world.worker, -1);
RETURNS(ABT_xstream_set_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "the primary one's", world.worker, 0);
RETURNS(ABT_xstream_set_rank, ABT_ERR_INV_XSTREAM_RANK, INITED, "a terminated one's", world.worker, 4);

NULLS(ABT_xstream_get_rank, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, OUT(int));
NULLS(ABT_xstream_get_main_sched, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, OUT(ABT_sched));
NULLS(ABT_xstream_get_main_pools, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, 1, OUT(ABT_pool));
NULLS(ABT_xstream_get_state, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, OUT(ABT_xstream_state));
NULLS(ABT_xstream_is_primary, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, OUT(ABT_bool));
RETURNS(ABT_xstream_get_num, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", OUT(int));

/* --- Replacing the main scheduler --- */

NULLS(ABT_xstream_set_main_sched, ABT_ERR_INV_XSTREAM, ANYTIME, ABT_XSTREAM_NULL, h, world.used);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", UNTOUCHED(ABT_xstream),
        ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ended, ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES, and it runs", world.worker,
        world.used);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet", world.ended, ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet, its own", own_xstream(),
        ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_XSTREAM_STATE, ULTS | BY_SCHED | API1, "another's that runs", world.worker,
        ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_XSTREAM_STATE, ULTS | BY_SCHED | API1, "another's, with a scheduler in use",
        world.worker, world.main_sched);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_XSTREAM, ULTS | BY_SCHED | API2, "another's that runs", world.worker,
        ABT_SCHED_NULL);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_SCHED, ULTS | BY_SCHED | API1, "in use, for a terminated ES",
        world.ended, world.used);
RETURNS(ABT_xstream_set_main_sched, ABT_ERR_INV_SCHED, ULTS | BY_SCHED | API1, "in use, for its own ES", own_xstream(),
        world.used);

RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_XSTREAM_NULL,
        ABT_SCHED_DEFAULT, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.ended,
        ABT_SCHED_DEFAULT, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet", ABT_XSTREAM_NULL,
        ABT_SCHED_DEFAULT, 0, NULL);
NULLS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_XSTREAM, ULTS | BY_SCHED | BY_EXTERNAL, ABT_XSTREAM_NULL, h,
      (ABT_sched_predef)99, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_SCHED_PREDEF, ULTS | BY_SCHED, "no scheduler, for its own ES",
        own_xstream(), (ABT_sched_predef)99, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_SCHED_PREDEF, ULTS | BY_SCHED,
        "no scheduler, for a terminated ES", world.ended, (ABT_sched_predef)99, 1, &world.idle);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_XSTREAM_STATE, ULTS | BY_SCHED | API1, "another's that runs",
        world.worker, ABT_SCHED_DEFAULT, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_XSTREAM, ULTS | BY_SCHED | API2, "another's that runs",
        world.worker, ABT_SCHED_DEFAULT, 0, NULL);
RETURNS(ABT_xstream_set_main_sched_basic, ABT_ERR_INV_ARG, ULTS | BY_SCHED, "less than no pools", own_xstream(),
        ABT_SCHED_DEFAULT, -1, &world.idle);

/* The caller is to get a unit of the new scheduler's pool, and does not. The scheduler belongs to the user as before.
 */
PROVOKE(ABT_xstream_set_main_sched, ABT_ERR_OTHER, ULTS | ALWAYS, "the new pool makes no unit for the caller")
{
    ABT_sched sched = new_calling_sched(1, &world.refusing);
    int code = ABT_xstream_set_main_sched(own_xstream(), sched);

    must(ABT_self_get_last_pool(OUT_GETS(ABT_pool, own_pool())));
    must(ABT_sched_free(&sched));
    return code;
}

PROVOKE(ABT_xstream_set_main_sched_basic, ABT_ERR_OTHER, ULTS | ALWAYS, "the new pool makes no unit for the caller")
{
    int code = ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_DEFAULT, 1, &world.refusing);

    must(ABT_self_get_last_pool(OUT_GETS(ABT_pool, own_pool())));
    return code;
}

/* --- What schedulers call --- */

NULLS(ABT_xstream_run_unit, ABT_ERR_INV_POOL, ANYTIME, ABT_POOL_NULL, ABT_UNIT_NULL, h);
NULLS(ABT_xstream_run_unit, ABT_ERR_INV_UNIT, INITED, ABT_UNIT_NULL, h, world.worker_pool);
RETURNS(ABT_xstream_run_unit, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", UNTOUCHED(ABT_unit),
        UNTOUCHED(ABT_pool));
RETURNS(ABT_xstream_run_unit, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", unit_of(world.ready), world.refusing);
RETURNS(ABT_xstream_run_unit, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet", unit_of(world.ready), world.refusing);

PROVOKE(ABT_xstream_run_unit, ABT_ERR_OTHER, ULTS | BY_SCHED | ALWAYS, "the pool makes no unit")
{
    ABT_thread thread = popped_ult();
    int code = ABT_xstream_run_unit(unit_of(thread), world.refusing);

    (void)a;
    run_and_free(&thread);
    return code;
}

NULLS(ABT_xstream_check_events, ABT_ERR_UNINITIALIZED, UNINITED | API1, ABT_SCHED_NULL, h);
NULLS(ABT_xstream_check_events, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, ABT_SCHED_NULL, h);
RETURNS(ABT_xstream_check_events, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES", world.used);
NULLS(ABT_xstream_check_events, ABT_ERR_INV_SCHED, ON_ES, ABT_SCHED_NULL, h);
RETURNS(ABT_xstream_check_events, ABT_ERR_INV_THREAD, ON_ES, "for another's scheduler", world.used);
RETURNS(ABT_xstream_check_events, ABT_ERR_INV_THREAD, ON_ES, "for a scheduler that does not run", world.unused);

static ABT_sched own_sched(void)
{
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_xstream_get_main_sched(own_xstream(), &sched));
    return sched;
}

RETURNS(ABT_xstream_check_events, ABT_ERR_INV_THREAD, ULTS | TASKLETS, "not by the scheduler itself", own_sched());

/* An argument for a callback is no scheduler, even if it looks like one. */
PROVOKE(ABT_xstream_check_events, ABT_ERR_INV_THREAD, BY_ULT | BY_SECONDARY | IF_MIGRATE,
        "with the scheduler as callback argument")
{
    int code;

    (void)a;
    must(ABT_thread_set_callback(self(), NULL, own_sched()));
    code = ABT_xstream_check_events(own_sched());
    must(ABT_thread_set_callback(self(), NULL, NULL));
    return code;
}

TRY_ALL(nothing_to_set_up, nothing_to_set_up)
