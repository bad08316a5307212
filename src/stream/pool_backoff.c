/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/pool_backoff.h"

#include "base/assert.h"

const char abti_pool_backoff_several, abti_pool_backoff_mine;

void abti_pool_backoff_learn(struct abti_pool_backoff *backoff, const void *seen)
{
    const void *before = backoff->seen;
    /* What was seen before may still be there. */
    bool still = seen == before ||
                 (seen && before && (seen == &abti_pool_backoff_several || before == &abti_pool_backoff_several));
    abti_assert(!before || backoff->polls > 0);
    if (before && !still)
        backoff->misses++;
    backoff->polls = still ? backoff->polls + 1 : 1;
    backoff->seen = seen;
}

bool abti_pool_backoff_may_take(const struct abti_pool_backoff *backoff)
{
    return backoff->seen && (backoff->seen == &abti_pool_backoff_mine || backoff->polls >= ABTI_POOL_BACKOFF_POLLS ||
                             backoff->misses >= ABTI_POOL_BACKOFF_MISSES);
}
