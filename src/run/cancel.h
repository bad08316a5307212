/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancels that are put off: a ULT with something on its stack that others know of is not ended before it has seen to
 * that. The waiters of timed waits need no more than the mark unit->held; this is for functions that wait in between.
 */
#ifndef ABTI_RUN_CANCEL_H
#define ABTI_RUN_CANCEL_H

#include <stdbool.h>
#include "unit/unit.h"

/*
 * Says whether cancels of a ULT, the caller, are put off from now on; returns whether they were. If not, and one has
 * come meanwhile, the ULT ends.
 */
bool abti_cancel_set_off(abti_unit *self, bool off);

/* Puts cancels of the calling ULT off, until abti_cancel_allow gets what this returns. Others do not care. */
bool abti_cancel_put_off(void);
void abti_cancel_allow(bool before);

/*
 * A wait has ended, and nothing is left of it in any queue. A cancelled ULT ends here. If cancels are put off, the one
 * that has come is noted for later, and ends no wait any more: a loop of timed waits does not become a busy one.
 */
void abti_cancel_serve(abti_unit *self);

#endif
