/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools and units. */
#include "errors.h"

static int failing_init(ABT_pool pool, ABT_pool_config config)
{
    return CALLBACK_CODE;
}

static ABT_pool_user_def failing_def = ABT_POOL_USER_DEF_NULL;
static ABT_pool_def old_failing_def = {
    .u_create_from_thread = old_create,
    .u_free = old_unit_free,
    .p_init = failing_init,
    .p_get_size = old_get_size,
    .p_push = old_push,
    .p_pop = old_pop,
};

static void setup(void)
{
    failing_def = new_def(true);
    must(ABT_pool_user_def_set_init(failing_def, failing_init));
}

static void teardown(void)
{
    must(ABT_pool_user_def_free(&failing_def));
}

static void print_thread(void *arg, ABT_thread thread)
{
    count_up(arg);
}

static void print_unit(void *arg, ABT_unit unit)
{
    count_up(arg);
}

/* --- Making and freeing --- */

NULLS(ABT_pool_create, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, ABT_POOL_CONFIG_NULL,
      OUT_PRESET(ABT_pool, ABT_POOL_NULL));
RETURNS(ABT_pool_create, CALLBACK_CODE, INITED | ALWAYS, "the code of init", failing_def, ABT_POOL_CONFIG_NULL,
        OUT_PRESET(ABT_pool, ABT_POOL_NULL));
RETURNS(ABT_pool_create, CALLBACK_CODE, INITED | ALWAYS, "the code of p_init", &old_failing_def, ABT_POOL_CONFIG_NULL,
        OUT_PRESET(ABT_pool, ABT_POOL_NULL));

RETURNS(ABT_pool_create_basic, ABT_ERR_INV_POOL_ACCESS, INITED, "no access", ABT_POOL_FIFO, (ABT_pool_access)99,
        ABT_FALSE, OUT_PRESET(ABT_pool, ABT_POOL_NULL));
RETURNS(ABT_pool_create_basic, ABT_ERR_INV_POOL_ACCESS, INITED, "no access, nor a kind", (ABT_pool_kind)99,
        (ABT_pool_access)-1, ABT_FALSE, OUT_PRESET(ABT_pool, ABT_POOL_NULL));
RETURNS(ABT_pool_create_basic, ABT_ERR_INV_POOL_KIND, INITED, "no kind", (ABT_pool_kind)99, ABT_POOL_ACCESS_MPMC,
        ABT_TRUE, OUT_PRESET(ABT_pool, ABT_POOL_NULL));
RETURNS(ABT_pool_create_basic, ABT_ERR_INV_POOL_KIND, INITED, "less than a kind", (ABT_pool_kind)-1,
        ABT_POOL_ACCESS_PRIV, ABT_TRUE, OUT_PRESET(ABT_pool, ABT_POOL_NULL));

NULLS(ABT_pool_free, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, IN_OUT(ABT_pool, h));
RETURNS(ABT_pool_free, ABT_ERR_POOL, INITED, "of a blocked ULT", IN_OUT(ABT_pool, world.worker_pool));

/* --- Queries --- */

NULLS(ABT_pool_get_access, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_pool_access));
NULLS(ABT_pool_is_empty, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_bool));
NULLS(ABT_pool_get_size, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(size_t));
RETURNS(ABT_pool_get_size, ABT_ERR_POOL, INITED, "it cannot tell", world.bare, OUT(size_t));
NULLS(ABT_pool_get_total_size, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(size_t));
RETURNS(ABT_pool_get_total_size, ABT_ERR_POOL, INITED, "it cannot tell", world.bare, OUT(size_t));
NULLS(ABT_pool_get_id, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(int));
NULLS(ABT_pool_set_data, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, &failing_def);
NULLS(ABT_pool_get_data, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(void *));

/* --- Pops --- */

NULLS(ABT_pool_pop_thread, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread));
NULLS(ABT_pool_pop_thread_ex, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread),
      ABT_POOL_CONTEXT_OWNER_PRIMARY);
NULLS(ABT_pool_pop, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_unit));

NULLS(ABT_pool_pop_threads, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread), 1, OUT(size_t));
RETURNS(ABT_pool_pop_threads, ABT_ERR_POOL, INITED, "it cannot", world.bare, OUT(ABT_thread), 1, OUT(size_t));
NULLS(ABT_pool_pop_threads_ex, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread), 1, OUT(size_t),
      ABT_POOL_CONTEXT_OWNER_SECONDARY);
