/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a stream: how they are set, how the stream looks at them, and what they mean for its scheduler. */
#ifndef ABTI_STREAM_EVENTS_H
#define ABTI_STREAM_EVENTS_H

#include <stdbool.h>
#include "run/budget.h"
#include "rt/types.h"

/* Whether the ES may not sleep: something is asked of it that no event check for its main scheduler has served yet. */
bool abti_es_is_asked(abti_es *es, abti_sched *sched);

/*
 * Checks events: collects woken units, fires timers, does what is asked of the ES, tells the scheduler what is asked
 * of that, and calls drivers. The ES itself calls it, for the scheduler that it runs.
 */
void abti_es_check_events(abti_es *es, abti_sched *sched);

/*
 * The same for the calling ULT, which is about to switch to a unit that its user has chosen, and that it owns. Nothing
 * that has to run another unit is done: units that return from blocking regions wait for their scheduler, as all others
 * do.
 */
void abti_direct_check(abti_es *es) ABTI_COLD;

/* Counts such a switch. An event check that is due is made at once. */
ABTI_INLINE void abti_direct_count(abti_es *es)
{
    if (ABTI_UNLIKELY(!abti_budget_take(es)))
        abti_direct_check(es);
}

/*
 * Whether a unit is in a pool of the scheduler, or blocked out of a pool that nobody else serves: "has work" of the
 * contract.
 */
bool abti_sched_has_work(abti_sched *sched);

/* Whether the scheduler is asked to end and may, or must at once: "has to stop" of the contract. */
bool abti_sched_has_to_stop(abti_sched *sched);

#endif
