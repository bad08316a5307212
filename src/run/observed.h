/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches that somebody observes (run/observe.h): they do what others do, and report it. */
#ifndef ABTI_RUN_OBSERVED_H
#define ABTI_RUN_OBSERVED_H

#include "base/compiler.h"
#include "rt/types.h"

/* The switches of run/switch.h. `after` may be NULL. */
int abti_switch_observed(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;
int abti_start_observed(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;

/* The calling unit, es->tool.before, has ended and leaves its stack for good, for one where `to` goes on or starts. */
void abti_depart_observed(abti_unit *to) ABTI_NO_SANITIZE;
void abti_depart_to_start_observed(abti_unit *to) ABTI_NO_SANITIZE;

#endif
