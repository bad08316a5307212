/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking regions: a ULT keeps the native thread of its stream for itself, to block it in foreign code, and hands the
 * stream over to a spare one (stream/carrier.h) meanwhile. In the region the ULT runs on its own stack and on its
 * native thread as an external thread does, and counts as blocked. When it has done, it asks for the stream and waits
 * on its native thread, until a scheduler of the stream checks events and gives it the stream as it would to a child.
 *
 * A stream that is carried by another thread than its own goes back to it as soon as that is free. Thus
 *
 *   a stream is away from its own thread only while a unit of its keeps that for itself, or is coming back.
 *
 * A request is not lost: the unit enters the list of those that return, and then sets ABTI_ES_REQ_RETURN; the stream
 * takes that back, and then takes the list.
 */
#ifndef ABTI_STREAM_BLOCKING_H
#define ABTI_STREAM_BLOCKING_H

#include "base/compiler.h"
#include "rt/types.h"

/*
 * Begins a region. Any native thread may call this: where there is nothing to hand over, or nobody to take it, the
 * stream just waits. Returns ABT_SUCCESS, or INV_THREAD: the thread is in a region.
 */
int abti_blocking_begin(void) ABTI_MUST_CHECK;

/* Ends it. Returns ABT_SUCCESS, or INV_THREAD: the thread is in none. */
int abti_blocking_end(void) ABTI_MUST_CHECK;

/* Removes switch hooks of the unit that is in a region on the calling thread, which has them. */
void abti_blocking_remove_hooks(ABTX_switch_link *link);

/* Runs the units that want to come back from a region. The caller is the stream, at an event check. */
void abti_blocking_serve(abti_es *es);

/* The unit that is in a region on the calling thread, and in *es its stream; NULL: none. Also for signal handlers. */
abti_unit *abti_blocking_unit(abti_es **es);

/*
 * Sleeps, as the main scheduler that has nothing else to do, until a unit wants to come back, something is asked of the
 * stream or a timer is due: the caller checks events then. False: no unit is in a region.
 */
bool abti_blocking_sleep(abti_es *es, abti_sched *sched);

/* In the child of a fork: whether the stream has units in regions, whose threads are not there. */
bool abti_blocking_is_used(abti_es *es);

/* Whether the calling native thread is in a blocking region. */
bool abti_blocking_is_inside(void);

/* In the child of a fork: the unit of the stream's that is in a region on the calling thread. NULL: none. It ends no
 * region of the parent's from now on. */
abti_unit *abti_blocking_forget(void);

#endif
