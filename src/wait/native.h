/* SPDX-License-Identifier: BSD-3-Clause */
/* The wait of a native thread for one wake, which a word tells: WOKEN, by one waker, ends the wait. */
#ifndef ABTI_WAIT_NATIVE_H
#define ABTI_WAIT_NATIVE_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The word, with the values of wait/sleeper.h:
 *
 *   AWAKE -> ASLEEP   by its thread, before the system call
 *   any -> WOKEN      by the one waker, which then makes the system call (abti_word_wake) if it was ASLEEP
 *
 * The word may be gone as soon as its thread has seen WOKEN.
 */

/* Whether the wake has come. acquire: pairs with the exchange to WOKEN in abti_waiter_wake (sync/waiter.c). */
bool abti_native_is_woken(_Atomic(uint32_t) *word);

/*
 * Sleeps until the wake comes. False: the deadline has passed before. Then the thread may call it again for the same
 * wake.
 */
bool abti_native_wait(_Atomic(uint32_t) *word, uint64_t deadline_ns);

/*
 * Waits of the library's own helper threads, which run no units and are in no hurry: sleeps for so long, or until a
 * signal's handler has run. A signal handler may call it.
 */
void abti_pause(uint64_t ns);

/* Sleeps until the semaphore is posted, which a signal handler may do. */
void abti_pause_for(sem_t *posted);

#endif
