/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/mark.h"

/*
 * relaxed, everywhere: a mark orders nothing, and as marks are stored by read-modify-writes, they keep what a store of
 * BLOCKED has released. The memory of a descriptor stays mapped as long as the library is up. TSan does not look, as a
 * descriptor is made by plain stores.
 */

ABTI_NOINLINE ABTI_NO_SANITIZE int abti_mark_get(abti_unit *unit, ABT_thread_state state)
{
    uint8_t both = abti_load_relaxed(&unit->state);
    return (both & ABTI_STATE_MASK) == (uint8_t)state ? (both & ~ABTI_STATE_SUSPENDED) >> ABTI_STATE_BITS : -1;
}

ABTI_NOINLINE ABTI_NO_SANITIZE bool abti_mark_change(abti_unit *unit, ABT_thread_state state, int from, int to)
{
    abti_assert(!(unit->flags & ABTI_UNIT_MAIN_SCHED));
    unsigned rest = (abti_load_relaxed(&unit->state) & ABTI_STATE_SUSPENDED) | (unsigned)state;
    uint8_t before = (uint8_t)((unsigned)from << ABTI_STATE_BITS | rest);
    return abti_cas_relaxed(&unit->state, &before, (uint8_t)((unsigned)to << ABTI_STATE_BITS | rest));
}
