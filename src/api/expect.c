/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program tells the checks that watch it. */
#include <abt.h>
#include "api/check.h"
#include "watch/deadlock.h"

int ABTX_expect_external_wake(int change)
{
    return abti_deadlock_expect(change) ? ABT_SUCCESS : abti_error(ABT_ERR_INV_ARG);
}
