/* SPDX-License-Identifier: BSD-3-Clause */
/* Moving a unit to another pool on request. */
#ifndef ABTI_RUN_MIGRATE_H
#define ABTI_RUN_MIGRATE_H

#include "rt/types.h"

/* Records the request. The last one wins. Any thread may call this. */
void abti_migrate_request(abti_unit *unit, abti_pool *pool);

/*
 * Carries a pending request out: it associates the unit with the new pool, then calls the unit's callback. The caller
 * runs the unit or has popped it. False when the pool refused the unit, which then stays where it was.
 */
bool abti_migrate_serve(abti_unit *unit);

/*
 * Makes a blocked ULT one of another pool, in which it stays blocked. Both pools are built-in, and the caller is the
 * ULT's one waker.
 */
void abti_migrate_blocked(abti_es *es, abti_unit *unit, abti_pool *pool);

#endif
