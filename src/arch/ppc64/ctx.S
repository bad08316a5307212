/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context switch for POWER, 64 bits: ELFv2 (little-endian Linux) and ELFv1 (big-endian), from one source. The contract
 * is in arch/ctx.h.
 *
 * Frame of a suspended context, from its saved stack pointer; FRAME bytes, above which its caller's frame begins:
 *     0        header as the ABI wants it, for what is called on top of this frame: back chain, words for the CR and
 *              the LR of that, r2; in ELFv1 also room for its parameters
 *   FPSCR      8 bytes
 *   VRSAVE     4 bytes, and 4 unused
 *   VRS        v20 to v31
 *   GPRS       r14 to r31
 *   FPRS       f14 to f31
 *   FRAME + 8  CR and, at FRAME + 16, the address to go on at: where the ABI keeps them, in the caller's header
 *
 * The back chain leads from each frame to the caller's, and is 0 where a context begins: glibc's backtrace() and
 * profilers walk along it. Everything is restored in one place, abti_ctx_suspended.
 *
 * The vector registers: a program may use them though the library was built for processors without, so that a library
 * without asks what it runs on (abti_ppc64_altivec). Little-endian POWER always has them.
 *
 * A resumed address is not on top of the processor's stack of return addresses: it is jumped to by way of CTR, whose
 * jumps are foreseen by where they went before.
 */

#include "base/build.h"

#if defined(_CALL_ELF) && _CALL_ELF == 2
#define ELF_V2 1
#define HEADER 32
#define R2_AT 24
#else
#define ELF_V2 0
#define HEADER 112
#define R2_AT 40
#endif

#ifdef __ALTIVEC__
#define ASKS_FOR_VRS 0
#else
#define ASKS_FOR_VRS 1
.machine altivec
#endif

/* The decimal rounding mode, in the upper half of the FPSCR. */
#ifdef _ARCH_PWR6
#define HAS_UPPER_FPSCR 1
#else
#define HAS_UPPER_FPSCR 0
#endif

#define CR_AT 8 /* in a header */
#define LR_AT 16

#define FPSCR HEADER
#define VRSAVE (FPSCR + 8)
#define VRS (FPSCR + 16)
#define GPRS (VRS + 12 * 16)
#define FPRS (GPRS + 18 * 8)
#define FRAME (FPRS + 18 * 8) /* 528, ELFv1: 608; arch_cpu.h */

#define TEXT .section .text.hot, "ax", @progbits /* see ABTI_HOT */

/*
 * The name of an ELFv1 function is that of its descriptor. An ELFv2 function that needs r2 has one for others, which
 * come with its address in r12.
 */
.macro FUNCTION name
    .globl \name
    .hidden \name
    .type \name, @function
#if ELF_V2
    .p2align 6
\name:
#if ASKS_FOR_VRS
0:  addis %r2, %r12, (.TOC. - 0b)@ha
    addi %r2, %r2, (.TOC. - 0b)@l
    .localentry \name, . - \name
#endif
#else
    .section .opd, "aw"
    .p2align 3
\name:
    .quad .L.\name, .TOC.@tocbase, 0
    TEXT
    .p2align 6
.L.\name:
#endif
    .cfi_startproc
.endm

/* Code that is not called: its name is its address, also where names are those of descriptors. */
.macro CODE name
    .globl \name
    .hidden \name
    .p2align 6
\name:
.L.\name:
#if ELF_V2
    .type \name, @function
#endif
    .cfi_startproc
.endm

.macro END name
    .cfi_endproc
#if ELF_V2
    .size \name, . - \name
#else
    .size \name, . - .L.\name
#endif
.endm

/* Calls the function whose address is in a register. What comes back in r2 is anybody's. */
.macro CALL function
#if ELF_V2
    mr %r12, \function
    mtctr %r12
#else
    ld %r0, 0(\function)
    ld %r11, 16(\function)
    ld %r2, 8(\function)
    mtctr %r0
#endif
    bctrl
.endm

.macro EACH_GPR do
    .irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \do \n, GPRS + 8 * (\n - 14)
    .endr
.endm

.macro EACH_FPR do
    .irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \do \n, FPRS + 8 * (\n - 14)
    .endr
.endm

.macro EACH_VR do
    .irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \do \n, VRS + 16 * (\n - 20)
    .endr
.endm

.macro STORE_GPR n, at
    std %r\n, \at(%r1)
.endm

.macro LOAD_GPR n, at
    ld %r\n, \at(%r1)
.endm

.macro STORE_FPR n, at
    stfd %f\n, \at(%r1)
.endm

.macro LOAD_FPR n, at
    lfd %f\n, \at(%r1)
.endm

