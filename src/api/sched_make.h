/* SPDX-License-Identifier: BSD-3-Clause */
/* Making schedulers from what users give: null entries among the pools, no pools at all. */
#ifndef ABTI_API_SCHED_MAKE_H
#define ABTI_API_SCHED_MAKE_H

#include <abt.h>
#include "base/compiler.h"

/*
 * What a scheduler is to be made of, while misuse is looked for: ABT_SUCCESS, or the code for what is none or has been
 * freed. `function` is the one that the user has called.
 */
int abti_sched_check_parts(int num_pools, ABT_pool *pools, ABT_sched_config config,
                           const char *function) ABTI_MUST_CHECK;

/* Does what ABT_sched_create_basic does. Returns an ABT code, without a report of the error. */
int abti_sched_make_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                          ABT_sched *newsched) ABTI_MUST_CHECK;

/* Undoes it. Pools that were made for it are destroyed, and the user's own stay. */
void abti_sched_unmake_basic(ABT_sched sched, int num_pools, ABT_pool *pools);

#endif
