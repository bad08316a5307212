/* Execution streams. */
#ifndef ABTI_STREAM_XSTREAM_H
#define ABTI_STREAM_XSTREAM_H

#include <pthread.h>
#include <setjmp.h>
#include "base/compiler.h"
#include "rt/types.h"

/* ES with a given main scheduler (already claimed). rank -1: the smallest free one. ABT code. */
int abti_es_create(abti_sched *sched, int rank, abti_es **es) ABTI_MUST_CHECK;
/* The primary ES around the calling native thread and its unit. ABT code. */
int abti_es_create_primary(abti_sched *sched, abti_es **es) ABTI_MUST_CHECK;
void abti_es_destroy_primary(abti_es *es);

void abti_es_join(abti_es *es);
void abti_es_free(abti_es *es);
int abti_es_revive(abti_es *es) ABTI_MUST_CHECK;

/* Replaces the main scheduler of a terminated ES, or of the calling ULT's own. ABT code. */
int abti_es_set_main_sched(abti_es *es, abti_sched *sched) ABTI_MUST_CHECK;

#endif
