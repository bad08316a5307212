/* What a test needs and does not test: calls that must succeed, and the time. */
#ifndef TEST_MUST_H
#define TEST_MUST_H

#include <time.h>

#include "abt.h"
#include "tap.h"

#define must(call) must_succeed((call), #call, __FILE__, __LINE__)

static inline void must_succeed(int code, const char *call, const char *file, int line)
{
    if (code != ABT_SUCCESS)
        bail_out("%s:%d: %s gives %d", file, line, call, code);
}

/* Seconds, from some start. */
static inline double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

#endif
