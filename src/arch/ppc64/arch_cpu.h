/* SPDX-License-Identifier: BSD-3-Clause */
/* POWER, 64 bits: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_PPC64_ARCH_CPU_H
#define ABTI_ARCH_PPC64_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include "base/build.h"
#include "base/compiler.h"

/* In the frame of a suspended context, as ctx.S makes it: the address is in the caller's header. */
#if defined(_CALL_ELF) && _CALL_ELF == 2
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 528 + 16 };
#else
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 608 + 16 };
#endif

#define ABTI_PPC64_HWCAP_ALTIVEC 0x10000000u /* PPC_FEATURE_HAS_ALTIVEC of the kernel's interface */

/* The processor has vector registers. A library that was built for one without looks here (ctx.S). */
extern unsigned char abti_ppc64_altivec ABTI_HIDDEN;

#define ABTI_CPU_HAS_INIT
ABTI_INLINE void abti_cpu_init(void)
{
    abti_ppc64_altivec = (getauxval(AT_HWCAP) & ABTI_PPC64_HWCAP_ALTIVEC) != 0;
}

/* The time base: a count that grows evenly and is the same on all processors. */
#define ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    return __builtin_ppc_get_timebase();
}

/* Low priority and back again: meanwhile the other threads of the core get ahead. */
#define ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __asm__ volatile("or 1, 1, 1\n\tor 2, 2, 2");
}

/* The rounding of decimal numbers. */
#ifdef _ARCH_PWR6
#define ABTI_PPC_RESET_DECIMAL "\n\tmtfsfi 7, 0, 1"
#else
#define ABTI_PPC_RESET_DECIMAL ""
#endif

/* Rounding to nearest and no exception enabled, which is all 0. */
#define ABTI_CPU_HAS_FPU_RESET
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    __asm__ volatile("mtfsfi 6, 0\n\tmtfsfi 7, 0" ABTI_PPC_RESET_DECIMAL);
}

#define ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp; /* __builtin_frame_address would make its function keep a frame pointer */
    __asm__("mr %0, 1" : "=r"(sp));
    return sp;
}

#include "arch/plain_cpu.h"

#endif
