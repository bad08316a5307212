/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard's names without an order, which base/atomic.h leaves as they are, by ABTI_DELAYED like the others. That
 * is defined where this is included: in base/delay.h, and in its counterpart of the models (test/model).
 */
#ifndef ABTI_BASE_DELAYED_H
#define ABTI_BASE_DELAYED_H

#include <stdatomic.h>

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_compare_exchange_strong
#define atomic_load(p) ABTI_DELAYED(atomic_load_explicit(p, memory_order_seq_cst))
#define atomic_store(p, v) ABTI_DELAYED_VOID(atomic_store_explicit(p, v, memory_order_seq_cst))
#define atomic_exchange(p, v) ABTI_DELAYED(atomic_exchange_explicit(p, v, memory_order_seq_cst))
#define atomic_fetch_add(p, v) ABTI_DELAYED(atomic_fetch_add_explicit(p, v, memory_order_seq_cst))
#define atomic_fetch_sub(p, v) ABTI_DELAYED(atomic_fetch_sub_explicit(p, v, memory_order_seq_cst))
#define atomic_fetch_or(p, v) ABTI_DELAYED(atomic_fetch_or_explicit(p, v, memory_order_seq_cst))
#define atomic_fetch_and(p, v) ABTI_DELAYED(atomic_fetch_and_explicit(p, v, memory_order_seq_cst))
#define atomic_compare_exchange_strong(p, expected, desired)                                                           \
    ABTI_DELAYED(                                                                                                      \
        atomic_compare_exchange_strong_explicit(p, expected, desired, memory_order_seq_cst, memory_order_seq_cst))

#endif