RETURNS(ABT_pool_pop_threads_ex, ABT_ERR_POOL, INITED, "it cannot", world.bare, OUT(ABT_thread), 1, OUT(size_t),
        ABT_POOL_CONTEXT_OWNER_SECONDARY);

NULLS(ABT_pool_pop_wait_thread, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread), 0.1);
RETURNS(ABT_pool_pop_wait_thread, ABT_ERR_POOL, INITED, "it cannot wait", world.bare, OUT(ABT_thread), 0.1);
RETURNS(ABT_pool_pop_wait_thread, ABT_ERR_POOL, INITED, "it cannot wait, by its old definition", world.old_bare,
        OUT(ABT_thread), 0.1);
NULLS(ABT_pool_pop_wait_thread_ex, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_thread), 0.1,
      ABT_POOL_CONTEXT_OWNER_PRIMARY);
RETURNS(ABT_pool_pop_wait_thread_ex, ABT_ERR_POOL, INITED, "it cannot wait", world.bare, OUT(ABT_thread), 0.1,
        ABT_POOL_CONTEXT_OWNER_PRIMARY);
NULLS(ABT_pool_pop_wait, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_unit), 0.1);
RETURNS(ABT_pool_pop_wait, ABT_ERR_POOL, INITED, "it cannot wait", world.bare, OUT(ABT_unit), 0.1);
RETURNS(ABT_pool_pop_wait, ABT_ERR_POOL, INITED, "it cannot wait, by its old definition", world.old_bare, OUT(ABT_unit),
        0.1);

/* Old definitions can have p_pop_wait in 2.0. */
PROVOKE(ABT_pool_pop_wait, ABT_SUCCESS, INITED | API2 | ALWAYS, "by p_pop_wait")
{
    ABT_unit unit = ABT_UNIT_NULL;
    int code = ABT_pool_pop_wait(world.old_full, &unit, 5.0);

    must(ABT_unit_get_thread(unit, OUT_GETS(ABT_thread, world.in_old_full)));
    must(ABT_pool_push(world.old_full, unit));
    return code;
}

RETURNS(ABT_pool_pop_wait, ABT_ERR_POOL, INITED | API1, "there is no p_pop_wait", world.old_full, OUT(ABT_unit), 0.0);

/* The function is deprecated, not to be warned about here. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
NULLS(ABT_pool_pop_timedwait, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(ABT_unit), 0.0);
RETURNS(ABT_pool_pop_timedwait, ABT_ERR_POOL, INITED, "it cannot wait", world.bare, OUT(ABT_unit), 0.0);
RETURNS(ABT_pool_pop_timedwait, ABT_ERR_POOL, INITED, "it cannot wait, by its old definition", world.old_bare,
        OUT(ABT_unit), 0.0);

/* --- Pushes --- */

/* A unit that has no pool, for one that refuses it. It is whole afterwards. */
static int push_to_refusing(int (*push)(ABT_thread thread))
{
    ABT_thread thread = popped_ult();
    int code = push(thread);

    if (last_pool_of(thread) != world.worker_pool)
        code = -1;
    run_and_free(&thread);
    return code;
}

static int push_thread(ABT_thread thread)
{
    return ABT_pool_push_thread(world.refusing, thread);
}

static int push_thread_ex(ABT_thread thread)
{
    return ABT_pool_push_thread_ex(world.refusing, thread, ABT_POOL_CONTEXT_OWNER_PRIMARY);
}

static int push_old(ABT_thread thread)
{
    return ABT_pool_push(world.refusing, unit_of(thread));
}

