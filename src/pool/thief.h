/* SPDX-License-Identifier: BSD-3-Clause */
/* Stealing from the pools of other streams. pool/thief_policy.h decides whether it is worth what it costs. */
#ifndef ABTI_POOL_THIEF_H
#define ABTI_POOL_THIEF_H

#include "pool/thief_policy.h"
#include "rt/types.h"

/*
 * Steals a unit from the far end of a pool. Returns NULL when the pool is empty or is to be left alone for now. The
 * caller is the ES of the scheduler that remembers `thief`. This may take some microseconds.
 */
abti_unit *abti_steal(struct abti_thief *thief, abti_pool *pool);

/* Whether the thief had better not even look at the pool now. */
bool abti_thief_avoids(struct abti_thief *thief, abti_pool *pool);

#endif
