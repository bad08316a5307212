/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two words per work unit for runtimes. They are stored in the unit's cold line. A unit with slots costs two cache
 * lines. One without costs and does what it did before there were slots, and so does one whose creator has none to pass
 * on.
 *
 * Whether new units get a slot's value from the unit that creates them is set per slot and not per unit: a runtime sets
 * it once, and no unit has to carry it. While no slot is passed on, creation does not ask: only the general paths look
 * at rt.inherited_slots, and the quick ones are closed while it is set (pool->quick_create).
 */
#ifndef ABTI_POOL_SLOT_H
#define ABTI_POOL_SLOT_H

#include "rt/rt.h"
#include "unit/unit.h"

/* Returns a slot's value, or NULL when it was never set. Any thread may call this. */
ABTI_INLINE void *abti_slot_get(abti_unit *unit, int slot)
{
    struct abti_unit_cold *cold = abti_unit_cold_racy(unit);
    /* acquire: pairs with the release in abti_slot_set and abti_slot_set_first, for what the value points to */
    return cold ? abti_load_acquire(&cold->slots[slot]) : NULL;
}

/* Sets a slot of a unit whose cold line is not ready yet. */
void abti_slot_set_first(abti_unit *unit, int slot, void *value);

/* Sets a slot's value. Any thread may call this. */
ABTI_INLINE void abti_slot_set(abti_unit *unit, int slot, void *value)
{
    struct abti_unit_cold *cold = abti_unit_cold_racy(unit);
    if (ABTI_LIKELY(cold != NULL))
        abti_store_release(&cold->slots[slot], value); /* release: pairs with the acquire in abti_slot_get */
    else
        abti_slot_set_first(unit, slot, value);
}

/* Says whether units get this slot's value, from now on, from the unit that creates them. Any thread may call this. */
void abti_slot_set_inherited(int slot, bool inherited);

/* Does so when some slot is inherited. */
void abti_slots_pass_on(abti_unit *unit);

/* Gives a new unit, which nobody else knows, the values that its creator, the caller, has to pass on. */
ABTI_INLINE void abti_slots_inherit(abti_unit *unit)
{
    /* relaxed: a runtime that sets it for units which others create has ordered that itself */
    if (ABTI_UNLIKELY(abti_load_relaxed(&abti_rt.inherited_slots) != 0))
        abti_slots_pass_on(unit);
}

#endif
