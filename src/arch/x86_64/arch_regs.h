/* Registers of x86-64 as unwinders number them (System V ABI, DWARF). */
#ifndef ABTI_ARCH_X86_64_REGS_H
#define ABTI_ARCH_X86_64_REGS_H

enum { ABTI_REG_FP = 6, ABTI_REG_SP = 7, ABTI_REG_PC = 16, ABTI_NUM_REGS = 17 };

/* The calling convention gives them back as they were: all others are unknown in the caller. */
#define ABTI_REGS_KEPT (1u << 3 | 1u << 6 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15)

#endif
