/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libunwind takes for granted on AArch64: the names and numbers of <libunwind-aarch64.h>, version 1.6. They are
 * part of the binary interface of libunwind.so.8, whose unw_context_t has the layout of ucontext_t.
 */
#ifndef ABTI_ARCH_AARCH64_UCONTEXT_H
#define ABTI_ARCH_AARCH64_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX "_ULaarch64_" /* of its functions for the own process */

enum {
    ABTI_UNW_CURSOR_WORDS = 256, /* UNW_TDEP_CURSOR_LEN, which was twice that before 1.6 */
    ABTI_UNW_SP = 31,            /* UNW_AARCH64_SP */
    ABTI_UNW_IP = 30,            /* UNW_REG_IP, which is UNW_AARCH64_X30: the register that a caller's address is in */
};

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    ucontext->uc_mcontext.pc = pc;
    ucontext->uc_mcontext.sp = sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.pc;
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.sp;
}

#endif
