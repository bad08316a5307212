/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/pool_backoff.h"

#include "base/assert.h"

const char abti_pool_backoff_several, abti_pool_backoff_mine;

/* Whether what was seen before may still be there. */
static bool may_be_still(const void *before, const void *seen)
{
    return seen == before ||
           (seen && before && (seen == &abti_pool_backoff_several || before == &abti_pool_backoff_several));
}

void abti_pool_backoff_learn(struct abti_pool_backoff *backoff, const void *seen)
{
    const void *before = backoff->seen;
    bool still = may_be_still(before, seen);
    abti_assert(!before || backoff->looks > 0);
    if (before && !still)
        backoff->misses++;
    backoff->looks = still ? backoff->looks + 1 : 1;
    backoff->seen = seen;
}

bool abti_pool_backoff_may_take(const struct abti_pool_backoff *backoff)
{
    return backoff->seen && (backoff->seen == &abti_pool_backoff_mine || backoff->looks >= ABTI_POOL_BACKOFF_LOOKS ||
                             backoff->misses >= ABTI_POOL_BACKOFF_MISSES);
}
