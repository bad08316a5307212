/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers, information, tools, what streams call beside their units, and forked tasks. */
#include "costs.h"

#include <abt_fork.h>
#include <math.h>

/* --- Errors, information, time --- */

static ABT_timer timer, timers[TIMES];

static void make_timer(void)
{
    must(ABT_timer_create(&timer));
}

static void make_timers(void)
{
    for (int i = 0; i < TIMES; i++) {
        must(ABT_timer_create(&timers[i]));
        must(ABT_timer_start(timers[i]));
        must(ABT_timer_stop(timers[i]));
    }
}

static void free_timers(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_timer_free(&timers[i]));
}

static void free_timers_and_first(void)
{
    free_timers();
    must(ABT_timer_free(&timer));
}

static void read_clock(int i)
{
    (void)i;
    out.seconds = ABT_get_wtime();
}

COST(ABT_initialized, "the library is initialised", NULL, NULL, ABT_initialized());
COST(ABT_error_get_str, "the length of a name", NULL, NULL, ABT_error_get_str(ABT_ERR_MEM, NULL, &out.size));
COST(ABT_info_query_config, "a flag", NULL, NULL,
     ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR, &out.yes));
COST_ROW(get_wtime, "ABT_get_wtime", "without what the clock takes", NULL, read_clock, NULL, 1, IN_ULT, NULL);
COST(ABT_timer_create, "a timer", NULL, free_timers, ABT_timer_create(&timers[i]));
COST(ABT_timer_dup, "a timer", make_timer, free_timers_and_first, ABT_timer_dup(timer, &timers[i]));
COST(ABT_timer_free, "a timer", make_timers, NULL, ABT_timer_free(&timers[i]));
COST(ABT_timer_start, "without what the clock takes", make_timers, free_timers, ABT_timer_start(timers[i]));
COST(ABT_timer_stop, "without what the clock takes", make_timers, free_timers, ABT_timer_stop(timers[i]));
COST(ABT_timer_read, "a stopped timer", make_timers, free_timers, ABT_timer_read(timers[i], &out.seconds));
COST(ABT_timer_stop_and_read, "without what the clock takes", make_timers, free_timers,
     ABT_timer_stop_and_read(timers[i], &out.seconds));
COST(ABT_timer_stop_and_add, "without what the clock takes", make_timers, free_timers,
     ABT_timer_stop_and_add(timers[i], &out.seconds));

COST(ABT_timer_get_overhead, "it times 5,000 pairs of start and stop; without what the clock takes", NULL, NULL,
     ABT_timer_get_overhead(&out.seconds));

/* --- Tools --- */

COST_IN(IN_TOOL, ABT_tool_query_thread, "the pool of a yield", NULL, NULL,
        must(ABT_tool_query_thread(world.context, ABT_TOOL_EVENT_THREAD_YIELD, ABT_TOOL_QUERY_KIND_POOL, &out.pool)));

/* --- What streams call beside their units. One is made and freed, or added and removed, each time. --- */

static ABTX_driver driver;
static ABTX_source source, sources[TIMES];
static const ABTX_driver_ops ops;

static int poll_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static ABT_bool ask_nothing(void *arg, ABTX_work *work)
{
    (void)arg, (void)work;
    return ABT_FALSE;
}

static void create_driver(int i)
{
    (void)i;
    must(ABTX_driver_create(&ops, NULL, &driver));
    must(ABTX_driver_free(&driver));
}

static void attach_driver(int i)
{
    (void)i;
    must(ABTX_driver_attach(driver, world.es));
    must(ABTX_driver_detach(driver, world.es));
}

static void attach_source(int i)
{
    (void)i;
    must(ABTX_source_attach(source, world.es));
    must(ABTX_source_detach(source, world.es));
}

static void add_poller(int i)
{
    (void)i;
    must(ABTX_poller_add_every(world.es, poll_nothing, NULL, ABTX_FOREVER));
    must(ABTX_poller_remove(world.es, poll_nothing, NULL));
}

