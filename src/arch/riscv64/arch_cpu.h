/* SPDX-License-Identifier: BSD-3-Clause */
/* RISC-V 64: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_RISCV64_ARCH_CPU_H
#define ABTI_ARCH_RISCV64_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include "base/build.h"
#include "base/compiler.h"

/* In the frame of a suspended context, as ctx.S makes it. */
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 0 };

#define ABTI_CPU_TLS_OFFSET(variable)                                                                                  \
    __extension__({                                                                                                    \
        intptr_t tls_offset;                                                                                           \
        __asm__("la.tls.ie %0, " #variable : "=r"(tls_offset));                                                        \
        tls_offset;                                                                                                    \
    })

ABTI_INLINE char *abti_cpu_thread(void)
{
    char *thread;
    __asm__ volatile("mv %0, tp" : "=r"(thread));
    return thread;
}

/* The platform's timer, of some 10 MHz on most machines. */
#define ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

/* This is how `pause` is encoded: a fence that orders nothing, to processors that have no such hint. */
#define ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" : : : "memory");
}

/* The mode of a new thread is to the nearest, which is 0. */
#define ABTI_CPU_HAS_FPU_RESET
#ifdef __riscv_float_abi_double
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    __asm__ volatile("fsrm zero");
}
#else
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
}
#endif

#define ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp;
    __asm__("mv %0, sp" : "=r"(sp));
    return sp;
}

#include "arch/plain_cpu.h"

#endif
