/*
 * Short lock for a few dozen instructions. Spinning is bounded: a holder that the system has preempted would otherwise
 * cost its waiters whole time slices, so they give way and then sleep between looks.
 *
 * Lock word: 0 free, 1 held. Zeroed memory is a free lock.
 */
#ifndef ABTI_OS_SPIN_H
#define ABTI_OS_SPIN_H

#include <stdbool.h>
#include <stdint.h>
#include "arch/cpu.h"
#include "base/atomic.h"
#include "os/single.h"

struct abti_spin {
    _Atomic uint32_t word;
};

/* Waits until the lock looks free. */
void abti_spin_wait(struct abti_spin *lock);

ABTI_INLINE bool abti_spin_trylock(struct abti_spin *lock)
{
    uint32_t unlocked = 0;
    /* acquire: pairs with the release in abti_spin_unlock */
    return abti_cas_word(&lock->word, &unlocked, 1);
}

ABTI_INLINE void abti_spin_lock(struct abti_spin *lock)
{
    while (ABTI_UNLIKELY(!abti_spin_trylock(lock)))
        abti_spin_wait(lock);
}

ABTI_INLINE void abti_spin_unlock(struct abti_spin *lock)
{
    abti_store_release(&lock->word, 0);
}

/* Bounded spinning, then giving way, then sleeping: one step of any "look again later" loop. `step` counts from 0. */
void abti_backoff(unsigned step);

/* Looks until the condition holds, which another thread is about to make true. */
#define abti_spin_until(condition)                                                                                     \
    do {                                                                                                               \
        for (unsigned step_ = 0; !(condition); step_++)                                                                \
            abti_backoff(step_);                                                                                       \
    } while (0)

/*
 * Spins while *word == expected. False when the deadline (CLOCK_MONOTONIC ns, ABTI_CLOCK_NEVER for none) has passed
 * before. Who spins for longer than others take to do a little offers the CPU to other threads now and then.
 */
bool abti_spin_on(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);

#endif
