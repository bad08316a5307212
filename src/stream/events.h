/* A look at what is asked of a stream and its scheduler. */
#ifndef ABTI_STREAM_EVENTS_H
#define ABTI_STREAM_EVENTS_H

#include <stdbool.h>
#include "rt/types.h"

/* Sets requests and sees to it that the ES notices. */
void abti_es_request(abti_es *es, unsigned requests);

/* Delivers the requests to the scheduler that asks. */
void abti_es_check_events(abti_es *es, abti_sched *sched);

/* "Has work" and "has to stop" of the contract. */
bool abti_sched_has_work(abti_sched *sched);

bool abti_sched_has_to_stop(abti_sched *sched);

#endif
