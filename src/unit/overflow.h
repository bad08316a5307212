/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack overflows: a line on stderr tells which unit it was. */
#ifndef ABTI_UNIT_OVERFLOW_H
#define ABTI_UNIT_OVERFLOW_H

#include "base/compiler.h"
#include "rt/types.h"

/* What runs on the calling native thread though that is no stream's just now; NULL: nothing. For a signal handler. */
typedef abti_unit *(*abti_overflow_region)(abti_es **es);

/*
 * Begin and end to report faults that stack overflows make, for ABT_init and ABT_finalize. They do nothing when no
 * stack has a guard page. `in_region` finds the unit of a blocking region, and the stream whose it was.
 */
void abti_overflow_watch(abti_overflow_region in_region);
void abti_overflow_unwatch(void);

/* Reports that the unit, which is about to leave its stack, has written over the canary, and aborts. */
ABTI_NORETURN void abti_overflow_abort(abti_unit *unit);

#endif
