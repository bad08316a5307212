/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_attr_*. */
#include <stdlib.h>
#include "create/attr.h"
#include "api/handles.h"

int ABT_thread_attr_create(ABT_thread_attr *newattr)
{
    ABTI_PRESET_OUT(newattr, ABT_THREAD_ATTR_NULL);
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    ABT_thread_attr attr = malloc(sizeof(*attr));
    if (!attr)
        return abti_error(ABT_ERR_MEM);
    *attr = (struct ABT_thread_attr_opaque){.stacksize = abti_rt.config.thread_stacksize, .migratable = true};
    abti_ledger_made(attr, ABTI_HANDLE_THREAD_ATTR);
    *newattr = attr;
    return ABT_SUCCESS;
}

int ABT_thread_attr_free(ABT_thread_attr *attr)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(*attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    abti_ledger_free(*attr);
    *attr = ABT_THREAD_ATTR_NULL;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stack(ABT_thread_attr attr, void *stackaddr, size_t stacksize)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    if (ABTI_REFUSE((uintptr_t)stackaddr % 8 != 0))
        return abti_error(ABT_ERR_INV_ARG);
    attr->stackaddr = stackaddr;
    attr->stacksize = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stack(ABT_thread_attr attr, void **stackaddr, size_t *stacksize)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    *stackaddr = attr->stackaddr;
    *stacksize = attr->stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t stacksize)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    attr->stacksize = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t *stacksize)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    *stacksize = attr->stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_callback(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void *cb_arg), void *cb_arg)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    if (!ABTI_BUILD_MIGRATION)
        return abti_error(ABT_ERR_FEATURE_NA);
    attr->callback = cb_func;
    attr->callback_arg = cb_arg;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return abti_error(ABT_ERR_INV_THREAD_ATTR);
    if (!ABTI_BUILD_MIGRATION)
        return abti_error(ABT_ERR_FEATURE_NA);
    attr->migratable = is_migratable != ABT_FALSE;
    return ABT_SUCCESS;
}
