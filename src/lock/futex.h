/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleep on a 4-byte word until it changes: the one system primitive that every wait in the library rests on. */
#ifndef ABTI_LOCK_FUTEX_H
#define ABTI_LOCK_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sleeps while *word == expected, until a wake, the deadline (CLOCK_MONOTONIC ns, ABTI_CLOCK_NEVER for none), a signal,
 * or for no reason at all. The caller looks at the word again in a loop. Returns false when the deadline has passed.
 */
bool abti_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);

/* Wakes one sleeper. The word's memory may be gone already: it is only an address here. */
void abti_futex_wake(_Atomic uint32_t *word);
void abti_futex_wake_all(_Atomic uint32_t *word);

#endif
