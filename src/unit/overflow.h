/* Stack overflows: a line on stderr tells which unit it was. */
#ifndef ABTI_UNIT_OVERFLOW_H
#define ABTI_UNIT_OVERFLOW_H

#include "base/compiler.h"
#include "rt/types.h"

/*
 * Begin and end to report faults in guard pages, for ABT_init and ABT_finalize. They do nothing when no stack has a
 * guard page.
 */
void abti_overflow_watch(void);
void abti_overflow_unwatch(void);

/* Reports that the unit, which is about to leave its stack, has written over the canary, and aborts. */
ABTI_NORETURN void abti_overflow_abort(abti_unit *unit);

#endif
