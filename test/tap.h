/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test Anything Protocol, the little of it that our tests need. Any thread and any work unit may call ok(); a test ends
 * with `return done_testing();`, which prints the plan. What failed is told on stderr, with file and line.
 */
#ifndef TEST_TAP_H
#define TEST_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patience.h"

static atomic_int tap_count;  /* numbers given out so far */
static atomic_int tap_failed; /* how many of them failed */

/* ok(cond, format, ...): one test. True if it passed. */
#define ok(cond, ...) tap_ok((cond) ? true : false, __FILE__, __LINE__, __VA_ARGS__)
#define pass(...) tap_ok(true, __FILE__, __LINE__, __VA_ARGS__)
#define fail(...) tap_ok(false, __FILE__, __LINE__, __VA_ARGS__)

/* is_int(got, expected, format, ...): the two integers are the same; likewise for pointers and strings (NULL allowed).
 */
#define is_int(got, expected, ...) tap_is_int((intmax_t)(got), (intmax_t)(expected), __FILE__, __LINE__, __VA_ARGS__)
#define is_ptr(got, expected, ...) tap_is_ptr((got), (expected), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, expected, ...) tap_is_str((got), (expected), __FILE__, __LINE__, __VA_ARGS__)

/* ok_abt(call): an ABT function succeeds. ok_err(call, code): it returns that code. */
#define ok_abt(call) is_int((call), 0, "%s", #call)
#define ok_err(call, code) is_int((call), (code), "%s gives %s", #call, #code)

/* What fmt makes, as text that fits into one line of TAP. */
static inline void tap_format(char text[512], const char *fmt, va_list args)
{
    vsnprintf(text, 512, fmt, args);
    for (char *c = text; *c; c++) {
        if (*c == '\n' || *c == '#')
            *c = ' '; /* either would end the description */
    }
}

__attribute__((format(printf, 1, 2))) static inline void diag(const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    tap_format(text, fmt, args);
    va_end(args);
    fprintf(stderr, "# %s\n", text);
}

/* The lock makes the numbers appear in sequence. */
static inline void tap_result(const char *result, const char *mark, const char *text)
{
    flockfile(stdout);
    printf("%s %d %s %s\n", result, atomic_fetch_add(&tap_count, 1) + 1, mark, text);
    fflush(stdout);
    funlockfile(stdout);
    tap_begin_wait();
}

static inline bool tap_vok(bool passed, const char *file, int line, const char *fmt, va_list args)
{
    char text[512];

    tap_format(text, fmt, args);
    tap_result(passed ? "ok" : "not ok", "-", text);
    if (!passed) {
        atomic_fetch_add(&tap_failed, 1);
        diag("failed: %s", text);
        diag("  at %s:%d", file, line);
    }
    return passed;
}

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool passed, const char *file, int line,
                                                                const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tap_vok(passed, file, line, fmt, args);
    va_end(args);
    return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_int(intmax_t got, intmax_t expected, const char *file,
                                                                    int line, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (!tap_vok(got == expected, file, line, fmt, args))
        diag("  got %jd, expected %jd", got, expected);
    va_end(args);
    return got == expected;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_ptr(const void *got, const void *expected,
                                                                    const char *file, int line, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (!tap_vok(got == expected, file, line, fmt, args))
        diag("  got %p, expected %p", got, expected);
    va_end(args);
    return got == expected;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_str(const char *got, const char *expected,
                                                                    const char *file, int line, const char *fmt, ...)
{
    bool same = got == expected || (got && expected && !strcmp(got, expected));
    va_list args;

    va_start(args, fmt);
    if (!tap_vok(same, file, line, fmt, args))
        diag("  got \"%s\", expected \"%s\"", got ? got : "(null)", expected ? expected : "(null)");
    va_end(args);
    return same;
}

/* skip(n, why): n tests that cannot be made here. maint/check counts what is told on stderr. */
__attribute__((format(printf, 2, 3))) static inline void skip(int n, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    tap_format(text, fmt, args);
    va_end(args);
    diag("skipped %d: %s", n, text);
    while (n-- > 0)
        tap_result("ok", "# SKIP", text);
}

/* The whole program cannot be run here; call it before any test. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void skip_all(const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    tap_format(text, fmt, args);
    va_end(args);
    printf("1..0 # SKIP %s\n", text);
    exit(0);
}

/* Nothing that follows would make sense. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void bail_out(const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    tap_format(text, fmt, args);
    va_end(args);
    printf("Bail out! %s\n", text);
    fflush(stdout);
    _Exit(255);
}

/* Prints the plan; what main returns. */
static inline int done_testing(void)
{
    int count = atomic_load(&tap_count), failed = atomic_load(&tap_failed);

    printf("1..%d\n", count);
    fflush(stdout);
    if (failed)
        diag("%d of %d failed", failed, count);
    return failed || !count;
}

/* How many seconds a stress test may take: ABT_TEST_SECONDS, or what the test thinks right. */
static inline double tap_seconds(double seconds)
{
    const char *text = getenv("ABT_TEST_SECONDS");

    return text && *text ? strtod(text, NULL) : seconds;
}

#endif
