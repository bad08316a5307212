/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution streams: making, joining, reviving and freeing them. stream/main.h has what they run. */
#ifndef ABTI_STREAM_XSTREAM_H
#define ABTI_STREAM_XSTREAM_H

#include "base/compiler.h"
#include "rt/types.h"

/* Makes an ES with a main scheduler that has been claimed. `rank` -1: the smallest free one. Returns an ABT code. */
int abti_es_create(abti_sched *sched, int rank, abti_es **es) ABTI_MUST_CHECK;

/*
 * The parts of that, for stream/entered.c. abti_es_alloc makes a record and takes it into the list, where others see of
 * which kind it is; `kept`, if not NULL, is a record that was reset, and is dropped when there is no memory.
 * abti_es_leave_list is the first part of abti_es_dispose, after which the record is free; abti_es_drain gives back
 * what its native thread has cached. abti_es_reset leaves nothing in a free record but that cache and the signal stack,
 * which make it dear, and abti_es_drop frees such a record.
 */
int abti_es_alloc(abti_sched *sched, int rank, bool is_entered, abti_es *kept, abti_es **es) ABTI_MUST_CHECK;
void abti_es_leave_list(abti_es *es);
void abti_es_dispose(abti_es *es);
void abti_es_drain(abti_es *es);
void abti_es_reset(abti_es *es);
void abti_es_drop(abti_es *es);

/* Asks the ES to end when its pools are empty, and waits for that. The ES's own main unit may not call this. */
void abti_es_join(abti_es *es);

/* Joins a secondary ES and frees it, with its main scheduler if that is automatic. */
void abti_es_free(abti_es *es);

/* Lets an ES that has been joined run again. Returns an ABT code: INV_XSTREAM when it has not terminated. */
int abti_es_revive(abti_es *es) ABTI_MUST_CHECK;

/* Replaces the main scheduler of a terminated ES, or of the calling ULT's own. Returns an ABT code. */
int abti_es_set_main_sched(abti_es *es, abti_sched *sched) ABTI_MUST_CHECK;

#endif
