/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The observers, and the paths that they make slow. While there are none, streams take the quick paths, which know
 * nothing of events.
 *
 *   flag                       observer                          path that is slow
 *   es->slow                   any of the next five              every switch, wait and call in place of the ES, by
 *                                                                abti_switch_is_slow
 *   es->in_hand                the running unit has C++          as es->slow (unit/exceptions.h)
 *                              exceptions in hand
 *   es->hooks                  it has switch hooks               as es->slow (unit/saved.h)
 *   es->observed               a listener, on this ES            as es->slow, and abti_es_set_dsched: nobody but the
 *                                                                parent picks, no pool is fast, no descriptor is cached
 *   abti_annotate_on           a sanitizer or valgrind           as es->slow, and no scheduler has a fast pool
 *                                                                (abti_sched_alloc)
 *   rt.config.watch_waits      ABT_DEADLOCK_CHECK               as es->slow; no fast pool; mutexes keep their owners
 *                                                                (abti_mutex_watch_owners)
 *   abti_observe_on            any listener, tool or watcher     wakes, and leaving a stack at the end of a unit
 *                              of waits, for all ESs
 *   rt.observed                a listener, for all ESs           creation (abti_pool_set_quick)
 *   abti_tool_events           which events a listener wants     each event, on the slow paths only
 *   abti_annotate_order        TSan or helgrind beside an        creation, all handles, all frees: order is reported at
 *                              uninstrumented library            each of them
 *   abti_ledger_on             ABT_CHECK                         creation, all handles, frees
 *   abti_handles_below         the two above                     functions with a handle (rt/handle.h)
 *   abti_rt.ult_entry          abti_annotate_order               the begin and end of each ULT (abti_entry_choose)
 *
 * A flag closes the quick paths by a test that they make anyway. What a quick path has left to the end of a unit, such
 * as its being freed for its joiner, is reported at that end.
 *
 * Whether somebody listens is one mode for all (rt.observed). An ES takes it over at its next event check, the
 * caller's own at once; a new ES when it starts. A caller that begins to listen waits until the running ones have done
 * so, but not for ever: one that does not check events may keep some of its events to itself until it does.
 */
#ifndef ABTI_RUN_OBSERVE_H
#define ABTI_RUN_OBSERVE_H

#include "arch/cpu.h"
#include "rt/self.h"
#include "rt/tool.h"

/*
 * Whether the switches of the ES take the slow path: they are observed, or the running unit has something in hand that
 * has to be kept. abti_switch_choose (unit/exceptions.h) sets es->slow.
 */
ABTI_INLINE bool abti_switch_is_slow(const abti_es *es)
{
    return abti_is_any_in_hand(&es->slow);
}

/*
 * Switches and wakes are reported to somebody: a listener, a sanitizer, valgrind, or those that observe waits, native
 * threads among them (wait/external.h). They take the slow form. Written under rt.lock.
 */
extern _Atomic(bool) abti_observe_on ABTI_HIDDEN;

ABTI_INLINE bool abti_observe_is_on(void)
{
    return ABTI_UNLIKELY(
        abti_load_relaxed(&abti_observe_on)); /* relaxed: it changes before the ES is observed, see above */
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

/* The same, where a caller that begins to listen waits no longer than this. */
void abti_observe_listen_for(enum abti_listener listener, const struct abti_tool *tool, uint64_t patience_ns);

/* The calling ES takes the mode over. */
void abti_observe_look(abti_es *es);

/* At ABT_init, after abti_annotate_init, and at ABT_finalize, when no other ES is left: nobody listens. */
void abti_observe_reset(void);

/* In the child of a fork: nobody listens. */
void abti_observe_forget(void);

#endif
