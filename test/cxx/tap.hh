/* SPDX-License-Identifier: BSD-3-Clause */
// Test Anything Protocol for programs in C++, as test/tap.h for C.
#ifndef TEST_CXX_TAP_HH
#define TEST_CXX_TAP_HH

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "patience.h"

static std::atomic<int> tap_count(0), tap_failed(0);

static inline bool ok(bool passed, const char *what)
{
    int number = ++tap_count;
    std::printf("%s %d - %s\n", passed ? "ok" : "not ok", number, what);
    std::fflush(stdout);
    tap_begin_wait();
    if (!passed) {
        tap_failed++;
        std::fprintf(stderr, "# failed: %s\n", what);
    }
    return passed;
}

static inline void must(int code)
{
    if (code == 0)
        return;
    std::printf("Bail out! a call that has to succeed gives %d\n", code);
    std::fflush(stdout);
    std::_Exit(255);
}

static inline int done_testing()
{
    std::printf("1..%d\n", tap_count.load());
    return tap_failed > 0;
}

#endif
