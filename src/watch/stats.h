/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics: what each stream has done, and where the time went, counted by listening to events (rt/tool.h). Each
 * stream counts for itself, in memory that only its native thread writes; relaxed loads are enough to print it, as each
 * number is right by itself.
 */
#ifndef ABTI_WATCH_STATS_H
#define ABTI_WATCH_STATS_H

#include <stdbool.h>
#include <stdio.h>

/* As the environment says. */
void abti_stats_begin(void);

/* Prints, if the environment says so, and forgets everything. When no other stream is left. */
void abti_stats_fini(void);

void abti_stats_enable(bool on);

void abti_stats_print(FILE *fp);

#endif
