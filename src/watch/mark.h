/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks on units, by which the watch thread knows what has changed since its last look. A mark is above the state
 * of the unit, in the same byte, and is gone with the next store of a state, so that units which run cost nothing more:
 * one that still has it has been in that state all the time. (A unit that yields and goes on at once, since there is no
 * others, keeps it.) Main schedulers are never marked.
 */
#ifndef ABTI_WATCH_MARK_H
#define ABTI_WATCH_MARK_H

#include "unit/unit.h"

/* Between them: how many looks the unit has been blocked for. */
enum { ABTI_MARK_NONE = 0, ABTI_MARK_REPORTED = (ABTI_STATE_SUSPENDED - 1) >> ABTI_STATE_BITS };

/* The mark of the unit, which may have been freed, if it is in this state; else -1. */
int abti_mark_get(abti_unit *unit, ABT_thread_state state);

/* False: the unit is not in this state any more, or has another mark than `from`. */
bool abti_mark_change(abti_unit *unit, ABT_thread_state state, int from, int to);

#endif
