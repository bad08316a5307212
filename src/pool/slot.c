/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/slot.h"

#include "pool/pool.h"

void abti_slot_set_first(abti_unit *unit, int slot, void *value)
{
    /*
     * NULL is there already, unless somebody else is just setting something. release: pairs with the acquire in
     * abti_slot_get.
     */
    if (value || abti_unit_cold_peek(unit))
        abti_store_release(&abti_unit_cold_get(unit)->slots[slot], value);
}

void abti_slot_set_inherited(int slot, bool inherited)
{
    abti_spin_lock(&abti_rt.lock);
    /* relaxed: the lock orders the stores, and the user orders them with those that create units */
    unsigned slots = abti_load_relaxed(&abti_rt.inherited_slots);
    slots = inherited ? slots | 1u << slot : slots & ~(1u << slot);
    abti_store_relaxed(&abti_rt.inherited_slots, slots);
    for (abti_pool *pool = abti_rt.pools; pool; pool = pool->next)
        abti_pool_set_quick(pool, slots);
    abti_spin_unlock(&abti_rt.lock);
}

void abti_slots_pass_on(abti_unit *unit)
{
    abti_es *es = abti_es_self;
    if (!es)
        return;                                                   /* native threads have no slots */
    unsigned slots = abti_load_relaxed(&abti_rt.inherited_slots); /* relaxed: as in abti_slots_inherit */
    for (int i = 0; i < ABTX_NUM_SLOTS; i++) {
        if (slots & 1u << i)
            abti_slot_set(unit, i, abti_slot_get(es->cur, i));
    }
}
