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

void abti_spin_wait(struct abti_spin *lock)
{
    /* relaxed: it is only a hint, and abti_spin_trylock, which follows, acquires the lock */
    abti_spin_until(!(abti_load_relaxed(&lock->word) & ABTI_SPIN_HELD));
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
