/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RISC-V 64 context switch for the ABIs lp64d and lp64; ELF. The contract is in arch/ctx.h.
 *
 * Frame of a suspended context, from its saved stack pointer:
 *     0  return address  8 s0  16 s1  ...  96 s11
 *   104  rounding mode (lp64d)  112 fs0  ...  200 fs11 (lp64d)
 *
 * The rounding mode is all that fcsr has beside status bits, and writing it is compared away: that makes some processors
 * wait for all that is under way. tp and gp belong to the thread and the program and are not touched.
 *
 * The resumed address is not preceded by a call in the return predictor's view. ra and t0 as the target of a jump would
 * make a return of it; t1 does not.
 */

#include "base/build.h"

#define FUNCTION(name) .globl name; .hidden name; .type name, @function; .p2align 6; name: .cfi_startproc
#define END(name) .cfi_endproc; .size name, . - name
#define TEXT .section .text.hot, "ax", @progbits /* see ABTI_HOT */

TEXT

#define RA 0
#define S1 16
#define MODE 104

#if defined(__riscv_float_abi_double)
#define FRAME 208
#define HAS_FLOATS(instructions) instructions
#define HAS_MODE 1
#elif defined(__riscv_float_abi_soft)
#define FRAME 112
#define HAS_FLOATS(instructions)
#define HAS_MODE 0
#else
#error "the ABI is neither lp64d nor lp64"
#endif

/* op is done with each callee-saved register and its place in the frame. */
#define EACH_INTEGER(op)                                                                                               \
    op(s0, 8); op(s1, S1); op(s2, 24); op(s3, 32); op(s4, 40); op(s5, 48);                                             \
    op(s6, 56); op(s7, 64); op(s8, 72); op(s9, 80); op(s10, 88); op(s11, 96)
#define EACH_FLOAT(op)                                                                                                 \
    op(fs0, 112); op(fs1, 120); op(fs2, 128); op(fs3, 136); op(fs4, 144); op(fs5, 152);                                \
    op(fs6, 160); op(fs7, 168); op(fs8, 176); op(fs9, 184); op(fs10, 192); op(fs11, 200)

#define SAVE_INTEGER(reg, at) sd reg, at(sp)
#define SAVE_FLOAT(reg, at) fsd reg, at(sp)
#define LOAD_INTEGER(reg, at) ld reg, at(sp)
#define LOAD_FLOAT(reg, at) fld reg, at(sp)
#define IN_FRAME(reg, at) .cfi_offset reg, at - FRAME
#define NOT_IN_FRAME(reg, at) .cfi_restore reg
#define CLEAR(reg, at) sd zero, at(a0)

/* Saves the caller: its frame is at sp and in *save (a0). */
#define SAVE                                                                                                           \
    SAVE_FRAME(ra);                                                                                                    \
    ALL_IN_FRAME

/* It goes on at the address in `at`. */
#define SAVE_FRAME(at)                                                                                                 \
    addi sp, sp, -FRAME; .cfi_adjust_cfa_offset FRAME;                                                                 \
    sd at, RA(sp);                                                                                                     \
    EACH_INTEGER(SAVE_INTEGER);                                                                                        \
    HAS_FLOATS(EACH_FLOAT(SAVE_FLOAT));                                                                                \
    SAVE_MODE;                                                                                                         \
    sd sp, 0(a0)

#define ALL_IN_FRAME                                                                                                   \
    .cfi_offset ra, RA - FRAME;                                                                                        \
    EACH_INTEGER(IN_FRAME);                                                                                            \
    HAS_FLOATS(EACH_FLOAT(IN_FRAME))

#if HAS_MODE

#define SAVE_MODE                                                                                                      \
    frrm t0;                                                                                                           \
    sd t0, MODE(sp)

/* The mode at `to` comes in force. The present one is in t0, where SAVE has left it, or is read now. */
#define LOAD_MODE(to)                                                                                                  \
    ld t1, to;                                                                                                         \
    beq t0, t1, 1f;                                                                                                    \
    fsrm t1;                                                                                                           \
1:
#define READ_MODE(to)                                                                                                  \
    frrm t0;                                                                                                           \
    LOAD_MODE(to)

