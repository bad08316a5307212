/* SPDX-License-Identifier: BSD-3-Clause */
/* What the second file of the test has. */
#ifndef CALLS_H
#define CALLS_H

#include <glt.h>

glt_team_t *second_team(void);

/* Creates and joins that number of ULTs; returns how many have run. */
int second_units(int number);

#endif
