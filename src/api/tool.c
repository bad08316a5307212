/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_tool_*. The events themselves are in rt/tool.h and unit/tool_event.h. */
#include "api/check.h"
#include "run/observe.h"
#include "rt/rt.h"

#define TOOL_CONTEXT_IS_NULL(h) ABTI_IS_NULL(h, ABT_TOOL_CONTEXT_NULL)

int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask, void *user_arg)
{
    ABTI_FAIL_IF(!ABTI_BUILD_TOOL, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    if (!abti_rt.config.tool) /* as ABT_info_query_config says */
        return abti_error(ABT_ERR_FEATURE_NA);
    const struct abti_tool *tool = cb_func ? abti_tool_record(cb_func, event_mask, user_arg) : NULL;
    ABTI_FAIL_IF(cb_func && !tool, ABT_ERR_MEM);
    abti_observe_listen(ABTI_LISTENER_TOOL, tool);
    return ABT_SUCCESS;
}

int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind, void *val)
{
    (void)event;
    ABTI_FAIL_IF(!abti_rt.config.tool, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(TOOL_CONTEXT_IS_NULL(context), ABT_ERR_INV_TOOL_CONTEXT);
    switch (query_kind) {
    case ABT_TOOL_QUERY_KIND_POOL: *(ABT_pool *)val = context->pool ? context->pool : ABT_POOL_NULL; break;
    case ABT_TOOL_QUERY_KIND_STACK_DEPTH: *(int *)val = context->depth; break;
    case ABT_TOOL_QUERY_KIND_CALLER_TYPE:
        *(ABT_exec_entity_type *)val = context->caller ? ABT_EXEC_ENTITY_TYPE_THREAD : ABT_EXEC_ENTITY_TYPE_EXT;
        break;
    case ABT_TOOL_QUERY_KIND_CALLER_HANDLE: *(void **)val = context->caller; break;
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE: *(ABT_sync_event_type *)val = context->reason; break;
    case ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE:
        /* OTHER names no object by the contract: the address of a word that somebody waits for is for traces. */
        *(const void **)val = context->reason == ABT_SYNC_EVENT_TYPE_OTHER ? NULL : context->object;
        break;
    default: return abti_error(ABT_ERR_OTHER);
    }
    return ABT_SUCCESS;
}
