/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of streams and functions. */
#include "api/check.h"
#include "rt/rt.h"
#include "trace/stats.h"

int ABTX_stats_enable(ABT_bool on)
{
    if (!ABTI_BUILD_TOOL)
        return abti_error(ABT_ERR_FEATURE_NA);
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    abti_stats_enable(on);
    return ABT_SUCCESS;
}

int ABTX_stats_print(FILE *fp, ABTX_stats_format format)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    if (ABTI_REFUSE(format != ABTX_STATS_TEXT && format != ABTX_STATS_JSON))
        return abti_error(ABT_ERR_INV_ARG);
    int code = abti_stats_print(fp, format == ABTX_STATS_JSON ? ABTI_STATS_JSON : ABTI_STATS_TEXT);
    return code == ABT_SUCCESS ? code : abti_error(code);
}
