/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random delays around the atomic operations of the add-ons, in the build that is made to find races
 * (--enable-debug=delays): it is included before all else in each of their files. The library itself has those of
 * base/delay.h, which are hidden in it. One of 64 operations waits: half of them for a microsecond at most, others give
 * the CPU away, and a few sleep.
 */
#ifndef TEST_DELAYS_H
#define TEST_DELAYS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static __attribute__((noinline, unused)) void delay_for_long(uint32_t random)
{
    const struct timespec nap = {.tv_nsec = random % 20000};

    if (random % 8 == 0)
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    else if (random % 2 == 0)
        (void)sched_yield();
    else
        for (volatile uint32_t i = random >> 23; i > 0; i--)
            ;
}

static inline void delay_now_and_then(void)
{
    static _Thread_local uint32_t random; /* of xorshift32; 0: this is the first operation of the thread */

    if (random == 0)
        random = (uint32_t)(uintptr_t)&random | 1;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    if (random % 64 == 0)
        delay_for_long(random >> 6);
}

/* An operation with a result, and one without. */
#define DELAYED(operation)                                                                                             \
    __extension__({                                                                                                    \
        delay_now_and_then();                                                                                          \
        __auto_type delayed_result = (operation);                                                                      \
        delay_now_and_then();                                                                                          \
        delayed_result;                                                                                                \
    })
#define DELAYED_VOID(operation)                                                                                        \
    __extension__({                                                                                                    \
        delay_now_and_then();                                                                                          \
        (operation);                                                                                                   \
        delay_now_and_then();                                                                                          \
    })

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_thread_fence
#undef atomic_load
#undef atomic_store
#undef atomic_fetch_add
#undef atomic_fetch_sub
#define atomic_load_explicit(p, order) DELAYED(__atomic_load_n(p, order))
#define atomic_store_explicit(p, value, order) DELAYED_VOID(__atomic_store_n(p, value, order))
#define atomic_exchange_explicit(p, value, order) DELAYED(__atomic_exchange_n(p, value, order))
#define atomic_fetch_add_explicit(p, value, order) DELAYED(__atomic_fetch_add(p, value, order))
#define atomic_fetch_sub_explicit(p, value, order) DELAYED(__atomic_fetch_sub(p, value, order))
#define atomic_fetch_or_explicit(p, value, order) DELAYED(__atomic_fetch_or(p, value, order))
#define atomic_fetch_and_explicit(p, value, order) DELAYED(__atomic_fetch_and(p, value, order))
#define atomic_compare_exchange_strong_explicit(p, expected, value, order, otherwise)                                  \
    DELAYED(__atomic_compare_exchange_n(p, expected, value, 0, order, otherwise))
#define atomic_compare_exchange_weak_explicit(p, expected, value, order, otherwise)                                    \
    DELAYED(__atomic_compare_exchange_n(p, expected, value, 1, order, otherwise))
#define atomic_thread_fence(order) DELAYED_VOID(__atomic_thread_fence(order))
#define atomic_load(p) atomic_load_explicit(p, __ATOMIC_SEQ_CST)
#define atomic_store(p, value) atomic_store_explicit(p, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(p, value) atomic_fetch_add_explicit(p, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(p, value) atomic_fetch_sub_explicit(p, value, __ATOMIC_SEQ_CST)

#endif