static void wait_nowhere(void *arg, int fd, int64_t deadline)
{
    (void)arg, (void)fd, (void)deadline;
}

static void set_idle_hook(int i)
{
    (void)i;
    must(ABTX_xstream_set_idle_wait(world.es, wait_nowhere, NULL));
    must(ABTX_xstream_set_idle_wait(world.es, NULL, NULL));
}

static void start_fork(int i)
{
    (void)i;
    must(ABTX_fork_start(1, &world.es));
    must(ABTX_fork_stop());
}

static void make_driver(void)
{
    must(ABTX_driver_create(&ops, NULL, &driver));
}

static void make_attached_driver(void)
{
    make_driver();
    must(ABTX_driver_attach(driver, world.es));
}

static void free_driver(void)
{
    must(ABTX_driver_free(&driver));
}

static void make_source(void)
{
    must(ABTX_source_create(ask_nothing, NULL, &source));
}

static void free_source(void)
{
    must(ABTX_source_free(&source));
}

static void make_sources(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABTX_source_create(ask_nothing, NULL, &sources[i]));
}

static void free_sources(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABTX_source_free(&sources[i]));
}

#define HERE_WITH(other) "on the caller's own stream, together with " #other

COST_ROW(driver_create, "ABTX_driver_create", "together with ABTX_driver_free", NULL, create_driver, NULL, 1, IN_ULT,
         NULL);
COST_ROW(driver_free, "ABTX_driver_free", "together with ABTX_driver_create", NULL, create_driver, NULL, 1, IN_ULT,
         NULL);
COST_ROW(driver_attach, "ABTX_driver_attach", HERE_WITH(ABTX_driver_detach), make_driver, attach_driver, free_driver, 1,
         IN_ULT, NULL);
COST_ROW(driver_detach, "ABTX_driver_detach", HERE_WITH(ABTX_driver_attach), make_driver, attach_driver, free_driver, 1,
         IN_ULT, NULL);
COST(ABTX_driver_get_data, "a driver of the caller's stream", make_attached_driver, free_driver,
     ABTX_driver_get_data(driver, &out.pointer));
COST(ABTX_driver_set_period, "a driver", make_attached_driver, free_driver, ABTX_driver_set_period(driver, 0));
COST_ROW(set_idle_hook, "ABTX_xstream_set_idle_wait", "a hook of the caller's own stream, and none again", NULL,
         set_idle_hook, NULL, 1, IN_ULT, NULL);
COST_ROW(fork_start, "ABTX_fork_start", HERE_WITH(ABTX_fork_stop), NULL, start_fork, NULL, 1, IN_ULT, NULL);
COST_ROW(fork_stop, "ABTX_fork_stop", HERE_WITH(ABTX_fork_start), NULL, start_fork, NULL, 1, IN_ULT, NULL);
COST_ROW(poller_add, "ABTX_poller_add_every", HERE_WITH(ABTX_poller_remove), NULL, add_poller, NULL, 1, IN_ULT, NULL);
COST_ROW(poller_remove, "ABTX_poller_remove", HERE_WITH(ABTX_poller_add_every), NULL, add_poller, NULL, 1, IN_ULT,
         NULL);
COST(ABTX_source_create, "a source", NULL, free_sources, ABTX_source_create(ask_nothing, NULL, &sources[i]));
COST(ABTX_source_free, "a source of no stream", make_sources, NULL, ABTX_source_free(&sources[i]));
COST_ROW(source_attach, "ABTX_source_attach", HERE_WITH(ABTX_source_detach), make_source, attach_source, free_source, 1,
         IN_ULT, NULL);
COST_ROW(source_detach, "ABTX_source_detach", HERE_WITH(ABTX_source_attach), make_source, attach_source, free_source, 1,
         IN_ULT, NULL);
COST(ABTX_source_get_idle, "a source", make_source, free_source,
     ABTX_source_get_idle(source, (const volatile int **)&out.pointer));
COST(ABTX_source_set_attr, "a source", make_source, free_source, ABTX_source_set_attr(source, ABT_THREAD_ATTR_NULL));
COST(ABTX_source_wake_one, "no stream is idle", make_source, free_source, ABTX_source_wake_one(source));

