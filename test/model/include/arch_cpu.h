/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of <arch>/arch_cpu.h: the contract of arch/cpu.h in C11, as weak as it allows. abti_cpu_add and
 * abti_cpu_count_down have release order, which is how the models can tell whether that is needed.
 */
#ifndef ABTI_MODEL_ARCH_CPU_H
#define ABTI_MODEL_ARCH_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/atomic.h"

enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 0 };

/* All threads of a model run on one native thread. */
#define ABTI_CPU_THREAD_LOCAL(variable) variable

ABTI_INLINE void abti_cpu_init(void)
{
}

ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    return 0;
}

ABTI_INLINE void abti_cpu_relax(void)
{
    model_give_way();
}

ABTI_INLINE void abti_cpu_fpu_reset(void)
{
}

ABTI_INLINE void abti_cpu_add(_Atomic(uint64_t) *p, uint64_t n)
{
    abti_store_release(p, abti_load_relaxed(p) + n);
}

ABTI_INLINE bool abti_cpu_is_set(const void *byte)
{
    return abti_load_relaxed((const _Atomic(uint8_t) *)byte) != 0;
}

ABTI_INLINE bool abti_cpu_is_set_2(const void *bytes)
{
    return abti_load_relaxed((const _Atomic(uint16_t) *)bytes) != 0;
}

ABTI_INLINE bool abti_cpu_is_equal(const void *word, uintptr_t value)
{
    return abti_load_relaxed((const _Atomic(uint64_t) *)word) == value;
}

ABTI_INLINE bool abti_cpu_has_one_of(const void *half, uint32_t bits)
{
    return (abti_load_relaxed((const _Atomic(uint32_t) *)half) & bits) != 0;
}

ABTI_INLINE bool abti_cpu_has_one_of_1(const void *byte, uint8_t bits)
{
    return (abti_load_relaxed((const _Atomic(uint8_t) *)byte) & bits) != 0;
}

ABTI_INLINE bool abti_cpu_count_down(void *half)
{
    _Atomic(int32_t) *p = (_Atomic(int32_t) *)half;
    int32_t left = abti_load_relaxed(p) - 1;
    abti_store_release(p, left);
    return left > 0;
}

ABTI_INLINE bool abti_cpu_count_own(void *half)
{
    return --*(int32_t *)half > 0;
}

ABTI_INLINE void abti_cpu_store_byte(_Atomic(uint8_t) *byte, uint8_t value)
{
    abti_store_relaxed(byte, value);
}

ABTI_INLINE bool abti_cpu_is_any_set(const void *bytes)
{
    (void)bytes; /* it looks at words of the thread's own */
    return false;
}

ABTI_INLINE bool abti_cpu_sp_is_above(char *const *limit)
{
    (void)limit;
    return true;
}

ABTI_INLINE void *abti_cpu_sp(void)
{
    return __builtin_frame_address(0);
}

#endif
