/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditions of functions and protocols, checked in builds for tests: --enable-debug=ub_assert. */
#ifndef ABTI_BASE_ASSERT_H
#define ABTI_BASE_ASSERT_H

#include "base/build.h"
#include "base/compiler.h"

/*
 * Asserts a duty of the caller. The condition has no side effects, and may read only what the caller may read:
 * it is compiled in every build, and evaluated only where it is checked.
 */
#define abti_assert(condition)                                                                                         \
    (ABTI_BUILD_ASSERT && ABTI_UNLIKELY(!(condition)) ? abti_assert_failed(#condition, __FILE__, __LINE__) : (void)0)

/* Writes one line to stderr, then aborts. */
ABTI_NORETURN void abti_assert_failed(const char *condition, const char *file, int line) ABTI_COLD;

#endif
