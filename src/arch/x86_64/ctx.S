/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * x86-64 context switch for the System V ABI. The contract is in arch/ctx.h.
 *
 * Frame of a suspended context, from its saved stack pointer:
 *   -8  MXCSR (4 bytes), x87 control word (2 bytes), 2 bytes unused
 *    0  r12  8 r13  16 r14  24 r15  32 rbx  40 rbp
 *   48  return address
 *
 * The control words are below the stack pointer so that a switch need not move it for them. That is safe while the
 * context runs on, in the red zone, and when it is left, as nobody else uses its stack; code that calls in between
 * moves the stack pointer first. On a Zen 3 or 4 STMXCSR lets nothing retire for 14 cycles, and then all that the
 * switch consists of retires, eight instructions a cycle: each counts.
 *
 * The resumed address is not preceded by a call in the return predictor's view, so `ret` would mispredict: we pop it and
 * jump. `notrack` keeps that jump legal under indirect branch tracking, whose landing pads return addresses lack.
 */

#include "base/build.h"

#define FUNCTION(name) .globl name; .hidden name; .type name, @function; .p2align 6; name: .cfi_startproc; LANDING_PAD
#define END(name) .cfi_endproc; .size name, . - name
#define TEXT .section .text.hot, "ax", @progbits /* see ABTI_HOT */

/*
 * -fcf-protection: the functions are hidden and called directly, but -fno-plt leaves that to the linker, which may be
 * asked to leave such calls indirect. So they are landing pads, and the object is marked as made for indirect branch
 * tracking: one without the mark takes it from all that it is linked with. There is no mark for shadow stacks, which a
 * switch leaves behind (arch/shadow.h).
 */
#if defined(__CET__) && (__CET__ & 1)
#define LANDING_PAD endbr64
.section .note.gnu.property, "a", @note
.p2align 3
.long 4, 16, 5 /* the sizes of name and contents; NT_GNU_PROPERTY_TYPE_0 */
.asciz "GNU"
.long 0xc0000002, 4, 1, 0 /* GNU_PROPERTY_X86_FEATURE_1_AND, its size, GNU_PROPERTY_X86_FEATURE_1_IBT, padding */
#else
#define LANDING_PAD
#endif

TEXT

/* Assembler macros differ between the two formats, so these are the preprocessor's. */

/* Saves the caller: its frame is at rsp and in *save (rdi). */
#define SAVE                                                                                                           \
    pushq %rbp; .cfi_adjust_cfa_offset 8;                                                                              \
    pushq %rbx; .cfi_adjust_cfa_offset 8;                                                                              \
    pushq %r15; .cfi_adjust_cfa_offset 8;                                                                              \
    pushq %r14; .cfi_adjust_cfa_offset 8;                                                                              \
    pushq %r13; .cfi_adjust_cfa_offset 8;                                                                              \
    pushq %r12; .cfi_adjust_cfa_offset 8;                                                                              \
    .cfi_rel_offset %r12, 0; .cfi_rel_offset %r13, 8; .cfi_rel_offset %r14, 16;                                        \
    .cfi_rel_offset %r15, 24; .cfi_rel_offset %rbx, 32; .cfi_rel_offset %rbp, 40;                                      \
    STORE_FPU(-8(%rsp), -4(%rsp));                                                                                     \
    movq %rsp, (%rdi)

#define STORE_FPU(at_mxcsr, at_fcw)                                                                                    \
    stmxcsr at_mxcsr;                                                                                                  \
    fnstcw at_fcw

/*
 * Puts the words at to_mxcsr, to_fcw in force. The present ones are at at_mxcsr, at_fcw: SAVE has stored them, or
 * READ_FPU does so now, and only where they are to be compared, since STMXCSR costs more than all the rest on some CPUs.
 */
#define LOAD_FPU(at_mxcsr, at_fcw, to_mxcsr, to_fcw) LOAD_FPU_AFTER(, at_mxcsr, at_fcw, to_mxcsr, to_fcw)
#define READ_FPU(at_mxcsr, at_fcw, to_mxcsr, to_fcw)                                                                   \
    LOAD_FPU_AFTER(STORE_FPU(at_mxcsr, at_fcw), at_mxcsr, at_fcw, to_mxcsr, to_fcw)
