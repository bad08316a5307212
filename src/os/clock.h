/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time. Users give and get wall-clock time (CLOCK_REALTIME); everything that waits inside the library uses deadlines in
 * nanoseconds of CLOCK_MONOTONIC, which nobody can set back. ABTI_CLOCK_NEVER is the deadline that does not come.
 */
#ifndef ABTI_OS_CLOCK_H
#define ABTI_OS_CLOCK_H

#include <stdint.h>
#include <time.h>
#include "base/compiler.h"

#define ABTI_CLOCK_NEVER UINT64_MAX
#define ABTI_NS_PER_SEC 1000000000

/* Returns seconds of CLOCK_REALTIME. */
double abti_clock_wtime(void);

/* Returns nanoseconds of CLOCK_MONOTONIC. */
uint64_t abti_clock_mono_ns(void);

/*
 * Monotonic deadlines from what users give: a point in wall-clock time, as timespec or in seconds, or a time from now
 * in seconds. A time in the past gives 0, so that a waiter need not look at the clock again, one too far away (or not
 * a number) gives ABTI_CLOCK_NEVER. A tv_nsec of a second or more, or below 0, counts for what it says.
 */
uint64_t abti_clock_deadline(const struct timespec *realtime);
uint64_t abti_clock_deadline_at(double wtime);
uint64_t abti_clock_deadline_in(double secs);

/* The same from a deadline of the extensions, for which ABTX_FOREVER stands for none, and back. */
ABTI_INLINE uint64_t abti_clock_deadline_of(int64_t deadline)
{
    return deadline == INT64_MAX ? ABTI_CLOCK_NEVER : deadline > 0 ? (uint64_t)deadline : 0;
}

ABTI_INLINE int64_t abti_clock_deadline_for_user(uint64_t deadline_ns)
{
    return deadline_ns < INT64_MAX ? (int64_t)deadline_ns : INT64_MAX;
}

#endif
