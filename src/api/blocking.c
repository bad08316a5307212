/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_blocking_*: a native thread of a stream's, for a ULT that blocks it. */
#include "api/check.h"
#include "carrier/blocking.h"
#include "watch/deadlock.h"

/* Who is in a region may wake others when it is over. The check for deadlocks cannot know when that is. */
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
    if (code != ABT_SUCCESS)
        return abti_error(code);
    (void)abti_deadlock_expect(-1);
    return code;
}
