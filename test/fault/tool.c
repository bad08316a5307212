/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools without memory: what registering asks for, and that telling events asks for nothing. */
#include "cases.h"

static atomic_int told, told_other;

static void count_event(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    ABT_exec_entity_type type;

    must(ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_CALLER_TYPE, &type));
    count_up(arg);
}

static void yield_once(void *arg)
{
    ABT_self_yield();
}

static void run_one(void)
{
    ABT_thread thread = ult_in(own_pool(), yield_once, NULL);

    must(ABT_thread_free(&thread));
}

/* --- Registering --- */

static void begin(void)
{
    must(ABT_tool_register_thread_callback(count_event, ABT_TOOL_EVENT_THREAD_ALL, &told_other));
}

static int register_callback(void)
{
    return ABT_tool_register_thread_callback(count_event, ABT_TOOL_EVENT_THREAD_ALL, &told);
}

/* The callback that was there goes on. */
static void other_is_told(void)
{
    int before = told, before_other = told_other;

    run_one();
    expect(told == before, "the new callback is not told");
    expect(told_other > before_other, "the old one is");
}

static void is_told(void)
{
    int before = told, before_other = told_other;

    run_one();
    expect(told > before, "the callback is told");
    expect(told_other == before_other, "the old one is not");
    begin();
}

/* A callback is registered when the library is finalised, which loses nothing. */
static const struct fault_case cases[] = {
    {"ABT_tool_register_thread_callback", FAULT_EXTERNAL, register_callback, other_is_told, is_told, begin, NULL},
};

/* --- Telling --- */

/* How many requests the life of some units needs. */
static unsigned requests_of_units(void)
{
    enum { NUM = 50 };

    fault_arm(0, FAULT_ONE);
    for (int i = 0; i < NUM; i++)
        run_one();
    fault_disarm();
    return fault_requests();
}

static void test_events(void)
{
    must(ABT_init(0, NULL));
    requests_of_units();
    unsigned without = requests_of_units();
    must(register_callback());
    told = 0;
    is_int(requests_of_units(), without, "events are told without any request");
    ok(told > 50 * 5, "%d of them", told);
    fault_arm(1, FAULT_FROM);
    run_one();
    ok_abt(ABT_tool_register_thread_callback(NULL, 0, NULL));
    ok(!fault_disarm(), "and a callback is taken away without one");
    int before = told;
    run_one();
    is_int(told, before, "after that nothing is told");
    must(ABT_finalize());
}

int main(void)
{
    want_tool();
    fault_begin();
    must(ABT_init(0, NULL));
    bool has_tools = has_tool();
    must(ABT_finalize());
    if (!has_tools)
        skip_all("there is no tool interface");
    fault_run_all(cases);
    test_events();
    return done_testing();
}
