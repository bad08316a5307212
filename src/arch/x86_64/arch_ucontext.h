/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libunwind takes for granted on x86-64: the names and numbers of <libunwind-x86_64.h>, version 1.6. They are part
 * of the binary interface of libunwind.so.8, whose unw_context_t is ucontext_t.
 */
#ifndef ABTI_ARCH_X86_64_UCONTEXT_H
#define ABTI_ARCH_X86_64_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX "_ULx86_64_" /* of its functions for the own process */

enum {
    ABTI_UNW_CURSOR_WORDS = 127, /* UNW_TDEP_CURSOR_LEN */
    ABTI_UNW_SP = 7,             /* UNW_X86_64_RSP */
    ABTI_UNW_IP = 16,            /* UNW_X86_64_RIP */
};

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    ucontext->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    ucontext->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return (uintptr_t)ucontext->uc_mcontext.gregs[REG_RIP];
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    return (uintptr_t)ucontext->uc_mcontext.gregs[REG_RSP];
}

#endif
