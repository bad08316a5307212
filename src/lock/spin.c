/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/spin.h"

#include <sched.h>
#include <time.h>
#include "os/clock.h"

enum { SPINS = 100, YIELDS = 20, EACH = YIELDS + 1, SLEEP_NS = 50000, SLEEPS_EACH = 2, MOST_DOUBLINGS = 9 };

/*
 * A thread that has slept gives way as often again before it sleeps anew: if it woke while the lock was just taken it
 * would else lose the time of a longer sleep. Sleeps grow, since thousands of sleepers that poll each 50 us take the
 * processors from the one that is waited for: 4,095 streams that ended at once took 20 to 47 s, and 3 to 9 with sleeps
 * that grow.
 */
void abti_backoff(unsigned step)
{
    if (step < SPINS) {
        abti_cpu_relax();
    } else if ((step - SPINS) % EACH < YIELDS) {
        sched_yield();
    } else {
        unsigned doublings = (step - SPINS) / EACH / SLEEPS_EACH;
        struct timespec ts = {0, (long)SLEEP_NS << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS)};
        nanosleep(&ts, NULL);
    }
}

/*
 * A read of a lock that others take costs them, too: it fetches the line, which they then fetch back to write it. With
 * as many polls as there are waiters at each release, a lock of 32 streams spends its time on that. So a waiter polls
 * less often the longer it waits, and gives way for as long as 32 others take to get their turns before it waits as
 * abti_backoff does: when all streams made their first units, those that slept came 50 us later. The holder of the lock
 * may take it again meanwhile, several times, with all that it guards in its cache. That is meant: turns would move all
 * of it each time, and would wait for waiters that the system has preempted.
 */
unsigned abti_spin_wait(struct abti_spin *lock, unsigned step)
{
    enum { FEWEST_PAUSES = 4, GROWING_STEPS = 5, PATIENT_STEPS = GROWING_STEPS + 60 };
    do {
        for (unsigned i = 0; step < GROWING_STEPS && i < (unsigned)FEWEST_PAUSES << step; i++)
            abti_cpu_relax();
        if (step >= PATIENT_STEPS)
            abti_backoff(SPINS + step - PATIENT_STEPS);
        else if (step >= GROWING_STEPS)
            sched_yield();
        step++;
        /* relaxed: it is only a hint, and abti_spin_trylock, which follows, acquires the lock */
    } while (abti_load_relaxed(&lock->word) & ABTI_SPIN_HELD);
    return step;
}

bool abti_spin_on(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    enum { SPINS = 64, ALONE = 32 }; /* a poll with its pause takes some 20 to 50 ns */
    for (unsigned round = 0;; round++) {
        for (int i = 0; i < SPINS; i++) {
            /* acquire: pairs with the release by which a waker changes the word, as in abti_futex_wait's callers */
            if (abti_load_acquire(word) != expected)
                return true;
            abti_cpu_relax();
        }
        if (deadline_ns != ABTI_CLOCK_NEVER && abti_clock_mono_ns() >= deadline_ns)
            return false;
        if (round >= ALONE)
            sched_yield();
    }
}
