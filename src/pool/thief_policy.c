/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief_policy.h"

void abti_thief_learn_booty(struct abti_thief *thief, uint64_t now_ns)
{
    thief->got_ns = now_ns;
}

void abti_thief_learn_other(struct abti_thief *thief)
{
    thief->smalls = 0;
}

void abti_thief_learn_return(struct abti_thief *thief, uint64_t now_ns)
{
    if (thief->got_ns == 0)
        return;
    thief->smalls = now_ns - thief->got_ns < ABTI_THIEF_SMALL_NS ? thief->smalls + 1 : 0;
    thief->got_ns = 0;
    if (thief->smalls < ABTI_THIEF_ENOUGH_SMALLS)
        return;
    uint32_t more = thief->smalls - ABTI_THIEF_ENOUGH_SMALLS;
    uint32_t doublings = more < ABTI_THIEF_REST_DOUBLINGS ? more : ABTI_THIEF_REST_DOUBLINGS;
    thief->rest_ns = now_ns + ((uint64_t)ABTI_THIEF_REST_MIN_NS << doublings);
}

bool abti_thief_may_steal(struct abti_thief *thief, uint64_t now_ns)
{
    if (now_ns < thief->rest_ns)
        return false;
    thief->rest_ns = 0;
    return true;
}
