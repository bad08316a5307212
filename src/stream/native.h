/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stacks of native threads, on which main schedulers and the primary ULT run: where they are, and whether units may
 * run in place there.
 */
#ifndef ABTI_STREAM_NATIVE_H
#define ABTI_STREAM_NATIVE_H

#include <pthread.h>
#include <stddef.h>
#include "mem/stack.h"

/*
 * Describes the stack of a stream's own native thread, the caller, which was made with so much. Its main scheduler runs
 * nothing in place.
 */
void abti_native_describe(struct abti_stack *stack, size_t size);

/*
 * Describes the stack of the caller of ABT_init, which may be anywhere: on its thread's stack, however deep, or on
 * one that the program has made for a context of its own. No unit runs in place there before abti_native_measure has
 * found the room.
 */
void abti_native_describe_primary(struct abti_stack *stack);

/*
 * Starts a native thread that is to carry a stream, with a stack of the size that the configuration says. Returns
 * ABT_SUCCESS, MEM or SYS.
 */
int abti_native_start(pthread_t *thread, void *(*run)(void *), void *arg) ABTI_MUST_CHECK;

/* The stack's thread ends, or has no stream any more: the tools forget what abti_native_describe has reported. */
void abti_native_forget(struct abti_stack *stack);

/* Finds the room, on the same native thread, once. This takes some ten microseconds, which ABT_init need not spend. */
void abti_native_measure(struct abti_stack *stack);

#endif
