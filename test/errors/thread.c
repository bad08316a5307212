/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of ULTs: making, joining, freeing, cancelling. Switches are in thread_switch.c. */
#include "errors.h"

static void (*nothings[])(void *) = {do_nothing, do_nothing};
static ABT_thread_attr with_stack = ABT_THREAD_ATTR_NULL;
static _Alignas(64) char stack[16384];

static void setup(void)
{
    must(ABT_thread_attr_create(&with_stack));
    must(ABT_thread_attr_set_stack(with_stack, stack, sizeof(stack)));
}

static void teardown(void)
{
    must(ABT_thread_attr_free(&with_stack));
}

/* --- Making --- */

RETURNS(ABT_thread_create, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_POOL_NULL, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised, unnamed", ABT_POOL_NULL, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, NULL);
NULLS(ABT_thread_create, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL, ABT_THREAD_ATTR_NULL,
      OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
NULLS(ABT_thread_create, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL, with_stack, NULL);
RETURNS(ABT_thread_create, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", world.refusing, do_nothing, NULL,
        ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit for one with a stack",
        world.refusing, do_nothing, NULL, with_stack, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit for an unnamed one", world.refusing,
        do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL);

RETURNS(ABT_thread_create_on_xstream, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_XSTREAM_NULL, do_nothing,
        NULL, ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
NULLS(ABT_thread_create_on_xstream, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, do_nothing, NULL,
      ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));
RETURNS(ABT_thread_create_on_xstream, ABT_ERR_OTHER, INITED | ALWAYS, "its pool makes no unit", world.ended, do_nothing,
        NULL, ABT_THREAD_ATTR_NULL, OUT_PRESET(ABT_thread, ABT_THREAD_NULL));

PROVOKE(ABT_thread_create_on_xstream, ABT_ERR_INV_XSTREAM, INITED, "an ES without pools")
{
    ABT_xstream xstream = ended_without_pools();
    int code = ABT_thread_create_on_xstream(xstream, do_nothing, NULL, ABT_THREAD_ATTR_NULL,
                                            OUT_PRESET(ABT_thread, ABT_THREAD_NULL));

    must(ABT_xstream_free(&xstream));
    return code;
}

RETURNS(ABT_thread_create_many, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", 1, (ABT_pool[]){ABT_POOL_NULL},
        nothings, NULL, ABT_THREAD_ATTR_NULL, OUT(ABT_thread));
RETURNS(ABT_thread_create_many, ABT_ERR_INV_THREAD_ATTR, INITED, "one stack for several", 2,
        (ABT_pool[]){world.idle, world.idle}, nothings, NULL, with_stack, OUT(ABT_thread));
RETURNS(ABT_thread_create_many, ABT_ERR_INV_THREAD_ATTR, INITED, "one stack for several, nor is there a pool", 1,
        (ABT_pool[]){ABT_POOL_NULL}, nothings, NULL, with_stack, OUT(ABT_thread));
NULLS(ABT_thread_create_many, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, 1, (ABT_pool[]){h}, nothings, NULL,
      ABT_THREAD_ATTR_NULL, OUT(ABT_thread));

RETURNS(ABT_thread_create_many, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", 1,
        (ABT_pool[]){world.refusing}, nothings, NULL, ABT_THREAD_ATTR_NULL, OUT(ABT_thread));

/* Those before the error stay. */
PROVOKE(ABT_thread_create_many, ABT_ERR_INV_POOL, INITED, "the second of two pools")
{
    ABT_thread threads[2] = {ABT_THREAD_NULL, ABT_THREAD_NULL};
    ABT_pool pools[2] = {world.worker_pool, ABT_POOL_NULL};
    atomic_int count = 0;
    int code = ABT_thread_create_many(2, pools, (void (*[])(void *)){count_up, count_up}, (void *[]){&count, &count},
                                      ABT_THREAD_ATTR_NULL, threads);

    (void)a;
    must(ABT_thread_free(&threads[0]));
    return atomic_load(&count) == 1 && threads[1] == ABT_THREAD_NULL ? code : -1;
}

/* --- Reviving --- */

NULLS(ABT_thread_revive, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, ABT_POOL_NULL, do_nothing, NULL,
      IN_OUT(ABT_thread, h));
RETURNS(ABT_thread_revive, ABT_ERR_INV_THREAD, INITED, "a ready one", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, world.ready));
RETURNS(ABT_thread_revive, ABT_ERR_INV_THREAD, INITED, "a ready tasklet", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, world.ready_task));
RETURNS(ABT_thread_revive, ABT_ERR_INV_THREAD, INITED, "a blocked one", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, world.blocked));
RETURNS(ABT_thread_revive, ABT_ERR_INV_THREAD, ON_ES, "itself", world.idle, do_nothing, NULL,
        IN_OUT(ABT_thread, self()));
RETURNS(ABT_thread_revive, ABT_ERR_INV_THREAD, INITED, "the primary ULT, to no pool", ABT_POOL_NULL, do_nothing, NULL,
        IN_OUT(ABT_thread, world.primary_ult));
