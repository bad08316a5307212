/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/ucontext.h"

#include <string.h>
#include "arch/cpu.h"

void abti_ctx_to_ucontext(abti_ctx ctx, ucontext_t *ucontext)
{
    abti_ucontext_at((uintptr_t)abti_ctx_suspended, (uintptr_t)ctx, ucontext);
}

const uintptr_t *abti_ctx_resumes_at(abti_ctx ctx)
{
    return (const uintptr_t *)(const void *)((const char *)ctx + ABTI_CTX_RESUMES_AT);
}

void abti_ucontext_at(uintptr_t pc, uintptr_t sp, ucontext_t *ucontext)
{
    memset(ucontext, 0, sizeof(*ucontext));
    abti_ucontext_set(ucontext, pc, sp);
}
