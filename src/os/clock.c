/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/clock.h"

double abti_clock_wtime(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + 1.0e-9 * (double)ts.tv_nsec;
}

uint64_t abti_clock_mono_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * ABTI_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Differences of any two times that a timespec can hold, be its tv_nsec out of bounds, fit in. */
typedef __int128 wide;

/* Returns now + diff, at most ABTI_CLOCK_NEVER, or 0 if that has passed. */
static uint64_t deadline_from(uint64_t now, wide diff)
{
    if (diff <= 0)
        return 0;
    return diff > ABTI_CLOCK_NEVER - now ? ABTI_CLOCK_NEVER : now + (uint64_t)diff;
}

uint64_t abti_clock_deadline(const struct timespec *realtime)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    wide diff = ((wide)realtime->tv_sec - now.tv_sec) * ABTI_NS_PER_SEC + realtime->tv_nsec - now.tv_nsec;
    return deadline_from(abti_clock_mono_ns(), diff);
}

uint64_t abti_clock_deadline_at(double wtime)
{
    return abti_clock_deadline_in(wtime - abti_clock_wtime());
}

uint64_t abti_clock_deadline_in(double secs)
{
    double ns = secs * ABTI_NS_PER_SEC;
    uint64_t now = abti_clock_mono_ns();

    /* The bounds are well inside the range of int64_t, so that the conversion is defined; NaN fails the first test. */
    if (!(ns < 9.0e18))
        return ABTI_CLOCK_NEVER;
    return ns < -9.0e18 ? 0 : deadline_from(now, (int64_t)ns);
}
