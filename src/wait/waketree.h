/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking many threads: a wake takes its waker most of a microsecond, and a thread that was woken comes some of them
 * later. So a waker with enough threads on their way leaves the next wake to them.
 */
#ifndef ABTI_WAIT_WAKETREE_H
#define ABTI_WAIT_WAKETREE_H

#include <stdint.h>

/* Wakes the thread that sleeps on the word, or leaves that to others. It may be called in a handler of signals. */
void abti_waketree_wake(_Atomic(uint32_t) *word);

/* A thread that was to be woken so has come. Once for each wake, before it or after it. */
void abti_waketree_arrive(void);

/* Makes the wakes that are left to others. */
void abti_waketree_help(void);

/* In the child of a fork: the threads that were to come are not there. */
void abti_waketree_forget(void);

#endif
