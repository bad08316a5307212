/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that streams without units ask for: forked tasks, and ABTX_source_* (include/abt_source.h). */
#include <stdlib.h>
#include "api/handles.h"
#include "fork/workers.h"
#include "stream/source.h"

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

/* --- Not for programs --- */

int ABTX_source_open(abtx_source_fn ask, void *arg, size_t stacksize, ABT_xstream xstream, struct abtx_source **source)
{
    struct abtx_source *new = aligned_alloc(ABTI_CACHE_LINE, sizeof(*new));
    ABTI_FAIL_IF(!new, ABT_ERR_MEM);
    *new = (struct abtx_source){.ask = ask, .arg = arg, .pins = true};
    if (stacksize != abti_rt.config.thread_stacksize)
        new->stacksize = stacksize;
    abti_spin_init(&new->lock, ABTI_RANK_LEAF);
    int code = abti_source_attach(new, xstream);
    if (code != ABT_SUCCESS) {
        free(new);
        return abti_error(code);
    }
    *source = new;
    return ABT_SUCCESS;
}

void ABTX_source_close(struct abtx_source *source)
{
    abti_source_detach_all(source);
    free(source);
}
