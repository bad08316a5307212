/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing without memory: the code is right, or what is printed is. */
#include "cases.h"

static FILE *out;
static char text[1 << 20], buffer[BUFSIZ];
static ABT_xstream xstream;
static ABT_thread ready, blocked, task;
static ABT_thread_attr attr;

static void begin(void)
{
    ABT_thread first;

    xstream = new_xstream();
    first = ult_in(pool_of(xstream), do_nothing, NULL);
    must(ABT_thread_free(&first)); /* the stream has begun, and asks for nothing any more */
    blocked = ult_in(own_pool(), suspend_once, NULL);
    ABT_self_yield();
    ready = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_task_create(own_pool(), do_nothing, NULL, &task));
    must(ABT_thread_attr_create(&attr));
    wait_for(state_of(blocked) == ABT_THREAD_STATE_BLOCKED);
    rewind(out);
}

static void end(void)
{
    must(ABT_thread_attr_free(&attr));
    must(ABT_thread_resume(blocked));
    must(ABT_thread_free(&blocked));
    must(ABT_thread_free(&ready));
    must(ABT_task_free(&task));
    must(ABT_xstream_free(&xstream));
}

static void something_is_printed(void)
{
    expect(ftell(out) > 0, "something is printed");
    rewind(out);
}

static void nothing_is_printed(void)
{
    expect(ftell(out) == 0, "nothing is printed");
}

#define PRINTS(fn, print_call)                                                                                         \
    static int fn(void)                                                                                                \
    {                                                                                                                  \
        return print_call;                                                                                             \
    }

static ABT_sched main_sched(void)
{
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_xstream_get_main_sched(own_xstream(), &sched));
    return sched;
}

PRINTS(print_all_xstreams, ABT_info_print_all_xstreams(out))
PRINTS(print_config, ABT_info_print_config(out))
PRINTS(print_xstream, ABT_info_print_xstream(out, xstream))
PRINTS(print_sched, ABT_info_print_sched(out, main_sched()))
PRINTS(print_pool, ABT_info_print_pool(out, own_pool()))
PRINTS(print_thread, ABT_info_print_thread(out, blocked))
PRINTS(print_attr, ABT_info_print_thread_attr(out, attr))
PRINTS(print_task, ABT_info_print_task(out, task))
PRINTS(print_stack, ABT_info_print_thread_stack(out, blocked))
PRINTS(print_stacks, ABT_info_print_thread_stacks_in_pool(out, own_pool()))

/* All streams halt; one of them prints, with what it has, and all go on. */
static atomic_int dumps;

static void dumped(ABT_bool timed_out, void *arg)
{
    expect(!timed_out, "all streams have halted");
    count_up(&dumps);
}

static int trigger(void)
{
    int code;

    dumps = 0;
    code = ABT_info_trigger_print_all_thread_stacks(out, 10.0, dumped, NULL);
    if (code == ABT_SUCCESS)
        wait_for(dumps == 1);
    return code;
}

static const struct fault_case failing[] = {
    {"ABT_info_print_all_xstreams", FAULT_BRIEF, print_all_xstreams, nothing_is_printed, something_is_printed, begin,
     end},
};

static const struct fault_case helping[] = {
    {"ABT_info_trigger_print_all_thread_stacks", FAULT_BRIEF | FAULT_HELPS, trigger, NULL, something_is_printed, begin,
     end},
};

/* These may ask for memory or not, and do without. */
static void test_all_failing(void)
{
    must(ABT_init(0, NULL));
    begin();
    fault_arm(1, FAULT_FROM);
    ok_abt(print_config());
    ok_abt(print_xstream());
    ok_abt(print_sched());
    ok_abt(print_pool());
    ok_abt(print_thread());
    ok_abt(print_attr());
    ok_abt(print_task());
    ok_abt(print_stack());
    ok_abt(print_stacks());
    fault_disarm();
    something_is_printed();
    end();
    must(ABT_finalize());
}

/* What other libraries keep is there then: the time zone, and the unwinder's memory. */
static void dump_once(void)
{
    must(ABT_init(0, NULL));
    begin();
    must(trigger());
    something_is_printed();
    end();
    must(ABT_finalize());
}

int main(void)
{
    fault_begin();
    out = fmemopen(text, sizeof(text), "w");
    setvbuf(out, buffer, _IOFBF, sizeof(buffer));
    dump_once();
    fault_run_all(failing);
    fault_run_all(helping);
    test_all_failing();
    fclose(out);
    return done_testing();
}
