/* Stealing from the pools of other streams. Whether it is worth what it costs is the matter of pool/thief_policy.h. */
#ifndef ABTI_POOL_THIEF_H
#define ABTI_POOL_THIEF_H

#include "pool/thief_policy.h"
#include "rt/types.h"

/*
 * A unit from the far end of a pool; NULL: it is empty, or is to be left alone for now. The caller is the ES of the
 * scheduler that remembers `thief`. May take some microseconds.
 */
abti_unit *abti_steal(struct abti_thief *thief, abti_pool *pool);

/* The thief had better not even look at the pool now. */
bool abti_thief_avoids(struct abti_thief *thief, abti_pool *pool);

#endif
