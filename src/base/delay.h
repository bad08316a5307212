/*
 * Random delays around every atomic operation, in the build that is made to find races (--enable-debug=delays): between
 * any two of them others then get a chance to come. No other build has anything of this.
 */
#ifndef ABTI_BASE_DELAY_H
#define ABTI_BASE_DELAY_H

#include <stdatomic.h>
#include "base/build.h"
#include "base/compiler.h"

#if ABTI_BUILD_DELAYS

/* Does nothing as a rule, and waits now and then. It needs the system, so that it is in os/delay.c. */
void abti_delay(void);

/* An operation with a result, and one without. */
#define ABTI_DELAYED(operation)                                                                                        \
    __extension__({                                                                                                    \
        abti_delay();                                                                                                  \
        __auto_type delayed_result = (operation);                                                                      \
        abti_delay();                                                                                                  \
        delayed_result;                                                                                                \
    })
#define ABTI_DELAYED_VOID(operation)                                                                                   \
    __extension__({                                                                                                    \
        abti_delay();                                                                                                  \
        (operation);                                                                                                   \
        abti_delay();                                                                                                  \
    })

/* The standard's names without an order, which base/atomic.h leaves as they are. */
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

#else

ABTI_INLINE void abti_delay(void)
{
}

#define ABTI_DELAYED(operation) (operation)
#define ABTI_DELAYED_VOID(operation) (operation)

#endif

#endif
