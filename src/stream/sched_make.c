/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of schedulers, and making them. */
#include "os/annotate.h"
#include "stream/sched_impl.h"
#include "unit/tool_event.h"

/* --- BASIC and PRIO: the first pool that has a unit, in an order fixed when the scheduler is made --- */

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

/* Puts the pools that are cheapest to look at first. */
static void order_by_access(abti_sched *sched)
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

static const struct abti_sched_ops basic_ops = {.run = abti_sched_loop, .pick = abti_sched_pick_in_order};

/* --- RANDWS: its own pool, the first; when that is empty what was stolen before, or another pool at random --- */

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

static const struct abti_sched_ops randws_ops = {.run = abti_sched_loop, .pick = randws_pick};

/* --- Predefined schedulers --- */

static const struct abti_sched_ops *ops_of(ABT_sched_predef predef)
{
    switch (predef) {
    case ABT_SCHED_DEFAULT:
    case ABT_SCHED_BASIC:
    case ABT_SCHED_PRIO: return &basic_ops;
    case ABT_SCHED_RANDWS: return &randws_ops;
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
        order_by_access(sched);

    /* A user's pop and push expect a scheduler's stack, so its units go through the scheduler. */
    sched->direct = !abti_annotate_order; /* TSan is informed of switches between a scheduler and its units */
    for (int i = 0; i < num_pools; i++)
        sched->direct = sched->direct && !abti_pool_is_user(pools[i]);
    if (sched->direct && num_pools > 0 && !abti_pool_is_private(sched->order[0]))
        sched->front = sched->order[0];
    *out = sched;
    return ABT_SUCCESS;
}

/* --- User-defined schedulers --- */

static void user_run(abti_sched *sched)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_acquire(sched);
    sched->def.run(sched);
    abti_annotate_release(sched);
    __asm__ volatile(""); /* the frame stays: no tail call */
}

static const struct abti_sched_ops user_ops = {.run = user_run};

int abti_sched_create_user(const ABT_sched_def *def, int num_pools, abti_pool **pools, ABT_sched_config config,
                           abti_sched **out)
{
    abti_sched *sched;
    int code = abti_sched_alloc(ABTI_SCHED_LOOPS, &user_ops, num_pools, pools, &sched);
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
