/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short lock for a few dozen instructions. Spinning is bounded: a holder that the system has preempted would otherwise
 * cost its waiters whole time slices, so they give way and then sleep between polls.
 *
 * Lock word: 0 free, 1 held. Zeroed memory is a free lock. In builds that check the order of locks the word has the
 * rank of the lock, too (lock/lockrank.h).
 */
#ifndef ABTI_LOCK_SPIN_H
#define ABTI_LOCK_SPIN_H

#include <stdbool.h>
#include <stdint.h>
#include "arch/cpu.h"
#include "base/atomic.h"
#include "lock/lockrank.h"
#include "lock/single.h"

struct abti_spin {
    _Atomic uint32_t word;
};

enum { ABTI_SPIN_HELD = 1 };

/* Initialises a free lock of that rank. A lock of rank OBJECT may be zeroed memory instead. */
#define ABTI_SPIN_INIT(rank)                                                                                           \
    {                                                                                                                  \
        ABTI_LOCKRANK_WORD(rank)                                                                                       \
    }

/* Makes a free lock of zeroed memory, of which nobody knows yet, so that relaxed is enough. */
ABTI_INLINE void abti_spin_init(struct abti_spin *lock, enum abti_lockrank rank)
{
    if (ABTI_BUILD_ASSERT)
        abti_store_relaxed(&lock->word, ABTI_LOCKRANK_WORD(rank));
}

/* In the child of a fork: makes a free lock of one that a thread of the parent may have held. */
ABTI_INLINE void abti_spin_forget(struct abti_spin *lock, enum abti_lockrank rank)
{
    abti_store_relaxed(&lock->word, ABTI_LOCKRANK_WORD(rank)); /* relaxed: there is no other thread */
}

/*
 * Waits until the lock looks free, with pauses that grow. `step` is 0 at first, and then what the last call returned.
 */
unsigned abti_spin_wait(struct abti_spin *lock, unsigned step);

ABTI_INLINE bool abti_spin_trylock(struct abti_spin *lock)
{
    uint32_t unlocked = ABTI_BUILD_ASSERT ? abti_load_relaxed(&lock->word) & ~(uint32_t)ABTI_SPIN_HELD : 0;
    /* acquire: pairs with the release in abti_spin_unlock */
    bool taken = abti_cas_word(&lock->word, &unlocked, unlocked | ABTI_SPIN_HELD);
    if (ABTI_BUILD_ASSERT && taken)
        abti_lockrank_enter(lock, abti_lockrank_of(unlocked));
    return taken;
}

ABTI_INLINE void abti_spin_lock(struct abti_spin *lock)
{
    if (ABTI_BUILD_ASSERT)
        abti_lockrank_check(lock, abti_lockrank_of(abti_load_relaxed(&lock->word)));
    if (ABTI_LIKELY(abti_spin_trylock(lock)))
        return;
    unsigned step = 0;
    do
        step = abti_spin_wait(lock, step);
    while (!abti_spin_trylock(lock));
}

ABTI_INLINE void abti_spin_unlock(struct abti_spin *lock)
{
    if (ABTI_BUILD_ASSERT)
        abti_lockrank_leave(lock);
    /* release: pairs with the acquire in abti_spin_trylock. relaxed: the rank in the word never changes */
    abti_store_release(&lock->word, ABTI_BUILD_ASSERT ? abti_load_relaxed(&lock->word) - ABTI_SPIN_HELD : 0);
}

/* Whether the caller's native thread holds the lock. It is for assertions, in builds that check. */
ABTI_INLINE bool abti_spin_is_mine(struct abti_spin *lock)
{
    return ABTI_BUILD_ASSERT && abti_lockrank_holds(lock);
}

/* Makes one step, from 0 on, of a loop that polls: it spins, then gives way and sleeps in turn. */
enum { ABTI_BACKOFF_LONGEST = 519 }; /* at this step it sleeps for 25.6 ms */
void abti_backoff(unsigned step);

/* Polls until the condition holds, which another thread is about to make true. */
#define abti_spin_until(condition)                                                                                     \
    do {                                                                                                               \
        for (unsigned step_ = 0; !(condition); step_++)                                                                \
            abti_backoff(step_);                                                                                       \
    } while (0)

/*
 * Spins while *word == expected. False when the deadline (CLOCK_MONOTONIC ns, ABTI_CLOCK_NEVER for none) has passed
 * before. A thread that spins for longer than others take to do a little offers the CPU to other threads now and then.
 */
bool abti_spin_on(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);

#endif
