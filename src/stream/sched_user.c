/* SPDX-License-Identifier: BSD-3-Clause */
/* User-defined schedulers. */
#include "os/annotate.h"
#include "stream/sched_impl.h"
#include "unit/exceptions.h"

static void user_run(abti_sched *sched)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_acquire(sched);
    sched->def.run(sched);
    abti_annotate_release(sched);
    __asm__ volatile(""); /* the frame stays: no tail call */
}

const struct abti_sched_ops abti_sched_user_ops = {.run = user_run};

int abti_sched_create_user(const ABT_sched_def *def, int num_pools, abti_pool **pools, ABT_sched_config config,
                           abti_sched **out)
{
    abti_sched *sched;
    int code = abti_sched_alloc(ABTI_SCHED_LOOPS, &abti_sched_user_ops, num_pools, pools, &sched);
    if (code != ABT_SUCCESS)
        return code;
    struct abti_kvconf *conf = config && config != ABT_SCHED_CONFIG_NULL ? &config->conf : NULL;
    sched->automatic = abti_kvconf_get_int(conf, ABTI_SCHED_CONFIG_AUTOMATIC, 0) != 0;
    sched->def = *def;
    if (def->init) {
        code = def->init(sched, config);
        if (code != ABT_SUCCESS) {
            abti_sched_unmake(sched);
            return code;
        }
    }
    *out = sched;
    return ABT_SUCCESS;
}
