/* What ABT_thread_*, ABT_task_* and ABT_self_* have in common. */
#include "api/handles.h"

int abti_unit_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
{
    int code = abti_unit_associate(unit, pool);
    if (code != ABT_SUCCESS)
        return code;
    abti_unit_renew(unit, func, arg);
    abti_tool_event_revive(unit);
    return ABT_SUCCESS;
}
