/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_blocking_*: a stream's native thread is left to a ULT that blocks it. */
#include "api/check.h"
#include "stream/blocking.h"
#include "watch/deadlock.h"

/* A unit in a region may wake others when the region has ended. The check for deadlocks cannot know when that is. */
int ABTX_blocking_begin(void)
{
    (void)abti_deadlock_expect(1);
    int code = abti_blocking_begin();
    if (code == ABT_SUCCESS)
        return code;
    (void)abti_deadlock_expect(-1);
    return abti_error(code);
}

int ABTX_blocking_end(void)
{
    int code = abti_blocking_end();
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    (void)abti_deadlock_expect(-1);
    return code;
}
