/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/handle.h"
#include "sync/cond.h"

#define COND_IS_BAD(h) ABTI_IS_BAD(h, ABT_COND_NULL, ABTI_HANDLE_COND)

int ABT_cond_create(ABT_cond *newcond)
{
    ABTI_PRESET_OUT(newcond, ABT_COND_NULL);
    ABT_cond cond = calloc(1, sizeof(*cond));
    ABTI_FAIL_IF(!cond, ABT_ERR_MEM);
    abti_ledger_made(cond, ABTI_HANDLE_COND);
    *newcond = cond;
    return ABT_SUCCESS;
}

int ABT_cond_free(ABT_cond *cond)
{
    ABTI_REFUSE_IF(COND_IS_BAD(*cond), ABT_ERR_INV_COND);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*cond, ABTI_HANDLE_COND, __func__)), ABT_ERR_COND);
    ABTI_FAIL_IF(!ABTI_BUILD_VER20 && ABTI_REFUSE(abti_cond_has_waiters(*cond)), ABT_ERR_COND);
    abti_ledger_free(*cond);
    *cond = ABT_COND_NULL;
    return ABT_SUCCESS;
}

/* ABT_SUCCESS, or what is wrong with the two. */
ABTI_INLINE int check_pair(ABT_cond cond, ABT_mutex mutex, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_BAD_IN(cond, ABT_COND_NULL, ABTI_HANDLE_COND, function)))
        return ABT_ERR_INV_COND;
    if (ABTI_REFUSE(ABTI_IS_NULL(mutex, ABT_MUTEX_NULL)))
        return ABT_ERR_INV_MUTEX;
    return ABTI_MISUSED(abti_misuse_of_unlock(mutex, function) || abti_misuse_of_pair(cond, mutex, function))
               ? ABT_ERR_INV_MUTEX
               : ABT_SUCCESS;
}

/* After a wait: the mutex is held, and a signal may have come. */
ABTI_INLINE void order_wait(ABT_cond cond, ABT_mutex mutex)
{
    abti_annotate_acquire(cond);
    abti_annotate_acquire(mutex);
}

static ABTI_COLD int cond_wait_checked(ABT_cond cond, ABT_mutex mutex, const char *function)
{
    int code = check_pair(cond, mutex, function);
    if (code == ABT_SUCCESS) {
        abti_annotate_release(mutex);
        code = abti_cond_wait(cond, mutex);
        order_wait(cond, mutex);
    }
    return code == ABT_SUCCESS ? code : abti_error_in(code, function);
}

int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex)
{
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_COND);
    if (abti_handle_is_to_check(cond) || abti_handle_is_to_check(mutex))
        return cond_wait_checked(cond, mutex, __func__);
    int code = abti_cond_wait(cond, mutex);
    return ABTI_LIKELY(code == ABT_SUCCESS) ? code : abti_error(code);
}

int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec *abstime)
{
    int code = check_pair(cond, mutex, __func__);
    if (code == ABT_SUCCESS) {
        abti_annotate_release(mutex);
        code = abti_cond_wait_until(cond, mutex, abti_clock_deadline(abstime));
        order_wait(cond, mutex);
    }
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_cond_signal(ABT_cond cond)
{
    if (abti_handle_is_to_check(cond)) {
        ABTI_REFUSE_IF(COND_IS_BAD(cond), ABT_ERR_INV_COND);
        abti_annotate_release(cond);
    }
    abti_cond_signal(cond);
    return ABT_SUCCESS;
}

int ABT_cond_broadcast(ABT_cond cond)
{
    ABTI_REFUSE_IF(COND_IS_BAD(cond), ABT_ERR_INV_COND);
    abti_annotate_release(cond);
    abti_cond_broadcast(cond);
    return ABT_SUCCESS;
}
