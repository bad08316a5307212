/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditions and the states of protocols, checked in builds for tests: --enable-debug=ub_assert. */
#ifndef ABTIO_DEBUG_H
#define ABTIO_DEBUG_H

#include <pthread.h>
#include <stdbool.h>

#ifndef ABTIO_BUILD_ASSERT
#define ABTIO_BUILD_ASSERT 0
#endif

/*
 * Asserts what the caller has to see to. The condition has no side effects, and may read only what the caller may read:
 * it is compiled in every build, and evaluated only where it is checked.
 */
#define abtioi_assert(condition)                                                                                       \
    (ABTIO_BUILD_ASSERT && __builtin_expect(!(condition), 0) ? abtioi_assert_failed(#condition, __FILE__, __LINE__)    \
                                                             : (void)0)

/* Writes one line to stderr, then aborts. */
__attribute__((noreturn, cold)) void abtioi_assert_failed(const char *condition, const char *file, int line);

/* Whether a thread holds the lock. If none does it is taken here, after which the assertion that asks fails. */
static inline bool abtioi_is_held(pthread_mutex_t *lock)
{
    return pthread_mutex_trylock(lock) != 0;
}

#endif
