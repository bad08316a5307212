/* SPDX-License-Identifier: BSD-3-Clause */
/* How native threads wait for a word. Every wait in the system, but for short sleeps between polls, goes through this.
 */
#ifndef ABTI_WAIT_WORD_H
#define ABTI_WAIT_WORD_H

#include <stdbool.h>
#include <stdint.h>
#include "lock/futex.h"
#include "lock/spin.h"

/*
 * Waits for a word by the policy that configure was given: the thread sleeps, or it spins, and then no thread makes a
 * system call to wake it. The contract is that of lock/futex.h.
 */
bool abti_word_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);

ABTI_INLINE void abti_word_wake(_Atomic uint32_t *word)
{
    if (!ABTI_BUILD_WAIT_ACTIVE)
        abti_futex_wake(word);
}

ABTI_INLINE void abti_word_wake_all(_Atomic uint32_t *word)
{
    if (!ABTI_BUILD_WAIT_ACTIVE)
        abti_futex_wake_all(word);
}

/*
 * Whether the word is no longer `value`. acquire: pairs with the release by which the caller's partner changes it, in
 * abti_waiter_wake (sync/waiter.c), or of the user of ABTX_word_wait
 */
ABTI_INLINE bool abti_word_is_changed(const _Atomic(uint32_t) *word, uint32_t value)
{
    return abti_load_acquire(word) != value;
}

/*
 * Sleeps in the system, whatever the policy, as long as *word is `value`. False: the deadline has passed. acquire: the
 * thread that changes the word does so with release, and then calls abti_futex_wake_all, or abti_futex_wake if there is
 * one sleeper.
 */
bool abti_word_await_change(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_ns);

#endif
