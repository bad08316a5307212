/* SPDX-License-Identifier: BSD-3-Clause */
/* For machines that say nothing of libunwind: see arch/ucontext.h for the contract. */
#ifndef ABTI_ARCH_GENERIC_UCONTEXT_H
#define ABTI_ARCH_GENERIC_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "base/compiler.h"

#define ABTI_UNW_PREFIX ""

enum { ABTI_UNW_CURSOR_WORDS = 1, ABTI_UNW_SP = 0, ABTI_UNW_IP = 0 };

ABTI_INLINE void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)
{
    (void)ucontext;
    (void)pc;
    (void)sp;
}

ABTI_INLINE uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    (void)ucontext;
    return 0;
}

ABTI_INLINE uintptr_t abti_ucontext_sp(const ucontext_t *ucontext)
{
    (void)ucontext;
    return 0;
}

#endif
