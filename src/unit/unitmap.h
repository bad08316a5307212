/*
 * A map from handles that user-defined pools made to their work units. Handles that are the work unit's own need no
 * entry. The entries are the cold lines of the units themselves, so that adding one cannot fail.
 */
#ifndef ABTI_UNIT_UNITMAP_H
#define ABTI_UNIT_UNITMAP_H

#include "rt/types.h"

/* Enters cold->unit of a unit, and takes it out. Any thread may call these. */
void abti_unitmap_add(abti_unit *unit);
void abti_unitmap_remove(abti_unit *unit);

/* Returns the unit of a handle in use. */
abti_unit *abti_unitmap_find(ABT_unit handle);

/* Frees the tables. The map is empty. */
void abti_unitmap_fini(void);

/* The map is empty, whatever becomes of the tables: in the child of a fork. */
void abti_unitmap_forget(void);

#endif
