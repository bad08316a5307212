/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief.h"

#include "base/assert.h"
#include "os/clock.h"
#include "pool/builtin.h"
#include "pool/stolen.h"
#include "pool/pool_impl.h"
#include "pool/request.h"

/*
 * Whether the thief leaves the pools of others alone for now. It does not even look at them, since each look would cost
 * them a cache miss.
 */
bool abti_thief_rests(struct abti_robber *robber)
{
    struct abti_thief *thief = &robber->thief;
    if (!abti_thief_needs_time(thief))
        return false;
    uint64_t now_ns = abti_clock_mono_ns();
    abti_thief_learn_return(thief, now_ns);
    return !abti_thief_may_steal(thief, now_ns);
}

bool abti_thief_avoids(struct abti_robber *robber, abti_pool *pool)
{
    return abti_thief_rests(robber) && abti_pool_may_ask(pool);
}

/* xorshift32: cheap, and any seed but 0 will do. */
uint32_t abti_robber_choose(struct abti_robber *robber, uint32_t num)
{
    uint32_t x = robber->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    robber->random = x;
    return (uint32_t)(((uint64_t)x * num) >> 32);
}

void abti_robber_note_node(abti_pool *own)
{
    uint8_t node = (uint8_t)(abti_nodes_here() + 1);
    if (abti_load_relaxed(&own->node) != node) /* relaxed: it is a hint */
        abti_store_relaxed(&own->node, node);
}

/* One of its own node, if one of a few is: what is in another node is far from it, and so are the lines it disturbs. */
int abti_robber_aim_slow(struct abti_robber *robber, abti_pool **order, int num)
{
    enum { TRIES = 4 };
    int at = 0;
    abti_robber_note_node(order[0]);
    uint8_t own = abti_load_relaxed(&order[0]->node);
    for (int i = 0; i < TRIES; i++) {
        at = 1 + (int)abti_robber_choose(robber, (uint32_t)num - 1);
        uint8_t node = abti_load_relaxed(&order[at]->node); /* relaxed: it is a hint; 0: nobody has said so */
        if (node == 0 || node == own)
            break;
    }
    return at;
}

/*
 * Tells the policy that the thief has got `unit`, or NULL, from a pool that `busy` was busy with last; NULL: nobody
 * was.
 */
static void tell_booty(struct abti_thief *thief, abti_pool *pool, abti_unit *unit, const struct abti_bias_user *busy)
{
    if (!unit)
        return;
    if (busy && busy == abti_load_relaxed(&pool->server)) /* relaxed: it is a hint */
        abti_thief_learn_booty(thief, abti_clock_mono_ns());
    else
        abti_thief_learn_other(thief, abti_clock_mono_ns());
}

/* Fetches a unit that the thief has taken out of a pool, and returns it. NULL: there is none. */
static abti_unit *fetch_stolen(abti_unit *unit)
{
    if (unit)
        abti_unit_fetch(unit);
    return unit;
}

/*
 * Steals from the ring, with the box locked that gets what is taken beside the first unit, or NULL. First it asks, if
 * somebody is busy with the pool.
 */
static abti_unit *steal_from_ring(struct abti_thief *thief, abti_pool *pool, struct abti_stolen *box)
{
    struct abti_bias_user *me = abti_es_self->bias;
    struct abti_bias_user *busy = abti_load_relaxed(&pool->lock.owner);
    abti_unit *unit = NULL;
    if (!busy) {
        busy = abti_load_relaxed(&pool->lock.last);
    } else if (busy != me) {
        if (!abti_pool_ask(pool, &unit, box, thief->more))
            return NULL;
        if (!unit)
            busy = NULL;
    }
    if (!unit)
        unit = abti_randws_steal(pool, box, thief->more);
    tell_booty(thief, pool, unit, busy);
    return unit;
}

abti_unit *abti_steal(struct abti_robber *robber, abti_pool *pool)
{
    abti_es *es = abti_es_self;
    abti_assert(es && es->bias);
    struct abti_thief *thief = &robber->thief;
    if (!abti_pool_may_ask(pool))
        return abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    if (abti_thief_rests(robber))
        return NULL;
    /* A racy read comes before all else: an empty pool costs no access that others would notice. */
    if (abti_pool_looks_empty(pool))
        return fetch_stolen(abti_stolen_find(pool, es->index));
    struct abti_stolen *box = thief->more > 0 ? abti_stolen_reserve(pool, es->index) : NULL;
    abti_unit *unit = steal_from_ring(thief, pool, box);
    if (box && abti_stolen_unreserve(box))
        robber->left_in = pool;
    return fetch_stolen(unit);
}

abti_unit *abti_steal_left_slow(struct abti_robber *robber)
{
    abti_unit *unit = abti_stolen_take(robber->left_in, abti_es_self->index);
    if (unit)
        abti_thief_learn_more(&robber->thief);
    else
        robber->left_in = NULL;
    return fetch_stolen(unit);
}
