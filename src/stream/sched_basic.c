/* SPDX-License-Identifier: BSD-3-Clause */
/* BASIC and PRIO: the first pool that has a unit, in an order fixed when the scheduler is made. */
#include "stream/sched_impl.h"

abti_unit *abti_sched_pick_in_order(abti_sched *sched, abti_unit *self)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->order[i];
        abti_unit *unit = abti_pool_pop(pool, ABT_POOL_CONTEXT_OP_POOL_OTHER);
        if (unit)
            return unit;
        if (self && self->pool == pool)
            return self;
    }
    return NULL;
}

static int access_class(const abti_pool *pool)
{
    switch (pool->access) {
    case ABT_POOL_ACCESS_PRIV: return 0;
    case ABT_POOL_ACCESS_SPSC:
    case ABT_POOL_ACCESS_MPSC: return 1;
    default: return 2;
    }
}

void abti_sched_order_by_access(abti_sched *sched)
{
    int n = 0;
    for (int class = 0; class <= 2; class ++) {
        for (int i = 0; i < sched->num_pools; i++) {
            if (access_class(sched->pools[i]) == class)
                sched->order[n++] = sched->pools[i];
        }
    }
    abti_assert(n == sched->num_pools);
}

const struct abti_sched_ops abti_sched_basic_ops = {.run = abti_sched_loop, .pick = abti_sched_pick_in_order};
