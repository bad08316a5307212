/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libunwind takes for granted on RISC-V 64: the names and numbers of <libunwind-riscv.h>, version 1.6. They are
 * part of the binary interface of libunwind.so.8, whose unw_context_t is ucontext_t.
 */
#ifndef ABTI_ARCH_RISCV64_UCONTEXT_H
#define ABTI_ARCH_RISCV64_UCONTEXT_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX "_ULriscv_" /* of its functions for the own process */

/*
 * UNW_TDEP_CURSOR_LEN is 4096, which would not fit on a ULT's stack. What a cursor has is a word or two for each of
 * some 66 registers and a few dozen others; the rest is for versions to come.
 */
enum {
    ABTI_UNW_CURSOR_WORDS = 256,
    ABTI_UNW_SP = 2,  /* UNW_RISCV_X2 */
    ABTI_UNW_IP = 64, /* UNW_RISCV_PC */
};

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    ucontext->uc_mcontext.__gregs[REG_PC] = pc;
    ucontext->uc_mcontext.__gregs[REG_SP] = sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.__gregs[REG_PC];
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.__gregs[REG_SP];
}

#endif
