/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of arch/cpu.h in plain C. An arch_cpu.h includes this file at its end. What the machine does better it
 * has defined before, and has said so by a macro ABTI_CPU_HAS_<NAME>.
 *
 * A thread-local variable: compilers keep the address of one across calls, so also across a switch, after which the
 * caller may be on another thread. A machine whose thread pointer is a register defines
 *
 *   ABTI_CPU_TLS_OFFSET(variable)    where it is, from the thread pointer, by the initial-exec model: it may be kept
 *   char *abti_cpu_thread(void)      the thread pointer, by asm volatile: read anew each time
 *
 * Where there is neither, the variable's function <variable>_at() returns its address, which nothing is known of.
 */
#ifndef ABTI_ARCH_PLAIN_CPU_H
#define ABTI_ARCH_PLAIN_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "base/atomic.h"
#include "base/build.h"
#include "base/compiler.h"
#include "base/delay.h"

#ifdef ABTI_CPU_TLS_OFFSET
#define ABTI_CPU_THREAD_LOCAL(variable)                                                                                \
    (*(__typeof__(variable) *)(void *)(abti_cpu_thread() + ABTI_CPU_TLS_OFFSET(variable)))
#else
#define ABTI_CPU_THREAD_LOCAL(variable) (*variable##_at())
#endif

#ifndef ABTI_CPU_HAS_INIT
ABTI_INLINE void abti_cpu_init(void)
{
}
#endif

ABTI_INLINE void abti_cpu_fetch_to_write(const void *p)
{
    __builtin_prefetch(p, 1);
}

#ifndef ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __asm__ volatile("" : : : "memory");
}
#endif

#ifndef ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
#endif

#ifndef ABTI_CPU_HAS_FPU_RESET
#include <fenv.h>
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    if (ABTI_BUILD_PRESERVE_FPU)
        fesetenv(FE_DFL_ENV);
}
#endif

#ifndef ABTI_CPU_HAS_CODE_AT
ABTI_INLINE uintptr_t abti_cpu_code_at(uintptr_t return_address)
{
    return return_address;
}
#endif

#ifndef ABTI_CPU_HAS_SHADOW_STACK
ABTI_INLINE bool abti_cpu_shadow_stack(void)
{
    return false;
}
#endif

#ifndef ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    return __builtin_frame_address(0);
}
#endif

ABTI_INLINE bool abti_cpu_sp_is_above(char *const *limit)
{
    return (char *)abti_cpu_sp() >= *limit;
}

ABTI_INLINE bool abti_cpu_sp_is_below(char *const *limit)
{
    return (char *)abti_cpu_sp() < *limit;
}

/*
 * relaxed: only the calling thread writes the word. release: pairs with the acquires in blocked_entered, blocked_left
 * and all others that the callers name.
 */
ABTI_INLINE void abti_cpu_add(_Atomic(uint64_t) *p, uint64_t n)
{
    abti_store_release(p, abti_load_relaxed(p) + n);
}

typedef uint8_t __attribute__((may_alias)) abti_cpu_byte;
typedef uint16_t __attribute__((may_alias)) abti_cpu_quarter;
typedef uint32_t __attribute__((may_alias)) abti_cpu_half;
typedef uint64_t __attribute__((may_alias)) abti_cpu_word;

#ifndef ABTI_CPU_HAS_COUNT
/* relaxed: as for abti_cpu_add. release: pairs with the acquire in abti_pool_num_in_place. */
ABTI_INLINE bool abti_cpu_count_down(void *half)
{
    abti_cpu_half *count = (abti_cpu_half *)half;
    uint32_t less = abti_plain_load_relaxed(count) - 1;
    abti_plain_store_release(count, less);
    return (int32_t)less > 0;
}

ABTI_INLINE bool abti_cpu_count_own(void *half)
{
    abti_cpu_half *count = (abti_cpu_half *)half;
    *count -= 1;
    return (int32_t)*count > 0;
}
#endif

#ifndef ABTI_CPU_HAS_STORE_BYTE
ABTI_INLINE void abti_cpu_store_byte(_Atomic(uint8_t) *byte, uint8_t value)
{
    abti_store_relaxed(byte, value); /* relaxed: the callers know that, and say why it is enough */
}
#endif

/* relaxed, in all four: the callers of the functions below know that, and say why it is enough. */
#ifndef ABTI_CPU_HAS_LOADS
#define ABTI_CPU_LOAD_BYTE(at) abti_plain_load_relaxed((const abti_cpu_byte *)(at))
#define ABTI_CPU_LOAD_QUARTER(at) abti_plain_load_relaxed((const abti_cpu_quarter *)(at))
#define ABTI_CPU_LOAD_HALF(at) abti_plain_load_relaxed((const abti_cpu_half *)(at))
#define ABTI_CPU_LOAD_WORD(at) abti_plain_load_relaxed((const abti_cpu_word *)(at))
#endif

ABTI_INLINE bool abti_cpu_is_set(const void *byte)
{
    return ABTI_CPU_LOAD_BYTE(byte) != 0;
}

ABTI_INLINE bool abti_cpu_is_set_2(const void *bytes)
{
    return ABTI_CPU_LOAD_QUARTER(bytes) != 0;
}

ABTI_INLINE bool abti_cpu_is_equal(const void *word, uintptr_t value)
{
    return ABTI_CPU_LOAD_WORD(word) == value;
}

ABTI_INLINE bool abti_cpu_has_one_of(const void *half, uint32_t bits)
{
    return (ABTI_CPU_LOAD_HALF(half) & bits) != 0;
}

ABTI_INLINE bool abti_cpu_has_one_of_1(const void *byte, uint8_t bits)
{
    return (ABTI_CPU_LOAD_BYTE(byte) & bits) != 0;
}

/*
 * Volatile, since bytes that need not be aligned to eight have no atomic access. They are the calling thread's own, or
 * an aligned word of the loader.
 */
#ifndef ABTI_CPU_HAS_IS_ANY_SET
typedef uint64_t __attribute__((may_alias, aligned(1))) abti_cpu_loose_word;

ABTI_INLINE bool abti_cpu_is_any_set(const void *bytes)
{
    abti_delay();
    uint64_t word = *(const volatile abti_cpu_loose_word *)bytes;
    abti_delay();
    return word != 0;
}
#endif

#endif