#define LOAD_FPU_AFTER(store, at_mxcsr, at_fcw, to_mxcsr, to_fcw)                                                      \
    cmpb $0, abti_x86_fpu_mode(%rip);                                                                                  \
    jne 1f;                                                                                                            \
    store;                                                                                                             \
    movl at_mxcsr, %eax;                                                                                               \
    xorl to_mxcsr, %eax;                                                                                               \
    testl $0xffc0, %eax;                                                                                               \
    jne 1f;                                                                                                            \
    movzwl at_fcw, %eax;                                                                                               \
    cmpw to_fcw, %ax;                                                                                                  \
    je 2f;                                                                                                             \
1:  ldmxcsr to_mxcsr;                                                                                                  \
    fldcw to_fcw;                                                                                                      \
2:

/*
 * A nested context has ended, and its caller's words, saved at rsp, are to be in force again. Where words are always
 * loaded, a load of what STMXCSR stored not long ago holds up all that follows until that store is in the cache. So
 * what is loaded is what the thread's last nested context came back to, nearly always the same; whether it is the same
 * is seen afterwards, out of everybody's way. (Words that let x87 exceptions through are not kept for that: for somebody
 * else an old exception could come through on the second load.)
 */
#if !ABTI_BUILD_STATIC_TLS
#define RETURN_FPU READ_FPU(-16(%rsp), -12(%rsp), (%rsp), 4(%rsp))
#else
#define RETURN_FPU                                                                                                     \
    cmpb $0, abti_x86_fpu_mode(%rip);                                                                                  \
    je 4f;                                                                                                             \
    movq last_return@gottpoff(%rip), %rcx;                                                                             \
    ldmxcsr %fs:(%rcx);                                                                                                \
    fldcw %fs:4(%rcx);                                                                                                 \
    movl (%rsp), %eax;                                                                                                 \
    cmpl %fs:(%rcx), %eax;                                                                                             \
    jne 3f;                                                                                                            \
    movzwl 4(%rsp), %eax;                                                                                              \
    cmpw %fs:4(%rcx), %ax;                                                                                             \
    je 5f;                                                                                                             \
3:  movl 4(%rsp), %eax;                                                                                                \
    notl %eax;                                                                                                         \
    testb $0x3f, %al;                                                                                                  \
    jne 4f;                                                                                                            \
    movq (%rsp), %rax;                                                                                                 \
    movq %rax, %fs:(%rcx);                                                                                             \
4:  READ_FPU(-16(%rsp), -12(%rsp), (%rsp), 4(%rsp));                                                                   \
5:

.section .tdata, "awT", @progbits
.p2align 3
.type last_return, @object
.size last_return, 8
last_return: /* as in a frame */
    .long 0x1f80
    .long 0x037f
TEXT
#endif

/* A context that ends keeps nothing; its control words go below the stack pointer only to be compared. */
#define FORGET(to_mxcsr, to_fcw)                                                                                       \
    READ_FPU(-16(%rsp), -12(%rsp), to_mxcsr, to_fcw)

/*
 * A branch that leads nowhere, on a parity of the address in rcx that is jumped to next. Some processors foresee
 * indirect jumps by the outcomes of the conditional branches before, not by where the last indirect ones went. ULTs
 * that switch at different places of the program, one after the other, differ in nothing else there: on Zen 3 each
 * switch was mispredicted, which cost more than all the rest. Two bytes of the address count: places that are a round
 * number of bytes apart would else be distinguished by two of its bits only.
 */
#define HINT_RCX                                                                                                       \
    cmpb %ch, %cl;                                                                                                     \
    jp 6f;                                                                                                             \
6:

/* Resumes the context whose frame is at rsp. */
#define RESUME                                                                                                         \
    popq %r12; .cfi_adjust_cfa_offset -8;                                                                              \
    popq %r13; .cfi_adjust_cfa_offset -8;                                                                              \
    popq %r14; .cfi_adjust_cfa_offset -8;                                                                              \
    popq %r15; .cfi_adjust_cfa_offset -8;                                                                              \
    popq %rbx; .cfi_adjust_cfa_offset -8;                                                                              \
    popq %rbp; .cfi_adjust_cfa_offset -8;                                                                              \
    .cfi_restore %r12; .cfi_restore %r13; .cfi_restore %r14;                                                           \
    .cfi_restore %r15; .cfi_restore %rbx; .cfi_restore %rbp;                                                           \
    popq %rcx; .cfi_adjust_cfa_offset -8;                                                                              \
    .cfi_register %rip, %rcx;                                                                                          \
    xorl %eax, %eax;                                                                                                   \
    HINT_RCX                                                                                                           \
    notrack jmp *%rcx

