/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a user's words: ULTs are suspended, and native threads, which here are also the streams of ULTs that
 * ask for it, poll, give way and sleep on the word itself.
 *
 * The waiters of a word are in a bucket, by a hash of its address, so that a word has no memory of the library, and
 * words that many streams use at once share no line of it as a rule. A wake touches nothing but the bucket, and writes
 * only if somebody sleeps: the word may be gone by then.
 */
#ifndef ABTI_SYNC_WORDQ_H
#define ABTI_SYNC_WORDQ_H

#include <stdbool.h>
#include <stdint.h>
#include "rt/types.h"
#include "sync/waiter.h"
#include "wait/group.h"
#include "wait/sleeper.h"

/* How a stream sleeps that has to answer others meanwhile; the room above fills it in, see stream/dock.c. */
struct abti_word_dock {
    bool (*is_wanted)(abti_es *es);                                            /* it has; NULL is no stream */
    void (*sleep)(abti_es *es, const _Atomic(uint32_t) *word, uint32_t value); /* may come back at any time */
};

/* Such a stream is a waiter of the word without a unit. */
struct abti_docked {
    struct abti_waiter base;
    struct abti_sleeper *sleeper;
};

/*
 * From here on a wake of the word wakes the sleeper, whose sleep has been announced. The caller looks at the word after
 * the first, and does not return before the second.
 */
void abti_wordq_enter(struct abti_docked *docked, const _Atomic(uint32_t) *word, struct abti_sleeper *sleeper);
void abti_wordq_leave(struct abti_docked *docked);

/*
 * Waits until *word is no longer `value`. `num` says how many wait for each other, 0 if that is not known. A ULT is
 * suspended, unless it is to block its native thread, as all other callers do. `meanwhile` is done again and again
 * before the caller sleeps, and after each wake that finds the word unchanged.
 */
void abti_wordq_wait(const _Atomic(uint32_t) *word, uint32_t value, uint32_t num, bool block_native,
                     const struct abti_meanwhile *meanwhile, const struct abti_word_dock *dock);

/* Wakes that number of the waiters, or all if there are fewer. The word may have gone. */
void abti_wordq_wake(const _Atomic(uint32_t) *word, uint32_t num);

/* In the child of a fork: nobody waits. */
void abti_wordq_forget(void);

#endif
