/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of region_functions.c: the library itself, units, pools and schedulers. */
#ifndef TEST_REGRESS_REGION_POOLS_H
#define TEST_REGRESS_REGION_POOLS_H

#include "region_functions.h"

/* --- The library --- */

ROW(ABT_init, THEN(ABT_init(0, NULL), (void)ABT_finalize()));
ROW(ABT_finalize, ({
        must(ABT_init(0, NULL));
        ABT_finalize();
    }));
ROW(ABT_initialized, ABT_initialized());
ROW(ABT_error_get_str, ABT_error_get_str(ABT_SUCCESS, NULL, OUT(size_t)));
ROW(ABT_get_wtime, ABT_get_wtime() > 0 ? ABT_SUCCESS : ABT_ERR_OTHER);

/* --- Units --- */

ROW(ABT_unit_get_thread, ABT_unit_get_thread(unit_of(world.ready), OUT(ABT_thread)));
ROW(ABT_unit_set_associated_pool, WITH(ABT_thread, (h = popped_ult(), ABT_SUCCESS),
                                       ABT_unit_set_associated_pool(unit_of(h), world.worker_pool), run_and_free(&h)));

/* --- Pools --- */

static void print_thread(void *unused, ABT_thread thread)
{
}

static void print_unit(void *unused, ABT_unit unit)
{
}

static int pop_timedwait(ABT_pool pool, ABT_unit *unit)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return ABT_pool_pop_timedwait(pool, unit, ABT_get_wtime() + 1e-3);
#pragma GCC diagnostic pop
}

#define POOL(call) WITH(ABT_pool, (h = pool_with_one(), ABT_SUCCESS), call, empty_and_free(&h))

/* The codes of a pop, and a push of what has come. */
#define POP(call)                                                                                                      \
    POOL(({                                                                                                            \
        ABT_thread got[2] = {ABT_THREAD_NULL, ABT_THREAD_NULL};                                                        \
        size_t num = 0;                                                                                                \
        int code = (call);                                                                                             \
        (void)num;                                                                                                     \
        if (got[0] != ABT_THREAD_NULL)                                                                                 \
            must(ABT_pool_push_thread(h, got[0]));                                                                     \
        code;                                                                                                          \
    }))
#define POP_UNIT(call)                                                                                                 \
    POOL(({                                                                                                            \
        ABT_unit got = ABT_UNIT_NULL;                                                                                  \
        int code = (call);                                                                                             \
        if (got != ABT_UNIT_NULL)                                                                                      \
            must(ABT_pool_push(h, got));                                                                               \
        code;                                                                                                          \
    }))
/* A ULT that is in no pool is pushed to the worker's. */
#define PUSH(call) WITH(ABT_thread, (h = popped_ult(), ABT_SUCCESS), call, must(ABT_thread_free(&h)))

enum { CONTEXT = ABT_POOL_CONTEXT_OP_POOL_OTHER };

ROW(ABT_pool_create_basic,
    WITH(ABT_pool, ABT_SUCCESS, ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &h),
         (void)ABT_pool_free(&h)));
