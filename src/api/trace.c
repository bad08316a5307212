/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces. */
#include "api/check.h"
#include "rt/rt.h"
#include "trace/trace.h"

int ABTX_trace_start(const char *file)
{
    if (!ABTI_BUILD_TOOL)
        return abti_error(ABT_ERR_FEATURE_NA);
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    int code = abti_trace_start(file);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_trace_stop(void)
{
    if (!ABTI_BUILD_TOOL)
        return abti_error(ABT_ERR_FEATURE_NA);
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    abti_trace_stop();
    return ABT_SUCCESS;
}
