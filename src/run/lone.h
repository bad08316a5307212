/* SPDX-License-Identifier: BSD-3-Clause */
/* The quick path to join a lone tasklet: its joiner runs it without the scheduler, as nothing else is ready. */
#ifndef ABTI_RUN_LONE_H
#define ABTI_RUN_LONE_H

#include "unit/unit.h"

/* For a fresh tasklet (abti_unit_is_fresh_tasklet). Returns ABT_SUCCESS, or ABT_ERR_OTHER if it is not lone. */
int abti_join_lone_tasklet(abti_es *es, abti_unit *unit, ABT_thread *handle) ABTI_MUST_CHECK;

/*
 * Does as abti_join does, without the way through the scheduler, for a tasklet that is the only unit of the pool in
 * front and has not started. `es` is the caller's. False: the unit is none, and nothing has been done.
 */
ABTI_INLINE bool abti_try_join_lone(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    return abti_unit_is_fresh_tasklet(unit) && abti_join_lone_tasklet(es, unit, handle) == ABT_SUCCESS;
}

#endif
