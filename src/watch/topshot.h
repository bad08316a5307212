/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program does, as a line of JSON for abt-top: streams, pools, how many units there are, and what blocked ones
 * wait for. The streams run on meanwhile, and what is said of them is no consistent snapshot.
 *
 * It may cost the program no more than a small part of its time, however often it is asked for. A part that takes long
 * is taken anew only when a multiple of that time has passed, and is the old one until then: the walk over all units,
 * and the rates. For these all streams report their events, which is slow (run/observe.h), for a few milliseconds.
 */
#ifndef ABTI_WATCH_TOPSHOT_H
#define ABTI_WATCH_TOPSHOT_H

#include <stdio.h>

/* The calls do not run at the same time. */
void abti_topshot_print(FILE *fp);

/* Forgets what it has kept, when nobody calls it. */
void abti_topshot_forget(void);

#endif
