/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "os/annotate.h"
#include "sync/rwlock.h"

#define RWLOCK_IS_BAD(h) ABTI_IS_BAD(h, ABT_RWLOCK_NULL, ABTI_HANDLE_RWLOCK)

int ABT_rwlock_create(ABT_rwlock *newrwlock)
{
    ABTI_PRESET_OUT(newrwlock, ABT_RWLOCK_NULL);
    ABT_rwlock rwlock = malloc(sizeof(*rwlock));
    ABTI_FAIL_IF(!rwlock, ABT_ERR_MEM);
    abti_rwlock_init(rwlock);
    abti_ledger_made(rwlock, ABTI_HANDLE_RWLOCK);
    *newrwlock = rwlock;
    return ABT_SUCCESS;
}

int ABT_rwlock_free(ABT_rwlock *rwlock)
{
    ABTI_REFUSE_IF(RWLOCK_IS_BAD(*rwlock), ABT_ERR_INV_RWLOCK);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*rwlock, ABTI_HANDLE_RWLOCK, __func__)), ABT_ERR_INV_RWLOCK);
    abti_ledger_free(*rwlock);
    *rwlock = ABT_RWLOCK_NULL;
    return ABT_SUCCESS;
}

int ABT_rwlock_rdlock(ABT_rwlock rwlock)
{
    ABTI_REFUSE_IF(RWLOCK_IS_BAD(rwlock), ABT_ERR_INV_RWLOCK);
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_RWLOCK);
    (void)ABTI_MISUSED(abti_misuse_of_rwlock(rwlock, __func__));
    abti_rwlock_rdlock(rwlock);
    abti_annotate_acquire(rwlock);
    return ABT_SUCCESS;
}

int ABT_rwlock_wrlock(ABT_rwlock rwlock)
{
    ABTI_REFUSE_IF(RWLOCK_IS_BAD(rwlock), ABT_ERR_INV_RWLOCK);
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_RWLOCK);
    (void)ABTI_MISUSED(abti_misuse_of_rwlock(rwlock, __func__));
    abti_rwlock_wrlock(rwlock);
    abti_annotate_acquire(rwlock);
    return ABT_SUCCESS;
}

int ABT_rwlock_unlock(ABT_rwlock rwlock)
{
    ABTI_REFUSE_IF(RWLOCK_IS_BAD(rwlock), ABT_ERR_INV_RWLOCK);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_rwunlock(rwlock, __func__)), ABT_ERR_INV_RWLOCK);
    abti_annotate_release(rwlock);
    abti_rwlock_unlock(rwlock);
    return ABT_SUCCESS;
}
