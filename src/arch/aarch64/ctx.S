/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AArch64 context switch for the procedure call standard of Arm. The contract is in arch/ctx.h.
 *
 * Frame of a suspended context, from its saved stack pointer:
 *    0  x19 to x28, in this order
 *   80  x29, and at 88 x30, which is the address that it goes on at
 *   96  d8 to d15: of v8 to v15 the lower halves are all that a call keeps
 *  160  FPCR, and 8 bytes unused
 *
 * Nothing is below the stack pointer. It goes on by `ret`: any other jump to an address behind a call faults in a
 * program that is made with landing pads (BTI), and no jump is free of that check as on x86.
 *
 * With -mbranch-protection the address is signed in the frame (PAC), by the stack pointer that the context goes on with.
 */

#include "base/build.h"

#define FRAME 176
#define AT_X29 80
#define AT_X30 88
#define AT_D8 96
#define AT_FPCR 160
#define ROOM 128 /* ABTI_CTX_ROOM */


/* What a compiler's -mbranch-protection says, as bits of the ELF note. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define NOTE_BTI 1
#else
#define NOTE_BTI 0
#endif
#ifdef __ARM_FEATURE_PAC_DEFAULT
#define NOTE_PAC 2
#else
#define NOTE_PAC 0
#endif

/* Processors without these take them for hints, and do nothing. The second key is asked for by bit 1. */
.macro PAD
#if NOTE_BTI
    hint #34 /* bti c */
#endif
.endm

.macro SIGN
#if NOTE_PAC && (__ARM_FEATURE_PAC_DEFAULT & 2)
    hint #27 /* pacibsp */
#elif NOTE_PAC
    hint #25 /* paciasp */
#endif
.endm

.macro CHECK_SIGN
#if NOTE_PAC && (__ARM_FEATURE_PAC_DEFAULT & 2)
    hint #31 /* autibsp */
#elif NOTE_PAC
    hint #29 /* autiasp */
#endif
.endm

/* Signs x17 for the stack pointer in x16. */
.macro SIGN_FOR
#if NOTE_PAC && (__ARM_FEATURE_PAC_DEFAULT & 2)
    hint #10 /* pacib1716 */
#elif NOTE_PAC
    hint #8 /* pacia1716 */
#endif
.endm

/* For unwinders: from here on the return address is signed, or no more. */
.macro SIGN_CHANGES
#if NOTE_PAC
    .cfi_negate_ra_state
#if __ARM_FEATURE_PAC_DEFAULT & 2
    .cfi_b_key_frame
#endif
#endif
.endm

.macro FUNCTION name
    .globl \name
    .hidden \name
    .type \name, %function
    .p2align 6
\name:
    .cfi_startproc
    PAD
.endm
.macro END name
    .cfi_endproc
    .size \name, . - \name
.endm
.section .text.hot, "ax", %progbits /* see ABTI_HOT */

/* Saves the caller: its frame is at sp and in *save (x0). x9: its control word. */
.macro SAVE
    SIGN
    SIGN_CHANGES
    SAVE_REGISTERS
    .cfi_rel_offset x30, AT_X30
    mov x10, sp
    str x10, [x0]
.endm

