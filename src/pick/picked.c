/* SPDX-License-Identifier: BSD-3-Clause */
#include "pick/picked.h"

#include <stdio.h>

/* The unit runs, is blocked or has ended: it cannot be the next one. Reported once for each scheduler. */
static void tell_of_misuse(abti_sched *sched, abti_unit *unit)
{
    abti_assert(abti_sched_picks(sched));
    if (sched->picked->has_reported)
        return;
    sched->picked->has_reported = true;
    fprintf(stderr, "libabt: the pick function of scheduler %d has returned the unit %p, which is not ready\n",
            sched->id, (void *)unit);
}

/*
 * relaxed: the pop that has brought the unit orders its state, which may have a mark, and a unit that others run is an
 * error of the user.
 */
ABTI_COLD abti_unit *abti_picked_look(abti_sched *sched, ABT_thread unit)
{
    abti_assert(abti_sched_picks(sched));
    if (!unit || unit == ABT_THREAD_NULL || unit == ABT_TASK_NULL)
        return NULL;
    if ((abti_load_relaxed(&unit->state) & ABTI_STATE_MASK) == ABT_THREAD_STATE_READY)
        return unit;
    tell_of_misuse(sched, unit);
    return NULL;
}
