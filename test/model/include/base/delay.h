/* In place of base/delay.h: each atomic operation tells the checker where it stands, so that it can be weakened. */
#ifndef ABTI_BASE_DELAY_H
#define ABTI_BASE_DELAY_H

#include <stdatomic.h>
#include "base/build.h"
#include "base/compiler.h"
#include "checker.h"

#define ABTI_DELAYED(operation)                                                                                        \
    __extension__({                                                                                                    \
        static struct model_site model_site_ = {__FILE__, #operation, 0, 0};                                           \
        model_at(&model_site_, __func__);                                                                              \
        __auto_type model_result_ = (operation);                                                                       \
        model_result_;                                                                                                 \
    })
#define ABTI_DELAYED_VOID(operation)                                                                                   \
    __extension__({                                                                                                    \
        static struct model_site model_site_ = {__FILE__, #operation, 0, 0};                                           \
        model_at(&model_site_, __func__);                                                                              \
        (operation);                                                                                                   \
    })

/* The standard's names without an order. */
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

ABTI_INLINE void abti_delay(void)
{
}

#endif
