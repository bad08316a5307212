/* SPDX-License-Identifier: BSD-3-Clause */
/* Units that have ended begin again. */
#include "run/create.h"

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/member.h"
#include "unit/ledger.h"
#include "unit/tool_event.h"

int abti_revive_unqueued(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
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

int abti_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
{
    int code = abti_revive_unqueued(unit, pool, func, arg);
    if (code == ABT_SUCCESS)
        abti_pool_push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_REVIVE);
    return code;
}
