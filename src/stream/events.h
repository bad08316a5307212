/* Requests to a stream: how they are set, how the stream looks at them, and what they mean for its scheduler. */
#ifndef ABTI_STREAM_EVENTS_H
#define ABTI_STREAM_EVENTS_H

#include <stdbool.h>
#include "rt/types.h"

/* Sets requests, by any thread, and sees to it that the ES notices. A join is asked of its main scheduler, too. */
void abti_es_request(abti_es *es, unsigned requests);

/*
 * A look at events, by the ES itself for the scheduler that it runs: collects woken units, fires timers, does what is
 * asked of the ES, tells the scheduler what is asked of that, and calls pollers.
 */
void abti_es_check_events(abti_es *es, abti_sched *sched);

/* A unit is in a pool of the scheduler, or blocked out of a pool that nobody else serves: "has work" of the contract.
 */
bool abti_sched_has_work(abti_sched *sched);

/* The scheduler is asked to end and may, or must at once: "has to stop" of the contract. */
bool abti_sched_has_to_stop(abti_sched *sched);

#endif
