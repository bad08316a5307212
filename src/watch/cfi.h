/* From a frame to the one that called it, by the call frame information that compilers leave in ELF files. */
#ifndef ABTI_WATCH_CFI_H
#define ABTI_WATCH_CFI_H

#include <stdbool.h>
#include "arch/regs.h"

struct abti_frame {
    struct abti_regs regs;
    bool exact; /* the program counter is that of an instruction which is about to run; else it stands behind a call */
};

/*
 * Makes of a frame its caller's. False when there is none, or it cannot be told. Memory is read with care (os/peek):
 * whatever the registers are, nothing faults. The loader's lock is held meanwhile, so not in a signal handler.
 */
bool abti_cfi_step(struct abti_frame *frame) ABTI_MUST_CHECK;

#endif
