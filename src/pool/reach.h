/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far a thief reaches, on a machine with several NUMA nodes: it looks at the pools of streams in its own node, and
 * at those of other nodes only when it has found nothing in its own several times in a row. What it would take there
 * is in memory that is far from it, and so are the lines that it disturbs.
 *
 * A pool is in the node of the stream whose own pool it is, which says so when its scheduler begins, and when it looks
 * for work and has been moved.
 */
#ifndef ABTI_POOL_REACH_H
#define ABTI_POOL_REACH_H

#include <stdbool.h>
#include <stdint.h>
#include "rt/types.h"

enum {
    /* So many looks in a row at pools of its node find nothing before a thief looks at another node's. On two simulated
     * sockets of 8 cores a ULT of fib took 63 ns and moved 3.3 lines from socket to socket without nodes, and 66, 59,
     * 51, 46 and 52 ns and 3.4, 2.6, 1.9, 1.4 and 1.3 lines with 1, 2, 4, 8 and 64. With more a node that has nothing
     * waits for longer. */
    ABTI_REACH_MISSES = 4,
};

/* What a scheduler that steals remembers of it. It is all zeros at first, and its ES alone uses it. */
struct abti_reach {
    uint32_t num_near; /* how many pools of others are in its node, or in none that is known: the first ones */
    uint16_t version;  /* of the nodes of all pools when the pools were sorted last, modulo 65536: it is a hint */
    uint8_t own;       /* the node that its own pool is in, plus one; 0: it has not said so yet */
    uint8_t misses;    /* looks at the near ones in a row that have found nothing, as many as count */
};

/*
 * Says, if it has changed, in which node the scheduler's own pool is, the first of them, and sorts the pools of others
 * again by what the others have said.
 */
void abti_reach_update(struct abti_reach *reach, abti_pool **pools, int num);

/* Whether the next look may be at another node's pool. */
bool abti_reach_is_far(const struct abti_reach *reach);

/* Learns what a look at the pool with this index has found. */
void abti_reach_learn(struct abti_reach *reach, int at, bool found);

#endif
