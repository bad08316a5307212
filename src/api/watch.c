/* SPDX-License-Identifier: BSD-3-Clause */
/* What watches the program: statistics, traces, and the check for deadlocks. */
#include "api/check.h"
#include "rt/rt.h"
#include "watch/deadlock.h"
#include "watch/stats.h"
#include "watch/trace.h"

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

int ABTX_trace_start(const char *file)
{
    ABTI_FAIL_IF(!ABTI_BUILD_TOOL, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    return abti_error(abti_trace_start(file));
}

int ABTX_trace_stop(void)
{
    ABTI_FAIL_IF(!ABTI_BUILD_TOOL, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_trace_stop();
    return ABT_SUCCESS;
}

int ABTX_expect_external_wake(int change)
{
    return abti_deadlock_expect(change) ? ABT_SUCCESS : abti_error(ABT_ERR_INV_ARG);
}
