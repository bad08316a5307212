/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of region_functions.c: ULTs and tasklets, the caller itself, and what units share. */
#ifndef TEST_REGRESS_REGION_UNITS_H
#define TEST_REGRESS_REGION_UNITS_H

#include "region_functions.h"

/* --- ULTs --- */

#define ULT(call) WITH(ABT_thread, (h = a_ult(), ABT_SUCCESS), call, must(ABT_thread_free(&h)))
#define ENDED_ULT(call) WITH(ABT_thread, (h = an_ended_ult(), ABT_SUCCESS), call, must(ABT_thread_free(&h)))
/* It ends when it is resumed. */
#define BLOCKED_ULT(call) WITH(ABT_thread, (h = a_blocked_ult(), ABT_SUCCESS), call, must(ABT_thread_free(&h)))

static ABT_thread a_blocked_ult(void)
{
    ABT_thread thread = ult_in(world.worker_pool, suspend_once, NULL);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    return thread;
}

static int create_many(void)
{
    ABT_pool pools[2] = {world.worker_pool, world.worker_pool};
    void (*funcs[2])(void *) = {do_nothing, do_nothing};
    void *args[2] = {NULL, NULL};
    ABT_thread threads[2];
    return THEN(ABT_thread_create_many(2, pools, funcs, args, ABT_THREAD_ATTR_NULL, threads),
                must(ABT_thread_free_many(2, threads)));
}

