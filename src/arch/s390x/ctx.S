/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context switch for s390x (z/Architecture, ELF). The contract is in arch/ctx.h.
 *
 * Frame of a suspended context, from its saved stack pointer; FRAME bytes, above which its caller's frame begins:
 *     0        save area as the ABI wants it, for what is called on top of this frame: it begins with the back chain
 *   160        f8 to f15
 *   224        the floating-point control register, 4 bytes; 12 unused
 *   FRAME + 48 r6 to r15, of which r14 is the address to go on at: where the ABI keeps them, in the caller's save area
 *
 * The back chain is 0 where a context begins. Everything is restored in one place, abti_ctx_suspended.
 */

#include "base/build.h"

#define AREA 160 /* a save area */
#define R6_AT 48 /* in one */
#define R7_AT 56
#define R11_AT 88
#define R14_AT 112
#define R15_AT 120

#define FPRS AREA
#define FPC (FPRS + 8 * 8)
#define FRAME (FPC + 16) /* 240; arch_cpu.h */

#define FUNCTION(name) .globl name; .hidden name; .type name, @function; .p2align 4; name: .cfi_startproc
#define END(name) .cfi_endproc; .size name, . - name
#define TEXT .section .text.hot, "ax", @progbits /* see ABTI_HOT */

/* The caller's registers are in its save area: that begins this far below the CFA. */
#define TELL_GPRS                                                                                                      \
    .cfi_offset %r6, R6_AT - AREA; .cfi_offset %r7, R7_AT - AREA; .cfi_offset %r8, 64 - AREA;                          \
    .cfi_offset %r9, 72 - AREA; .cfi_offset %r10, 80 - AREA; .cfi_offset %r11, 88 - AREA;                              \
    .cfi_offset %r12, 96 - AREA; .cfi_offset %r13, 104 - AREA

#define TELL_CALLER                                                                                                    \
    .cfi_offset %r14, R14_AT - AREA; .cfi_offset %r15, R15_AT - AREA

#define TELL_FPRS                                                                                                      \
    .cfi_rel_offset %f8, FPRS; .cfi_rel_offset %f9, FPRS + 8; .cfi_rel_offset %f10, FPRS + 16;                         \
    .cfi_rel_offset %f11, FPRS + 24; .cfi_rel_offset %f12, FPRS + 32; .cfi_rel_offset %f13, FPRS + 40;                 \
    .cfi_rel_offset %f14, FPRS + 48; .cfi_rel_offset %f15, FPRS + 56

#define FORGET_ALL                                                                                                     \
    .cfi_restore %r6; .cfi_restore %r7; .cfi_restore %r8; .cfi_restore %r9; .cfi_restore %r10; .cfi_restore %r11;      \
    .cfi_restore %r12; .cfi_restore %r13; .cfi_restore %r14; .cfi_restore %r15;                                        \
    .cfi_restore %f8; .cfi_restore %f9; .cfi_restore %f10; .cfi_restore %f11;                                          \
    .cfi_restore %f12; .cfi_restore %f13; .cfi_restore %f14; .cfi_restore %f15

/* Saves the caller, whose stack pointer r1 has then: the frame is at r15 and in *save (r2). */
#define SAVE                                                                                                           \
    lgr %r1, %r15;                                                                                                     \
    TELL_CALLER;                                                                                                       \
    SAVE_REGISTERS;                                                                                                    \
    TELL_GPRS

#define SAVE_REGISTERS                                                                                                 \
    stmg %r6, %r15, R6_AT(%r15);                                                                                       \
    lay %r15, -FRAME(%r15);                                                                                            \
    .cfi_adjust_cfa_offset FRAME;                                                                                      \
    stg %r1, 0(%r15);                                                                                                  \
    std %f8, FPRS(%r15); std %f9, FPRS + 8(%r15); std %f10, FPRS + 16(%r15); std %f11, FPRS + 24(%r15);                \
    std %f12, FPRS + 32(%r15); std %f13, FPRS + 40(%r15); std %f14, FPRS + 48(%r15); std %f15, FPRS + 56(%r15);        \
    TELL_FPRS;                                                                                                         \
    STORE_FPC;                                                                                                         \
    stg %r15, 0(%r2)

#if ABTI_BUILD_PRESERVE_FPU

/* Masks of exceptions and rounding modes; the rest reports exceptions. */
#define CONTROL 0xff0000ff
#define TELLING 0x00ffff00

#define STORE_FPC stfpc FPC(%r15)

/* Puts what is at `wanted` in force, where it differs. */
#define LOAD_FPC(wanted)                                                                                               \
    efpc %r0;                                                                                                          \
    x %r0, wanted;                                                                                                     \
    nilf %r0, CONTROL;                                                                                                 \
    je 2f;                                                                                                             \
    lfpc wanted;                                                                                                       \