/* The same with the mode of a new thread. */
#define DEFAULT_MODE                                                                                                   \
    beqz t0, 1f;                                                                                                       \
    fsrm zero;                                                                                                         \
1:
#define READ_DEFAULT_MODE                                                                                              \
    frrm t0;                                                                                                           \
    DEFAULT_MODE

#else

#define SAVE_MODE
#define LOAD_MODE(to)
#define READ_MODE(to)
#define DEFAULT_MODE
#define READ_DEFAULT_MODE

#endif

/* Resumes the context whose frame is at sp. */
#define RESUME                                                                                                         \
    ld t1, RA(sp);                                                                                                     \
    EACH_INTEGER(LOAD_INTEGER);                                                                                        \
    HAS_FLOATS(EACH_FLOAT(LOAD_FLOAT));                                                                                \
    li a0, 0;                                                                                                          \
    EACH_INTEGER(NOT_IN_FRAME);                                                                                        \
    HAS_FLOATS(EACH_FLOAT(NOT_IN_FRAME));                                                                              \
    .cfi_register ra, t1;                                                                                              \
    addi sp, sp, FRAME; .cfi_def_cfa sp, 0;                                                                            \
    jr t1

/* Calls the entry function in s1 as the outermost frame of a stack; unwinders stop here. */
#define ENTER                                                                                                          \
    .cfi_undefined ra;                                                                                                 \
    li s0, 0;                                                                                                          \
    jalr s1;                                                                                                           \
    unimp

/* int abti_ctx_switch(abti_ctx *save, abti_ctx to) */
FUNCTION(abti_ctx_switch)
    SAVE
    LOAD_MODE(MODE(a1))
    mv sp, a1
    RESUME
END(abti_ctx_switch)

/* int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_switch_after)
    SAVE
    LOAD_MODE(MODE(a1))
    mv sp, a1
    mv a0, a3
    jalr a2
    RESUME
END(abti_ctx_switch_after)

/*
 * int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at)
 * The fence makes a release of the store: the frame and *save come before it.
 */
FUNCTION(abti_ctx_switch_store)
    SAVE
    LOAD_MODE(MODE(a1))
    mv sp, a1
    fence rw, w
    sb a2, 0(a3)
    RESUME
END(abti_ctx_switch_store)

/* A context that ends keeps nothing; what the unwinder knows of it is the frame that it goes to. */
#define LEAVE_FOR(ctx)                                                                                                 \
    mv sp, ctx;                                                                                                        \
    .cfi_def_cfa sp, FRAME;                                                                                            \
    ALL_IN_FRAME

/* void abti_ctx_jump(abti_ctx to) */
FUNCTION(abti_ctx_jump)
    READ_MODE(MODE(a0))
    LEAVE_FOR(a0)
    RESUME
END(abti_ctx_jump)

/* void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_jump_after)
    READ_MODE(MODE(a0))
    LEAVE_FOR(a0)
    mv a0, a2
    jalr a1
    RESUME
END(abti_ctx_jump_after)

/* int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_start)
    SAVE
    DEFAULT_MODE
    .cfi_undefined ra
    mv sp, a1
    mv s1, a2
    mv a0, a4
    beqz a3, 2f
    jalr a3
2:  ENTER
END(abti_ctx_start)

/* void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_restart)
    READ_DEFAULT_MODE
    .cfi_undefined ra
    mv sp, a0
    mv s1, a1
    mv a0, a3
    beqz a2, 2f
    jalr a2
2:  ENTER
END(abti_ctx_restart)

/* No exception gets from what is called into the frames of the caller. */
.hidden abti_exception_leaves
#define STOPS_EXCEPTIONS .cfi_personality 0x1b, abti_exception_leaves

/*
 * Calls entry(arg). When it returns, the callee-saved registers are the caller's already: only the mode is not.
 * `to_stack` and `from_stack` may lead to another stack meanwhile.
 */
