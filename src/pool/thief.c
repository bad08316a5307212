/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief.h"

#include "base/assert.h"
#include "os/clock.h"
#include "pool/builtin.h"
#include "pool/wish.h"

/*
 * Whether the thief leaves the pools of others alone for now. It does not even look at them, since each look would cost
 * them a cache miss.
 */
static bool thief_rests(struct abti_thief *thief)
{
    if (!abti_thief_needs_time(thief))
        return false;
    uint64_t now_ns = abti_clock_mono_ns();
    abti_thief_learn_return(thief, now_ns);
    return !abti_thief_may_steal(thief, now_ns);
}

bool abti_thief_avoids(struct abti_thief *thief, abti_pool *pool)
{
    return thief_rests(thief) && abti_pool_may_ask(pool);
}

/*
 * Tells the policy that the thief has got `unit`, or NULL, from a pool that `busy` was busy with last; NULL: nobody
 * was.
 */
static void tell_booty(struct abti_thief *thief, abti_pool *pool, abti_unit *unit, const struct abti_bias_user *busy)
{
    /* relaxed: it is a hint */
    if (unit && busy && busy == abti_load_relaxed(&pool->server))
        abti_thief_learn_booty(thief, abti_clock_mono_ns());
    else
        abti_thief_learn_other(thief);
}

static abti_unit *take_unasked(struct abti_thief *thief, abti_pool *pool, const struct abti_bias_user *busy)
{
    abti_unit *unit = abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    tell_booty(thief, pool, unit, busy);
    return unit;
}

abti_unit *abti_steal(struct abti_thief *thief, abti_pool *pool)
{
    abti_assert(abti_es_self && abti_es_self->bias);
    struct abti_bias_user *me = abti_es_self->bias;
    abti_unit *unit;
    if (!abti_pool_may_ask(pool))
        return abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    /* A racy read comes before all else: an empty pool costs no access that others would notice. */
    if (thief_rests(thief) || abti_pool_looks_empty(pool))
        return NULL;
    /* relaxed: these are hints */
    struct abti_bias_user *busy = abti_load_relaxed(&pool->lock.owner);
    if (!busy) {
        busy = abti_load_relaxed(&pool->lock.last);
    } else if (busy != me) {
        if (!abti_pool_ask(pool, &unit))
            return NULL;
        if (unit) {
            tell_booty(thief, pool, unit, busy);
            return unit;
        }
        busy = NULL;
    }
    return take_unasked(thief, pool, busy);
}
