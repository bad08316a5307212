/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the public functions about idle streams and their older forms, in seconds. */
#ifndef ABTI_API_IDLE_H
#define ABTI_API_IDLE_H

#include "api/handles.h"

/* Whether the caller may park: ABT_SUCCESS or the error code. */
int abti_check_parking(abti_es *es) ABTI_MUST_CHECK;

/* Parks the calling scheduler, which may do so; on its own pools if `pools` is NULL. Returns an ABT code. */
int abti_park_until(int num_pools, const ABT_pool *pools, uint64_t deadline_ns) ABTI_MUST_CHECK;

/* Lets the caller sleep. */
void abti_sleep(uint64_t ns);

#endif
