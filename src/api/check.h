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
#include "unit/unit.h"

/* Whether an argument is wrong; ABTI_REFUSE_IF(wrong argument, code) returns that error then from the function. */
#define ABTI_REFUSE(condition) (ABTI_BUILD_CHECKS && ABTI_UNLIKELY(condition))
#define ABTI_REFUSE_IF(condition, code) ABTI_FAIL_IF(ABTI_REFUSE(condition), code)

/* The same in all builds. */
#define ABTI_FAIL_IF(condition, code)                                                                                  \
    do {                                                                                                               \
        if (condition)                                                                                                 \
            return abti_error(code);                                                                                   \
    } while (0)

/* Declares the caller's ES, and refuses callers that have none; the second one also before ABT_init. */
#define ABTI_CALLING_ES(es)                                                                                            \
    abti_es *es = abti_es_self;                                                                                        \
    ABTI_REFUSE_IF(!es, ABT_ERR_INV_XSTREAM)
#define ABTI_CALLING_ES_WHEN_UP(es)                                                                                    \
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);                                      \
    ABTI_CALLING_ES(es)

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

/* In the 1.x API tasklets may not wait, except for mutexes. In 2.0 they block their ES. */
ABTI_INLINE bool abti_may_not_wait(void)
{
    abti_es *es = abti_es_self;
    return !ABTI_BUILD_VER20 && ABTI_REFUSE(es && abti_unit_is_tasklet(es->cur));
}

#endif
