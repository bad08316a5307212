/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "os/annotate.h"
#include "sync/barrier.h"
#include "sync/xbarrier.h"

#define BARRIER_IS_BAD(h) ABTI_IS_BAD(h, ABT_BARRIER_NULL, ABTI_HANDLE_BARRIER)

int ABT_barrier_create(uint32_t num_waiters, ABT_barrier *newbarrier)
{
    ABTI_PRESET_OUT(newbarrier, ABT_BARRIER_NULL);
    ABTI_REFUSE_IF(num_waiters == 0, ABT_ERR_INV_ARG);
    ABT_barrier barrier = abti_barrier_create(num_waiters);
    ABTI_FAIL_IF(!barrier, ABT_ERR_MEM);
    abti_ledger_made(barrier, ABTI_HANDLE_BARRIER);
    *newbarrier = barrier;
    return ABT_SUCCESS;
}

int ABT_barrier_reinit(ABT_barrier barrier, uint32_t num_waiters)
{
    ABTI_REFUSE_IF(BARRIER_IS_BAD(barrier), ABT_ERR_INV_BARRIER);
    ABTI_REFUSE_IF(num_waiters == 0, ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_in_use(barrier, ABTI_HANDLE_BARRIER, __func__)), ABT_ERR_INV_BARRIER);
    abti_barrier_settle(barrier);
    abti_barrier_init(barrier, num_waiters);
    return ABT_SUCCESS;
}

int ABT_barrier_free(ABT_barrier *barrier)
{
    ABTI_REFUSE_IF(BARRIER_IS_BAD(*barrier), ABT_ERR_INV_BARRIER);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*barrier, ABTI_HANDLE_BARRIER, __func__)), ABT_ERR_INV_BARRIER);
    abti_barrier_settle(*barrier);
    abti_ledger_free(*barrier);
    *barrier = ABT_BARRIER_NULL;
    return ABT_SUCCESS;
}

/* Out of line: it has something to do when it has waited. */
static ABTI_COLD int barrier_wait_ordered(ABT_barrier barrier)
{
    abti_annotate_tell_release(barrier);
    int code = abti_barrier_wait(barrier);
    abti_annotate_tell_acquire(barrier); /* its address */
    return code;
}

int ABT_barrier_wait(ABT_barrier barrier)
{
    ABTI_REFUSE_IF(BARRIER_IS_BAD(barrier), ABT_ERR_INV_BARRIER);
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_BARRIER);
    if (ABTI_UNLIKELY(abti_annotate_order))
        return barrier_wait_ordered(barrier);
    return abti_barrier_wait(barrier);
}

int ABT_barrier_get_num_waiters(ABT_barrier barrier, uint32_t *num_waiters)
{
    ABTI_REFUSE_IF(BARRIER_IS_BAD(barrier), ABT_ERR_INV_BARRIER);
    *num_waiters = barrier->num;
    return ABT_SUCCESS;
}

/* --- Barriers of streams --- */

#define XBARRIER_IS_BAD(h) ABTI_IS_BAD(h, ABT_XSTREAM_BARRIER_NULL, ABTI_HANDLE_XBARRIER)

int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier *newbarrier)
{
    ABTI_PRESET_OUT(newbarrier, ABT_XSTREAM_BARRIER_NULL);
    ABTI_REFUSE_IF(num_waiters == 0, ABT_ERR_INV_ARG);
    ABT_xstream_barrier barrier = aligned_alloc(ABTI_CACHE_LINE, sizeof(*barrier));
    ABTI_FAIL_IF(!barrier, ABT_ERR_MEM);
    abti_xbarrier_init(barrier, num_waiters);
    abti_ledger_made(barrier, ABTI_HANDLE_XBARRIER);
    *newbarrier = barrier;
    return ABT_SUCCESS;
}

int ABT_xstream_barrier_free(ABT_xstream_barrier *barrier)
{
    ABTI_REFUSE_IF(XBARRIER_IS_BAD(*barrier), ABT_ERR_INV_XSTREAM_BARRIER);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*barrier, ABTI_HANDLE_XBARRIER, __func__)),
                 ABT_ERR_INV_XSTREAM_BARRIER);
    abti_xbarrier_fini(*barrier);
    abti_ledger_free(*barrier);
    *barrier = ABT_XSTREAM_BARRIER_NULL;
    return ABT_SUCCESS;
}

int ABT_xstream_barrier_wait(ABT_xstream_barrier barrier)
{
    ABTI_REFUSE_IF(XBARRIER_IS_BAD(barrier), ABT_ERR_INV_XSTREAM_BARRIER);
    abti_annotate_release(barrier);
    abti_xbarrier_wait(barrier);
    abti_annotate_acquire(barrier);
    return ABT_SUCCESS;
}
