/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_attr_*. */
#include <stdlib.h>
#include "run/attr.h"
#include "api/handles.h"

int ABT_thread_attr_create(ABT_thread_attr *newattr)
{
    ABTI_PRESET_OUT(newattr, ABT_THREAD_ATTR_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABT_thread_attr attr = malloc(sizeof(*attr));
    ABTI_FAIL_IF(!attr, ABT_ERR_MEM);
    *attr = (struct ABT_thread_attr_opaque){.stacksize = abti_rt.config.thread_stacksize, .migratable = true};
    abti_ledger_made(attr, ABTI_HANDLE_THREAD_ATTR);
    *newattr = attr;
    return ABT_SUCCESS;
}

int ABT_thread_attr_free(ABT_thread_attr *attr)
{
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(*attr), ABT_ERR_INV_THREAD_ATTR);
    abti_ledger_free(*attr);
    *attr = ABT_THREAD_ATTR_NULL;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stack(ABT_thread_attr attr, void *stackaddr, size_t stacksize)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    ABTI_REFUSE_IF((uintptr_t)stackaddr % 8 != 0, ABT_ERR_INV_ARG);
    attr->stackaddr = stackaddr;
    attr->stacksize = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stack(ABT_thread_attr attr, void **stackaddr, size_t *stacksize)
{
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    *stackaddr = attr->stackaddr;
    *stacksize = attr->stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t stacksize)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    attr->stacksize = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t *stacksize)
{
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    *stacksize = attr->stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_callback(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void *cb_arg), void *cb_arg)
{
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_FEATURE_NA);
    attr->callback = cb_func;
    attr->callback_arg = cb_arg;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable)
{
    ABTI_REFUSE_IF(ABTI_ATTR_IS_BAD(attr), ABT_ERR_INV_THREAD_ATTR);
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_FEATURE_NA);
    attr->migratable = is_migratable != ABT_FALSE;
    return ABT_SUCCESS;
}
