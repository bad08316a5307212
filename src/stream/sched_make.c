/* SPDX-License-Identifier: BSD-3-Clause */
/* Making predefined schedulers. */
#include "os/annotate.h"
#include "stream/sched_impl.h"

static const struct abti_sched_ops *ops_of(ABT_sched_predef predef)
{
    switch (predef) {
    case ABT_SCHED_DEFAULT:
    case ABT_SCHED_BASIC:
    case ABT_SCHED_PRIO: return &abti_sched_basic_ops;
    case ABT_SCHED_RANDWS: return &abti_sched_randws_ops;
    case ABT_SCHED_BASIC_WAIT: return &abti_sched_basic_wait_ops;
    }
    return NULL;
}

int abti_sched_create_basic(ABT_sched_predef predef, int num_pools, abti_pool **pools, const struct abti_kvconf *conf,
                            abti_sched **out)
{
    const struct abti_sched_ops *ops = ops_of(predef);
    if (!ops)
        return ABT_ERR_INV_SCHED_PREDEF;
    abti_sched *sched;
    int code =
        abti_sched_alloc(predef == ABT_SCHED_DEFAULT ? ABT_SCHED_BASIC : (int)predef, ops, num_pools, pools, &sched);
    if (code != ABT_SUCCESS)
        return code;
    sched->automatic = abti_kvconf_get_int(conf, ABTI_SCHED_CONFIG_AUTOMATIC, 1) != 0;
    int freq = abti_kvconf_get_int(conf, ABTI_SCHED_CONFIG_FREQ, 0);
    if (freq > 0)
        sched->event_freq = (uint32_t)freq;
    if (sched->kind == ABT_SCHED_BASIC || sched->kind == ABT_SCHED_BASIC_WAIT)
        abti_sched_order_by_access(sched);

    /* A user's pop and push expect a scheduler's stack, so its units go through the scheduler. */
    sched->direct = !abti_annotate_order; /* TSan is informed of switches between a scheduler and its units */
    for (int i = 0; i < num_pools; i++)
        sched->direct = sched->direct && !abti_pool_is_user(pools[i]);
    if (sched->direct && num_pools > 0 && !abti_pool_is_private(sched->order[0]))
        sched->front = sched->order[0];
    *out = sched;
    return ABT_SUCCESS;
}
