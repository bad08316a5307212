/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sanitizer a test has been compiled with, if any, or for which build that takes long, too. */
#ifndef TEST_SANITIZERS_H
#define TEST_SANITIZERS_H

#include "base/build.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#endif

#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

/*
 * The child of a process with several threads can be used. Not under a sanitizer: its allocator has locks of its own,
 * and the child waits for ever when another thread held one of them. (The C library's malloc frees them in the child.)
 * TSan does not follow the fibers into a child.
 */
#define FORKS_WITH_THREADS (!UNDER_ASAN && !UNDER_TSAN)

/* --enable-debug=delays */
#define UNDER_DELAYS ABTI_BUILD_DELAYS

#endif
