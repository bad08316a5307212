/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Condition variables. A waiter queues before it releases the mutex, so that the next holder of the mutex finds it
 * in the queue; it cannot be woken before it sleeps, as it holds the cond's lock until then. Wakes come only from
 * signal and broadcast.
 */
#ifndef ABTI_SYNC_COND_H
#define ABTI_SYNC_COND_H

#include "sync/waitq.h"

typedef ABT_mutex abti_mutex_p4 __attribute__((aligned(4)));

/* Static initialisers are zeros. */
struct ABT_cond_opaque {
    struct abti_spin lock;    /* guards everything below */
    _Atomic(uint32_t) waited; /* a waiter may be queued. It is written with the lock held, and read without */
    struct abti_waitq waiters;
    abti_mutex_p4 mutex; /* the mutex to which the first wait has tied it */
};

_Static_assert(sizeof(struct ABT_cond_opaque) <= sizeof(ABT_cond_memory) &&
                   _Alignof(struct ABT_cond_opaque) == _Alignof(ABT_cond_memory),
               "lives in the users' storage");

/*
 * Return ABT_ERR_INV_MUTEX when the cond is tied to another mutex, or ABT_ERR_COND_TIMEDOUT. The mutex is locked in any
 * case.
 */
int abti_cond_wait(ABT_cond cond, ABT_mutex mutex) ABTI_MUST_CHECK;
int abti_cond_wait_until(ABT_cond cond, ABT_mutex mutex, uint64_t deadline_ns) ABTI_MUST_CHECK;

void abti_cond_signal(ABT_cond cond);
void abti_cond_broadcast(ABT_cond cond);
bool abti_cond_has_waiters(ABT_cond cond);

#endif