#define NEST(to_stack, from_stack)                                                                                     \
    SAVE;                                                                                                              \
    DEFAULT_MODE;                                                                                                      \
    STOPS_EXCEPTIONS;                                                                                                  \
    .cfi_remember_state;                                                                                               \
    .cfi_undefined ra;                                                                                                 \
    to_stack;                                                                                                          \
    mv a0, a1;                                                                                                         \
    jalr a2;                                                                                                           \
    from_stack;                                                                                                        \
    .cfi_restore_state;                                                                                                \
    READ_MODE(MODE(sp));                                                                                               \
    ld ra, RA(sp);                                                                                                     \
    .cfi_restore ra;                                                                                                   \
    EACH_INTEGER(NOT_IN_FRAME);                                                                                        \
    HAS_FLOATS(EACH_FLOAT(NOT_IN_FRAME));                                                                              \
    addi sp, sp, FRAME; .cfi_def_cfa sp, 0
#define STAYS

/* int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION(abti_ctx_in_place)
    NEST(STAYS, STAYS)
    li a0, 0
    ret
END(abti_ctx_in_place)

/* int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
.hidden abti_end_in_place
FUNCTION(abti_ctx_in_place_to_end)
    NEST(STAYS, STAYS)
    tail abti_end_in_place
END(abti_ctx_in_place_to_end)

/* int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top) */
#define TO_TOP mv s1, sp; .cfi_def_cfa_register s1; mv sp, a3
#define FROM_TOP mv sp, s1; ld s1, S1(sp)
FUNCTION(abti_ctx_call_on)
    NEST(TO_TOP, FROM_TOP)
    li a0, 0
    ret
END(abti_ctx_call_on)

/*
 * int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
 * From the stack pointer: the room, the frame.
 */
#define ROOM 128 /* ABTI_CTX_ROOM */
FUNCTION(abti_ctx_leave)
    SAVE
    addi sp, sp, -ROOM
    .cfi_adjust_cfa_offset ROOM
    mv a0, sp
    jalr a3
    READ_MODE(MODE(a0))
    mv sp, a0
    .cfi_adjust_cfa_offset -ROOM
    RESUME
END(abti_ctx_leave)

/*
 * int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
 *                   int (*then)(void *room))
 * From the stack pointer: the frame, but that it goes on here; then these.
 */
#define THEN 0
#define USER 8 /* the caller's return address */
#define WAIT_ROOM 16
#define WAIT_FRAME (WAIT_ROOM + ROOM)
FUNCTION(abti_ctx_wait)
    addi sp, sp, -WAIT_FRAME
    .cfi_adjust_cfa_offset WAIT_FRAME
    sd a4, THEN(sp)
    sd ra, USER(sp)
    .cfi_offset ra, USER - WAIT_FRAME
    lla t1, 5f
    SAVE_FRAME(t1)
#define BELOW_WAIT(reg, at) .cfi_offset reg, at - FRAME - WAIT_FRAME
    EACH_INTEGER(BELOW_WAIT)
    HAS_FLOATS(EACH_FLOAT(BELOW_WAIT))
    addi a0, sp, FRAME + WAIT_ROOM
    jalr a3
    READ_MODE(MODE(a0))
    LEAVE_FOR(a0)
    RESUME
    .cfi_def_cfa sp, WAIT_FRAME
    .cfi_offset ra, USER - WAIT_FRAME
    nop /* unwinders look up the byte before */
5:
    ld t1, THEN(sp)
    addi a0, sp, WAIT_ROOM
    jalr t1
    ld t1, USER(sp)
    .cfi_register ra, t1
    addi sp, sp, WAIT_FRAME
    .cfi_adjust_cfa_offset -WAIT_FRAME
    jr t1
END(abti_ctx_wait)

/* Never runs: where unwinders are to think that a suspended context is. */
FUNCTION(abti_ctx_suspended)
    .cfi_def_cfa sp, FRAME
    ALL_IN_FRAME
    unimp
END(abti_ctx_suspended)

/*
 * Where a context made by abti_ctx_make begins, at the label: its entry function is in s1. Unwinders take the label for
 * a return address and look at what is before it.
 */
FUNCTION(abti_ctx_first)
    .cfi_undefined ra
    nop
9:  ENTER
END(abti_ctx_first)

/* abti_ctx abti_ctx_make(void *top, void (*entry)(void)) */
FUNCTION(abti_ctx_make)
    addi a0, a0, -FRAME
    lla t1, 9b
    sd t1, RA(a0)
    EACH_INTEGER(CLEAR)
    HAS_FLOATS(CLEAR(mode, MODE))
    sd a1, S1(a0)
    ret
END(abti_ctx_make)

.section .note.GNU-stack, "", @progbits
