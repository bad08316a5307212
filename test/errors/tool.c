/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface, where it is built in and where it is not. */
#include "errors.h"

static void called_back(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
}

RETURNS(ABT_tool_register_thread_callback, ABT_ERR_FEATURE_NA, ANYTIME | IF_NO_TOOL | ALWAYS, "no tool interface",
        called_back, ABT_TOOL_EVENT_THREAD_ALL, NULL);
RETURNS(ABT_tool_register_thread_callback, ABT_ERR_UNINITIALIZED, UNINITED | IF_TOOL, "not initialised", called_back,
        ABT_TOOL_EVENT_THREAD_ALL, NULL);

NULLS(ABT_tool_query_thread, ABT_ERR_FEATURE_NA, INITED | IF_NO_TOOL | ALWAYS, ABT_TOOL_CONTEXT_NULL, h,
      ABT_TOOL_EVENT_THREAD_RUN, ABT_TOOL_QUERY_KIND_POOL, OUT(ABT_pool));
NULLS(ABT_tool_query_thread, ABT_ERR_INV_TOOL_CONTEXT, INITED | IF_TOOL, ABT_TOOL_CONTEXT_NULL, h,
      ABT_TOOL_EVENT_THREAD_RUN, (ABT_tool_query_kind)99, OUT(ABT_pool));

/* A query from the callback that tells of a creation by the caller. */
struct query {
    ABT_tool_query_kind kind;
    void *val;
    int code;
};

static void query_in_callback(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context,
                              void *arg)
{
    struct query *query = arg;

    query->code = ABT_tool_query_thread(context, event, query->kind, query->val);
}

static int code_of_query(ABT_tool_query_kind kind, void *val)
{
    struct query query = {kind, val, -1};
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_tool_register_thread_callback(query_in_callback, ABT_TOOL_EVENT_THREAD_CREATE, &query));
    thread = ult_in(world.worker_pool, do_nothing, NULL);
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
    must(ABT_thread_free(&thread));
    return query.code;
}

GIVES(ABT_tool_query_thread, ABT_ERR_OTHER, INITED | IF_TOOL, "no kind",
      code_of_query((ABT_tool_query_kind)99, OUT(ABT_pool)));
GIVES(ABT_tool_query_thread, ABT_ERR_OTHER, INITED | IF_TOOL, "less than a kind",
      code_of_query((ABT_tool_query_kind)-1, OUT(ABT_pool)));

int main(void)
{
    want_tool();
    return try_all(nothing_to_set_up, nothing_to_set_up);
}