/* Calls the entry function in rbx as the outermost frame of a stack; unwinders stop here. */
#define ENTER                                                                                                          \
    .cfi_undefined %rip;                                                                                               \
    xorl %ebp, %ebp;                                                                                                   \
    call *%rbx;                                                                                                        \
    ud2

/* int abti_ctx_switch(abti_ctx *save, abti_ctx to) */
FUNCTION(abti_ctx_switch)
    SAVE
    LOAD_FPU(-8(%rsp), -4(%rsp), -8(%rsi), -4(%rsi))
    movq %rsi, %rsp
    RESUME
END(abti_ctx_switch)

/* int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_switch_after)
    SAVE
    LOAD_FPU(-8(%rsp), -4(%rsp), -8(%rsi), -4(%rsi))
    leaq -8(%rsi), %rsp
    .cfi_adjust_cfa_offset 8
    movq %rcx, %rdi
    call *%rdx
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    RESUME
END(abti_ctx_switch_after)

/* int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at) */
FUNCTION(abti_ctx_switch_store)
    SAVE
    LOAD_FPU(-8(%rsp), -4(%rsp), -8(%rsi), -4(%rsi))
    movq %rsi, %rsp
    movb %dl, (%rcx) /* a release, as any store is here: it follows those of the frame */
    RESUME
END(abti_ctx_switch_store)

/* void abti_ctx_jump(abti_ctx to) */
FUNCTION(abti_ctx_jump)
    FORGET(-8(%rdi), -4(%rdi))
    movq %rdi, %rsp
    .cfi_def_cfa %rsp, 56
    RESUME
END(abti_ctx_jump)

/* void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_jump_after)
    FORGET(-8(%rdi), -4(%rdi))
    leaq -8(%rdi), %rsp
    .cfi_def_cfa %rsp, 64
    movq %rdx, %rdi
    call *%rsi
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    RESUME
END(abti_ctx_jump_after)

/* int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_start)
    SAVE
    LOAD_FPU(-8(%rsp), -4(%rsp), fpu_default(%rip), 4+fpu_default(%rip))
    movq %rsi, %rsp
    movq %rdx, %rbx
    movq %r8, %rdi
    testq %rcx, %rcx
    je 3f
    call *%rcx
3:  ENTER
END(abti_ctx_start)

/* No exception gets from what is called into the frames of the caller. */
.hidden abti_exception_leaves
#define STOPS_EXCEPTIONS .cfi_personality 0x1b, abti_exception_leaves

/*
 * Calls entry(arg). When it returns, the callee-saved registers are the caller's already: only control words are not.
 * `to_stack` and `from_stack` may lead to another stack meanwhile.
 */
#define NEST(to_stack, from_stack)                                                                                     \
    SAVE;                                                                                                              \
    LOAD_FPU(-8(%rsp), -4(%rsp), fpu_default(%rip), 4+fpu_default(%rip));                                              \
    subq $8, %rsp; .cfi_adjust_cfa_offset 8;                                                                           \
    STOPS_EXCEPTIONS;                                                                                                  \
    .cfi_remember_state;                                                                                               \
    .cfi_undefined %rip;                                                                                               \
    to_stack;                                                                                                          \
    movq %rsi, %rdi;                                                                                                   \
    call *%rdx;                                                                                                        \
    from_stack;                                                                                                        \
    .cfi_restore_state;                                                                                                \
    RETURN_FPU;                                                                                                        \
    addq $56, %rsp; .cfi_adjust_cfa_offset -56
#define STAYS

/* int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION(abti_ctx_in_place)
    NEST(STAYS, STAYS)
    xorl %eax, %eax
    ret
END(abti_ctx_in_place)

/* int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg)) */
FUNCTION(abti_ctx_in_place_to_end)
    NEST(STAYS, STAYS)
    jmp abti_end_in_place
END(abti_ctx_in_place_to_end)

