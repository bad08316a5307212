/* SPDX-License-Identifier: BSD-3-Clause */
/* How much stack the functions of ULTs use. */
#include "api/check.h"
#include "watch/info.h"
#include "os/annotate.h"
#include "rt/rt.h"
#include "run/begin.h"
#include "unit/stackuse.h"

int ABTX_stack_usage_sample(int every)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(every < 0, ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(abti_annotate_on && every > 0, ABT_ERR_FEATURE_NA);
    int code = abti_stackuse_sample((uint32_t)every, false);
    abti_entry_watch();
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_stack_usage_get(void (*thread_func)(void *), size_t *most, size_t *samples)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    struct abti_stack_use use = abti_stackuse_of(thread_func);
    *most = use.most;
    *samples = (size_t)use.samples;
    return ABT_SUCCESS;
}

int ABTX_info_print_stack_usage(FILE *fp)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_info_print_stack_usage(fp);
    fflush(fp);
    return ABT_SUCCESS;
}