/* --- What is set once --- */

COST(ABTX_slot_set_inherited, "a slot", NULL, NULL, ABTX_slot_set_inherited(0, ABT_FALSE));
COST(ABTX_stack_usage_get, "nothing is watched", NULL, NULL, ABTX_stack_usage_get(nothing, &out.size, &out.size));
COST(ABTX_expect_external_wake, "one more, or none", NULL, NULL, ABTX_expect_external_wake(i % 2 == 0 ? 1 : -1));

/* --- Fork and join --- */

static struct abtx_region regions[TIMES], outer;
static struct abtx_task tasks[TIMES];
static abtx_at at;
static volatile int wanted;

static void run_task(abtx_at here, struct abtx_task *task)
{
    (void)here, (void)task;
}

static void enter(void)
{
    at = ABTX_fork_enter(&outer);
}

static void leave(void)
{
    ABTX_fork_leave(&outer);
}

static void fork_one(int i)
{
    at = abtx_fork(at, &tasks[i], run_task);
}

static void join_one(int i)
{
    (void)i;
    if (!abtx_join(--at))
        must_fail(-1, "abtx_join", __FILE__, __LINE__);
}

static void fork_all(void)
{
    enter();
    for (int i = 0; i < TIMES; i++)
        fork_one(i);
}

static void join_all(void)
{
    for (int i = 0; i < TIMES; i++)
        join_one(i);
    leave();
}

static void enter_and_leave(int i)
{
    (void)ABTX_fork_enter(&regions[i]);
    ABTX_fork_leave(&regions[i]);
}

static void ask_wanted(int i)
{
    (void)i;
    wanted = abtx_is_wanted(at);
}

static void body(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    (void)begin, (void)end, (void)arg;
}

static void add(ptrdiff_t begin, ptrdiff_t end, void *sum, void *arg)
{
    (void)arg;
    *(long *)sum += end - begin;
}

static void combine(void *left, const void *right, void *arg)
{
    (void)arg;
    *(long *)left += *(const long *)right;
}

static void loop(int i)
{
    (void)i;
    abtx_for(0, 1000, 1, body, NULL);
}

static void reduce(int i)
{
    static const long empty = 0;
    static const struct abtx_reduction how = {sizeof(long), &empty, add, combine, NULL};
    long sum = 0;

    (void)i;
    abtx_reduce(0, 1000, 1, &how, &sum);
}

static void invoke(int i)
{
    static void (*const funcs[])(void *) = {nothing, nothing};
    static void *const args[] = {NULL, NULL};

    (void)i;
    abtx_invoke(2, funcs, args);
}

COST_ROW(fork_enter, "ABTX_fork_enter", "together with ABTX_fork_leave, inside another region", enter, enter_and_leave,
         leave, 1, IN_ULT, NULL);
COST_ROW(fork_leave, "ABTX_fork_leave", "together with ABTX_fork_enter, inside another region", enter, enter_and_leave,
         leave, 1, IN_ULT, NULL);
COST_ROW(is_wanted, "abtx_is_wanted", "anywhere", enter, ask_wanted, leave, 1, IN_ULT, NULL);
COST_ROW(fork_task, "abtx_fork", "no other stream takes tasks", enter, fork_one, join_all, 1, IN_ULT, NULL);
COST_ROW(join_task, "abtx_join", "nobody has taken the task; without its run", fork_all, join_one, leave, 1, IN_ULT,
         NULL);
COST_ROW(for_loop, "abtx_for", "1,000 parts with an empty body, where no stream would take any", NULL, loop, NULL, 1,
         IN_ULT, NULL);
COST_ROW(reduce, "abtx_reduce", "1,000 parts with a short body, where no stream would take any", NULL, reduce, NULL, 1,
         IN_ULT, NULL);
COST_ROW(invoke, "abtx_invoke", "2 empty functions, where no stream would take any", NULL, invoke, NULL, 1, IN_ULT,
         NULL);
