/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief_policy.h"

static void learn_units(struct abti_thief *thief, uint64_t now_ns, bool was_busy)
{
    thief->got_ns = now_ns;
    thief->was_busy = was_busy;
    thief->ran = 0;
}

void abti_thief_learn_booty(struct abti_thief *thief, uint64_t now_ns)
{
    learn_units(thief, now_ns, true);
}

void abti_thief_learn_other(struct abti_thief *thief, uint64_t now_ns)
{
    learn_units(thief, now_ns, false);
}

/* How many units it wants next time, when one takes so long. Units that are small already are not to be moved more. */
static void learn_size(struct abti_thief *thief, uint64_t unit_ns)
{
    uint8_t more = (uint8_t)(2 * thief->more + 1);
    if (unit_ns > ABTI_THIEF_BULK_NS)
        thief->more = 0;
    else if (unit_ns >= ABTI_THIEF_SMALL_NS)
        thief->more = more < ABTI_THIEF_BULK ? more : ABTI_THIEF_BULK;
}

/* Counts a small unit, and lets the thief rest if it was one too many. */
static void learn_small(struct abti_thief *thief, uint64_t now_ns)
{
    uint32_t enough = thief->rivals < ABTI_THIEF_RIVALS ? ABTI_THIEF_ENOUGH_SMALLS : 1;
    if (++thief->smalls < enough)
        return;
    uint32_t more = thief->smalls - enough;
    more = more < ABTI_THIEF_REST_DOUBLINGS ? more : ABTI_THIEF_REST_DOUBLINGS;
    thief->rest_ns = now_ns + ((uint64_t)ABTI_THIEF_REST_MIN_NS << (more + thief->rivals));
}

void abti_thief_learn_return(struct abti_thief *thief, uint64_t now_ns)
{
    if (thief->got_ns == 0)
        return;
    uint64_t unit_ns = (now_ns - thief->got_ns) / (1u + thief->ran);
    thief->got_ns = 0;
    learn_size(thief, unit_ns);
    if (unit_ns >= ABTI_THIEF_SMALL_NS)
        thief->smalls = 0;
    else if (thief->was_busy)
        learn_small(thief, now_ns);
}

bool abti_thief_may_steal(struct abti_thief *thief, uint64_t now_ns)
{
    if (now_ns < thief->rest_ns)
        return false;
    thief->rest_ns = 0;
    return true;
}
