/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rows of this folder, one after another, and prints a line for each, in the order of what callgrind dumps. */
#include "costs.h"

#include <stdio.h>
#include <stdlib.h>

struct world world;
union out out;

static struct cost *first_cost, **last_cost = &first_cost;

void add_cost(struct cost *cost)
{
    *last_cost = cost;
    last_cost = &cost->next;
}

void must_fail(int code, const char *call, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s gives %d\n", file, line, call, code);
    exit(1);
}

/* callgrind starts to count before the first of these, and dumps before the second. */
__attribute__((noinline)) void costs_begin(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void costs_end(void)
{
    __asm__ volatile("");
}

static void make_calls(const struct cost *cost)
{
    for (int i = 0; i < TIMES; i++)
        cost->call(i);
}

static void measure(const struct cost *cost)
{
    for (int warm = 0; warm < 2; warm++) {
        if (cost->before)
            cost->before();
        if (warm) {
            costs_begin();
            make_calls(cost);
            costs_end();
        } else {
            make_calls(cost);
        }
        if (cost->after)
            cost->after();
    }
    printf("%s\t%d\t%s\n", cost->function, TIMES * cost->calls, cost->what);
}

/* --- Units --- */

void nothing(void *arg)
{
    (void)arg;
}

static void make_units(ABT_pool pool)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
}

void make_idle(void)
{
    make_units(world.idle);
}

void make_ready(void)
{
    make_units(world.pool);
}

void make_ended(void)
{
    make_units(world.pool);
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_join(world.units[i]));
}

void free_units(void)
{
    ABT_thread thread;

    while (must(ABT_pool_pop_thread(world.idle, &thread)), thread != ABT_THREAD_NULL)
        must(ABT_pool_push_thread(world.pool, thread));
    for (int i = 0; i < TIMES; i++) {
        if (world.units[i] != ABT_THREAD_NULL)
            must(ABT_thread_free(&world.units[i]));
    }
}

static bool goes_on;

bool partner_goes_on(void)
{
    return goes_on;
}

void make_partner(void (*func)(void *))
{
    goes_on = true;
    must(ABT_thread_create(world.pool, func, NULL, ABT_THREAD_ATTR_NULL, &world.units[0]));
    must(ABT_self_yield());
}

void end_partner(void)
{
    ABT_thread_state state;

    goes_on = false;
    must(ABT_thread_get_state(world.units[0], &state));
    if (state == ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_resume(world.units[0]));
    must(ABT_thread_free(&world.units[0]));
}

/* --- Places --- */

static const struct cost *pending; /* is measured by another than the primary ULT */

static void run_scheduler(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_thread thread;

    while (!stop) {
        if (pending)
            measure(pending);
        pending = NULL;
        must(ABT_pool_pop_thread(world.pool, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void measure_in_sched(const struct cost *cost)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run_scheduler};
    ABT_sched_config config;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 1, &world.pool, config, &world.sched));
    must(ABT_sched_config_free(&config));
    must(ABT_xstream_set_main_sched(world.es, world.sched));
    pending = cost;
    while (pending)
        must(ABT_self_yield());
    must(ABT_xstream_set_main_sched_basic(world.es, ABT_SCHED_DEFAULT, 1, &world.pool));
    must(ABT_xstream_get_main_sched(world.es, &world.sched));
}

static void run_tasklet(void *arg)
{
    measure(arg);
}

static void measure_in_task(const struct cost *cost)
{
    ABT_task task;

    must(ABT_task_create(world.pool, run_tasklet, (void *)cost, &task));
    must(ABT_task_free(&task));
}

static void run_tool(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)thread, (void)xstream, (void)event, (void)arg;
    world.context = context;
    if (pending)
        measure(pending);
    pending = NULL;
}

static void measure_in_tool(const struct cost *cost)
{
    must(ABT_tool_register_thread_callback(run_tool, ABT_TOOL_EVENT_THREAD_YIELD, NULL));
    pending = cost;
    make_partner(nothing);
    end_partner();
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
    if (pending)
        must_fail(-1, "the callback", __FILE__, __LINE__);
}

/* --- All --- */

static void nothing_at(int i)
{
    (void)i;
}

/* The pools are the user's: they outlive a scheduler. */
static void make_world(void)
{
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&world.es));
    must(ABT_self_get_thread(&world.self));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &world.pool));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &world.idle));
    must(ABT_xstream_set_main_sched_basic(world.es, ABT_SCHED_DEFAULT, 1, &world.pool));
    must(ABT_xstream_get_main_sched(world.es, &world.sched));
    must(ABT_xstream_create(ABT_SCHED_NULL, &world.other));
    must(ABT_key_create(NULL, &world.key));
}

int main(void)
{
    static void (*const measures[])(const struct cost *) = {measure, measure_in_sched, measure_in_task,
                                                            measure_in_tool};
    static const struct cost loop = {.function = "loop", .what = "what the loop takes", .call = nothing_at, .calls = 1};

    must(setenv("ABT_TOOL", "1", 1)); /* a tool is registered, too */
    make_world();
    measure(&loop);
    for (const struct cost *cost = first_cost; cost; cost = cost->next)
        measures[cost->place](cost);
    return 0;
}