NULLS(ABT_pool_push_thread, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, ABT_THREAD_NULL);
GIVES(ABT_pool_push_thread, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", push_to_refusing(push_thread));
NULLS(ABT_pool_push_thread_ex, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, world.ended_ult,
      ABT_POOL_CONTEXT_OWNER_PRIMARY);
GIVES(ABT_pool_push_thread_ex, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit",
      push_to_refusing(push_thread_ex));
NULLS(ABT_pool_push, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, ABT_UNIT_NULL);
NULLS(ABT_pool_push, ABT_ERR_INV_UNIT, INITED, ABT_UNIT_NULL, world.idle, h);
GIVES(ABT_pool_push, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", push_to_refusing(push_old));

static int push_threads(ABT_thread thread)
{
    return ABT_pool_push_threads(world.refusing, (ABT_thread[]){ABT_THREAD_NULL, thread}, 2);
}

static int push_threads_ex(ABT_thread thread)
{
    return ABT_pool_push_threads_ex(world.refusing, (ABT_thread[]){thread, NULL}, 2, ABT_POOL_CONTEXT_OWNER_PRIMARY);
}

NULLS(ABT_pool_push_threads, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, NULL, 0);
RETURNS(ABT_pool_push_threads, ABT_ERR_POOL, INITED, "it cannot", world.bare, NULL, 0);
RETURNS(ABT_pool_push_threads, ABT_ERR_POOL, INITED, "it cannot take a unit either", world.bare, &world.ended_ult, 1);
GIVES(ABT_pool_push_threads, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", push_to_refusing(push_threads));
NULLS(ABT_pool_push_threads_ex, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, NULL, 0, 0);
RETURNS(ABT_pool_push_threads_ex, ABT_ERR_POOL, INITED, "it cannot", world.bare, NULL, 0,
        ABT_POOL_CONTEXT_OWNER_PRIMARY);
GIVES(ABT_pool_push_threads_ex, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit",
      push_to_refusing(push_threads_ex));

/* --- Removing --- */

static int remove_from_new(ABT_pool_kind kind)
{
    ABT_pool pool = new_pool(kind, ABT_FALSE);
    ABT_thread thread = ult_in(pool, do_nothing, NULL), other = ult_in(pool, do_nothing, NULL);
    int code;

    must(ABT_pool_pop_thread(pool, &thread));
    code = ABT_pool_remove(pool, unit_of(thread));
    must(ABT_pool_pop_thread(pool, &other));
    run_and_free(&thread);
    run_and_free(&other);
    must(ABT_pool_free(&pool));
    return code;
}

NULLS(ABT_pool_remove, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, ABT_UNIT_NULL);
RETURNS(ABT_pool_remove, ABT_ERR_POOL, INITED, "it cannot", world.bare, unit_of(world.in_bare));
RETURNS(ABT_pool_remove, ABT_ERR_POOL, INITED, "it cannot, by its old definition", world.old_bare,
        unit_of(world.in_old_bare));
GIVES(ABT_pool_remove, ABT_ERR_POOL, INITED | ALWAYS, "not in the FIFO", remove_from_new(ABT_POOL_FIFO));
GIVES(ABT_pool_remove, ABT_ERR_POOL, INITED | ALWAYS, "not in the FIFO_WAIT", remove_from_new(ABT_POOL_FIFO_WAIT));
GIVES(ABT_pool_remove, ABT_ERR_POOL, INITED | ALWAYS, "not in the RANDWS", remove_from_new(ABT_POOL_RANDWS));
RETURNS(ABT_pool_remove, CALLBACK_CODE, INITED | ALWAYS, "the code of p_remove", world.old_full,
        unit_of(world.in_old_full));

/* --- Visiting --- */

NULLS(ABT_pool_print_all_threads, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(atomic_int), print_thread);
RETURNS(ABT_pool_print_all_threads, ABT_ERR_POOL, INITED, "it cannot", world.bare, OUT(atomic_int), print_thread);
RETURNS(ABT_pool_print_all_threads, ABT_ERR_POOL, INITED, "it cannot, by its old definition", world.old_bare,
        OUT(atomic_int), print_thread);
NULLS(ABT_pool_print_all, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, OUT(atomic_int), print_unit);
RETURNS(ABT_pool_print_all, ABT_ERR_POOL, INITED, "it cannot", world.bare, OUT(atomic_int), print_unit);
RETURNS(ABT_pool_print_all, ABT_ERR_POOL, INITED, "it cannot, by its old definition", world.old_bare, OUT(atomic_int),
        print_unit);

/* --- Stacked schedulers --- */

RETURNS(ABT_pool_add_sched, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_POOL_NULL, ABT_SCHED_NULL);
NULLS(ABT_pool_add_sched, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, h, ABT_SCHED_NULL);
NULLS(ABT_pool_add_sched, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, world.idle, h);
RETURNS(ABT_pool_add_sched, ABT_ERR_INV_SCHED, INITED | API1, "a main scheduler", world.idle, world.used);
RETURNS(ABT_pool_add_sched, ABT_ERR_OTHER, INITED | ALWAYS, "the pool makes no unit", world.refusing, world.unused);

/* --- Units --- */

NULLS(ABT_unit_get_thread, ABT_ERR_INV_UNIT, INITED, ABT_UNIT_NULL, h, OUT(ABT_thread));
NULLS(ABT_unit_set_associated_pool, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, ABT_UNIT_NULL, h);
NULLS(ABT_unit_set_associated_pool, ABT_ERR_INV_UNIT, INITED, ABT_UNIT_NULL, h, world.idle);

TRY_ALL(setup, teardown)
