/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Argument checks and error codes of the public functions. A build without checks drops every
 * test that is inside ABTI_REFUSE.
 */
#ifndef ABTI_API_CHECK_H
#define ABTI_API_CHECK_H

#include "base/build.h"
#include "base/compiler.h"
#include "rt/handle.h"

/* if (ABTI_REFUSE(wrong argument)) return abti_error(...); */
#define ABTI_REFUSE(condition) (ABTI_BUILD_CHECKS && ABTI_UNLIKELY(condition))

/* What the 1.x API stores in an out-parameter before it looks at anything else. 2.0 leaves it alone until success. */
#define ABTI_PRESET_OUT(out, value)                                                                                    \
    do {                                                                                                               \
        if (!ABTI_BUILD_VER20)                                                                                         \
            *(out) = (value);                                                                                          \
    } while (0)

/* Writes one line to stderr, and nothing for ABT_SUCCESS. */
void abti_error_report(int code, const char *function) ABTI_COLD;

/*
 * Returns the code itself, and reports it where the build asks for that. Every error leaves the library through here.
 */
#define abti_error(code) abti_error_in(code, __func__)

ABTI_INLINE int abti_error_in(int code, const char *function)
{
    if (ABTI_BUILD_PRINT_ERRNO)
        abti_error_report(code, function);
    return code;
}

#endif
