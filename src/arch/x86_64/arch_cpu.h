/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_X86_64_ARCH_CPU_H
#define ABTI_ARCH_X86_64_ARCH_CPU_H

#include <cpuid.h>
#include <stdbool.h>
#include "base/atomic.h"
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

ABTI_INLINE void abti_cpu_init(void)
{
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        abti_x86_fpu_mode = (ebx == signature_AMD_ebx);
}

ABTI_INLINE uintptr_t abti_cpu_code_at(uintptr_t return_address)
{
    return return_address;
}

/* A count that grows evenly and is the same on all processors; for traces, where a call would take too long. */
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* The instruction does nothing on older processors. Compilers use it for newer ones only. */
ABTI_INLINE void abti_cpu_fetch_to_write(const void *p)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

ABTI_INLINE void abti_cpu_relax(void)
{
    __builtin_ia32_pause();
}

/* The instruction does nothing where there is no such stack, because none is in use or the processor is older. */
ABTI_INLINE bool abti_cpu_shadow_stack(void)
{
    uint64_t top = 0;
    __asm__ volatile("rdsspq %0" : "+r"(top));
    return top != 0;
}

ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    static const uint32_t mxcsr = ABTI_X86_MXCSR_DEFAULT; /* in memory: the loads wait for no store */
    static const uint16_t fcw = ABTI_X86_FCW_DEFAULT;
    if (!ABTI_BUILD_PRESERVE_FPU)
        return;
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
ABTI_INLINE void abti_cpu_add(_Atomic(uint64_t) *p, uint64_t n)
{
    abti_delay();
    __asm__ volatile("addq %1, %0" : "+m"(*p) : "re"(n) : "memory", "cc");
    abti_delay();
}

/* Nor do they compare an atomic load in memory, or take the sign of a difference from the subtraction. */
typedef uint8_t __attribute__((may_alias)) abti_cpu_byte;
typedef uint16_t __attribute__((may_alias)) abti_cpu_quarter;
typedef uint32_t __attribute__((may_alias)) abti_cpu_half;
typedef uint64_t __attribute__((may_alias)) abti_cpu_word;

/* With a register, even for 0: AMD's processors make one operation of a comparison and the branch behind it, but not of
 * one with memory and a constant. */
ABTI_INLINE bool abti_cpu_is_set(const void *byte)
{
    bool set;
    abti_delay();
    __asm__ volatile("cmpb %b2, %1" : "=@ccne"(set) : "m"(*(const abti_cpu_byte *)byte), "q"(0));
    abti_delay();
    return set;
}

ABTI_INLINE bool abti_cpu_is_set_2(const void *bytes)
{
    bool set;
    abti_delay();
    __asm__ volatile("cmpw %w2, %1" : "=@ccne"(set) : "m"(*(const abti_cpu_quarter *)bytes), "r"(0));
    abti_delay();
    return set;
}

ABTI_INLINE bool abti_cpu_is_equal(const void *word, uintptr_t value)
{
    bool equal;
    abti_delay();
    __asm__ volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(*(const abti_cpu_word *)word), "r"(value));
    abti_delay();
    return equal;
}

ABTI_INLINE bool abti_cpu_has_one_of(const void *half, uint32_t bits)
{
    bool any;
    abti_delay();
    __asm__ volatile("testl %2, %1" : "=@ccne"(any) : "m"(*(const abti_cpu_half *)half), "ri"(bits));
    abti_delay();
    return any;
}

ABTI_INLINE bool abti_cpu_has_one_of_1(const void *byte, uint8_t bits)
{
    bool any;
    abti_delay();
    __asm__ volatile("testb %2, %1" : "=@ccne"(any) : "m"(*(const abti_cpu_byte *)byte), "qi"(bits));
    abti_delay();
    return any;
}

/* What came before it in the program stays there: the store is a release. */
ABTI_INLINE bool abti_cpu_count_down(void *half)
{
    bool positive;
    abti_delay();
    __asm__ volatile("subl $1, %1" : "=@ccg"(positive), "+m"(*(abti_cpu_half *)half) : : "memory");
    abti_delay();
    return positive;
}

ABTI_INLINE bool abti_cpu_count_own(void *half)
{
    return abti_cpu_count_down(half);
}

ABTI_INLINE void abti_cpu_store_byte(_Atomic(uint8_t) *byte, uint8_t value)
{
    abti_store_relaxed(byte, value); /* relaxed: the callers know that, and say why it is enough */
}

typedef uint64_t __attribute__((may_alias, aligned(1))) abti_cpu_loose_word;

/* With a constant: to have 0 in a register would be one instruction more. */
ABTI_INLINE bool abti_cpu_is_any_set(const void *bytes)
{
    bool set;
    abti_delay();
    __asm__ volatile("cmpq $0, %1" : "=@ccne"(set) : "m"(*(const abti_cpu_loose_word *)bytes));
    abti_delay();
    return set;
}

/* A copy of the stack pointer in a register is one instruction more. */
ABTI_INLINE bool abti_cpu_sp_is_above(char *const *limit)
{
    bool above;
    __asm__ volatile("cmpq %%rsp, %1" : "=@ccbe"(above) : "m"(*limit));
    return above;
}

ABTI_INLINE bool abti_cpu_sp_is_below(char *const *limit)
{
    bool below;
    __asm__ volatile("cmpq %%rsp, %1" : "=@cca"(below) : "m"(*limit));
    return below;
}

ABTI_INLINE void *abti_cpu_sp(void)
{
    void *sp; /* __builtin_frame_address would make its function keep a frame pointer */
    __asm__("movq %%rsp, %0" : "=r"(sp));
    return sp;
}

#endif
