/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts as a ucontext_t, which unwinders start from. <arch>/arch_ucontext.h says what libunwind needs on the
 * machine; that of generic/ is used where there is none, and then there are no back-traces. It provides
 *
 *   ABTI_UNW_PREFIX          of libunwind's functions for the own process; "": libunwind is not used
 *   ABTI_UNW_CURSOR_WORDS    UNW_TDEP_CURSOR_LEN
 *   ABTI_UNW_SP, _IP         libunwind's numbers of these registers
 *   void abti_ucontext_set(ucontext_t *ucontext, uintptr_t pc, uintptr_t sp)    changes nothing else
 *   uintptr_t abti_ucontext_pc, _sp(const ucontext_t *ucontext)    the program counter, the stack pointer; 0: it is
 *                            not known
 *   ABTI_UCONTEXT_HAS_PUSHED_SP, uintptr_t abti_ucontext_pushed_sp(const ucontext_t *ucontext, uintptr_t addr)    from
 *                            what a signal handler got about a fault at addr: the stack pointer that the instruction
 *                            would have set; where one instruction stores below the stack pointer and moves it there
 */
#ifndef ABTI_ARCH_UCONTEXT_H
#define ABTI_ARCH_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "arch/ctx.h"
#include "arch_ucontext.h"

/* A frame is made before something is stored there. */
#ifndef ABTI_UCONTEXT_HAS_PUSHED_SP
ABTI_INLINE uintptr_t abti_ucontext_pushed_sp(const ucontext_t *ucontext, uintptr_t addr)
{
    (void)addr;
    return abti_ucontext_sp(ucontext);
}
#endif

/* A suspended context: it is in abti_ctx_suspended. All other registers are zero. */
void abti_ctx_to_ucontext(abti_ctx ctx, ucontext_t *ucontext);

/* Where a suspended context keeps the address that it goes on at. */
const uintptr_t *abti_ctx_resumes_at(abti_ctx ctx);

/* The context is at this code; all other registers but the stack pointer are zero. */
void abti_ucontext_at(uintptr_t pc, uintptr_t sp, ucontext_t *ucontext);

#endif
