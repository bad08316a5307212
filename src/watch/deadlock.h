/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadlock check, ABT_DEADLOCK_CHECK: tells on stderr, within a second, when units wait for each other in a cycle,
 * and when units are blocked and nothing is left in the program that could wake one of them, as far as the library
 * knows. Each state is reported once.
 *
 * Units might be woken by these: a unit that runs, or is queued in a pool that a scheduler looks at; one that waits
 * with a deadline; a driver of a stream; a native thread that has made units, woken or waited since
 * ABT_init, unless it is asleep in a wait without a deadline. A native thread that has not called the library yet is
 * not known to it: abti_deadlock_expect says that there are such threads. Nor is what a scheduler or pool of the
 * program's own does besides running units.
 */
#ifndef ABTI_WATCH_DEADLOCK_H
#define ABTI_WATCH_DEADLOCK_H

#include <stdbool.h>

/* At the end of ABT_init: makes the native thread that polls. When it cannot be made, that is reported on stderr. */
void abti_deadlock_begin(void);

/* When no unit runs any more but the primary ULT. On return the thread is gone. */
void abti_deadlock_end(void);

/* So many more wakers that the library does not know: as long as there are any, only cycles are reported. Any thread,
 * at any time. False: there would be fewer than none, and nothing has changed. */
bool abti_deadlock_expect(int more);

#endif
