/* SPDX-License-Identifier: BSD-3-Clause */
/* The place where a native thread sleeps until it is woken. doc/memory-model.md proves that no wake is lost. */
#ifndef ABTI_WAIT_SLEEPER_H
#define ABTI_WAIT_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"
#include "base/compiler.h"

/*
 * One sleeper is the place of one native thread: an ES's, or an external thread's.
 *
 *   AWAKE -> ASLEEP, IN_LOOP   by its thread, before the last poll of its object
 *   ASLEEP -> WOKEN            by one waker, which then makes the one system call, or leaves it to others. The upper
 *                              bits have the number of its tree and its CPU
 *   IN_LOOP -> WOKEN           likewise, for a signal to the file descriptor in the upper bits, in a tree of number 0
 *   any -> AWAKE               by its thread
 */
enum { ABTI_AWAKE = 0, ABTI_ASLEEP = 1, ABTI_WOKEN = 2, ABTI_IN_LOOP = 3, ABTI_SLEEPER_BITS = 2 };

struct abti_sleeper {
    _Atomic(uint32_t) word;
    bool beside;    /* its thread's: it was woken on the very CPU that its waker ran on */
} ABTI_ALIGNED(16); /* the join word has tags in the low bits of its address */

/* Announces that the thread, which is awake, is about to sleep. It must poll its object after this. */
void abti_sleeper_prepare(struct abti_sleeper *s);

/* Announces a sleep in a user-defined loop, which a signal to the descriptor ends. abti_sleeper_cancel follows. */
void abti_sleeper_prepare_fd(struct abti_sleeper *s, int signal_fd);

/* Sleeps until the thread is woken or the deadline has passed. True if it was woken. Leaves the sleeper AWAKE. */
bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns);

/* Takes the announcement back. True if the thread was woken meanwhile. */
bool abti_sleeper_cancel(struct abti_sleeper *s);

/* Whether a wake has come since the announcement. */
bool abti_sleeper_is_woken(struct abti_sleeper *s);

/* A racy read by another thread: it is asleep, or about to be, and nobody has woken it. */
ABTI_INLINE bool abti_sleeper_is_asleep(const struct abti_sleeper *s)
{
    return abti_load_seq_cst(&s->word) == ABTI_ASLEEP; /* seq_cst: pairs with abti_sleeper_prepare */
}

/* Wakes the thread if it is asleep or about to be. True if this call did. */
bool abti_sleeper_wake(struct abti_sleeper *s);

/* It says which thread is to be woken, and how. NULL: none. */
typedef struct abti_wakeup *abti_wakeup;

/*
 * The two halves of abti_sleeper_wake. By the first the caller becomes the one that wakes the thread, under the lock
 * that keeps the sleeper there. NULL: the thread is awake, or another one wakes it. By the second it makes the system
 * call, without that lock, on the same native thread, whose tree the first has named. In between the thread does not
 * sleep, as under a lock, and does not switch to what may go on elsewhere.
 */
abti_wakeup abti_sleeper_claim(struct abti_sleeper *s) ABTI_MUST_CHECK;

void abti_wakeup_send(abti_wakeup wakeup);

/*
 * Whether the thread comes back as soon as it is woken. False: it waits in a user-defined function, which may take
 * long.
 */
bool abti_wakeup_is_sure(abti_wakeup wakeup);

#endif
