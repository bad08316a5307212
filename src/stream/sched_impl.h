/* SPDX-License-Identifier: BSD-3-Clause */
/* The implementations of schedulers, for the functions that make them. */
#ifndef ABTI_STREAM_SCHED_IMPL_H
#define ABTI_STREAM_SCHED_IMPL_H

#include "run/sched.h"
#include "rt/kvconf.h"

/* Makes a predefined scheduler. No entry of `pools` is NULL. Returns an ABT code. */
int abti_sched_create_basic(ABT_sched_predef predef, int num_pools, abti_pool **pools, const struct abti_kvconf *conf,
                            abti_sched **sched) ABTI_MUST_CHECK;

/* Makes a user-defined scheduler and calls its init. Returns an ABT code, which may be that of init. */
int abti_sched_create_user(const ABT_sched_def *def, int num_pools, abti_pool **pools, ABT_sched_config config,
                           abti_sched **sched) ABTI_MUST_CHECK;

/* The one loop of all predefined schedulers. */
void abti_sched_loop(abti_sched *sched);

/* Picks in the order of BASIC and PRIO: from the first pool of `order` that has a unit. */
abti_unit *abti_sched_pick_in_order(abti_sched *sched, abti_unit *self);

extern const struct abti_sched_ops abti_sched_basic_wait_ops ABTI_HIDDEN;

#endif
