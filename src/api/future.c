/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/misuse.h"
#include "os/annotate.h"
#include "sync/future.h"

#define FUTURE_IS_BAD(h) ABTI_IS_BAD(h, ABT_FUTURE_NULL, ABTI_HANDLE_FUTURE)

int ABT_future_create(uint32_t num_compartments, void (*cb_func)(void **arg), ABT_future *newfuture)
{
    ABT_future future = abti_future_create(num_compartments, cb_func);
    ABTI_FAIL_IF(!future, ABT_ERR_MEM);
    abti_ledger_made(future, ABTI_HANDLE_FUTURE);
    *newfuture = future;
    return ABT_SUCCESS;
}

int ABT_future_free(ABT_future *future)
{
    ABTI_REFUSE_IF(FUTURE_IS_BAD(*future), ABT_ERR_INV_FUTURE);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*future, ABTI_HANDLE_FUTURE, __func__)), ABT_ERR_INV_FUTURE);
    abti_future_destroy(*future);
    *future = ABT_FUTURE_NULL;
    return ABT_SUCCESS;
}

/* Out of line: it has something to do when it has waited. */
static ABTI_COLD int future_wait_ordered(ABT_future future)
{
    int code = abti_gate_wait(&future->gate, ABT_SYNC_EVENT_TYPE_FUTURE);
    abti_annotate_tell_acquire(future); /* its address */
    return code;
}

int ABT_future_wait(ABT_future future)
{
    ABTI_REFUSE_IF(FUTURE_IS_BAD(future), ABT_ERR_INV_FUTURE);
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_FUTURE);
    if (ABTI_UNLIKELY(abti_annotate_order))
        return future_wait_ordered(future);
    return abti_gate_wait(&future->gate, ABT_SYNC_EVENT_TYPE_FUTURE);
}

int ABT_future_test(ABT_future future, ABT_bool *is_ready)
{
    ABTI_REFUSE_IF(FUTURE_IS_BAD(future), ABT_ERR_INV_FUTURE);
    bool ready = abti_gate_is_open(&future->gate);
    if (ready)
        abti_annotate_acquire(future);
    *is_ready = ready ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_future_set(ABT_future future, void *value)
{
    ABTI_REFUSE_IF(FUTURE_IS_BAD(future), ABT_ERR_INV_FUTURE);
    abti_annotate_release(future);
    return abti_error(abti_future_set(future, value));
}

int ABT_future_reset(ABT_future future)
{
    ABTI_REFUSE_IF(FUTURE_IS_BAD(future), ABT_ERR_INV_FUTURE);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_in_use(future, ABTI_HANDLE_FUTURE, __func__)), ABT_ERR_INV_FUTURE);
    abti_future_reset(future);
    return ABT_SUCCESS;
}
