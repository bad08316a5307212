/* SPDX-License-Identifier: BSD-3-Clause */
/* AArch64: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_AARCH64_ARCH_CPU_H
#define ABTI_ARCH_AARCH64_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include "base/build.h"
#include "base/compiler.h"

/* In the frame of a suspended context, as ctx.S makes it. */
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 88 };

#ifdef __ELF__
#define ABTI_CPU_TLS_OFFSET(variable)                                                                                  \
    __extension__({                                                                                                    \
        uintptr_t tls_offset;                                                                                          \
        __asm__("adrp %0, :gottprel:" #variable "\n\t"                                                                 \
                "ldr %0, [%0, :gottprel_lo12:" #variable "]"                                                           \
                : "=r"(tls_offset));                                                                                   \
        tls_offset;                                                                                                    \
    })

ABTI_INLINE char *abti_cpu_thread(void)
{
    char *thread;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(thread));
    return thread;
}
#endif

/* `yield` does nothing on most cores; this waits for about as long as `pause` does on x86. */
#define ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __asm__ volatile("isb" : : : "memory");
}

#define ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* Rounds to nearest, traps nothing. A write of the register holds up what follows: only where it makes a difference. */
#define ABTI_CPU_HAS_FPU_RESET
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    if (ABTI_UNLIKELY(control != 0))
        __asm__ volatile("msr fpcr, xzr");
}

#define ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp; /* __builtin_frame_address would make its function keep a frame pointer */
    __asm__("mov %0, sp" : "=r"(sp));
    return sp;
}

/* A return address without its signature (xpaclri, which older processors take for a hint). */
#define ABTI_CPU_HAS_CODE_AT
ABTI_INLINE uintptr_t abti_cpu_code_at(uintptr_t return_address)
{
    register uintptr_t x30 __asm__("x30") = return_address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

#include "arch/plain_cpu.h"

#endif
