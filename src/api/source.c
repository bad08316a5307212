/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_source_*: work that is made when a stream has none. Not for programs, see include/abt_source.h. */
#include <stdlib.h>
#include "api/handles.h"
#include "rt/rt.h"
#include "stream/source.h"

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