2:

/* Puts those of a new thread in force, which are 0; what reports exceptions stays. */
#define RESET_FPC                                                                                                      \
    efpc %r0;                                                                                                          \
    nilf %r0, CONTROL;                                                                                                 \
    je 2f;                                                                                                             \
    efpc %r0;                                                                                                          \
    nilf %r0, TELLING;                                                                                                 \
    sfpc %r0;                                                                                                          \
2:

#else

/* The control bits are the thread's, not the context's. */
#define STORE_FPC
#define LOAD_FPC(wanted)
#define RESET_FPC

#endif

TEXT

/*
 * void abti_ctx_suspended(void): resumes the context whose frame is at r15. Unwinders are to think that each suspended
 * context is here.
 */
FUNCTION(abti_ctx_suspended)
    .cfi_def_cfa %r15, FRAME + AREA
    TELL_CALLER
    TELL_GPRS
    TELL_FPRS
.Lresume:
    ld %f8, FPRS(%r15)
    ld %f9, FPRS + 8(%r15)
    ld %f10, FPRS + 16(%r15)
    ld %f11, FPRS + 24(%r15)
    ld %f12, FPRS + 32(%r15)
    ld %f13, FPRS + 40(%r15)
    ld %f14, FPRS + 48(%r15)
    ld %f15, FPRS + 56(%r15)
    lmg %r6, %r15, FRAME + R6_AT(%r15)
    .cfi_def_cfa %r15, AREA
    FORGET_ALL
    lghi %r2, 0
    br %r14
END(abti_ctx_suspended)

/* Calls the entry function in r7 as the outermost frame of a stack; unwinders stop here. */
#define ENTER                                                                                                          \
    basr %r14, %r7;                                                                                                    \
    j .+2

/*
 * Where a context made by abti_ctx_make begins, at the label. Unwinders take the label for a return address and look at
 * what is before it.
 */
FUNCTION(abti_ctx_first)
    .cfi_undefined %r14
    nopr %r0
.Lfirst:
    ENTER
END(abti_ctx_first)

/* An empty stack: its outermost save area, at r15. */
#define EMPTY_STACK(top)                                                                                               \
    lay %r15, -AREA(top);                                                                                              \
    .cfi_def_cfa %r15, AREA;                                                                                           \
    .cfi_undefined %r14;                                                                                               \
    xc 0(8, %r15), 0(%r15)

/* int abti_ctx_switch(abti_ctx *save, abti_ctx to) */
FUNCTION(abti_ctx_switch)
    SAVE
    LOAD_FPC(FPC(%r3))
    lgr %r15, %r3
    j .Lresume
END(abti_ctx_switch)

/* int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_switch_after)
    SAVE
    LOAD_FPC(FPC(%r3))
    lgr %r15, %r3
    lgr %r2, %r5
    basr %r14, %r4
    j .Lresume
END(abti_ctx_switch_after)

/* int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at) */
FUNCTION(abti_ctx_switch_store)
    SAVE
    LOAD_FPC(FPC(%r3))
    lgr %r15, %r3
    stc %r4, 0(%r5) /* a release, as any store is here: it follows those of the frame */
    j .Lresume
END(abti_ctx_switch_store)

/* void abti_ctx_jump(abti_ctx to) */
FUNCTION(abti_ctx_jump)
    LOAD_FPC(FPC(%r2))
    lgr %r15, %r2
    j .Lresume
END(abti_ctx_jump)

/* void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_jump_after)
    LOAD_FPC(FPC(%r2))
    lgr %r15, %r2
    .cfi_def_cfa %r15, FRAME + AREA
    TELL_CALLER
    TELL_GPRS
    TELL_FPRS
    lgr %r2, %r4
    basr %r14, %r3
    j .Lresume
END(abti_ctx_jump_after)

/* int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_start)
    SAVE
    RESET_FPC
    EMPTY_STACK(%r3)
    lgr %r7, %r4
    ltgr %r5, %r5
    je 3f
    lgr %r2, %r6
    basr %r14, %r5
3:  ENTER
END(abti_ctx_start)

/* void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_restart)
    RESET_FPC
    EMPTY_STACK(%r2)
    lgr %r7, %r3
    ltgr %r4, %r4
    je 3f
    lgr %r2, %r5
    basr %r14, %r4
3:  ENTER
END(abti_ctx_restart)

/*
 * Calls entry(arg). When it returns, the callee-saved registers are the caller's already, but for the two of the call.
 * The back chain ends here. No exception gets from what is called into the frames of the caller. `to_stack` and
 * `from_stack` may lead to another stack meanwhile.
 */
