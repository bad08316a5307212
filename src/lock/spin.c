/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/spin.h"

#include <sched.h>
#include <time.h>
#include "os/clock.h"

enum { SPIN_STEPS = 100, YIELD_STEPS = 120, SLEEP_NS = 50000 };

void abti_backoff(unsigned step)
{
    if (step < SPIN_STEPS) {
        abti_cpu_relax();
    } else if (step < YIELD_STEPS) {
        sched_yield();
    } else {
        struct timespec ts = {0, SLEEP_NS};
        nanosleep(&ts, NULL);
    }
}

/*
 * A look at a lock that others take costs them, too: it fetches the line, which they then fetch back to write it. With
 * as many looks as there are waiters at each release, a lock of 32 streams spends its time on that. So a waiter looks
 * less often the longer it waits, until it also gives way, and in the end sleeps, as abti_backoff does. Who holds the
 * lock may take it again meanwhile, several times, with all that it guards in its cache. That is meant: turns would
 * move all of it each time, and would wait for waiters that the system has preempted. In its longest pause a waiter
 * waits 3 to 12 us, which is less than a sleep: with 5 steps in place of 7, ULTs of 16 streams that share a pool
 * took 1.4 times as long, simulated. And it pauses before it gives way: a waiter that gives way 20 times in a row
 * sleeps after 4 us, and a mutex of 64 streams took 112 to 193 ns then, by where its waiters slept, in place of 106 to
 * 110.
 */
unsigned abti_spin_wait(struct abti_spin *lock, unsigned step)
{
    enum { FEWEST_PAUSES = 4, GROWING_STEPS = 7, LATER_PAUSES = 64 };
    do {
        unsigned pauses = step < GROWING_STEPS ? (unsigned)FEWEST_PAUSES << step : LATER_PAUSES;
        for (unsigned i = 0; i < pauses; i++)
            abti_cpu_relax();
        if (step >= GROWING_STEPS)
            abti_backoff(SPIN_STEPS + step - GROWING_STEPS);
        step++;
        /* relaxed: it is only a hint, and abti_spin_trylock, which follows, acquires the lock */
    } while (abti_load_relaxed(&lock->word) & ABTI_SPIN_HELD);
    return step;
}

bool abti_spin_on(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    enum { LOOKS = 64, ALONE = 32 }; /* a look with its pause takes some 20 to 50 ns */
    for (unsigned round = 0;; round++) {
        for (int i = 0; i < LOOKS; i++) {
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
