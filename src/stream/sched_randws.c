/* SPDX-License-Identifier: BSD-3-Clause */
/* RANDWS: the own pool, the first, and when that is empty one of the others at random. */
#include "unit/tool_event.h"
#include "stream/sched_impl.h"

/* xorshift32: cheap, and any seed but 0 will do. */
static uint32_t next_random(abti_sched *sched)
{
    uint32_t x = sched->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    sched->random = x;
    return x;
}

static abti_unit *randws_pick(abti_sched *sched, abti_unit *self)
{
    abti_pool *own = sched->pools[0];
    abti_unit *unit = abti_pool_pop(own, ABT_POOL_CONTEXT_OWNER_PRIMARY);
    if (unit)
        return unit;
    if (self && self->pool == own)
        return self;
    if (sched->num_pools < 2)
        return NULL;
    uint32_t others = (uint32_t)sched->num_pools - 1;
    abti_pool *victim = sched->pools[1 + next_random(sched) % others];
    unit = abti_steal(&sched->thief, victim);
    if (!unit && self && self->pool == victim)
        return self;
    if (unit)
        abti_tool_event_own(ABTI_EVENT_STEAL, abti_es_self, unit);
    return unit;
}

const struct abti_sched_ops abti_sched_randws_ops = {.run = abti_sched_loop, .pick = randws_pick};