ROW(ABT_pool_free, WITH(ABT_pool, (h = new_pool(ABT_POOL_FIFO, ABT_FALSE), ABT_SUCCESS), ABT_pool_free(&h)));
ROW(ABT_pool_get_access, ABT_pool_get_access(world.idle, OUT(ABT_pool_access)));
ROW(ABT_pool_is_empty, ABT_pool_is_empty(world.idle, OUT(ABT_bool)));
ROW(ABT_pool_get_size, ABT_pool_get_size(world.idle, OUT(size_t)));
ROW(ABT_pool_get_total_size, ABT_pool_get_total_size(world.idle, OUT(size_t)));
ROW(ABT_pool_pop_thread, POP(ABT_pool_pop_thread(h, got)));
ROW(ABT_pool_pop_thread_ex, POP(ABT_pool_pop_thread_ex(h, got, CONTEXT)));
ROW(ABT_pool_pop_threads, POP(ABT_pool_pop_threads(h, got, 2, &num)));
ROW(ABT_pool_pop_threads_ex, POP(ABT_pool_pop_threads_ex(h, got, 2, &num, CONTEXT)));
ROW(ABT_pool_pop_wait_thread, POP(ABT_pool_pop_wait_thread(h, got, 1e-3)));
ROW(ABT_pool_pop_wait_thread_ex, POP(ABT_pool_pop_wait_thread_ex(h, got, 1e-3, CONTEXT)));
ROW(ABT_pool_push_thread, PUSH(ABT_pool_push_thread(world.worker_pool, h)));
ROW(ABT_pool_push_thread_ex, PUSH(ABT_pool_push_thread_ex(world.worker_pool, h, CONTEXT)));
ROW(ABT_pool_push_threads, PUSH(ABT_pool_push_threads(world.worker_pool, &h, 1)));
ROW(ABT_pool_push_threads_ex, PUSH(ABT_pool_push_threads_ex(world.worker_pool, &h, 1, CONTEXT)));
ROW(ABT_pool_print_all_threads, ABT_pool_print_all_threads(world.idle, NULL, print_thread));
ROW(ABT_pool_set_data, ABT_pool_set_data(world.idle, NULL));
ROW(ABTX_pool_data, ((void)ABTX_pool_data(world.idle), ABT_SUCCESS));
ROW(ABT_pool_get_data, ABT_pool_get_data(world.idle, OUT(void *)));
/* It ends as soon as it runs. */
static ABT_sched finished_sched(void)
{
    ABT_sched sched = ABT_SCHED_NULL;
    must(ABT_sched_create_basic(ABT_SCHED_DEFAULT, 1, &(ABT_pool){ABT_POOL_NULL}, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_sched_finish(sched));
    return sched;
}

ROW(ABT_pool_add_sched, ABT_pool_add_sched(world.worker_pool, finished_sched()));
ROW(ABT_pool_get_id, ABT_pool_get_id(world.idle, OUT(int)));
ROW(ABT_pool_pop, POP_UNIT(ABT_pool_pop(h, &got)));
ROW(ABT_pool_pop_wait, POP_UNIT(ABT_pool_pop_wait(h, &got, 1e-3)));
ROW(ABT_pool_pop_timedwait, POP_UNIT(pop_timedwait(h, &got)));
ROW(ABT_pool_remove, POOL(({
        ABT_thread thread = ult_in(h, do_nothing, NULL);
        int code = ABT_pool_remove(h, unit_of(thread));
        if (code == ABT_SUCCESS)
            must(ABT_pool_push_thread(world.worker_pool, thread));
        else
            empty_pool(h);
        must(ABT_thread_free(&thread));
        code;
    })));
ROW(ABT_pool_push, PUSH(ABT_pool_push(world.worker_pool, unit_of(h))));
ROW(ABT_pool_print_all, ABT_pool_print_all(world.idle, NULL, print_unit));

#define POOL_CONFIG(call) WITH(ABT_pool_config, ABT_pool_config_create(&h), call, must(ABT_pool_config_free(&h)))
ROW(ABT_pool_config_create, POOL_CONFIG(ABT_SUCCESS));
ROW(ABT_pool_config_free, WITH(ABT_pool_config, ABT_pool_config_create(&h), ABT_pool_config_free(&h)));
ROW(ABT_pool_config_set, POOL_CONFIG(ABT_pool_config_set(h, 4711, ABT_POOL_CONFIG_INT, &(int){1})));
ROW(ABT_pool_config_get, POOL_CONFIG(ABT_pool_config_get(h, 4711, OUT(ABT_pool_config_type), NULL)));

#define USER_DEF(call)                                                                                                 \
    WITH(ABT_pool_user_def,                                                                                            \
         ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, new_push, &h), call,          \
         must(ABT_pool_user_def_free(&h)))
ROW(ABT_pool_create, USER_DEF(({
        ABT_pool pool = ABT_POOL_NULL;
        THEN(ABT_pool_create(h, ABT_POOL_CONFIG_NULL, &pool), (void)ABT_pool_free(&pool));
    })));
