/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_fork_*: which streams take forked tasks. */
#include "api/handles.h"
#include "fork/workers.h"

int ABTX_fork_start(int num, const ABT_xstream *xstreams)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(num < 0, ABT_ERR_INV_ARG);
    for (int i = 0; i < num; i++) {
        ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstreams[i]), ABT_ERR_INV_XSTREAM);
    }
    for (int i = 0; i < num; i++) {
        int code = abti_workers_add(xstreams[i]);
        if (code != ABT_SUCCESS) {
            ABTX_fork_stop();
            return abti_error(code);
        }
    }
    return ABT_SUCCESS;
}

int ABTX_fork_stop(void)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_workers_remove_all();
    return ABT_SUCCESS;
}
