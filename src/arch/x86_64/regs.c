#include "arch/regs.h"

#include <string.h>
#include <ucontext.h>

void abti_regs_of_ctx(struct abti_regs *regs, abti_ctx ctx)
{
    memset(regs, 0, sizeof(*regs));
    regs->value[ABTI_REG_PC] = (uintptr_t)abti_ctx_suspended;
    regs->value[ABTI_REG_SP] = (uintptr_t)ctx;
}

void abti_regs_of_ucontext(struct abti_regs *regs, const void *ucontext)
{
    static const uint8_t from[ABTI_NUM_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const ucontext_t *uc = ucontext;
    for (unsigned i = 0; i < ABTI_NUM_REGS; i++)
        regs->value[i] = (uintptr_t)uc->uc_mcontext.gregs[from[i]];
}
