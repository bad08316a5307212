/* What ABT_thread_*, ABT_task_* and ABT_self_* have in common. */
#include "api/handles.h"

int abti_unit_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
{
    int code = abti_unit_associate(unit, pool);
    if (code != ABT_SUCCESS)
        return code;
    unit->func = func;
    unit->arg = arg;
    unit->ctx = NULL;
    if (!(unit->flags & ABTI_UNIT_OWN_STACK))
        unit->stack = NULL;
    /* relaxed: the push that follows publishes the unit */
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_store_relaxed(&unit->requests, 0);
    abti_store_relaxed(&unit->es, ABTI_ES_NONE);
    abti_store_relaxed(&unit->join, 0);
    abti_tool_event_revive(unit);
    return ABT_SUCCESS;
}
