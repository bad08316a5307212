#include <string.h>
#include <ucontext.h>
#include "arch/ctx.h"

void abti_ctx_to_ucontext(abti_ctx ctx, void *ucontext)
{
    ucontext_t *uc = ucontext;
    memset(uc, 0, sizeof(*uc));
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)abti_ctx_suspended;
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)ctx;
}
