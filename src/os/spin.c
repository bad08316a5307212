#include "os/spin.h"

#include <sched.h>
#include <time.h>

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
    /* relaxed: only a hint, the exchange that follows synchronises */
    for (unsigned step = 0; abti_load_relaxed(&lock->word); step++)
        abti_backoff(step);
}
