/* Contexts as a ucontext_t, which unwinders start from. arch_ucontext.h names what libunwind needs on the machine. */
#ifndef ABTI_ARCH_UCONTEXT_H
#define ABTI_ARCH_UCONTEXT_H

#include <stdint.h>
#include <ucontext.h>
#include "arch/ctx.h"
#include "arch_ucontext.h"

/* A suspended context: it stands in abti_ctx_suspended. All other registers are zero. */
void abti_ctx_to_ucontext(abti_ctx ctx, ucontext_t *ucontext);

/* Where a suspended context keeps the address that it goes on at. */
const uintptr_t *abti_ctx_resumes_at(abti_ctx ctx);

/* The program counter. */
uintptr_t abti_ucontext_pc(const ucontext_t *ucontext);

/* Stands at this code; all other registers are zero. */
void abti_ucontext_at(uintptr_t pc, ucontext_t *ucontext);

#endif
