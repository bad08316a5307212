/* Execution streams: making, joining, reviving and freeing them. What they run is the matter of stream/main.h. */
#ifndef ABTI_STREAM_XSTREAM_H
#define ABTI_STREAM_XSTREAM_H

#include "base/compiler.h"
#include "rt/types.h"

/* Makes an ES with a main scheduler that has been claimed. rank -1: the smallest free one. ABT code. */
int abti_es_create(abti_sched *sched, int rank, abti_es **es) ABTI_MUST_CHECK;

/* Makes the primary ES around the calling native thread, whose stack becomes the primary ULT's. ABT code. */
int abti_es_create_primary(abti_sched *sched, abti_es **es) ABTI_MUST_CHECK;

/* By the primary ULT, when the main scheduler has ended. */
void abti_es_destroy_primary(abti_es *es);

/* Asks the ES to end when its pools are empty, and waits for that. Not by its own main unit. */
void abti_es_join(abti_es *es);

/* Joins a secondary ES and frees it, with its main scheduler if that is automatic. */
void abti_es_free(abti_es *es);

/* An ES that has been joined runs again. ABT code: INV_XSTREAM when it has not terminated. */
int abti_es_revive(abti_es *es) ABTI_MUST_CHECK;

/* Replaces the main scheduler of a terminated ES, or of the calling ULT's own. ABT code. */
int abti_es_set_main_sched(abti_es *es, abti_sched *sched) ABTI_MUST_CHECK;

#endif
