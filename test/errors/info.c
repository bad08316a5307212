/* SPDX-License-Identifier: BSD-3-Clause */
/* Information and printing, error strings, timers. */
#include "errors.h"

static FILE *out;

/* --- Configuration --- */

RETURNS(ABT_info_query_config, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised",
        ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, OUT(size_t));
RETURNS(ABT_info_query_config, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised, nor a kind",
        (ABT_info_query_kind)99, OUT(int));
RETURNS(ABT_info_query_config, ABT_ERR_UNINITIALIZED, UNINITED | API2, "the affinity, not initialised",
        ABT_INFO_QUERY_KIND_ENABLED_AFFINITY, OUT(ABT_bool));
RETURNS(ABT_info_query_config, ABT_SUCCESS, UNINITED | API2, "from the environment",
        ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, OUT_GETS(size_t, 32768));
RETURNS(ABT_info_query_config, ABT_ERR_INV_QUERY_KIND, INITED | ALWAYS, "no kind", (ABT_info_query_kind)99, OUT(int));
RETURNS(ABT_info_query_config, ABT_ERR_INV_QUERY_KIND, INITED | ALWAYS, "less than a kind", (ABT_info_query_kind)-1,
        OUT(int));
RETURNS(ABT_info_query_config, ABT_ERR_INV_QUERY_KIND, UNINITED | API2 | ALWAYS, "no kind", (ABT_info_query_kind)99,
        OUT(int));

/* --- Printing --- */

/* In 2.0 a note is printed where there is nothing to print. */
static int with_note(int code)
{
    bool noted = ftell(out) > 0;

    rewind(out);
    return noted ? code : -1;
}

RETURNS(ABT_info_print_config, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", out);
GIVES(ABT_info_print_config, ABT_SUCCESS, UNINITED | API2, "not initialised", with_note(ABT_info_print_config(out)));
RETURNS(ABT_info_print_all_xstreams, ABT_ERR_UNINITIALIZED, UNINITED | API1, "not initialised", out);
GIVES(ABT_info_print_all_xstreams, ABT_SUCCESS, UNINITED | API2, "not initialised",
      with_note(ABT_info_print_all_xstreams(out)));

NULLS(ABT_info_print_xstream, ABT_ERR_INV_XSTREAM, INITED | API1, ABT_XSTREAM_NULL, out, h);
NULLS_GIVE(ABT_info_print_xstream, ABT_SUCCESS, INITED | API2, ABT_XSTREAM_NULL,
           with_note(ABT_info_print_xstream(out, h)));
NULLS(ABT_info_print_sched, ABT_ERR_INV_SCHED, INITED | API1, ABT_SCHED_NULL, out, h);
NULLS_GIVE(ABT_info_print_sched, ABT_SUCCESS, INITED | API2, ABT_SCHED_NULL, with_note(ABT_info_print_sched(out, h)));
NULLS(ABT_info_print_pool, ABT_ERR_INV_POOL, INITED | API1, ABT_POOL_NULL, out, h);
NULLS_GIVE(ABT_info_print_pool, ABT_SUCCESS, INITED | API2, ABT_POOL_NULL, with_note(ABT_info_print_pool(out, h)));
NULLS(ABT_info_print_thread, ABT_ERR_INV_THREAD, INITED | API1, ABT_THREAD_NULL, out, h);
NULLS_GIVE(ABT_info_print_thread, ABT_SUCCESS, INITED | API2, ABT_THREAD_NULL,
           with_note(ABT_info_print_thread(out, h)));
NULLS(ABT_info_print_thread_attr, ABT_ERR_INV_THREAD_ATTR, INITED | API1, ABT_THREAD_ATTR_NULL, out, h);
NULLS_GIVE(ABT_info_print_thread_attr, ABT_SUCCESS, INITED | API2, ABT_THREAD_ATTR_NULL,
           with_note(ABT_info_print_thread_attr(out, h)));
NULLS(ABT_info_print_task, ABT_ERR_INV_TASK, INITED | API1, ABT_TASK_NULL, out, h);
NULLS_GIVE(ABT_info_print_task, ABT_SUCCESS, INITED | API2, ABT_TASK_NULL, with_note(ABT_info_print_task(out, h)));
NULLS(ABT_info_print_thread_stack, ABT_ERR_INV_THREAD, INITED | API1, ABT_THREAD_NULL, out, h);
NULLS_GIVE(ABT_info_print_thread_stack, ABT_SUCCESS, INITED | API2, ABT_THREAD_NULL,
           with_note(ABT_info_print_thread_stack(out, h)));
NULLS(ABT_info_print_thread_stacks_in_pool, ABT_ERR_INV_POOL, INITED | API1, ABT_POOL_NULL, out, h);
NULLS_GIVE(ABT_info_print_thread_stacks_in_pool, ABT_SUCCESS, INITED | API2, ABT_POOL_NULL,
           with_note(ABT_info_print_thread_stacks_in_pool(out, h)));
RETURNS(ABT_info_print_thread_stacks_in_pool, ABT_ERR_POOL, INITED, "it cannot", out, world.bare);
RETURNS(ABT_info_print_thread_stacks_in_pool, ABT_ERR_POOL, INITED, "it cannot, by its old definition", out,
        world.old_bare);

/* --- Error strings --- */

RETURNS(ABT_error_get_str, ABT_ERR_OTHER, ANYTIME | API1 | ALWAYS, "no code", 58, OUT(char), OUT(size_t));
RETURNS(ABT_error_get_str, ABT_ERR_OTHER, ANYTIME | API1 | ALWAYS, "less than a code", -1, OUT(char), OUT(size_t));
RETURNS(ABT_error_get_str, ABT_ERR_INV_ARG, ANYTIME | API2 | ALWAYS, "no code", 58, OUT(char), OUT(size_t));
RETURNS(ABT_error_get_str, ABT_ERR_INV_ARG, ANYTIME | API2 | ALWAYS, "less than a code", INT32_MIN, OUT(char),
        OUT(size_t));

/* --- Timers --- */

NULLS(ABT_timer_dup, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h, OUT_PRESET(ABT_timer, ABT_TIMER_NULL));
NULLS(ABT_timer_free, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, IN_OUT(ABT_timer, h));
NULLS(ABT_timer_start, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h);
NULLS(ABT_timer_stop, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h);
NULLS(ABT_timer_read, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h, OUT(double));
NULLS(ABT_timer_stop_and_read, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h, OUT(double));
NULLS(ABT_timer_stop_and_add, ABT_ERR_INV_TIMER, ANYTIME, ABT_TIMER_NULL, h, OUT(double));

int main(void)
{
    int code;

    setenv("ABT_THREAD_STACKSIZE", "32768", 1);
    out = tmpfile();
    if (!out)
        skip_all("no temporary file");
    code = try_all(nothing_to_set_up, nothing_to_set_up);
    fclose(out);
    return code;
}
