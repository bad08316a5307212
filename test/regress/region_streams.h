/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of region_functions.c: streams, and what is called beside their units; tools. */
#ifndef TEST_REGRESS_REGION_STREAMS_H
#define TEST_REGRESS_REGION_STREAMS_H

#include <abt_fork.h>

#include "region_functions.h"

/* --- Streams --- */

#define STREAM(call) WITH(ABT_xstream, ABT_xstream_create(ABT_SCHED_NULL, &h), call, must(ABT_xstream_free(&h)))

static ABT_xstream new_ended(void)
{
    ABT_xstream xstream = new_xstream();
    must(ABT_xstream_join(xstream));
    return xstream;
}

ROW(ABT_xstream_create, STREAM(ABT_SUCCESS));
ROW(ABT_xstream_create_basic,
    WITH(ABT_xstream, ABT_SUCCESS, ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 0, NULL, ABT_SCHED_CONFIG_NULL, &h),
         (void)ABT_xstream_free(&h)));
ROW(ABT_xstream_create_with_rank,
    WITH(ABT_xstream, ABT_SUCCESS, ABT_xstream_create_with_rank(ABT_SCHED_NULL, 471, &h), (void)ABT_xstream_free(&h)));
ROW(ABT_xstream_free, WITH(ABT_xstream, ABT_xstream_create(ABT_SCHED_NULL, &h), ABT_xstream_free(&h)));
ROW(ABT_xstream_join, STREAM(ABT_xstream_join(h)));
ROW(ABT_xstream_revive,
    WITH(ABT_xstream, (h = new_ended(), ABT_SUCCESS), ABT_xstream_revive(h), must(ABT_xstream_free(&h))));
ROW(ABT_xstream_exit, ABT_xstream_exit());
ROW(ABT_xstream_cancel, STREAM(ABT_xstream_cancel(h)));
ROW(ABT_xstream_self, ABT_xstream_self(OUT(ABT_xstream)));
ROW(ABT_xstream_self_rank, ABT_xstream_self_rank(OUT(int)));
ROW(ABT_xstream_set_rank, STREAM(ABT_xstream_set_rank(h, 472)));
ROW(ABT_xstream_get_rank, ABT_xstream_get_rank(world.worker, OUT(int)));
ROW(ABT_xstream_set_main_sched, WITH(ABT_xstream, (h = new_ended(), ABT_SUCCESS),
                                     ABT_xstream_set_main_sched(h, ABT_SCHED_NULL), must(ABT_xstream_free(&h))));
ROW(ABT_xstream_set_main_sched_basic,
    WITH(ABT_xstream, (h = new_ended(), ABT_SUCCESS), ABT_xstream_set_main_sched_basic(h, ABT_SCHED_DEFAULT, 0, NULL),
         must(ABT_xstream_free(&h))));
ROW(ABT_xstream_get_main_sched, ABT_xstream_get_main_sched(world.worker, OUT(ABT_sched)));
ROW(ABT_xstream_get_main_pools, ABT_xstream_get_main_pools(world.worker, 1, OUT(ABT_pool)));
ROW(ABT_xstream_get_state, ABT_xstream_get_state(world.worker, OUT(ABT_xstream_state)));
ROW(ABT_xstream_equal, ABT_xstream_equal(world.worker, world.second, OUT(ABT_bool)));
ROW(ABT_xstream_get_num, ABT_xstream_get_num(OUT(int)));
ROW(ABT_xstream_is_primary, ABT_xstream_is_primary(world.worker, OUT(ABT_bool)));
ROW(ABT_xstream_run_unit, WITH(ABT_thread, (h = popped_ult(), ABT_SUCCESS),
                               ABT_xstream_run_unit(unit_of(h), world.worker_pool), run_and_free(&h)));
ROW(ABT_xstream_check_events, ABT_xstream_check_events(world.used));
ROW(ABT_xstream_set_cpubind, STREAM(ABT_xstream_set_cpubind(h, 0)));
ROW(ABT_xstream_get_cpubind, ABT_xstream_get_cpubind(world.worker, OUT(int)));
ROW(ABT_xstream_set_affinity, STREAM(ABT_xstream_set_affinity(h, 1, OUT(int))));
ROW(ABT_xstream_get_affinity, ABT_xstream_get_affinity(world.worker, 1, OUT(int), OUT(int)));

/* Two native threads meet. */
static void *meet_natively(void *barrier)
{
    must(ABT_xstream_barrier_wait(barrier));
    return NULL;
}

#define XSTREAM_BARRIER(num, call)                                                                                     \
    WITH(ABT_xstream_barrier, ABT_xstream_barrier_create(num, &h), call, must(ABT_xstream_barrier_free(&h)))
ROW(ABT_xstream_barrier_create, XSTREAM_BARRIER(1, ABT_SUCCESS));
ROW(ABT_xstream_barrier_free,
    WITH(ABT_xstream_barrier, ABT_xstream_barrier_create(1, &h), ABT_xstream_barrier_free(&h)));
ROW(ABT_xstream_barrier_wait, XSTREAM_BARRIER(2, ({
                                                  pthread_t other;
                                                  pthread_create(&other, NULL, meet_natively, h);
                                                  THEN(ABT_xstream_barrier_wait(h), pthread_join(other, NULL));
                                              })));

/* --- Beside units --- */

static const ABTX_driver_ops no_driver = {.poll = NULL};