/* For these the address is in two registers. */
.macro STORE_VR n, at
    .if (\n) & 1
    li %r11, \at
    stvx %v\n, %r11, %r1
    .else
    li %r12, \at
    stvx %v\n, %r12, %r1
    .endif
.endm

.macro LOAD_VR n, at
    .if (\n) & 1
    li %r11, \at
    lvx %v\n, %r11, %r1
    .else
    li %r12, \at
    lvx %v\n, %r12, %r1
    .endif
.endm

/* The numbers of the registers are those of the ABI's supplement on DWARF. */
.macro TELL_GPR n, at
    .cfi_rel_offset \n, \at
.endm

.macro TELL_FPR n, at
    .cfi_rel_offset 32 + \n, \at
.endm

.macro TELL_VR n, at
    .cfi_rel_offset 77 + \n, \at
.endm

.macro FORGET_GPR n, at
    .cfi_restore \n
.endm

.macro FORGET_FPR n, at
    .cfi_restore 32 + \n
.endm

.macro FORGET_VR n, at
    .cfi_restore 77 + \n
.endm

#define LR 65
#define CR 70 /* CR2; ELFv2 reports each field, and CR2 stands for all in ELFv1 */

.macro TELL_CALLER
    .cfi_offset LR, LR_AT
    .cfi_offset CR, CR_AT
#if ELF_V2
    .cfi_offset CR + 1, CR_AT
    .cfi_offset CR + 2, CR_AT
#endif
.endm

.macro TELL_ALL
    EACH_GPR TELL_GPR
    EACH_FPR TELL_FPR
    EACH_VR TELL_VR
.endm

.macro FORGET_ALL
    EACH_GPR FORGET_GPR
    EACH_FPR FORGET_FPR
    EACH_VR FORGET_VR
.endm

/* Goes on at 1 if there are no vector registers. */
.macro UNLESS_VRS
#if ASKS_FOR_VRS
    addis %r12, %r2, abti_ppc64_altivec@toc@ha
    lbz %r12, abti_ppc64_altivec@toc@l(%r12)
    cmpwi %r12, 0
    beq 1f
#endif
.endm

/* Saves the caller: its frame is at r1 and in *save (r3). There may be more above it in `size`. Arguments stay. */
.macro SAVE size=FRAME
    mflr %r0
    mfcr %r12
    std %r0, LR_AT(%r1)
    stw %r12, CR_AT(%r1)
    TELL_CALLER
    stdu %r1, -(\size)(%r1)
    .cfi_def_cfa_offset \size
    std %r2, R2_AT(%r1)
    EACH_GPR STORE_GPR
    EACH_FPR STORE_FPR
    STORE_FPSCR FPSCR(%r1)
    UNLESS_VRS
    mfspr %r0, 256
    stw %r0, VRSAVE(%r1)
    EACH_VR STORE_VR
1:  TELL_ALL
    std %r1, 0(%r3)
.endm

/*
 * The floating-point control bits: rounding modes, enabled exceptions, non-IEEE mode. The FPSCR is loaded only where
 * they differ, since that waits for all floating-point operations, and then with the status bits that the context had
 * when it was saved: a stale status bit with its exception enabled would be an exception. Whether the processor then
 * traps is the native thread's (MSR; prctl(PR_SET_FPEXC)).
 */
.macro STORE_FPSCR at
    mffs %f0
    stfd %f0, \at
.endm

/* Compares control bits of what is in r9, by r10. */
.macro TEST_CONTROL
#if HAS_UPPER_FPSCR
    rldicl %r10, %r9, 32, 61
    andi. %r9, %r9, 0xff
    or. %r9, %r9, %r10
#else
    andi. %r9, %r9, 0xff
#endif
.endm

/* Puts what is at `wanted` in force; STORE_FPSCR has put the present one at `present`. */
.macro LOAD_FPSCR present, wanted
    ld %r9, \present
    ld %r10, \wanted
    xor %r9, %r9, %r10
    TEST_CONTROL
    beq 2f
    lfd %f0, \wanted
#if HAS_UPPER_FPSCR
    mtfsf 255, %f0, 1, 0
#else
    mtfsf 255, %f0
#endif
2:
.endm

/* Puts those of a new thread in force, which are all 0. */
.macro RESET_FPSCR present
    ld %r9, \present
    TEST_CONTROL
    beq 2f
    mtfsfi 6, 0
    mtfsfi 7, 0
#if HAS_UPPER_FPSCR
    mtfsfi 7, 0, 1
#endif
2:
.endm

/* Nobody uses what is here, a signal's frame neither: a context that ends keeps its FPSCR there to compare. */
#define RED_ZONE -8(%r1)

    TEXT

