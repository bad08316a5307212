/* SPDX-License-Identifier: BSD-3-Clause */
/* s390x: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_S390X_ARCH_CPU_H
#define ABTI_ARCH_S390X_ARCH_CPU_H

#include <stdint.h>
#include "base/build.h"
#include "base/compiler.h"

/* In the frame of a suspended context, as ctx.S makes it: r14 in the caller's save area. */
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 240 + 112 };

#define ABTI_CPU_TLS_OFFSET(variable)                                                                                  \
    __extension__({                                                                                                    \
        uintptr_t tls_offset;                                                                                          \
        __asm__("larl %0, " #variable "@indntpoff\n\tlg %0, 0(%0)" : "=a"(tls_offset));                                \
        tls_offset;                                                                                                    \
    })

/* The thread pointer is in two access registers. */
ABTI_INLINE char *abti_cpu_thread(void)
{
    char *thread;
    __asm__ volatile("ear %0, %%a0\n\tsllg %0, %0, 32\n\tear %0, %%a1" : "=d"(thread));
    return thread;
}

/* The clock of all processors, which gets 4096 in a microsecond. */
#define ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
    return ticks;
}

/* Rounds to nearest, lets no exception through; what reports exceptions stays. */
#define ABTI_CPU_HAS_FPU_RESET
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    const uint32_t control = 0xff0000ff;
    uint32_t word;
    if (!ABTI_BUILD_PRESERVE_FPU)
        return;
    __asm__ volatile("efpc %0" : "=d"(word));
    if (ABTI_UNLIKELY(word & control))
        __asm__ volatile("sfpc %0" : : "d"(word & ~control));
}

#define ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp; /* __builtin_frame_address would make its function keep a frame pointer */
    __asm__("lgr %0, %%r15" : "=d"(sp));
    return sp;
}

#include "arch/plain_cpu.h"

#endif