ROW(ABTX_xstream_park_until, ABTX_xstream_park_until(1, &world.idle, 0));
ROW(ABTX_xstream_wake, ABTX_xstream_wake(world.worker));
/* In a region it is refused: what happens to the thread then would have to be undone before the region's end. */
ROW(ABTX_xstream_enter, ABT_NULL ? ABT_ERR_INV_ARG : ABTX_xstream_enter(ABT_SCHED_NULL, NULL));
ROW(ABTX_xstream_leave, ({
        ABT_xstream none = world.worker;
        ABTX_xstream_leave(&none);
    }));
ROW(ABTX_xstream_set_spin, ABTX_xstream_set_spin(world.worker, 1000));

#define DRIVER(call) WITH(ABTX_driver, ABTX_driver_create(&no_driver, NULL, &h), call, must(ABTX_driver_free(&h)))
ROW(ABTX_driver_create, DRIVER(ABT_SUCCESS));
ROW(ABTX_driver_set_period, DRIVER(ABTX_driver_set_period(h, 0)));
ROW(ABTX_driver_set_max_sleep, DRIVER(ABTX_driver_set_max_sleep(h, 0)));
ROW(ABTX_driver_look, DRIVER(ABTX_driver_look(h, OUT(ABT_bool))));
ROW(ABTX_driver_lead, DRIVER(ABTX_driver_lead(h)));
ROW(ABTX_self_is_alone, ABTX_self_is_alone(OUT(ABT_bool)));
ROW(ABTX_driver_free, WITH(ABTX_driver, ABTX_driver_create(&no_driver, NULL, &h), ABTX_driver_free(&h)));
ROW(ABTX_driver_attach, DRIVER(ABTX_driver_attach(h, world.worker)));
ROW(ABTX_driver_attach_all, DRIVER(ABTX_driver_attach_all(h)));
ROW(ABTX_driver_detach, DRIVER(({
        int code = ABTX_driver_attach(h, world.worker);
        code == ABT_SUCCESS ? ABTX_driver_detach(h, world.worker) : code;
    })));
ROW(ABTX_driver_get_data, DRIVER(ABTX_driver_get_data(h, OUT(void *))));

/* --- Forks; test/regress/fork_in_region has more --- */

ABTX_VOID_TASK(nothing)
{
    (void)abtx_here;
}

ABTX_VOID_TASK(forks)
{
    ABTX_FORK(nothing, one);
    ABTX_JOIN(nothing, one);
}

static int fork_and_join(void)
{
    ABTX_RUN(forks);
    return ABT_SUCCESS;
}

ROW(ABTX_fork_start, THEN(ABTX_fork_start(1, &world.worker), fork_and_join()));
ROW(ABTX_fork_stop, THEN(ABTX_fork_stop(), fork_and_join()));
ROW(ABTX_fork_enter, fork_and_join());
ROW(ABTX_fork_leave, fork_and_join());
ROW(ABTX_fork_slow, fork_and_join());
ROW(ABTX_fork_join_slow, fork_and_join());

/* --- Information and tools --- */

static void printed(ABT_bool timed_out, void *done)
{
    atomic_store((atomic_bool *)done, true);
}

/* Streams print at their next event check. */
static int trigger(void)
{
    atomic_bool *done = calloc(1, sizeof(*done));
    int code = ABT_info_trigger_print_all_thread_stacks(nowhere(), 0.1, printed, done);
    while (code == ABT_SUCCESS && !atomic_load(done))
        nap_ms(1);
    free(done);
    return code;
}

ROW(ABT_info_query_config, ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, OUT(size_t)));
ROW(ABT_info_print_config, ABT_info_print_config(nowhere()));
ROW(ABT_info_print_all_xstreams, ABT_info_print_all_xstreams(nowhere()));
ROW(ABT_info_print_xstream, ABT_info_print_xstream(nowhere(), world.worker));
ROW(ABT_info_print_sched, ABT_info_print_sched(nowhere(), world.used));
ROW(ABT_info_print_pool, ABT_info_print_pool(nowhere(), world.idle));
ROW(ABT_info_print_thread, ABT_info_print_thread(nowhere(), world.ready));
ROW(ABT_info_print_thread_attr, ABT_info_print_thread_attr(nowhere(), ABT_THREAD_ATTR_NULL));
ROW(ABT_info_print_task, ABT_info_print_task(nowhere(), world.ready_task));
ROW(ABT_info_print_thread_stack, ABT_info_print_thread_stack(nowhere(), world.blocked));
ROW(ABT_info_print_thread_stacks_in_pool, ABT_info_print_thread_stacks_in_pool(nowhere(), world.idle));
ROW(ABT_info_trigger_print_all_thread_stacks, trigger());
ROW(ABT_tool_register_thread_callback, ABT_tool_register_thread_callback(NULL, 0, NULL));
ROW(ABT_tool_query_thread,
    ABT_tool_query_thread(ABT_TOOL_CONTEXT_NULL, ABT_TOOL_EVENT_THREAD_RUN, ABT_TOOL_QUERY_KIND_STACK_DEPTH, OUT(int)));
ROW(ABTX_stats_enable, ABTX_stats_enable(ABT_FALSE));
ROW(ABTX_stats_print, ABTX_stats_print(nowhere()));
ROW(ABTX_trace_start, THEN(ABTX_trace_start("/dev/null"), (void)ABTX_trace_stop()));
ROW(ABTX_trace_stop, ({
        (void)ABTX_trace_start("/dev/null");
        ABTX_trace_stop();
    }));
ROW(ABTX_expect_external_wake, THEN(ABTX_expect_external_wake(1), must(ABTX_expect_external_wake(-1))));

#endif
