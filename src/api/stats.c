/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of streams. */
#include "api/check.h"
#include "rt/rt.h"
#include "watch/stats.h"

int ABTX_stats_enable(ABT_bool on)
{
    ABTI_FAIL_IF(!ABTI_BUILD_TOOL, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_stats_enable(on);
    return ABT_SUCCESS;
}

int ABTX_stats_print(FILE *fp)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_stats_print(fp);
    return ABT_SUCCESS;
}
