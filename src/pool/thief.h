/* SPDX-License-Identifier: BSD-3-Clause */
/* Stealing from the pools of other streams. pool/thief_policy.h decides whether it is worth its cost. */
#ifndef ABTI_POOL_THIEF_H
#define ABTI_POOL_THIEF_H

#include "base/assert.h"
#include "os/nodes.h"
#include "pool/pool.h"
#include "pool/thief_policy.h"
#include "rt/types.h"

/* The memory of a scheduler that steals. It is used by its ES alone. */
struct abti_robber {
    struct abti_thief thief;
    struct abti_truce *truce; /* with the pool, one that it serves, that it got the last unit from */
    abti_pool *left_in; /* one that it serves, with what it has taken beside the first unit; NULL: nothing is left */
    uint32_t random;    /* state of its choice, never 0 */
    int seen;           /* the index, in order of choice, of a pool of others that has not looked empty; 0: none */
};

/*
 * Steals a unit from the far end of a pool. Returns NULL when the pool is empty or is to be left alone for now. The
 * caller is the ES of the scheduler that remembers `robber`. This may take some microseconds.
 */
abti_unit *abti_steal(struct abti_robber *robber, abti_pool *pool);

/* Takes a unit that it has taken in bulk and not run yet. NULL: there is none. */
abti_unit *abti_steal_out_of_box(struct abti_robber *robber);

ABTI_INLINE abti_unit *abti_steal_left(struct abti_robber *robber)
{
    return robber->left_in ? abti_steal_out_of_box(robber) : NULL;
}

bool abti_pool_truce_lasts(abti_pool *pool);

/* Whether thieves leave the pool alone for now, and do not even look at it: a poll costs its stream a cache miss. */
ABTI_INLINE bool abti_pool_is_spared(abti_pool *pool)
{
    return abti_truce_until(&pool->truce) != 0 && abti_pool_truce_lasts(pool);
}

/* Returns one of the numbers below `num` at random. */
uint32_t abti_robber_choose(struct abti_robber *robber, uint32_t num);

/* Notes in which NUMA node its own pool is: that of the caller's stream. */
void abti_robber_note_node(abti_pool *own);

/* With several NUMA nodes. */
int abti_robber_aim_near(struct abti_robber *robber, abti_pool **order, int num);

/*
 * Returns the index of the next pool of others to look at, of `num` pools in order of choice, of which the first is its
 * own.
 */
ABTI_INLINE int abti_robber_aim(struct abti_robber *robber, abti_pool **order, int num)
{
    int at = robber->seen;
    robber->seen = 0;
    abti_assert(num > 1 && at < num);
    if (at > 0)
        return at;
    if (ABTI_UNLIKELY(abti_num_nodes > 1))
        return abti_robber_aim_near(robber, order, num);
    return 1 + (int)abti_robber_choose(robber, (uint32_t)num - 1);
}

#endif