ROW(ABT_thread_create, ULT(ABT_SUCCESS));
ROW(ABT_thread_create_to, ABT_thread_create_to(world.worker_pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
ROW(ABT_thread_create_on_xstream,
    ABT_thread_create_on_xstream(world.worker, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
ROW(ABT_thread_create_many, create_many());
ROW(ABT_thread_revive, ENDED_ULT(ABT_thread_revive(world.worker_pool, take_a_moment, NULL, &h)));
ROW(ABT_thread_revive_to, ENDED_ULT(ABT_thread_revive_to(world.worker_pool, take_a_moment, NULL, &h)));
ROW(ABT_thread_free, WITH(ABT_thread, (h = a_ult(), ABT_SUCCESS), ABT_thread_free(&h)));
ROW(ABT_thread_free_many, WITH(ABT_thread, (h = a_ult(), ABT_SUCCESS), ABT_thread_free_many(1, &h)));
ROW(ABT_thread_join, ULT(ABT_thread_join(h)));
ROW(ABT_thread_join_many, ULT(ABT_thread_join_many(1, &h)));
ROW(ABT_thread_exit, ABT_thread_exit());
ROW(ABT_thread_cancel, ULT(ABT_thread_cancel(h)));
ROW(ABT_thread_self, ABT_thread_self(OUT(ABT_thread)));
ROW(ABT_thread_self_id, ABT_thread_self_id(OUT(ABT_unit_id)));
ROW(ABT_thread_get_last_xstream, ABT_thread_get_last_xstream(world.ended_ult, OUT(ABT_xstream)));
ROW(ABT_thread_get_state, ABT_thread_get_state(world.ready, OUT(ABT_thread_state)));
ROW(ABT_thread_get_last_pool, ABT_thread_get_last_pool(world.ready, OUT(ABT_pool)));
ROW(ABT_thread_get_last_pool_id, ABT_thread_get_last_pool_id(world.ready, OUT(int)));
ROW(ABT_thread_get_unit, ABT_thread_get_unit(world.ready, OUT(ABT_unit)));
ROW(ABT_thread_set_associated_pool, WITH(ABT_thread, (h = popped_ult(), ABT_SUCCESS),
                                         ABT_thread_set_associated_pool(h, world.worker_pool), run_and_free(&h)));
ROW(ABT_thread_yield_to, ABT_thread_yield_to(world.ready));
ROW(ABT_thread_yield, ABT_thread_yield());
ROW(ABT_thread_resume, BLOCKED_ULT(ABT_thread_resume(h)));
ROW(ABT_thread_migrate_to_xstream, ABT_thread_migrate_to_xstream(world.ready, world.worker));
ROW(ABT_thread_migrate_to_sched, ABT_thread_migrate_to_sched(world.ready, world.used));
ROW(ABT_thread_migrate_to_pool, ABT_thread_migrate_to_pool(world.ready, world.worker_pool));
ROW(ABT_thread_migrate, ENDED_ULT(ABT_thread_migrate(h)));
ROW(ABT_thread_set_callback, ULT(ABT_thread_set_callback(h, NULL, NULL)));
ROW(ABT_thread_set_migratable, ULT(ABT_thread_set_migratable(h, ABT_FALSE)));
ROW(ABT_thread_is_migratable, ABT_thread_is_migratable(world.ready, OUT(ABT_bool)));
ROW(ABT_thread_is_primary, ABT_thread_is_primary(world.ready, OUT(ABT_bool)));
ROW(ABT_thread_is_unnamed, ABT_thread_is_unnamed(world.ready, OUT(ABT_bool)));
ROW(ABT_thread_equal, ABT_thread_equal(world.ready, world.blocked, OUT(ABT_bool)));
ROW(ABT_thread_get_stacksize, ABT_thread_get_stacksize(world.ready, OUT(size_t)));
ROW(ABT_thread_get_stack, ABT_thread_get_stack(world.ready, OUT(void *), OUT(size_t)));
ROW(ABT_thread_get_id, ABT_thread_get_id(world.ready, OUT(ABT_unit_id)));
ROW(ABT_thread_set_arg, ABT_thread_set_arg(world.ready, NULL));
ROW(ABT_thread_get_arg, ABT_thread_get_arg(world.ready, OUT(void *)));
typedef void (*unit_function)(void *);
ROW(ABT_thread_get_thread_func, ABT_thread_get_thread_func(world.ready, OUT(unit_function)));

#define KEY(call) WITH(ABT_key, ABT_key_create(NULL, &h), call, must(ABT_key_free(&h)))
ROW(ABT_thread_set_specific, KEY(ABT_thread_set_specific(world.ready, h, NULL)));
ROW(ABT_thread_get_specific, KEY(ABT_thread_get_specific(world.ready, h, OUT(void *))));

#define ATTR(call) WITH(ABT_thread_attr, ABT_thread_attr_create(&h), call, must(ABT_thread_attr_free(&h)))
ROW(ABT_thread_get_attr,
    WITH(ABT_thread_attr, ABT_SUCCESS, ABT_thread_get_attr(world.ready, &h), (void)ABT_thread_attr_free(&h)));
ROW(ABT_thread_attr_create, ATTR(ABT_SUCCESS));
ROW(ABT_thread_attr_free, WITH(ABT_thread_attr, ABT_thread_attr_create(&h), ABT_thread_attr_free(&h)));
ROW(ABT_thread_attr_set_stack, ATTR(ABT_thread_attr_set_stack(h, NULL, 65536)));
ROW(ABT_thread_attr_get_stack, ATTR(ABT_thread_attr_get_stack(h, OUT(void *), OUT(size_t))));
ROW(ABT_thread_attr_set_stacksize, ATTR(ABT_thread_attr_set_stacksize(h, 65536)));
ROW(ABT_thread_attr_get_stacksize, ATTR(ABT_thread_attr_get_stacksize(h, OUT(size_t))));
ROW(ABT_thread_attr_set_callback, ATTR(ABT_thread_attr_set_callback(h, NULL, NULL)));
ROW(ABT_thread_attr_set_migratable, ATTR(ABT_thread_attr_set_migratable(h, ABT_FALSE)));

/* --- Tasklets --- */

#define A_TASKLET(call) WITH(ABT_task, (h = a_task(), ABT_SUCCESS), call, must(ABT_task_free(&h)))
ROW(ABT_task_create, A_TASKLET(ABT_SUCCESS));
ROW(ABT_task_create_on_xstream, ABT_task_create_on_xstream(world.worker, do_nothing, NULL, NULL));
ROW(ABT_task_revive, A_TASKLET(({
        must(ABT_task_join(h));
        ABT_task_revive(world.worker_pool, take_a_moment, NULL, &h);
    })));
ROW(ABT_task_free, WITH(ABT_task, (h = a_task(), ABT_SUCCESS), ABT_task_free(&h)));
ROW(ABT_task_join, A_TASKLET(ABT_task_join(h)));
ROW(ABT_task_cancel, A_TASKLET(ABT_task_cancel(h)));
ROW(ABT_task_self, ABT_task_self(OUT(ABT_task)));
ROW(ABT_task_self_id, ABT_task_self_id(OUT(uint64_t)));
ROW(ABT_task_get_xstream, ABT_task_get_xstream(world.ended_task, OUT(ABT_xstream)));
ROW(ABT_task_get_state, ABT_task_get_state(world.ready_task, OUT(ABT_task_state)));
ROW(ABT_task_get_last_pool, ABT_task_get_last_pool(world.ready_task, OUT(ABT_pool)));
ROW(ABT_task_get_last_pool_id, ABT_task_get_last_pool_id(world.ready_task, OUT(int)));
ROW(ABT_task_set_migratable, A_TASKLET(ABT_task_set_migratable(h, ABT_FALSE)));
ROW(ABT_task_is_migratable, ABT_task_is_migratable(world.ready_task, OUT(ABT_bool)));
ROW(ABT_task_equal, ABT_task_equal(world.ready_task, world.ended_task, OUT(ABT_bool)));
ROW(ABT_task_get_id, ABT_task_get_id(world.ready_task, OUT(uint64_t)));
ROW(ABT_task_get_arg, ABT_task_get_arg(world.ready_task, OUT(void *)));

/* --- The caller --- */

ROW(ABT_self_get_xstream, ABT_self_get_xstream(OUT(ABT_xstream)));
ROW(ABT_self_get_xstream_rank, ABT_self_get_xstream_rank(OUT(int)));
ROW(ABT_self_get_thread, ABT_self_get_thread(OUT(ABT_thread)));
ROW(ABT_self_get_thread_id, ABT_self_get_thread_id(OUT(ABT_unit_id)));
ROW(ABT_self_set_specific, KEY(ABT_self_set_specific(h, NULL)));
ROW(ABT_self_get_specific, KEY(ABT_self_get_specific(h, OUT(void *))));
ROW(ABT_self_get_type, ABT_self_get_type(OUT(ABT_unit_type)));
ROW(ABT_self_is_primary, ABT_self_is_primary(OUT(ABT_bool)));
ROW(ABT_self_on_primary_xstream, ABT_self_on_primary_xstream(OUT(ABT_bool)));
ROW(ABT_self_is_unnamed, ABT_self_is_unnamed(OUT(ABT_bool)));
ROW(ABT_self_get_last_pool, ABT_self_get_last_pool(OUT(ABT_pool)));
ROW(ABT_self_get_last_pool_id, ABT_self_get_last_pool_id(OUT(int)));
ROW(ABT_self_set_associated_pool, ABT_self_set_associated_pool(world.worker_pool));
ROW(ABT_self_get_unit, ABT_self_get_unit(OUT(ABT_unit)));
ROW(ABT_self_yield, ABT_self_yield());
ROW(ABT_self_yield_to, ABT_self_yield_to(world.ready));
ROW(ABT_self_resume_yield_to, ABT_self_resume_yield_to(world.blocked));
ROW(ABT_self_suspend, ABT_self_suspend());
ROW(ABT_self_suspend_to, ABT_self_suspend_to(world.ready));
ROW(ABT_self_resume_suspend_to, ABT_self_resume_suspend_to(world.blocked));
ROW(ABT_self_exit, ABT_self_exit());
ROW(ABT_self_exit_to, ABT_self_exit_to(world.ready));
ROW(ABT_self_resume_exit_to, ABT_self_resume_exit_to(world.blocked));
ROW(ABT_self_schedule, ABT_self_schedule(world.ready, world.idle));
ROW(ABT_self_set_arg, ABT_self_set_arg(NULL));
ROW(ABTX_self_put_off_cancel, ABTX_self_put_off_cancel(ABT_TRUE, NULL));
ROW(ABT_self_get_arg, ABT_self_get_arg(OUT(void *)));
ROW(ABT_self_get_thread_func, ABT_self_get_thread_func(OUT(unit_function)));
ROW(ABT_key_create, KEY(ABT_SUCCESS));
ROW(ABT_key_free, WITH(ABT_key, ABT_key_create(NULL, &h), ABT_key_free(&h)));
ROW(ABT_key_set, KEY(ABT_key_set(h, NULL)));
ROW(ABT_key_get, KEY(ABT_key_get(h, OUT(void *))));
ROW(ABTX_self_add_switch_hooks, ABTX_self_add_switch_hooks(NULL));
ROW(ABTX_self_remove_switch_hooks, ABTX_self_remove_switch_hooks(NULL));
ROW(ABTX_self_get_stack_room, ABTX_self_get_stack_room(OUT(size_t)));
ROW(ABTX_self_sleep, ABTX_self_sleep(1000000));
ROW(ABTX_after, (int)(ABTX_after(1) < 0));

#endif