NULLS(ABT_thread_revive, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, do_nothing, NULL,
      IN_OUT(ABT_thread, world.ended_ult));

/* It stays terminated, as it was. */
static int revive_in_refusing(ABT_thread thread)
{
    void *arg = NULL;
    int code = ABT_thread_revive(world.refusing, suspend_once, &with_stack, &thread);

    must(ABT_thread_get_arg(thread, &arg));
    return state_of(thread) == ABT_THREAD_STATE_TERMINATED && !arg ? code : -1;
}

GIVES(ABT_thread_revive, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", revive_in_refusing(world.ended_ult));
GIVES(ABT_thread_revive, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit for a tasklet",
      revive_in_refusing(world.ended_task));

/* --- Joining and freeing --- */

RETURNS(ABT_thread_free, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", IN_OUT(ABT_thread, ABT_THREAD_NULL));
NULLS(ABT_thread_free, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, IN_OUT(ABT_thread, h));
NULLS(ABT_thread_free, ABT_ERR_INV_THREAD, INITED, ABT_TASK_NULL, IN_OUT(ABT_thread, h));
RETURNS(ABT_thread_free, ABT_ERR_INV_THREAD, ON_ES, "itself", IN_OUT(ABT_thread, self()));
RETURNS(ABT_thread_free, ABT_ERR_INV_THREAD, INITED, "the primary ULT", IN_OUT(ABT_thread, world.primary_ult));
RETURNS(ABT_thread_free, ABT_ERR_INV_THREAD, INITED, "a main scheduler", IN_OUT(ABT_thread, world.main_ult));

NULLS(ABT_thread_join, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h);
NULLS(ABT_thread_join, ABT_ERR_INV_THREAD, INITED, ABT_TASK_NULL, h);
RETURNS(ABT_thread_join, ABT_ERR_INV_THREAD, ON_ES, "itself", self());
RETURNS(ABT_thread_join, ABT_ERR_INV_THREAD, INITED, "the primary ULT", world.primary_ult);
RETURNS(ABT_thread_join, ABT_ERR_INV_THREAD, INITED, "a main scheduler", world.main_ult);

RETURNS(ABT_thread_free_many, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", 1,
        IN_OUT(ABT_thread, ABT_THREAD_NULL));

/* --- Ending --- */

RETURNS(ABT_thread_exit, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised");
RETURNS(ABT_thread_exit, ABT_ERR_INV_XSTREAM, BY_EXTERNAL, "not on an ES");
RETURNS(ABT_thread_exit, ABT_ERR_INV_THREAD, TASKLETS, "by a tasklet");
RETURNS(ABT_thread_exit, ABT_ERR_INV_THREAD, BY_PRIMARY, "the primary ULT");

RETURNS(ABT_thread_cancel, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_CANCEL, "no cancellation", world.ready);
NULLS(ABT_thread_cancel, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_CANCEL, ABT_THREAD_NULL, h);
NULLS(ABT_thread_cancel, ABT_ERR_INV_THREAD, INITED | IF_CANCEL, ABT_THREAD_NULL, h);
RETURNS(ABT_thread_cancel, ABT_ERR_INV_THREAD, INITED | IF_CANCEL, "the primary ULT", world.primary_ult);

/* --- Attributes --- */

RETURNS(ABT_thread_attr_create, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised",
        OUT_PRESET(ABT_thread_attr, ABT_THREAD_ATTR_NULL));
NULLS(ABT_thread_attr_free, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, IN_OUT(ABT_thread_attr, h));

RETURNS(ABT_thread_attr_set_stack, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_ATTR_NULL, stack + 1,
        4096);
NULLS(ABT_thread_attr_set_stack, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, stack + 1, 4096);

PROVOKE(ABT_thread_attr_set_stack, ABT_ERR_INV_ARG, INITED, "aligned to less than 8 bytes")
{
    int code = ABT_thread_attr_set_stack(with_stack, stack + 4, 4096);

    must(ABT_thread_attr_get_stack(with_stack, OUT_GETS(void *, stack), OUT_GETS(size_t, sizeof(stack))));
    return code;
}

NULLS(ABT_thread_attr_get_stack, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, OUT(void *), OUT(size_t));
RETURNS(ABT_thread_attr_set_stacksize, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_ATTR_NULL, 4096);
NULLS(ABT_thread_attr_set_stacksize, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, 4096);
NULLS(ABT_thread_attr_get_stacksize, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, OUT(size_t));
NULLS(ABT_thread_attr_set_callback, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, NULL, NULL);
RETURNS(ABT_thread_attr_set_callback, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_MIGRATE, "no migration", with_stack,
        NULL, NULL);
NULLS(ABT_thread_attr_set_migratable, ABT_ERR_INV_THREAD_ATTR, INITED, ABT_THREAD_ATTR_NULL, h, ABT_FALSE);
RETURNS(ABT_thread_attr_set_migratable, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_MIGRATE, "no migration", with_stack,
        ABT_FALSE);

TRY_ALL(setup, teardown)
