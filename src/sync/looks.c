/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/looks.h"

#include "rt/rt.h"

static bool is_looked_at(const void *object)
{
    bool is = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !is; es = es->next) {
        /* acquire: pairs with the release in abti_look_end, after the last access of the stream that looked */
        is = abti_load_acquire(&es->looks_at) == object;
    }
    abti_spin_unlock(&abti_rt.lock);
    return is;
}

void abti_looks_settle(const void *object)
{
    abti_spin_until(!is_looked_at(object));
}
