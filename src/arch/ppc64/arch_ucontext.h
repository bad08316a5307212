/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libunwind takes for granted on 64-bit POWER: the names and numbers of <libunwind-ppc64.h>, version 1.6. They are
 * part of the binary interface of libunwind.so.8, whose unw_context_t is ucontext_t.
 */
#ifndef ABTI_ARCH_PPC64_UCONTEXT_H
#define ABTI_ARCH_PPC64_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX "_ULppc64_" /* of its functions for the own process */

enum {
    ABTI_UNW_CURSOR_WORDS = 280, /* UNW_TDEP_CURSOR_LEN */
    ABTI_UNW_SP = 1,             /* UNW_PPC64_R1 */
    ABTI_UNW_IP = 114,           /* UNW_PPC64_NIP */
};

enum { ABTI_PPC64_R1 = 1, ABTI_PPC64_NIP = 32 }; /* in gp_regs: the kernel's PT_R1 and PT_NIP */

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    ucontext->uc_mcontext.gp_regs[ABTI_PPC64_NIP] = pc;
    ucontext->uc_mcontext.gp_regs[ABTI_PPC64_R1] = sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.gp_regs[ABTI_PPC64_NIP];
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.gp_regs[ABTI_PPC64_R1];
}

/*
 * A function makes its frame by "stdu 1,D(1)", or by "stdux 1,1,RB" if it is large. When the store faults, the stack
 * pointer is still the old one. The instruction can be read, unless it is what has faulted.
 */
#define ABTI_UCONTEXT_HAS_PUSHED_SP
ABTI_INLINE uintptr_t abti_ucontext_pushed_sp(const ucontext_t *ucontext, uintptr_t addr)
{
    uintptr_t pc = abti_ucontext_pc(ucontext), sp = abti_ucontext_sp(ucontext);
    if ((addr | 3) == (pc | 3))
        return sp;
    uint32_t instruction = *(const uint32_t *)pc;
    if ((instruction & 0xffff0003) == 0xf8210001)
        return sp + (uintptr_t)(int16_t)(instruction & 0xfffc);
    if ((instruction & 0xffff07ff) == 0x7c21016a)
        return sp + ucontext->uc_mcontext.gp_regs[instruction >> 11 & 31];
    return sp;
}

#endif
