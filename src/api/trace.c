/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces. */
#include "api/check.h"
#include "rt/rt.h"
#include "watch/trace.h"

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
