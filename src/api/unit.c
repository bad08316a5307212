/* SPDX-License-Identifier: BSD-3-Clause */
/* What ABT_thread_*, ABT_task_* and ABT_self_* have in common. */
#include "api/handles.h"
#include "os/annotate.h"
#include "base/assert.h"
#include "pool/member.h"
#include "unit/tool_event.h"

int abti_unit_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
{
    abti_assert(abti_unit_is_done(unit) && pool);
    if (ABTI_UNLIKELY(abti_ledger_on))
        abti_ledger_note_end(unit);
    bool has_own = ABTI_UNLIKELY(abti_guard_needs_page()) && unit->flags & ABTI_UNIT_OWN_STACK;
    if (has_own && !abti_stack_guard_by_name(unit->stack))
        return ABT_ERR_MEM;
    int code = abti_unit_associate(unit, pool);
    if (code != ABT_SUCCESS) {
        if (has_own && unit->stack->kind == ABTI_STACK_USER)
            abti_stack_open(unit->stack);
        return code;
    }
    abti_unit_renew(unit, func, arg);
    abti_annotate_release(unit);
    abti_tool_event_revive(unit);
    return ABT_SUCCESS;
}
