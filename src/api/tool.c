/* ABT_tool_*: the library is built without the tool interface. */
#include "api/check.h"

int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask, void *user_arg)
{
    (void)cb_func;
    (void)event_mask;
    (void)user_arg;
    return abti_error(ABT_ERR_FEATURE_NA);
}

int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind, void *val)
{
    (void)context;
    (void)event;
    (void)query_kind;
    (void)val;
    return abti_error(ABT_ERR_FEATURE_NA);
}
