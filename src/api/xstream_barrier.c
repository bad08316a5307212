/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "os/annotate.h"
#include "sync/xbarrier.h"

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
