/* SPDX-License-Identifier: BSD-3-Clause */
/* FreeBSD: what its thread library is made with. */
#include "lock/futex.h"

#include <errno.h>
#include <limits.h>
#include <sys/types.h>
#include <sys/umtx.h>
#include "base/assert.h"
#include "base/compiler.h"
#include "lock/lockrank.h"
#include "os/clock.h"

bool abti_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    abti_assert(abti_lockrank_may_sleep());
    struct _umtx_time until = {
        ._timeout = {.tv_sec = (time_t)(deadline_ns / ABTI_NS_PER_SEC),
                     .tv_nsec = (long)(deadline_ns % ABTI_NS_PER_SEC)},
        ._flags = UMTX_ABSTIME,
        ._clockid = CLOCK_MONOTONIC,
    };
    bool for_ever = deadline_ns == ABTI_CLOCK_NEVER;
    int r = _umtx_op((void *)word, UMTX_OP_WAIT_UINT_PRIVATE, expected, for_ever ? NULL : (void *)sizeof(until),
                     for_ever ? NULL : &until);
    return r == 0 || errno != ETIMEDOUT;
}

void abti_futex_wake(_Atomic uint32_t *word)
{
    _umtx_op((void *)word, UMTX_OP_WAKE_PRIVATE, 1, NULL, NULL);
}

void abti_futex_wake_all(_Atomic uint32_t *word)
{
    _umtx_op((void *)word, UMTX_OP_WAKE_PRIVATE, INT_MAX, NULL, NULL);
}

void abti_futex_forget_sleepers(void)
{
    /* The system keeps a list for each process. */
}
