/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of <arch>/arch_cpu.h: the contract of arch/cpu.h for models. abti_cpu_add has release order. */
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

ABTI_INLINE void *abti_cpu_sp(void)
{
    return __builtin_frame_address(0);
}

#endif
