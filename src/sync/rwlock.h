/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reader-writer locks. Neither side is preferred: readers come in whenever no writer is inside. An unlock that leaves
 * nobody inside wakes all waiters, and they compete.
 */
#ifndef ABTI_SYNC_RWLOCK_H
#define ABTI_SYNC_RWLOCK_H

#include "sync/waitq.h"

struct ABT_rwlock_opaque {
    struct abti_spin lock;        /* guards everything below */
    uint32_t readers;             /* how many are inside */
    _Atomic(const void *) writer; /* that is inside, as abti_mutex_self says; NULL: none. Others may look at it */
    struct abti_waitq waiters;
};

void abti_rwlock_init(ABT_rwlock rwlock);
void abti_rwlock_rdlock(ABT_rwlock rwlock);
void abti_rwlock_wrlock(ABT_rwlock rwlock);
void abti_rwlock_unlock(ABT_rwlock rwlock);

#endif
