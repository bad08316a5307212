/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_*: what can be asked of a unit, and its specific data. */
#include <stdlib.h>
#include "run/attr.h"
#include "api/handles.h"
#include "pool/blocked.h"
#include "pool/member.h"
#include "unit/key.h"

static ABT_bool to_bool(bool b)
{
    return b ? ABT_TRUE : ABT_FALSE;
}

int ABT_thread_self(ABT_thread *thread)
{
    ABTI_PRESET_OUT(thread, ABT_THREAD_NULL);
    ABTI_CALLING_ES_WHEN_UP(es);
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && abti_unit_is_tasklet(es->cur), ABT_ERR_INV_THREAD);
    *thread = es->cur;
    return ABT_SUCCESS;
}

int ABT_thread_self_id(ABT_unit_id *id)
{
    ABT_thread self;
    int code = ABT_thread_self(&self);
    if (code == ABT_SUCCESS)
        *id = abti_unit_id(self);
    return code;
}

int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream *xstream)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *xstream = abti_unit_last_es(thread);
    return ABT_SUCCESS;
}

int ABT_thread_get_state(ABT_thread thread, ABT_thread_state *state)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *state = abti_unit_state(thread);
    if (*state == ABT_THREAD_STATE_TERMINATED)
        abti_annotate_acquire(thread);
    return ABT_SUCCESS;
}

int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool *pool)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    abti_pool *last = abti_unit_last_pool(thread);
    *pool = last ? last : ABT_POOL_NULL;
    return ABT_SUCCESS;
}

int ABT_thread_get_last_pool_id(ABT_thread thread, int *id)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    abti_pool *last = abti_unit_last_pool(thread);
    *id = last ? last->id : -1;
    return ABT_SUCCESS;
}

int ABT_thread_get_unit(ABT_thread thread, ABT_unit *unit)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *unit = abti_unit_handle(thread);
    return ABT_SUCCESS;
}

int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool pool)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    /* A blocked unit counts in its pool. */
    abti_pool *old = abti_unit_state(thread) == ABT_THREAD_STATE_BLOCKED ? thread->pool : NULL;
    if (old)
        abti_pool_count_entered(abti_es_self, pool);
    int code = abti_unit_associate(thread, pool);
    if (old)
        abti_pool_count_left(abti_es_self, code == ABT_SUCCESS ? old : pool, 1);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_thread_is_primary(ABT_thread thread, ABT_bool *is_primary)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *is_primary = to_bool(abti_unit_is_primary(thread));
    return ABT_SUCCESS;
}

int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool *is_unnamed)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *is_unnamed = to_bool(!(thread->flags & ABTI_UNIT_NAMED));
    return ABT_SUCCESS;
}

int ABT_thread_equal(ABT_thread thread1, ABT_thread thread2, ABT_bool *result)
{
    bool null1 = abti_thread_is_null(thread1), null2 = abti_thread_is_null(thread2);
    *result = to_bool(thread1 == thread2 || (null1 && null2));
    return ABT_SUCCESS;
}

/*
 * Returns the stack that the user may know of. There is none for the native thread that started the library, and for
 * tasklets.
 */
static bool has_stack(abti_unit *unit)
{
    return !(unit->flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_TASKLET));
}

static size_t get_stacksize(abti_unit *unit)
{
    return has_stack(unit) ? abti_unit_stack_size(unit) : 0;
}

static void get_stack(abti_unit *unit, void **addr, size_t *size)
{
    char *end = has_stack(unit) ? abti_unit_stack_end(unit) : NULL;
    *size = get_stacksize(unit);
    if (end && unit->flags & ABTI_UNIT_OWN_STACK && unit->stack->kind == ABTI_STACK_USER)
        *addr = unit->stack->low;
    else
        *addr = end ? end - *size : NULL;
}

int ABT_thread_get_stacksize(ABT_thread thread, size_t *stacksize)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *stacksize = get_stacksize(thread);
    return ABT_SUCCESS;
}

int ABT_thread_get_stack(ABT_thread thread, void **stackaddr, size_t *stacksize)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    void *addr;
    size_t size;
    get_stack(thread, &addr, &size);
    if (stackaddr)
        *stackaddr = addr;
    if (stacksize)
        *stacksize = size;
    return ABT_SUCCESS;
}

int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr *attr)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread) || (!ABTI_BUILD_VER20 && abti_unit_is_tasklet(thread)),
                   ABT_ERR_INV_THREAD);
    ABT_thread_attr copy = malloc(sizeof(*copy));
    ABTI_FAIL_IF(!copy, ABT_ERR_MEM);
    struct abti_migrated migrated = abti_unit_migrated(thread);
    *copy = (struct ABT_thread_attr_opaque){
        .migratable = !abti_unit_is_pinned(thread),
        .callback = migrated.func,
        .callback_arg = migrated.arg,
    };
    get_stack(thread, &copy->stackaddr, &copy->stacksize);
    abti_ledger_made(copy, ABTI_HANDLE_THREAD_ATTR);
    *attr = copy;
    return ABT_SUCCESS;
}

int ABT_thread_get_id(ABT_thread thread, ABT_unit_id *thread_id)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *thread_id = abti_unit_id(thread);
    return ABT_SUCCESS;
}

int ABT_thread_set_arg(ABT_thread thread, void *arg)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    thread->arg = arg;
    return ABT_SUCCESS;
}

int ABT_thread_get_arg(ABT_thread thread, void **arg)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *arg = thread->arg;
    return ABT_SUCCESS;
}

int ABT_thread_get_thread_func(ABT_thread thread, void (**thread_func)(void *))
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    *thread_func = thread->func;
    return ABT_SUCCESS;
}

/* --- Specific data --- */

int abti_unit_set_specific(abti_unit *unit, ABT_key key, void *value)
{
    struct abti_ktable *table = abti_ktable_obtain(&abti_unit_cold_get(unit)->keys, abti_rt.config.key_table_size);
    if (!table || abti_ktable_set(table, key, value) != 0)
        return ABT_ERR_MEM;
    return ABT_SUCCESS;
}

void *abti_unit_get_specific(abti_unit *unit, ABT_key key)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    /* acquire: pairs with the release in abti_ktable_obtain, by which another thread publishes a table */
    return cold ? abti_ktable_get(abti_load_acquire(&cold->keys), key) : NULL;
}

int ABT_thread_set_specific(ABT_thread thread, ABT_key key, void *value)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(key), ABT_ERR_INV_KEY);
    return abti_error(abti_unit_set_specific(thread, key, value));
}

int ABT_thread_get_specific(ABT_thread thread, ABT_key key, void **value)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(key), ABT_ERR_INV_KEY);
    *value = abti_unit_get_specific(thread, key);
    return ABT_SUCCESS;
}
