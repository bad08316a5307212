/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machine contexts: the functions that an architecture has in <arch>/ctx.S, and others in generic/ctx.c.
 *
 * A context is a stack pointer. A suspended context keeps everything it needs in a frame on its own stack; the word
 * `*save` then points to that frame, of which ABTI_CTX_BELOW bytes (<arch>/arch_cpu.h) are below it. Switching goes in
 * this order:
 *
 *   1. the callee-saved registers and the floating-point control words go to a frame on the old stack;
 *   2. `*save` is set and the stack pointer moves to the new stack;
 *   3. the new context's floating-point control words are in force;
 *   4. after(arg) runs, if given, on the new stack: from here on nobody of this switch touches the old context, so
 *      *after* is the place to publish it (push it to a pool, unlock its wait queue). Another thread may resume it
 *      at once;
 *   5. the new context goes on.
 *
 * The switch leaves by an indirect jump to the resumed context's return address, with the value 0 (ABT_SUCCESS). An API
 * function that tail-calls it therefore returns straight to its user and no mispredicted `ret` is paid.
 * Only the control bits of MXCSR-like registers are part of a context: the ABI lets a call change the status bits.
 */
#ifndef ABTI_ARCH_CTX_H
#define ABTI_ARCH_CTX_H

#include "base/atomic.h"
#include "base/compiler.h"

typedef void *abti_ctx;

/* Saves the caller in *save and resumes `to`. Returns 0 when the caller is resumed. */
int abti_ctx_switch(abti_ctx *save, abti_ctx to);

/* Does the same, and calls after(arg) on the new stack. */
int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg);

/*
 * Does the same where all that `after` would do is one store. release: pairs with the acquires that abti_after_suspend
 * names. A thread that sees the value may resume the caller at once, so that the store follows all of the caller's
 * frame.
 */
int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at);

/* Saves the caller and calls entry() on the empty stack that ends at `top` (16-byte aligned). after may be NULL. entry
 * never returns. */
int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg);

/*
 * Saves the caller and calls entry(arg) as another context on the rest of the caller's own stack. The caller goes on,
 * with 0, when it is resumed or when entry returns; entry returns only as the last of all that happens on its context.
 */
int abti_ctx_in_place(abti_ctx *save, void *arg, void (*entry)(void *arg));

/*
 * Does the same, but when entry returns, the caller goes on in abti_end_in_place, to which this is a tail call: its
 * result is the caller's. So nothing but entry's own frames is nested, and what is to be done at its end costs no call
 * more.
 */
int abti_ctx_in_place_to_end(abti_ctx *save, void *arg, void (*entry)(void *arg));
int abti_end_in_place(void); /* the user's of this interface */

/*
 * Does as abti_ctx_in_place, but calls entry(arg) on the stack that ends at `top` (16-byte aligned). entry stays on its
 * context until it returns: the caller is not resumed before. It takes a call and a return; a switch there and back
 * would end in a return that the processor mispredicts. `top` may be a suspended context less ABTI_CTX_BELOW, whose
 * stack is free below, but not one of abti_ctx_leave, whose room may be there.
 */
int abti_ctx_call_on(abti_ctx *save, void *arg, void (*entry)(void *arg), void *top);

/*
 * Waiting in the fewest returns, each of which the processor would mispredict after a switch. Saves the caller in *save
 * and calls leave(room, a, b), still on the caller's stack, with ABTI_CTX_ROOM bytes (8-byte aligned) that stay until
 * the caller goes on. leave makes the caller findable by the thread that resumes it and returns the context to go on
 * with. Until the switch is done the caller must not be resumed, though it may be found: leave still uses its stack.
 * When it is resumed, the result is 0; with _wait it is then(room). With _wait, leave may instead begin a context by
 * abti_ctx_restart, and not return.
 */
enum { ABTI_CTX_ROOM = 128 };
int abti_ctx_leave(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b));
int abti_ctx_wait(abti_ctx *save, void *a, void *b, abti_ctx (*leave)(void *room, void *a, void *b),
                  int (*then)(void *room));

/* Like the functions above, for a context that ends: nothing is saved. */
ABTI_NORETURN void abti_ctx_jump(abti_ctx to);
ABTI_NORETURN void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg);
ABTI_NORETURN void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg);

/* Builds a context at `top` that calls entry() when it is first switched to. */
abti_ctx abti_ctx_make(void *top, void (*entry)(void));

/* This is code for unwinders: its call frame information leads from a context, as the stack pointer, to its caller. */
void abti_ctx_suspended(void);

#endif