.macro SAVE_REGISTERS
    stp x19, x20, [sp, #-FRAME]!
    .cfi_adjust_cfa_offset FRAME
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #AT_X29]
    stp d8, d9, [sp, #AT_D8]
    stp d10, d11, [sp, #(AT_D8 + 16)]
    stp d12, d13, [sp, #(AT_D8 + 32)]
    stp d14, d15, [sp, #(AT_D8 + 48)]
    ARE_IN_FRAME
    mrs x9, fpcr
    str x9, [sp, #AT_FPCR]
.endm

/* For unwinders: the registers but x30 are in the frame at sp. */
.macro ARE_IN_FRAME
    .cfi_rel_offset x19, 0
    .cfi_rel_offset x20, 8
    .cfi_rel_offset x21, 16
    .cfi_rel_offset x22, 24
    .cfi_rel_offset x23, 32
    .cfi_rel_offset x24, 40
    .cfi_rel_offset x25, 48
    .cfi_rel_offset x26, 56
    .cfi_rel_offset x27, 64
    .cfi_rel_offset x28, 72
    .cfi_rel_offset x29, AT_X29
    .cfi_rel_offset d8, AT_D8
    .cfi_rel_offset d9, AT_D8 + 8
    .cfi_rel_offset d10, AT_D8 + 16
    .cfi_rel_offset d11, AT_D8 + 24
    .cfi_rel_offset d12, AT_D8 + 32
    .cfi_rel_offset d13, AT_D8 + 40
    .cfi_rel_offset d14, AT_D8 + 48
    .cfi_rel_offset d15, AT_D8 + 56
.endm

/* For unwinders: a suspended context's frame is at sp. */
.macro IS_FRAME
    .cfi_def_cfa sp, FRAME
    ARE_IN_FRAME
    .cfi_rel_offset x30, AT_X30
.endm

/*
 * Puts the control word of the frame at `frame` in force; x9 has the present one. A write holds up what follows, so that
 * it is done only where it makes a difference.
 */
.macro LOAD_FPU frame
    ldr x10, [\frame, #AT_FPCR]
    cmp x9, x10
    b.eq 1f
    msr fpcr, x10
1:
.endm

/* The same with the word of a new thread, which is 0. */
.macro RESET_FPU
    cbz x9, 1f
    msr fpcr, xzr
1:
.endm

/* Resumes the context whose frame is at sp. */
.macro RESUME
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #AT_X29]
    ldp d8, d9, [sp, #AT_D8]
    ldp d10, d11, [sp, #(AT_D8 + 16)]
    ldp d12, d13, [sp, #(AT_D8 + 32)]
    ldp d14, d15, [sp, #(AT_D8 + 48)]
    ldp x19, x20, [sp], #FRAME
    IS_RESTORED
    mov w0, #0
    CHECK_SIGN
    SIGN_CHANGES
    ret
.endm

.macro IS_RESTORED
    .cfi_def_cfa sp, 0
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x21
    .cfi_restore x22
    .cfi_restore x23
    .cfi_restore x24
    .cfi_restore x25
    .cfi_restore x26
    .cfi_restore x27
    .cfi_restore x28
    .cfi_restore x29
    .cfi_restore x30
    .cfi_restore d8
    .cfi_restore d9
    .cfi_restore d10
    .cfi_restore d11
    .cfi_restore d12
    .cfi_restore d13
    .cfi_restore d14
    .cfi_restore d15
.endm

/* Calls after(arg), if there is one, as the outermost frame of a stack, and then x19; unwinders stop here. */
.macro ENTER after, arg
    .cfi_undefined x30
    mov x29, xzr
    mov x0, \arg
    cbz \after, 3f
    blr \after
3:  CALL_ENTRY
.endm

.macro CALL_ENTRY
    .cfi_undefined x30
    mov x29, xzr
    mov x30, xzr
    blr x19
    brk #1
.endm

/* int abti_ctx_switch(abti_ctx *save, abti_ctx to) */
FUNCTION abti_ctx_switch
    SAVE
    LOAD_FPU x1
    mov sp, x1
    RESUME
END abti_ctx_switch

/* int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION abti_ctx_switch_after
    SAVE
    LOAD_FPU x1
    mov sp, x1
    mov x0, x3
    blr x2
    RESUME
END abti_ctx_switch_after

/* int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at) */
FUNCTION abti_ctx_switch_store
    SAVE
    LOAD_FPU x1
    mov sp, x1
    stlrb w2, [x3] /* release: after the stores of the frame */
    RESUME
END abti_ctx_switch_store

/* void abti_ctx_jump(abti_ctx to) */
FUNCTION abti_ctx_jump
    mrs x9, fpcr
    LOAD_FPU x0
    mov sp, x0
    SIGN_CHANGES
    IS_FRAME
    RESUME
END abti_ctx_jump

/* void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION abti_ctx_jump_after
    mrs x9, fpcr
    LOAD_FPU x0
    mov sp, x0
    SIGN_CHANGES
    IS_FRAME
    mov x0, x2
    blr x1
    RESUME
END abti_ctx_jump_after

/* int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION abti_ctx_start
    SAVE
    RESET_FPU
    mov sp, x1
    mov x19, x2
    ENTER x3, x4
END abti_ctx_start

/* void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION abti_ctx_restart
    mrs x9, fpcr
    RESET_FPU
    mov sp, x0
    mov x19, x1
    ENTER x2, x3
END abti_ctx_restart

/*
 * Calls entry(arg) below the caller's frame, or on another stack, to which `to_stack` and `from_stack` lead. When it
 * returns, the callee-saved registers are the caller's already: only the control word is not. No exception gets from
 * what is called into the frames of the caller.
 */
.macro NEST to_stack, from_stack
    SAVE
    RESET_FPU
    .hidden abti_exception_leaves
    .cfi_personality 0x1b, abti_exception_leaves
    .cfi_remember_state
    .cfi_undefined x30
    \to_stack
    mov x0, x1
    blr x2
    \from_stack
    .cfi_restore_state
    mrs x9, fpcr
    LOAD_FPU sp
    ldr x30, [sp, #AT_X30]
    add sp, sp, #FRAME
    IS_RESTORED
    CHECK_SIGN
    SIGN_CHANGES
.endm

/* int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION abti_ctx_in_place
    NEST
    mov w0, #0
    ret
END abti_ctx_in_place

/* int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION abti_ctx_in_place_to_end
    NEST
    b abti_end_in_place
END abti_ctx_in_place_to_end

.macro TO_TOP
    mov x19, sp
    .cfi_def_cfa_register x19
    mov sp, x3
.endm

.macro FROM_TOP
    mov sp, x19
    ldr x19, [sp]
.endm

/* int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top) */
FUNCTION abti_ctx_call_on
    NEST TO_TOP, FROM_TOP
    mov w0, #0
    ret
END abti_ctx_call_on

/*
 * int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
 * From the stack pointer: the room, the frame.
 */
FUNCTION abti_ctx_leave
    SAVE
    sub sp, sp, #ROOM
    .cfi_adjust_cfa_offset ROOM
    mov x0, sp
    blr x3
    mrs x9, fpcr
    LOAD_FPU x0
    mov sp, x0
    IS_FRAME
    RESUME
END abti_ctx_leave

/*
 * int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
 *                   int (*then)(void *room))
 * From the stack pointer: the frame, but that it goes on here, the room, `then`, the caller's return address.
 */
#define THEN ROOM
#define CALLER (ROOM + 8)
#define ABOVE (ROOM + 16)
FUNCTION abti_ctx_wait
    SIGN
    SIGN_CHANGES
    sub sp, sp, #ABOVE
    .cfi_adjust_cfa_offset ABOVE
    stp x4, x30, [sp, #THEN]
    .cfi_rel_offset x30, CALLER
    adr x30, 5f
    SIGN
    SAVE_REGISTERS
    mov x10, sp
    str x10, [x0]
    add x0, sp, #FRAME
    blr x3
    mrs x9, fpcr
    LOAD_FPU x0
    mov sp, x0
    IS_FRAME
    RESUME
    SIGN_CHANGES
    .cfi_def_cfa sp, ABOVE
    .cfi_offset x30, CALLER - ABOVE
    nop /* unwinders look up the byte before */
5:
    ldr x9, [sp, #THEN]
    mov x0, sp
    blr x9
    ldr x30, [sp, #CALLER]
    add sp, sp, #ABOVE
    IS_RESTORED
    CHECK_SIGN
    SIGN_CHANGES
    ret
END abti_ctx_wait

/* Never runs: where unwinders are to think that a suspended context is. */
FUNCTION abti_ctx_suspended
    SIGN_CHANGES
    IS_FRAME
    brk #1
END abti_ctx_suspended

/*
 * Where a context made by abti_ctx_make begins, at the label: its entry function is in x19. Unwinders take the label
 * for a return address and look at what is before it.
 */
FUNCTION abti_ctx_first
    nop
9:  CALL_ENTRY
END abti_ctx_first

/* abti_ctx abti_ctx_make(void *top, void (*entry)(void)) */
FUNCTION abti_ctx_make
    mov x16, x0
    adr x17, 9b
    SIGN_FOR
    sub x0, x0, #FRAME
    stp x1, xzr, [x0]
    stp xzr, xzr, [x0, #16]
    stp xzr, xzr, [x0, #32]
    stp xzr, xzr, [x0, #48]
    stp xzr, xzr, [x0, #64]
    stp xzr, x17, [x0, #AT_X29]
    stp xzr, xzr, [x0, #AT_D8]
    stp xzr, xzr, [x0, #(AT_D8 + 16)]
    stp xzr, xzr, [x0, #(AT_D8 + 32)]
    stp xzr, xzr, [x0, #(AT_D8 + 48)]
    stp xzr, xzr, [x0, #AT_FPCR]
    ret
END abti_ctx_make

#if NOTE_BTI || NOTE_PAC
/* The linker marks a program or library that has this note in all of its parts. */
.section .note.gnu.property, "a"
.p2align 3
    .word 4           /* bytes of the name */
    .word 16          /* bytes of what follows it */
    .word 5           /* NT_GNU_PROPERTY_TYPE_0 */
    .asciz "GNU"
    .word 0xc0000000  /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
    .word 4
    .word NOTE_BTI | NOTE_PAC
    .word 0
#endif
.section .note.GNU-stack, "", %progbits