/*
 * void abti_ctx_suspended(void): resumes the context whose frame is at r1. Unwinders are to think that each suspended
 * context is here.
 */
CODE abti_ctx_suspended
    .cfi_def_cfa %r1, FRAME
    TELL_CALLER
    TELL_ALL
.Lresume:
    ld %r2, R2_AT(%r1)
    ld %r0, FRAME + LR_AT(%r1)
    lwz %r10, FRAME + CR_AT(%r1)
    mtctr %r0
    UNLESS_VRS
    lwz %r0, VRSAVE(%r1)
    mtspr 256, %r0
    EACH_VR LOAD_VR
1:  mtocrf 0x20, %r10
    mtocrf 0x10, %r10
    mtocrf 0x08, %r10
    EACH_FPR LOAD_FPR
    EACH_GPR LOAD_GPR
    addi %r1, %r1, FRAME
    .cfi_def_cfa_offset 0
    FORGET_ALL
    li %r3, 0
    bctr
END abti_ctx_suspended

/* Calls the entry function in r14 as the outermost frame of a stack; unwinders stop here. */
.macro ENTER
    CALL %r14
    trap
.endm

/*
 * Where a context made by abti_ctx_make begins, at the label. Unwinders take the label for a return address and look at
 * what is before it.
 */
CODE abti_ctx_first
    .cfi_def_cfa %r1, HEADER
    .cfi_undefined LR
    nop
.Lfirst:
    ENTER
END abti_ctx_first

/* An empty stack: its outermost header, at r1. */
.macro EMPTY_STACK top
    addi %r1, \top, -HEADER
    .cfi_def_cfa %r1, HEADER
    .cfi_undefined LR
    li %r0, 0
    std %r0, 0(%r1)
.endm

/* int abti_ctx_switch(abti_ctx *save, abti_ctx to) */
FUNCTION abti_ctx_switch
    SAVE
    LOAD_FPSCR FPSCR(%r1), FPSCR(%r4)
    mr %r1, %r4
    b .Lresume
END abti_ctx_switch

/* int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION abti_ctx_switch_after
    SAVE
    LOAD_FPSCR FPSCR(%r1), FPSCR(%r4)
    mr %r1, %r4
    mr %r3, %r6
    CALL %r5
    b .Lresume
END abti_ctx_switch_after

/* int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at) */
FUNCTION abti_ctx_switch_store
    SAVE
    LOAD_FPSCR FPSCR(%r1), FPSCR(%r4)
    mr %r1, %r4
    lwsync /* makes a release of the store */
    stb %r5, 0(%r6)
    b .Lresume
END abti_ctx_switch_store

/* void abti_ctx_jump(abti_ctx to) */
FUNCTION abti_ctx_jump
    STORE_FPSCR RED_ZONE
    LOAD_FPSCR RED_ZONE, FPSCR(%r3)
    mr %r1, %r3
    b .Lresume
END abti_ctx_jump

/* void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION abti_ctx_jump_after
    STORE_FPSCR RED_ZONE
    LOAD_FPSCR RED_ZONE, FPSCR(%r3)
    mr %r1, %r3
    .cfi_def_cfa %r1, FRAME
    TELL_CALLER
    TELL_ALL
    mr %r3, %r5
    CALL %r4
    b .Lresume
END abti_ctx_jump_after

/* int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION abti_ctx_start
    SAVE
    RESET_FPSCR FPSCR(%r1)
    EMPTY_STACK %r4
    mr %r14, %r5
    cmpdi %r6, 0
    beq 3f
    mr %r3, %r7
    CALL %r6
3:  ENTER
END abti_ctx_start

/* void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION abti_ctx_restart
    STORE_FPSCR RED_ZONE
    RESET_FPSCR RED_ZONE
    EMPTY_STACK %r3
    mr %r14, %r4
    cmpdi %r5, 0
    beq 3f
    mr %r3, %r6
    CALL %r5
3:  ENTER
END abti_ctx_restart

/*
 * Calls entry(arg). When it returns, the callee-saved registers are the caller's already: only control bits are not. The
 * back chain ends here. No exception gets from what is called into the frames of the caller. `to_stack` and `from_stack`
 * may lead to another stack meanwhile.
 */
.macro NEST to_stack, from_stack
    SAVE
    RESET_FPSCR FPSCR(%r1)
    li %r0, 0
    std %r0, 0(%r1)
    .hidden abti_exception_leaves
    .cfi_personality 0x1b, abti_exception_leaves
    .cfi_remember_state
    .cfi_undefined LR
    \to_stack
    mr %r3, %r4
    CALL %r5
    \from_stack
    ld %r2, R2_AT(%r1)
    .cfi_restore_state
    STORE_FPSCR RED_ZONE
    LOAD_FPSCR RED_ZONE, FPSCR(%r1)
    ld %r0, FRAME + LR_AT(%r1)
    addi %r1, %r1, FRAME
    .cfi_def_cfa_offset 0
    FORGET_ALL
    mtlr %r0
    .cfi_restore LR
