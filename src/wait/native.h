/* A native thread waits for one wake, which is told by a word: WOKEN, by one waker, ends the wait. */
#ifndef ABTI_WAIT_NATIVE_H
#define ABTI_WAIT_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * AWAKE -> ASLEEP by the thread before the system call, any -> WOKEN by its waker, who makes the system call only if it
 * was ASLEEP (abti_word_wake). The word may be gone when its thread has seen WOKEN.
 */
bool abti_native_is_woken(_Atomic(uint32_t) *word);

/* It is woken within so many looks. */
bool abti_native_is_woken_soon(_Atomic(uint32_t) *word, uint32_t looks);

/* Looks for a moment, then sleeps. False when the deadline has passed before. It may be called again for the same wake.
 */
bool abti_native_wait(_Atomic(uint32_t) *word, uint64_t deadline_ns);

#endif
