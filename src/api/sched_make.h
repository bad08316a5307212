/* Making schedulers from what users give: null entries among the pools, no pools at all. */
#ifndef ABTI_API_SCHED_MAKE_H
#define ABTI_API_SCHED_MAKE_H

#include <abt.h>
#include "base/compiler.h"

/* Does what ABT_sched_create_basic does. Returns an ABT code, without a report of the error. */
int abti_sched_make_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                          ABT_sched *newsched) ABTI_MUST_CHECK;

/* Undoes it. Pools that were made for it are destroyed, and the user's own stay. */
void abti_sched_unmake_basic(ABT_sched sched, int num_pools, ABT_pool *pools);

#endif
