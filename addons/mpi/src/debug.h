/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditions, checked in builds for tests: --enable-debug=ub_assert. */
#ifndef ABTMPI_DEBUG_H
#define ABTMPI_DEBUG_H

#include <stdio.h>
#include <stdlib.h>

#ifndef ABTMPI_BUILD_ASSERT
#define ABTMPI_BUILD_ASSERT 0
#endif

/* Asserts what the caller has to see to. The condition has no side effects, and is evaluated only where it is checked.
 */
#define abtmpi_assert(condition)                                                                                       \
    (ABTMPI_BUILD_ASSERT && __builtin_expect(!(condition), 0) ? abtmpi_assert_failed(#condition, __FILE__, __LINE__)   \
                                                              : (void)0)

/* Writes one line to stderr, then aborts. */
__attribute__((noreturn, cold)) static inline void abtmpi_assert_failed(const char *condition, const char *file,
                                                                        int line)
{
    fprintf(stderr, "libabtmpi: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

#endif
