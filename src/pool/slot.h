/*
 * Two words per work unit for runtimes. They lie in the unit's cold line, so that a unit with slots costs two cache
 * lines, and one without, or whose creator has none to pass on, costs and does what it did before there were any.
 *
 * Whether new units get a slot's value from the unit that creates them is set per slot and not per unit: a runtime says
 * it once, and no unit has to carry it. While no slot is passed on, creation does not ask: rt.inherited_slots is looked
 * at on the general paths, and those of the quick ones are closed meanwhile (pool->quick_create).
 */
#ifndef ABTI_POOL_SLOT_H
#define ABTI_POOL_SLOT_H

#include "rt/rt.h"
#include "unit/unit.h"

/* A slot's value; NULL when it was never set. Any thread. */
ABTI_INLINE void *abti_slot_get(abti_unit *unit, int slot)
{
    struct abti_unit_cold *cold = abti_unit_cold_glance(unit);
    /* acquire: pairs with the release in abti_slot_set, for what the value points to */
    return cold ? abti_load_acquire(&cold->slots[slot]) : NULL;
}

/* The same for a unit whose cold line is not ready yet. */
void abti_slot_set_first(abti_unit *unit, int slot, void *value);

ABTI_INLINE void abti_slot_set(abti_unit *unit, int slot, void *value)
{
    struct abti_unit_cold *cold = abti_unit_cold_glance(unit);
    if (ABTI_LIKELY(cold != NULL))
        abti_store_release(&cold->slots[slot], value);
    else
        abti_slot_set_first(unit, slot, value);
}

/* From now on units get this slot's value from the unit that creates them, or do not. Any thread. */
void abti_slot_set_inherited(int slot, bool inherited);

void abti_slots_pass_on(abti_unit *unit);

/* A new unit that nobody else knows gets what its creator, the caller, has to pass on. */
ABTI_INLINE void abti_slots_inherit(abti_unit *unit)
{
    /* relaxed: who sets it, and wants units to inherit that others create, has ordered that */
    if (ABTI_UNLIKELY(abti_load_relaxed(&abti_rt.inherited_slots) != 0))
        abti_slots_pass_on(unit);
}

#endif
