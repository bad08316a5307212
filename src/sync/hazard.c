/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/hazard.h"

#include "rt/rt.h"

static bool is_named(const void *object)
{
    bool is = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !is; es = es->next) {
        /* acquire: pairs with the release in abti_hazard_end, after the last access of the stream that polled */
        is = abti_load_acquire(&es->hazard) == object;
    }
    abti_spin_unlock(&abti_rt.lock);
    return is;
}

void abti_hazards_settle(const void *object)
{
    abti_spin_until(!is_named(object));
}
