/* SPDX-License-Identifier: BSD-3-Clause */
/* POWER's part of test/arch/ctx.c: the registers that a call keeps. */
#ifndef TEST_ARCH_PPC64_H
#define TEST_ARCH_PPC64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "arch/cpu.h"

/* r15 to r31, f14 to f31, v20 to v31 in two halves each, the CR. */
enum { GPRS = 17, FPRS = 18, VRS = 24, CONDITIONS = 1, REGISTERS = GPRS + FPRS + VRS + CONDITIONS };

struct registers {
    _Alignas(16) uint64_t vrs[VRS];
    uint64_t gprs[GPRS], fprs[FPRS], cr;
};

#define KEPT_CR 0x00fff000u /* CR2 to CR4 */

#define SPOILT                                                                                                         \
    "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29",    \
        "r30", "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21", "fr22", "fr23", "fr24", "fr25", "fr26", \
        "fr27", "fr28", "fr29", "fr30", "fr31", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",  \
        "v30", "v31", "cr0", "cr2", "cr3", "cr4", "memory"

#define EACH_GPR(operation) ".irp n, 15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t" operation "\n\t.endr\n\t"
#define EACH_FPR(operation)                                                                                            \
    ".irp n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t" operation "\n\t.endr\n\t"
#define EACH_VR(operation) ".irp n, 20,21,22,23,24,25,26,27,28,29,30,31\n\t" operation "\n\t.endr\n\t"

/* Of the registers at r4, by r5 and r6. r7: there are vector registers. */
#define TRANSFER(gpr, fpr, vr)                                                                                         \
    "cmpdi 7, 0\n\t"                                                                                                   \
    "beq 2f\n\t" EACH_VR("li 5, 16 * (\\n - 20)\n\t" vr " \\n, 5, 4") "2: " EACH_GPR(                                  \
        gpr " \\n, 192 + 8 * (\\n - 15)(4)") EACH_FPR(fpr " \\n, 328 + 8 * (\\n - 14)(4)")

#if defined(_CALL_ELF) && _CALL_ELF == 2
#define CALL_R12 "mtctr 12\n\tbctrl\n\t"
#else
#define CALL_R12 "ld 0, 0(12)\n\tld 2, 8(12)\n\tmtctr 0\n\tbctrl\n\t"
#endif

/* Calls f with known values in all callee-saved registers; true if they are there afterwards. */
static __attribute__((noinline, target("altivec"))) bool keeps_registers(int (*f)(void))
{
    struct registers in, out;
    void *args[4] = {(void *)(uintptr_t)f, &in, &out, (void *)(uintptr_t)abti_ppc64_altivec};

    memset(&in, 0, sizeof(in));
    for (int i = 0; i < REGISTERS; i++) {
        uint64_t *word = i < VRS ? &in.vrs[i] : &in.gprs[i - VRS];
        if (i >= VRS || abti_ppc64_altivec)
            *word = 0x1111111111111111u + 0x0101010101010101u * (unsigned)i;
    }
    memset(&out, 0, sizeof(out));
    register void **at __asm__("r3") = args; /* only now: a call in between would lose it */
    /* r14 holds the stack pointer to compare. Below the compiler's red zone there is a frame as the ABI wants it. */
    __asm__ volatile(
        "stdu 1, -480(1)\n\t"
        "std 3, 112(1)\n\t"
        "std 31, 120(1)\n\t"
        "std 2, 128(1)\n\t"
        "ld 12, 0(3)\n\t"
        "ld 4, 8(3)\n\t"
        "ld 7, 24(3)\n\t"
        "ld 5, 472(4)\n\t"
        "mtcrf 0x38, 5\n\t" TRANSFER("ld", "lfd", "lvx") "mr 14, 1\n\t" CALL_R12 "ld 2, 128(1)\n\t"
                                                         "ld 3, 112(1)\n\t"
                                                         "ld 4, 16(3)\n\t"
                                                         "ld 7, 24(3)\n\t"
                                                         "mfcr 5\n\t"
                                                         "std 5, 472(4)\n\t"
                                                         "cmpd 14, 1\n\t"
                                                         "beq 1f\n\t"
                                                         "trap\n"
                                                         "1: " TRANSFER("std", "stfd", "stvx") "ld 31, 120(1)\n\t"
                                                                                               "addi 1, 1, 480\n\t"
        : "+r"(at)
        :
        : "r0", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "ctr", "xer", "cr1", "cr5", "cr6", "cr7",
          "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr12", "fr13", "v0",
          "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
          "v18", "v19", SPOILT);
    in.cr &= KEPT_CR;
    out.cr &= KEPT_CR;
    return !memcmp(&in, &out, sizeof(in));
}

/*
 * Fills the callee-saved registers with other values; the compiler saves them around it, with "altivec" also the vector
 * registers.
 */
static __attribute__((noinline, target("altivec"))) void spoil_registers(void)
{
    struct registers others;

    memset(&others, 0xff, sizeof(others));
    register void *at __asm__("r4") = &others;
    register uintptr_t vrs __asm__("r7") = abti_ppc64_altivec;
    __asm__ volatile("li 5, 0\n\t"
                     "mtcrf 0x38, 5\n\t"
                     "mr 6, 31\n\t" TRANSFER("ld", "lfd", "lvx") "mr 31, 6\n\t"
                     : "+r"(at), "+r"(vrs)
                     :
                     : "r5", "r6", SPOILT);
}

#endif
