/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_X86_64_ARCH_CPU_H
#define ABTI_ARCH_X86_64_ARCH_CPU_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/build.h"
#include "base/compiler.h"
#include "base/delay.h"

/* In the frame of a suspended context, as ctx.S makes it. */
enum { ABTI_CTX_BELOW = 8, ABTI_CTX_RESUMES_AT = 48 };

/* The access is relative to a segment register: nothing of it can be kept. */
#define ABTI_CPU_THREAD_LOCAL(variable) (variable)

/* The state of a new thread by the System V ABI: all exceptions masked, round to nearest, extended x87 precision. */
#define ABTI_X86_MXCSR_DEFAULT 0x1f80u
#define ABTI_X86_FCW_DEFAULT 0x037fu
#define ABTI_X86_MXCSR_CONTROL 0xffc0u

/*
 * How a switch brings the control words in force (read by ctx.S).
 *   0  compare: read the present ones back and load only on a difference of control bits. Right where reading back a
 *      just stored word is cheap and loading a changed MXCSR is not (Intel: 1.1 ns against 37 ns, because the sticky
 *      status bits make nearly every load a change).
 *   1  load: always load. Right where reading back is slow: on Zen 3 STMXCSR takes 6.5 ns and a load of what it stored
 *      waits another 5, while LDMXCSR and FLDCW take 0.9 each.
 */
extern unsigned char abti_x86_fpu_mode ABTI_HIDDEN;

#define ABTI_CPU_HAS_INIT
ABTI_INLINE void abti_cpu_init(void)
{
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        abti_x86_fpu_mode = (ebx == signature_AMD_ebx);
}

/* A count that grows evenly and is the same on all processors; for traces, where a call would take too long. */
#define ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* The instruction does nothing on older processors. Compilers use it for newer ones only. */
#define ABTI_CPU_HAS_FETCH_TO_WRITE
ABTI_INLINE void abti_cpu_fetch_to_write(const void *p)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

#define ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __builtin_ia32_pause();
}

/* The instruction does nothing where there is no such stack, because none is in use or the processor is older. */
#define ABTI_CPU_HAS_SHADOW_STACK
ABTI_INLINE bool abti_cpu_shadow_stack(void)
{
    uint64_t top = 0;
    __asm__ volatile("rdsspq %0" : "+r"(top));
    return top != 0;
}

#define ABTI_CPU_HAS_FPU_RESET
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    static const uint32_t mxcsr = ABTI_X86_MXCSR_DEFAULT; /* in memory: the loads wait for no store */
    static const uint16_t fcw = ABTI_X86_FCW_DEFAULT;
    if (!abti_x86_fpu_mode) {
        uint32_t cur_mxcsr;
        uint16_t cur_fcw;
        __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(cur_mxcsr), "=m"(cur_fcw));
        ABTI_STORED(cur_mxcsr);
        ABTI_STORED(cur_fcw);
        if (ABTI_LIKELY(((cur_mxcsr ^ mxcsr) & ABTI_X86_MXCSR_CONTROL) == 0 && cur_fcw == fcw))
            return;
    }
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(fcw));
}

/* Compilers do not make one instruction of an atomic load, an addition and an atomic store; the machine has one. */
#define ABTI_CPU_HAS_ADD
ABTI_INLINE void abti_cpu_add(_Atomic(uint64_t) *p, uint64_t n)
{
    abti_delay();
    __asm__ volatile("addq %1, %0" : "+m"(*p) : "re"(n) : "memory", "cc");
    abti_delay();
}

#define ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp; /* __builtin_frame_address would make its function keep a frame pointer */
    __asm__("movq %%rsp, %0" : "=r"(sp));
    return sp;
}

#include "arch/plain_cpu.h"

#endif
