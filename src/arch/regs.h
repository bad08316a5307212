/* The registers of a context that stands still, for unwinders. arch_regs.h names those of the machine. */
#ifndef ABTI_ARCH_REGS_H
#define ABTI_ARCH_REGS_H

#include <stdint.h>
#include "arch/ctx.h"
#include "arch_regs.h"

struct abti_regs {
    uintptr_t value[ABTI_NUM_REGS];
};

/* Of a suspended context: it stands in abti_ctx_suspended. */
void abti_regs_of_ctx(struct abti_regs *regs, abti_ctx ctx);

/* Of a native thread in a signal handler; the ucontext_t that this got. Async-signal-safe. */
void abti_regs_of_ucontext(struct abti_regs *regs, const void *ucontext);

#endif
