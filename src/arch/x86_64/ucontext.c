#include "arch/ucontext.h"

#include <string.h>

enum { RETURN_ADDRESS = 48 }; /* in the frame that ctx.S makes */

void abti_ctx_to_ucontext(abti_ctx ctx, ucontext_t *ucontext)
{
    abti_ucontext_at((uintptr_t)abti_ctx_suspended, ucontext);
    ucontext->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)ctx;
}

const uintptr_t *abti_ctx_resumes_at(abti_ctx ctx)
{
    return (const uintptr_t *)(const void *)((const char *)ctx + RETURN_ADDRESS);
}

uintptr_t abti_ucontext_pc(const ucontext_t *ucontext)
{
    return (uintptr_t)ucontext->uc_mcontext.gregs[REG_RIP];
}

void abti_ucontext_at(uintptr_t pc, ucontext_t *ucontext)
{
    memset(ucontext, 0, sizeof(*ucontext));
    ucontext->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}
