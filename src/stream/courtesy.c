/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/courtesy.h"

#include "base/assert.h"

const char abti_courtesy_several, abti_courtesy_mine;

/* Whether what was seen before may still be there. */
static bool may_be_still(const void *before, const void *seen)
{
    return seen == before || (seen && before && (seen == &abti_courtesy_several || before == &abti_courtesy_several));
}

void abti_courtesy_learn(struct abti_courtesy *courtesy, const void *seen)
{
    const void *before = courtesy->seen;
    bool still = may_be_still(before, seen);
    abti_assert(!before || courtesy->looks > 0);
    if (before && !still)
        courtesy->misses++;
    courtesy->looks = still ? courtesy->looks + 1 : 1;
    courtesy->seen = seen;
}

bool abti_courtesy_may_take(const struct abti_courtesy *courtesy)
{
    return courtesy->seen && (courtesy->seen == &abti_courtesy_mine || courtesy->looks >= ABTI_COURTESY_LOOKS ||
                              courtesy->misses >= ABTI_COURTESY_MISSES);
}
