/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/reach.h"

#include "base/assert.h"
#include "os/nodes.h"
#include "pool/pool.h"

/* How often the node of a pool has changed: thieves that have sorted pools by an older number do so again. */
static _Atomic(uint32_t) reach_version;

static bool is_near(const struct abti_reach *reach, abti_pool *pool)
{
    /* relaxed: it is a hint, and the version orders it */
    uint32_t node = abti_load_relaxed(&pool->node);
    return node == 0 || node == reach->own;
}

static void sort_pools(struct abti_reach *reach, abti_pool **pools, int num)
{
    reach->num_near = 0;
    for (int i = 1; i < num; i++) {
        if (!is_near(reach, pools[i]))
            continue;
        abti_pool *first_far = pools[++reach->num_near];
        pools[reach->num_near] = pools[i];
        pools[i] = first_far;
    }
}

void abti_reach_update(struct abti_reach *reach, abti_pool **pools, int num)
{
    abti_assert(num > 0);
    uint8_t own = (uint8_t)(abti_nodes_here() + 1);
    bool moved = own != reach->own;
    if (moved) {
        reach->own = own;
        abti_store_relaxed(&pools[0]->node, own); /* relaxed: the version orders it */
        /* release: pairs with the acquire in abti_reach_update, of others */
        abti_fetch_add_release(&reach_version, 1);
    }
    /* acquire: pairs with the release in abti_reach_update, of others */
    uint16_t version = (uint16_t)abti_load_acquire(&reach_version);
    if (moved || version != reach->version)
        sort_pools(reach, pools, num);
    reach->version = version;
}

bool abti_reach_is_far(const struct abti_reach *reach)
{
    return reach->num_near == 0 || reach->misses >= ABTI_REACH_MISSES;
}

void abti_reach_learn(struct abti_reach *reach, int at, bool found)
{
    abti_assert(at > 0);
    if (found || (uint32_t)at > reach->num_near)
        reach->misses = 0;
    else if (reach->misses < ABTI_REACH_MISSES)
        reach->misses++;
}
