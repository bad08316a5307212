/* Moving a unit to another pool on request. */
#ifndef ABTI_RUN_MIGRATE_H
#define ABTI_RUN_MIGRATE_H

#include "rt/types.h"

/* Records the request; the last one wins. Any thread. */
void abti_migrate_request(abti_unit *unit, abti_pool *pool);

/*
 * Carries a pending request out: re-associates the unit, then calls its callback. By whoever runs or has popped it.
 * False when the pool would not have it; the unit stays where it was.
 */
bool abti_migrate_serve(abti_unit *unit);

#endif
