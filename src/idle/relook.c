/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/relook.h"

#include "base/assert.h"

uint64_t abti_relook_next(struct abti_relook *relook, uint64_t now_ns, bool often)
{
    abti_assert(now_ns >= relook->looked_ns && relook->step_ns <= ABTI_RELOOK_RARELY_NS);
    uint64_t step_ns = ABTI_RELOOK_NS;
    if (!often && now_ns - relook->looked_ns < ABTI_RELOOK_SOON_NS)
        step_ns = relook->step_ns < ABTI_RELOOK_RARELY_NS ? 2 * relook->step_ns : ABTI_RELOOK_RARELY_NS;
    relook->step_ns = step_ns;
    return now_ns + step_ns;
}

void abti_relook_learn(struct abti_relook *relook, uint64_t now_ns)
{
    relook->looked_ns = now_ns;
}
