/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from handles that user-defined pools made to their work units. Handles that are the work unit's own need no
 * entry. The entries are the cold lines of the units themselves, so that adding one cannot fail.
 */
#ifndef ABTI_UNIT_UNITMAP_H
#define ABTI_UNIT_UNITMAP_H

#include <stdbool.h>
#include "base/atomic.h"
#include "rt/types.h"

/* Enters cold->unit of a unit, and takes it out. Any thread may call these. */
void abti_unitmap_add(abti_unit *unit);
void abti_unitmap_remove(abti_unit *unit);

/* Whether a unit has been entered since the map was made. */
extern _Atomic(bool) abti_unitmap_is_used ABTI_HIDDEN;

/*
 * Returns the unit of a handle in use. relaxed: a thread with a handle that was entered got it from the thread that
 * entered it, and sees what that has stored.
 */
abti_unit *abti_unitmap_look_up(ABT_unit handle);
ABTI_INLINE abti_unit *abti_unitmap_find(ABT_unit handle)
{
    return abti_load_relaxed(&abti_unitmap_is_used) ? abti_unitmap_look_up(handle) : (abti_unit *)handle;
}

/* Frees the tables. The map is empty. */
void abti_unitmap_fini(void);

/* The map is empty, whatever becomes of the tables: in the child of a fork. */
void abti_unitmap_forget(void);

#endif
