/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic access with the memory order in the operation's name, so that a reader sees the order where it matters and a
 * missing one is seen. Comments at the place of use name the pairs (maint/check-orders). The standard's names
 * without an order (atomic_load and others) are sequentially consistent.
 */
#ifndef ABTI_BASE_ATOMIC_H
#define ABTI_BASE_ATOMIC_H

#include <stdatomic.h>
#include "base/delay.h"

#define abti_load_relaxed(p) ABTI_DELAYED(atomic_load_explicit(p, memory_order_relaxed))
#define abti_load_acquire(p) ABTI_DELAYED(atomic_load_explicit(p, memory_order_acquire))
#define abti_load_seq_cst(p) ABTI_DELAYED(atomic_load_explicit(p, memory_order_seq_cst))
#define abti_store_relaxed(p, v) ABTI_DELAYED_VOID(atomic_store_explicit(p, v, memory_order_relaxed))
#define abti_store_release(p, v) ABTI_DELAYED_VOID(atomic_store_explicit(p, v, memory_order_release))
#define abti_store_seq_cst(p, v) ABTI_DELAYED_VOID(atomic_store_explicit(p, v, memory_order_seq_cst))
#define abti_exchange_acq_rel(p, v) ABTI_DELAYED(atomic_exchange_explicit(p, v, memory_order_acq_rel))
#define abti_exchange_release(p, v) ABTI_DELAYED(atomic_exchange_explicit(p, v, memory_order_release))
#define abti_fetch_add_relaxed(p, v) ABTI_DELAYED(atomic_fetch_add_explicit(p, v, memory_order_relaxed))
#define abti_fetch_add_release(p, v) ABTI_DELAYED(atomic_fetch_add_explicit(p, v, memory_order_release))
#define abti_fetch_add_acq_rel(p, v) ABTI_DELAYED(atomic_fetch_add_explicit(p, v, memory_order_acq_rel))
#define abti_fetch_sub_acq_rel(p, v) ABTI_DELAYED(atomic_fetch_sub_explicit(p, v, memory_order_acq_rel))
#define abti_fetch_sub_release(p, v) ABTI_DELAYED(atomic_fetch_sub_explicit(p, v, memory_order_release))
#define abti_fetch_or_relaxed(p, v) ABTI_DELAYED(atomic_fetch_or_explicit(p, v, memory_order_relaxed))
#define abti_fetch_or_acq_rel(p, v) ABTI_DELAYED(atomic_fetch_or_explicit(p, v, memory_order_acq_rel))
#define abti_fetch_and_relaxed(p, v) ABTI_DELAYED(atomic_fetch_and_explicit(p, v, memory_order_relaxed))
#define abti_fetch_and_acq_rel(p, v) ABTI_DELAYED(atomic_fetch_and_explicit(p, v, memory_order_acq_rel))
#define ABTI_CAS(p, expected, desired, success, failure)                                                               \
    ABTI_DELAYED(atomic_compare_exchange_strong_explicit(p, expected, desired, success, failure))
#define abti_cas_acq_rel(p, old, desired) ABTI_CAS(p, old, desired, memory_order_acq_rel, memory_order_acquire)
#define abti_cas_acquire(p, old, desired) ABTI_CAS(p, old, desired, memory_order_acquire, memory_order_relaxed)
#define abti_cas_release(p, old, desired) ABTI_CAS(p, old, desired, memory_order_release, memory_order_relaxed)
#define abti_cas_relaxed(p, old, desired) ABTI_CAS(p, old, desired, memory_order_relaxed, memory_order_relaxed)
#define abti_fence_acquire() ABTI_DELAYED_VOID(atomic_thread_fence(memory_order_acquire))
#define abti_fence_seq_cst() ABTI_DELAYED_VOID(atomic_thread_fence(memory_order_seq_cst))

/* These are for fields that are not _Atomic, since their own thread reads them plainly. */
#define abti_plain_load_relaxed(p) ABTI_DELAYED(__atomic_load_n(p, __ATOMIC_RELAXED))
#define abti_plain_load_acquire(p) ABTI_DELAYED(__atomic_load_n(p, __ATOMIC_ACQUIRE))
#define abti_plain_store_relaxed(p, v) ABTI_DELAYED_VOID(__atomic_store_n(p, v, __ATOMIC_RELAXED))
#define abti_plain_store_release(p, v) ABTI_DELAYED_VOID(__atomic_store_n(p, v, __ATOMIC_RELEASE))

#endif