.hidden abti_exception_leaves
#define NEST(to_stack, from_stack)                                                                                     \
    SAVE;                                                                                                              \
    RESET_FPC;                                                                                                         \
    xc 0(8, %r15), 0(%r15);                                                                                            \
    .cfi_personality 0x1b, abti_exception_leaves;                                                                      \
    .cfi_remember_state;                                                                                               \
    .cfi_undefined %r14;                                                                                               \
    to_stack;                                                                                                          \
    lgr %r2, %r3;                                                                                                      \
    basr %r14, %r4;                                                                                                    \
    from_stack;                                                                                                        \
    .cfi_restore_state;                                                                                                \
    LOAD_FPC(FPC(%r15));                                                                                               \
    lmg %r14, %r15, FRAME + R14_AT(%r15);                                                                              \
    .cfi_def_cfa %r15, AREA;                                                                                           \
    FORGET_ALL
#define STAYS

/* int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION(abti_ctx_in_place)
    NEST(STAYS, STAYS)
    lghi %r2, 0
    br %r14
END(abti_ctx_in_place)

/* int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION(abti_ctx_in_place_to_end)
    NEST(STAYS, STAYS)
    jg abti_end_in_place
END(abti_ctx_in_place_to_end)

/* int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top) */
#define TO_TOP                                                                                                         \
    lgr %r11, %r15;                                                                                                    \
    .cfi_def_cfa_register %r11;                                                                                        \
    lay %r15, -AREA(%r5);                                                                                              \
    xc 0(8, %r15), 0(%r15)
#define FROM_TOP                                                                                                       \
    lgr %r15, %r11;                                                                                                    \
    lg %r11, FRAME + R11_AT(%r15)
FUNCTION(abti_ctx_call_on)
    NEST(TO_TOP, FROM_TOP)
    lghi %r2, 0
    br %r14
END(abti_ctx_call_on)

/*
 * int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
 * From the stack pointer: a save area, the room, the frame. Both back chains lead to the caller, as there is only one
 * function.
 */
#define ROOM 128 /* ABTI_CTX_ROOM */
#define LEAVE (AREA + ROOM)
FUNCTION(abti_ctx_leave)
    SAVE
    lay %r15, -LEAVE(%r15)
    .cfi_adjust_cfa_offset LEAVE
    stg %r1, 0(%r15)
    la %r2, AREA(%r15)
    basr %r14, %r5
    LOAD_FPC(FPC(%r2))
    lgr %r15, %r2
    .cfi_adjust_cfa_offset -LEAVE
    j .Lresume
END(abti_ctx_leave)

/*
 * int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
 *                   int (*then)(void *room))
 * From the stack pointer: the frame, but that it goes on here, and what it goes on with: a save area, `then`, the room.
 */
#define THEN AREA
#define WAIT_ROOM (AREA + 16)
#define WAIT (WAIT_ROOM + ROOM)
FUNCTION(abti_ctx_wait)
    stmg %r14, %r15, R14_AT(%r15)
    TELL_CALLER
    lgr %r1, %r15
    lay %r15, -WAIT(%r15)
    .cfi_adjust_cfa_offset WAIT
    .cfi_remember_state
    stg %r1, 0(%r15)
    stg %r6, THEN(%r15)
    larl %r14, 5f
    SAVE_REGISTERS
    la %r2, FRAME + WAIT_ROOM(%r15)
    basr %r14, %r5
    LOAD_FPC(FPC(%r2))
    lgr %r15, %r2
    .cfi_def_cfa %r15, FRAME + AREA
    TELL_GPRS
    TELL_FPRS
    j .Lresume
    .cfi_restore_state
    nopr %r0 /* unwinders look up the instruction before */
5:
    la %r2, WAIT_ROOM(%r15)
    lg %r1, THEN(%r15)
    basr %r14, %r1
    lmg %r14, %r15, WAIT + R14_AT(%r15)
    .cfi_def_cfa %r15, AREA
    .cfi_restore %r14
    .cfi_restore %r15
    br %r14
END(abti_ctx_wait)

/* abti_ctx abti_ctx_make(void *top, void (*entry)(void)) */
FUNCTION(abti_ctx_make)
    lay %r4, -AREA(%r2)
    lay %r2, -FRAME(%r4)
    larl %r5, .Lfirst
    lghi %r0, 0
    stg %r0, 0(%r4)
    stg %r3, R7_AT(%r4)
    stg %r5, R14_AT(%r4)
    stg %r4, R15_AT(%r4)
    stg %r4, 0(%r2)
    st %r0, FPC(%r2)
    br %r14
END(abti_ctx_make)

.section .note.GNU-stack, "", @progbits
