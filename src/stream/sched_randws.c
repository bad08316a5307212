/* SPDX-License-Identifier: BSD-3-Clause */
/* RANDWS: the own pool, the first, and when that is empty what was stolen before, or one of the others at random. */
#include "unit/tool_event.h"
#include "stream/sched_impl.h"

static abti_unit *randws_pick(abti_sched *sched, abti_unit *self)
{
    abti_pool *own = sched->pools[0];
    abti_unit *unit = abti_pool_pop(own, ABT_POOL_CONTEXT_OWNER_PRIMARY);
    if (unit || (unit = abti_steal_left(&sched->robber)) != NULL)
        return unit;
    if (self && self->pool == own)
        return self;
    if (sched->num_pools < 2)
        return NULL;
    struct abti_robber *robber = &sched->robber;
    int at = abti_robber_aim(robber, sched->order, sched->num_pools);
    abti_pool *victim = sched->order[at];
    unit = abti_steal(robber, victim);
    if (!unit && self && self->pool == victim)
        return self;
    if (unit)
        abti_tool_event_own(ABTI_EVENT_STEAL, abti_es_self, unit);
    return unit;
}

const struct abti_sched_ops abti_sched_randws_ops = {.run = abti_sched_loop, .pick = randws_pick};
