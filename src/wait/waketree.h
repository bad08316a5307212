/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking many threads: a wake takes its waker most of a microsecond, and a thread that was woken comes some of them
 * later. So a waker with enough threads on their way leaves the next wake to them.
 */
#ifndef ABTI_WAIT_WAKETREE_H
#define ABTI_WAIT_WAKETREE_H

#include <stdint.h>

/* The number of the caller's tree, at least 1. */
uint32_t abti_waketree_own(void);

/* Wakes the thread that sleeps on the word, or leaves that to its tree. It may be called in a handler of signals. */
void abti_waketree_wake(_Atomic(uint32_t) *word);

/* A thread that was to be woken by the tree has come. Once for each wake, before it or after it. */
void abti_waketree_arrive(uint32_t number);

/* Makes the wakes that the tree has left to others. */
void abti_waketree_help(uint32_t number);

/* In the child of a fork: the threads that were to come are not there. */
void abti_waketree_forget(void);

#endif
