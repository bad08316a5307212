/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling of events as a mode of the running library. While nobody listens, streams take the quick paths, which know
 * nothing of events. An ES that is told has no scheduler that may be asked for the next unit and no fast pool
 * (abti_es_set_dsched), and its cache of descriptors is closed: all quick paths then fail by a test that they make
 * anyway, and the general ones tell of the events. What a quick path has left to the end of a unit, such as its being
 * freed for its joiner, is told at that end.
 *
 * The mode is one for all (rt.observed). An ES takes it over at its next look at events, the caller's own at once; a
 * new ES when it starts. A caller that begins to listen waits until the running ones have done so, but not for ever:
 * one that does not look at events may keep some of its events to itself until it does.
 */
#ifndef ABTI_RUN_OBSERVE_H
#define ABTI_RUN_OBSERVE_H

#include "rt/self.h"
#include "rt/tool.h"

/*
 * Switches and wakes have somebody to tell: a listener, a sanitizer, valgrind, or those that watch waits, native
 * threads among them (wait/guest.h). They take the slow form. Written under rt.lock.
 */
extern _Atomic(bool) abti_observe_on ABTI_HIDDEN;

ABTI_INLINE bool abti_observe_is_on(void)
{
    return ABTI_UNLIKELY(
        abti_load_relaxed(&abti_observe_on)); /* relaxed: it changes before the ES is told, see above */
}

/* For the ES itself. */
ABTI_INLINE bool abti_es_is_observed(abti_es *es)
{
    return ABTI_BUILD_TOOL && abti_load_relaxed(&es->observed); /* relaxed: its own thread stores it */
}

/*
 * The listener has this tool from now on; NULL: none. Any thread may call this, but no callback of a library that tells
 * nothing yet.
 */
void abti_observe_listen(enum abti_listener listener, const struct abti_tool *tool);

/* The calling ES takes the mode over. */
void abti_observe_look(abti_es *es);

/* At ABT_init, after abti_annotate_init, and at ABT_finalize, when no other ES is left: nobody listens. */
void abti_observe_reset(void);

/* The switches in run/switch.h, told where they must be. */
int abti_switch_observed(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;
int abti_start_observed(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;

/* The calling unit, es->before, has ended and leaves its stack for good, for one where `to` goes on or starts. */
void abti_depart_observed(abti_unit *to) ABTI_NO_SANITIZE;
void abti_depart_to_start_observed(abti_unit *to) ABTI_NO_SANITIZE;

/* In the child of a fork: nobody listens. */
void abti_observe_forget(void);

#endif
