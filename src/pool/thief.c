/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief.h"

#include "os/clock.h"
#include "pool/builtin.h"
#include "pool/stolen.h"
#include "pool/pool_impl.h"
#include "pool/request.h"

bool abti_pool_truce_lasts(abti_pool *pool)
{
    return abti_clock_mono_ns() < abti_truce_until(&pool->truce) && abti_pool_may_ask(pool);
}

/* Whether the thief, which may just have run an earlier stolen unit, may steal from the pool. */
static bool may_steal_from(struct abti_robber *robber, abti_pool *pool)
{
    if (!abti_thief_needs_time(&robber->thief, &pool->truce))
        return true;
    uint64_t now_ns = abti_clock_mono_ns();
    abti_thief_learn_return(&robber->thief, robber->truce, now_ns);
    return abti_truce_try(&pool->truce, now_ns);
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
int abti_robber_aim_near(struct abti_robber *robber, abti_pool **order, int num)
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
 * Tells the policy that the thief has got `unit`, or NULL, from a pool that another ES is busy with, or not. A ULT that
 * has started tells nothing of the units there: it may be the one that makes them, which else would end the truce.
 */
static void tell_steal(struct abti_robber *robber, abti_pool *pool, abti_unit *unit, bool busy)
{
    if (!unit || abti_unit_has_started(unit))
        return;
    robber->truce = &pool->truce;
    abti_thief_learn_steal(&robber->thief, abti_clock_mono_ns(), busy);
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
static abti_unit *steal_from_ring(struct abti_robber *robber, abti_pool *pool, struct abti_stolen *box)
{
    unsigned more = robber->thief.more;
    struct abti_bias_user *me = abti_es_self->bias;
    struct abti_bias_user *owner = abti_load_relaxed(&pool->lock.owner);
    abti_unit *unit = NULL;
    bool busy = !owner && abti_bias_is_other_at_work(&pool->lock, me);
    if (owner && owner != me) {
        if (!abti_pool_ask(pool, &unit, box, more))
            return NULL;
        busy = unit != NULL;
    }
    if (!unit)
        unit = abti_randws_steal(pool, box, more);
    tell_steal(robber, pool, unit, busy);
    return unit;
}

abti_unit *abti_steal(struct abti_robber *robber, abti_pool *pool)
{
    abti_es *es = abti_es_self;
    abti_assert(es && es->bias);
    if (!abti_pool_may_ask(pool))
        return abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    if (!may_steal_from(robber, pool))
        return NULL;
    /* A racy read comes before all else: an empty pool costs no access that others would notice. */
    if (abti_pool_looks_empty(pool))
        return fetch_stolen(abti_stolen_find(pool, es->index));
    struct abti_stolen *box = robber->thief.more > 0 ? abti_stolen_reserve(pool, es->index) : NULL;
    abti_unit *unit = steal_from_ring(robber, pool, box);
    if (box && abti_stolen_unreserve(box))
        robber->left_in = pool;
    return fetch_stolen(unit);
}

abti_unit *abti_steal_out_of_box(struct abti_robber *robber)
{
    abti_unit *unit = abti_stolen_take(robber->left_in, abti_es_self->index);
    if (unit)
        abti_thief_learn_more(&robber->thief);
    else
        robber->left_in = NULL;
    return fetch_stolen(unit);
}