/* int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top) */
#define TO_TOP movq %rsp, %rbx; .cfi_def_cfa_register %rbx; movq %rcx, %rsp
#define FROM_TOP movq %rbx, %rsp; movq 40(%rsp), %rbx
FUNCTION(abti_ctx_call_on)
    NEST(TO_TOP, FROM_TOP)
    xorl %eax, %eax
    ret
END(abti_ctx_call_on)

/*
 * int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b))
 * From the stack pointer: the room, the control words, the frame.
 */
#define ROOM 128 /* ABTI_CTX_ROOM */
FUNCTION(abti_ctx_leave)
    SAVE
    subq $(ROOM + 8), %rsp
    .cfi_adjust_cfa_offset ROOM + 8
    movq %rsp, %rdi
    call *%rcx
    movq %rax, %rsi
    LOAD_FPU(ROOM(%rsp), 4+ROOM(%rsp), -8(%rsi), -4(%rsi))
    movq %rsi, %rsp
    .cfi_def_cfa %rsp, 56
    RESUME
END(abti_ctx_leave)

/*
 * int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
 *                   int (*then)(void *room))
 * From the stack pointer: the frame, but that it goes on here, `then`, the room, the caller's return address.
 */
FUNCTION(abti_ctx_wait)
    subq $ROOM, %rsp
    .cfi_adjust_cfa_offset ROOM
    pushq %r8
    .cfi_adjust_cfa_offset 8
    leaq 5f(%rip), %rax
    pushq %rax
    .cfi_adjust_cfa_offset 8
    SAVE
    leaq 64(%rsp), %rdi
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call *%rcx
    movq %rax, %rsi
    LOAD_FPU((%rsp), 4(%rsp), -8(%rsi), -4(%rsi))
    movq %rsi, %rsp
    .cfi_def_cfa %rsp, 56
    RESUME
    .cfi_def_cfa %rsp, 16 + ROOM
    .cfi_offset %rip, -8 /* libgcc would take .cfi_restore for "as in the frame below" */
    nop /* unwinders look up the byte before */
5:
    leaq 8(%rsp), %rdi
    call *(%rsp)
    addq $(8 + ROOM), %rsp
    .cfi_adjust_cfa_offset -8 - ROOM
    popq %rcx
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rcx
    HINT_RCX
    notrack jmp *%rcx
END(abti_ctx_wait)

/* Never runs: where unwinders are to think that a suspended context is. */
FUNCTION(abti_ctx_suspended)
    .cfi_def_cfa %rsp, 56
    .cfi_offset %r12, -56; .cfi_offset %r13, -48; .cfi_offset %r14, -40
    .cfi_offset %r15, -32; .cfi_offset %rbx, -24; .cfi_offset %rbp, -16
    ud2
END(abti_ctx_suspended)

/* void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg) */
FUNCTION(abti_ctx_restart)
    FORGET(fpu_default(%rip), 4+fpu_default(%rip))
    movq %rdi, %rsp
    movq %rsi, %rbx
    movq %rcx, %rdi
    testq %rdx, %rdx
    je 3f
    call *%rdx
3:  ENTER
END(abti_ctx_restart)

/*
 * Where a context made by abti_ctx_make begins, at the label: its entry function is in rbx. Unwinders take the label
 * for a return address and look at what is before it.
 */
FUNCTION(abti_ctx_first)
    nop
9:  ENTER
END(abti_ctx_first)

/* abti_ctx abti_ctx_make(void *top, void (*entry)(void)) */
FUNCTION(abti_ctx_make)
    leaq -56(%rdi), %rax
    movl $0x1f80, -8(%rax)
    movl $0x037f, -4(%rax)
    movq $0, (%rax)
    movq $0, 8(%rax)
    movq $0, 16(%rax)
    movq $0, 24(%rax)
    movq %rsi, 32(%rax)
    movq $0, 40(%rax)
    leaq 9b(%rip), %rdx
    movq %rdx, 48(%rax)
    ret
END(abti_ctx_make)

.section .rodata
.p2align 3
fpu_default:
    .long 0x1f80
    .long 0x037f

.data
.globl abti_x86_fpu_mode
.hidden abti_x86_fpu_mode
.type abti_x86_fpu_mode, @object
.size abti_x86_fpu_mode, 1
abti_x86_fpu_mode:
    .byte 0

.section .note.GNU-stack, "", @progbits
