/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libunwind takes for granted on s390x: the names and numbers of <libunwind-s390x.h>, version 1.6. They are part
 * of the binary interface of libunwind.so.8, whose unw_context_t is ucontext_t.
 */
#ifndef ABTI_ARCH_S390X_UCONTEXT_H
#define ABTI_ARCH_S390X_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX "_ULs390x_" /* of its functions for the own process */

enum {
    ABTI_UNW_CURSOR_WORDS = 384, /* UNW_TDEP_CURSOR_LEN */
    ABTI_UNW_SP = 15,            /* UNW_S390X_R15 */
    ABTI_UNW_IP = 32,            /* UNW_S390X_IP */
};

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    ucontext->uc_mcontext.psw.addr = pc;
    ucontext->uc_mcontext.gregs[15] = sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.psw.addr;
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    return ucontext->uc_mcontext.gregs[15];
}

#endif
