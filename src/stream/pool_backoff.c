/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/pool_backoff.h"

const char abti_pool_backoff_several, abti_pool_backoff_mine;

void abti_pool_backoff_learn(struct abti_pool_backoff *backoff, const void *seen)
{
    const void *before = backoff->polls > 0 ? backoff->seen : NULL;
    /* What was seen before may still be there. */
    bool still = seen == before ||
                 (seen && before && (seen == &abti_pool_backoff_several || before == &abti_pool_backoff_several));
    if (before && !still)
        backoff->misses++;
    /* Where the first unit is not known half the polls are enough: others are not seen to be faster. */
    backoff->polls = (still ? backoff->polls : 0) + (seen == &abti_pool_backoff_several ? 2 : 1);
    backoff->seen = seen;
}

bool abti_pool_backoff_may_take(const struct abti_pool_backoff *backoff)
{
    return backoff->seen && (backoff->seen == &abti_pool_backoff_mine || backoff->polls >= ABTI_POOL_BACKOFF_POLLS ||
                             backoff->misses >= ABTI_POOL_BACKOFF_MISSES);
}