ROW(ABT_pool_user_def_create, USER_DEF(ABT_SUCCESS));
ROW(ABT_pool_user_def_free,
    WITH(ABT_pool_user_def,
         ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, new_push, &h),
         ABT_pool_user_def_free(&h)));
ROW(ABT_pool_user_def_set_init, USER_DEF(ABT_pool_user_def_set_init(h, NULL)));
ROW(ABT_pool_user_def_set_free, USER_DEF(ABT_pool_user_def_set_free(h, NULL)));
ROW(ABT_pool_user_def_set_get_size, USER_DEF(ABT_pool_user_def_set_get_size(h, NULL)));
ROW(ABT_pool_user_def_set_pop_wait, USER_DEF(ABT_pool_user_def_set_pop_wait(h, NULL)));
ROW(ABT_pool_user_def_set_pop_many, USER_DEF(ABT_pool_user_def_set_pop_many(h, NULL)));
ROW(ABT_pool_user_def_set_push_many, USER_DEF(ABT_pool_user_def_set_push_many(h, NULL)));
ROW(ABT_pool_user_def_set_print_all, USER_DEF(ABT_pool_user_def_set_print_all(h, NULL)));

/* --- Schedulers --- */

#define SCHED(call)                                                                                                    \
    WITH(ABT_sched, ABT_sched_create_basic(ABT_SCHED_DEFAULT, 1, &world.idle, ABT_SCHED_CONFIG_NULL, &h), call,        \
         must(ABT_sched_free(&h)))
ROW(ABT_sched_create,
    WITH(ABT_sched, ABT_SUCCESS,
         ABT_sched_create(&(ABT_sched_def){.run = calling_run}, 1, &world.idle, ABT_SCHED_CONFIG_NULL, &h),
         (void)ABT_sched_free(&h)));
ROW(ABT_sched_create_basic, SCHED(ABT_SUCCESS));
ROW(ABT_sched_free,
    WITH(ABT_sched, ABT_sched_create_basic(ABT_SCHED_DEFAULT, 1, &world.idle, ABT_SCHED_CONFIG_NULL, &h),
         ABT_sched_free(&h)));
ROW(ABT_sched_get_num_pools, ABT_sched_get_num_pools(world.used, OUT(int)));
ROW(ABT_sched_get_pools, ABT_sched_get_pools(world.used, 1, 0, OUT(ABT_pool)));
ROW(ABT_sched_get_size, ABT_sched_get_size(world.used, OUT(size_t)));
ROW(ABT_sched_get_total_size, ABT_sched_get_total_size(world.used, OUT(size_t)));
ROW(ABT_sched_set_data, SCHED(ABT_sched_set_data(h, NULL)));
ROW(ABT_sched_get_data, SCHED(ABT_sched_get_data(h, OUT(void *))));
ROW(ABT_sched_finish, SCHED(ABT_sched_finish(h)));
ROW(ABT_sched_exit, SCHED(ABT_sched_exit(h)));
ROW(ABT_sched_has_to_stop, ABT_sched_has_to_stop(world.used, OUT(ABT_bool)));

#define SCHED_CONFIG(call)                                                                                             \
    WITH(ABT_sched_config, ABT_sched_config_create(&h, ABT_sched_config_var_end), call, must(ABT_sched_config_free(&h)))
ROW(ABT_sched_config_create, SCHED_CONFIG(ABT_SUCCESS));
ROW(ABT_sched_config_read, SCHED_CONFIG(ABT_sched_config_read(h, 1, OUT(int))));
ROW(ABT_sched_config_free,
    WITH(ABT_sched_config, ABT_sched_config_create(&h, ABT_sched_config_var_end), ABT_sched_config_free(&h)));
ROW(ABT_sched_config_set, SCHED_CONFIG(ABT_sched_config_set(h, 0, ABT_SCHED_CONFIG_INT, &(int){1})));
ROW(ABT_sched_config_get, SCHED_CONFIG(ABT_sched_config_get(h, 0, OUT(ABT_sched_config_type), NULL)));

#endif
