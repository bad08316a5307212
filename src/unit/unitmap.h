/*
 * Which work unit belongs to a handle that a user-defined pool made. Handles that are the work unit's own need no
 * entry. The entries are the cold lines of the units themselves, so that adding one cannot fail.
 */
#ifndef ABTI_UNIT_UNITMAP_H
#define ABTI_UNIT_UNITMAP_H

#include "rt/types.h"

/* Enters cold->unit of a unit, and takes it out. Any thread. */
void abti_unitmap_add(abti_unit *unit);
void abti_unitmap_remove(abti_unit *unit);

/* The unit of a handle in use. */
abti_unit *abti_unitmap_find(ABT_unit handle);

/* Frees the tables; the map is empty. */
void abti_unitmap_fini(void);

/* The map is empty, whatever becomes of the tables: in the child of a fork. */
void abti_unitmap_forget(void);

#endif