.endm

/* int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION abti_ctx_in_place
    NEST
    li %r3, 0
    blr
END abti_ctx_in_place

/* int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION abti_ctx_in_place_to_end
    NEST
    b abti_end_in_place
END abti_ctx_in_place_to_end

.macro TO_TOP
    mr %r31, %r1
    .cfi_def_cfa_register %r31
    addi %r1, %r6, -HEADER
    std %r0, 0(%r1) /* 0 */
.endm

.macro FROM_TOP
    mr %r1, %r31
    ld %r31, GPRS + 8 * 17(%r1)
.endm

/* int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top) */
FUNCTION abti_ctx_call_on
    NEST TO_TOP, FROM_TOP
    li %r3, 0
    blr
END abti_ctx_call_on

/*
 * int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
 * From the stack pointer: a header, the room, the frame. The back chain of both headers leads to the caller, as there is
 * only one function.
 */
#define ROOM 128 /* ABTI_CTX_ROOM */
#define LEAVE (HEADER + ROOM)
FUNCTION abti_ctx_leave
    SAVE
    addi %r0, %r1, FRAME
    stdu %r0, -LEAVE(%r1)
    .cfi_adjust_cfa_offset LEAVE
    addi %r3, %r1, HEADER
    CALL %r6
    LOAD_FPSCR LEAVE + FPSCR(%r1), FPSCR(%r3)
    mr %r1, %r3
    .cfi_adjust_cfa_offset -LEAVE
    b .Lresume
END abti_ctx_leave

/*
 * int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
 *                   int (*then)(void *room))
 * From the stack pointer: the frame, but that it goes on here, and what it goes on with: a header, `then`, the room.
 */
#define THEN HEADER
#define WAIT_ROOM (HEADER + 16)
#define WAIT (WAIT_ROOM + ROOM)
FUNCTION abti_ctx_wait
    SAVE FRAME + WAIT
    addi %r0, %r1, FRAME + WAIT
    lwz %r12, FRAME + WAIT + CR_AT(%r1)
    std %r0, FRAME(%r1)
    stw %r12, FRAME + CR_AT(%r1)
    std %r2, FRAME + R2_AT(%r1)
    std %r7, FRAME + THEN(%r1)
    bcl 20, 31, 4f /* not a call to the processor's stack of return addresses */
4:  mflr %r12
    addi %r12, %r12, 5f - 4b
    std %r12, FRAME + LR_AT(%r1)
    addi %r3, %r1, FRAME + WAIT_ROOM
    CALL %r6
    LOAD_FPSCR FPSCR(%r1), FPSCR(%r3)
    mr %r1, %r3
    .cfi_def_cfa_offset FRAME
    TELL_ALL
    b .Lresume
    FORGET_ALL /* gdb 13 keeps what a state has that is restored to one without any register */
    .cfi_def_cfa_offset WAIT
    nop /* unwinders look up the instruction before */
5:
    addi %r3, %r1, WAIT_ROOM
    ld %r12, THEN(%r1)
    CALL %r12
    ld %r2, R2_AT(%r1)
    ld %r0, WAIT + LR_AT(%r1)
    addi %r1, %r1, WAIT
    .cfi_def_cfa_offset 0
    mtctr %r0
    bctr
END abti_ctx_wait

/* abti_ctx abti_ctx_make(void *top, void (*entry)(void)) */
FUNCTION abti_ctx_make
    mflr %r11
    .cfi_register LR, 11
    bcl 20, 31, 4f
4:  mflr %r12
    mtlr %r11
    .cfi_restore LR
    addi %r12, %r12, .Lfirst - 4b
    addi %r9, %r3, -HEADER
    addi %r3, %r9, -FRAME
    li %r0, 0
    std %r0, 0(%r9)
    std %r0, CR_AT(%r9)
    std %r12, LR_AT(%r9)
    std %r9, 0(%r3)
    std %r2, R2_AT(%r3)
    std %r0, FPSCR(%r3)
    std %r0, VRSAVE(%r3)
    std %r4, GPRS(%r3)
    blr
END abti_ctx_make

.data
.globl abti_ppc64_altivec
.hidden abti_ppc64_altivec
.type abti_ppc64_altivec, @object
.size abti_ppc64_altivec, 1
abti_ppc64_altivec:
    .byte 0

.section .note.GNU-stack, "", @progbits
