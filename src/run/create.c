/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/create.h"

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/member.h"
#include "unit/tool_event.h"
#include "run/attr.h"
#include "run/sched.h"
#include "rt/handle.h"
#include "run/switch.h"
#include "unit/ledger.h"
#include "unit/ownstack.h"

/* While misuse is looked for, a new unit is known to the ledger, and freed by the general path: it has a cold line. */
static void note_made(abti_unit *unit)
{
    if (ABTI_LIKELY(!abti_ledger_on))
        return;
    (void)abti_unit_cold_get(unit);
    abti_ledger_note_made(unit, ABTI_HANDLE_UNIT, abti_unit_is_tasklet(unit), unit->func);
}

/* --- By attributes --- */

/* Makes the user's memory a stack. Returns an ABT code. */
static int stack_of_user(void *addr, size_t size, struct abti_stack **stack)
{
    *stack = abti_stack_adopt(addr, size);
    if (!*stack)
        return ABT_ERR_INV_THREAD_ATTR;
    if (!abti_guard_needs_page() || abti_stack_guard_by_name(*stack))
        return ABT_SUCCESS;
    abti_stack_destroy(*stack);
    return ABT_ERR_MEM;
}

/*
 * The stack that an attribute asks for: *stack stays NULL when a default one will do, which is taken when the unit
 * starts. But where a stack without a guard is an error, it is taken now, while there is a caller to learn of it.
 * Returns an ABT code.
 */
static int stack_of_attr(const struct ABT_thread_attr_opaque *attr, struct abti_stack **stack)
{
    if (attr->stackaddr)
        return stack_of_user(attr->stackaddr, attr->stacksize, stack);
    bool is_default = abti_attr_is_of_default_size(attr);
    if (is_default && !abti_guard_is_strict())
        return ABT_SUCCESS;
    *stack = abti_ownstack_take(abti_es_self, is_default ? abti_rt.config.thread_stacksize : attr->stacksize);
    return *stack ? ABT_SUCCESS : ABT_ERR_MEM;
}

/* Makes a ULT of an attribute. Returns an ABT code. */
static ABTI_NOINLINE int make_with_attr(abti_pool *pool, void (*func)(void *), void *arg,
                                        const struct ABT_thread_attr_opaque *attr, unsigned flags, abti_unit **unit)
{
    struct abti_stack *stack = NULL;
    int code = stack_of_attr(attr, &stack);
    if (code != ABT_SUCCESS)
        return code;
    flags |= (stack ? ABTI_UNIT_OWN_STACK : 0u) | (attr->migratable ? 0u : ABTI_UNIT_PINNED);
    *unit = abti_unit_new(abti_es_self, pool, func, arg, flags, &code);
    if (!*unit) {
        if (stack)
            abti_ownstack_give(abti_es_self, stack);
        return code;
    }
    (*unit)->stack = stack;
    if (attr->callback)
        code = abti_unit_set_migrated(*unit, attr->callback, attr->callback_arg);
    if (code == ABT_SUCCESS) {
        note_made(*unit);
        if (attr->stackaddr && ABTI_UNLIKELY(abti_ledger_on))
            abti_ledger_note_stack(*unit, attr->stackaddr, attr->stacksize);
    } else {
        abti_unit_free(*unit);
    }
    return code;
}

/* Makes a new unit that nobody else knows. Returns an ABT code. */
static int create_unit(abti_pool *pool, void (*func)(void *), void *arg, ABT_thread_attr attr, unsigned flags,
                       abti_unit **unit)
{
    static const struct ABT_thread_attr_opaque plain = {.migratable = true};
    int code = ABT_SUCCESS;
    if (!ABTI_IS_NULL(attr, ABT_THREAD_ATTR_NULL))
        return make_with_attr(pool, func, arg, attr, flags, unit);
    if (ABTI_UNLIKELY(abti_rt.config.stack_guard == ABTI_STACK_GUARD_MPROTECT_STRICT) && !(flags & ABTI_UNIT_TASKLET))
        return make_with_attr(pool, func, arg, &plain, flags, unit);
    *unit = abti_unit_new(abti_es_self, pool, func, arg, flags, &code);
    if (!*unit)
        return code;
    note_made(*unit);
    return ABT_SUCCESS;
}

/* Reports a new unit by the user's handle, and to those that listen. */
static void create_announce(abti_unit *unit, ABT_thread *handle)
{
    if (handle)
        *handle = unit;
    abti_tool_event_create(abti_tool_es(), unit);
}

int abti_create(abti_pool *pool, void (*func)(void *), void *arg, ABT_thread_attr attr, unsigned flags,
                ABT_thread *handle)
{
    abti_unit *unit;
    int code = create_unit(pool, func, arg, attr, handle ? flags | ABTI_UNIT_NAMED : flags, &unit);
    if (ABTI_UNLIKELY(code != ABT_SUCCESS))
        return code;
    create_announce(unit, handle); /* this comes before the push: the unit may look at its handle as soon as it runs */
    abti_pool_push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
    return ABT_SUCCESS;
}

int abti_create_unqueued(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, ABT_thread_attr attr,
                         ABT_thread *handle, abti_unit **unit)
{
    int code = create_unit(pool, func, arg, attr, handle ? ABTI_UNIT_NAMED : 0, unit);
    if (code == ABT_SUCCESS && !abti_has_stack_for(es, *unit)) {
        abti_unit_free(*unit);
        code = ABT_ERR_MEM;
    }
    if (code == ABT_SUCCESS)
        create_announce(*unit, handle);
    return code;
}

int abti_create_stacked(abti_pool *pool, abti_sched *sched)
{
    struct abti_stack *stack = abti_ownstack_take(abti_es_self, abti_rt.config.sched_stacksize);
    if (!stack)
        return ABT_ERR_MEM;
    int code = ABT_ERR_MEM;
    abti_unit *unit =
        abti_unit_new(abti_es_self, pool, abti_sched_stacked_main, sched, ABTI_UNIT_SCHED | ABTI_UNIT_OWN_STACK, &code);
    if (!unit) {
        abti_ownstack_give(abti_es_self, stack);
        return code;
    }
    unit->stack = stack;
    abti_unit_set_pinned(unit, true);
    abti_unit_cold_get(unit)->sched = sched;
    abti_tool_event_create(abti_tool_es(), unit);
    abti_pool_push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
    return ABT_SUCCESS;
}

/* --- Units that have ended begin again --- */

int abti_revive_unqueued(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg)
{
    abti_assert(abti_unit_is_done(unit) && pool);
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
