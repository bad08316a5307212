/* SPDX-License-Identifier: BSD-3-Clause */
/* Making schedulers that pick by a user-defined function. */
#ifndef ABTI_STREAM_SCHED_PICKED_H
#define ABTI_STREAM_SCHED_PICKED_H

#include "pick/picked.h"
#include "rt/kvconf.h"

/* Makes such a scheduler and calls its init. Returns an ABT code, which may be that of init. */
int abti_sched_create_picked(ABTX_sched_def def, int num_pools, abti_pool **pools, ABT_sched_config config,
                             abti_sched **sched) ABTI_MUST_CHECK;

#endif
