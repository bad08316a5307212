/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>

#include "os/clock.h"
#include "must.h"

#define SEC ((uint64_t)ABTI_NS_PER_SEC)

/* got is so many seconds after some moment between `begin` and now: it may have taken long. */
static bool is_in(double seconds, uint64_t got, uint64_t begin)
{
    uint64_t ns = (uint64_t)(seconds * (double)SEC);

    return got > begin + ns - SEC / 8 && got < abti_clock_mono_ns() + ns + SEC / 8;
}

static void test_clocks(void)
{
    double real = clock_seconds(CLOCK_REALTIME), wtime = abti_clock_wtime();
    double mono = clock_seconds(CLOCK_MONOTONIC);
    double ns = (double)abti_clock_mono_ns();

    ok(wtime >= real - 1e-3 && wtime <= clock_seconds(CLOCK_REALTIME) + 1e-3, "wall-clock time in seconds");
    ok(ns >= mono * 1e9 - 1e3 && ns <= clock_seconds(CLOCK_MONOTONIC) * 1e9 + 1e3, "monotonic time in nanoseconds");
}

static void test_timespec(void)
{
    struct timespec now, at;
    uint64_t begin = abti_clock_mono_ns();

    clock_gettime(CLOCK_REALTIME, &now);
    at = (struct timespec){.tv_sec = now.tv_sec + 100, .tv_nsec = now.tv_nsec};
    ok(is_in(100, abti_clock_deadline(&at), begin), "in 100 seconds");
    at.tv_sec = now.tv_sec - 1;
    uint64_t deadline = abti_clock_deadline(&at);
    ok(deadline < abti_clock_mono_ns(), "a second ago is in the past");
    at = (struct timespec){0};
    ok(abti_clock_deadline(&at) < abti_clock_mono_ns(), "so is the epoch");
    at.tv_sec = INT64_MIN;
    is_int(abti_clock_deadline(&at), 0, "and the earliest time");
    at.tv_sec = INT64_MAX;
    ok(abti_clock_deadline(&at) == ABTI_CLOCK_NEVER, "the latest time does not come");
    at = (struct timespec){.tv_sec = now.tv_sec + 100000000000, .tv_nsec = 999999999};
    ok(abti_clock_deadline(&at) == ABTI_CLOCK_NEVER, "3000 years do not come either");
    clock_gettime(CLOCK_REALTIME, &now);
    deadline = abti_clock_deadline(&now);
    ok(deadline <= abti_clock_mono_ns(), "now has come");
}

/* Nanoseconds that are more than a second, or less than none, are added to the seconds. */
static void test_odd_nanoseconds(void)
{
    struct timespec now, at;
    uint64_t begin = abti_clock_mono_ns();

    clock_gettime(CLOCK_REALTIME, &now);
    at = (struct timespec){.tv_sec = now.tv_sec + 100, .tv_nsec = now.tv_nsec + 5000000000};
    ok(is_in(105, abti_clock_deadline(&at), begin), "five seconds of nanoseconds");
    at.tv_nsec = now.tv_nsec - 5000000000;
    ok(is_in(95, abti_clock_deadline(&at), begin), "five seconds less");
    at = (struct timespec){.tv_sec = now.tv_sec + 100, .tv_nsec = LONG_MIN};
    is_int(abti_clock_deadline(&at), 0, "292 years less are over");
    at = (struct timespec){.tv_sec = INT64_MIN, .tv_nsec = LONG_MIN};
    is_int(abti_clock_deadline(&at), 0, "as is the least of both");
    at.tv_nsec = LONG_MAX;
    is_int(abti_clock_deadline(&at), 0, "and the least second with the most nanoseconds");
    at = (struct timespec){.tv_sec = INT64_MAX, .tv_nsec = LONG_MIN};
    ok(abti_clock_deadline(&at) == ABTI_CLOCK_NEVER, "the greatest second does not come, with the least nanoseconds");
    at.tv_nsec = LONG_MAX;
    ok(abti_clock_deadline(&at) == ABTI_CLOCK_NEVER, "nor with the most");
    clock_gettime(CLOCK_REALTIME, &now);
    at = (struct timespec){.tv_sec = now.tv_sec - 9223372036, .tv_nsec = LONG_MAX};
    ok(abti_clock_deadline(&at) < abti_clock_mono_ns() + SEC, "what is centuries ago plus centuries is now");
}

static void test_seconds(void)
{
    uint64_t now = abti_clock_mono_ns();

    ok(is_in(50.25, abti_clock_deadline_in(50.25), now), "in so many seconds");
    ok(is_in(70.5, abti_clock_deadline_at(abti_clock_wtime() + 70.5), now), "at a wall-clock time");
    ok(abti_clock_deadline_in(0.0) <= abti_clock_mono_ns(), "no time at all");
    ok(abti_clock_deadline_in(-0.5) < abti_clock_mono_ns(), "in the past");
    is_int(abti_clock_deadline_in(-1.0e300), 0, "long ago");
    is_int(abti_clock_deadline_in(-INFINITY), 0, "for ever ago");
    ok(abti_clock_deadline_in(1.0e300) == ABTI_CLOCK_NEVER, "too far away");
    ok(abti_clock_deadline_in(INFINITY) == ABTI_CLOCK_NEVER, "infinity");
    ok(abti_clock_deadline_in(NAN) == ABTI_CLOCK_NEVER, "not a number");
    ok(abti_clock_deadline_at(0.0) < abti_clock_mono_ns(), "the epoch");
}

int main(void)
{
    test_clocks();
    test_timespec();
    test_odd_nanoseconds();
    test_seconds();
    return done_testing();
}
