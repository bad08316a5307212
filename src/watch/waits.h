/* SPDX-License-Identifier: BSD-3-Clause */
/* Which unit waits for which, the cycles in that, and the marks of units that have been seen waiting. */
#ifndef ABTI_WATCH_WAITS_H
#define ABTI_WATCH_WAITS_H

#include <stdio.h>
#include "unit/unit.h"
#include "watch/registry.h"

/* A blocked unit that waits for one other. */
struct abti_wait {
    abti_unit *unit, *owner;
    size_t way; /* of those that look for cycles, the one that has come by here; 0: none */
    bool reported;
    bool in_cycle; /* after abti_waits_print_cycles */
};

/* Zeros at first. */
struct abti_waits {
    struct abti_wait *all;
    size_t num, room;
};

/* Without memory some are left out. */
void abti_waits_add(struct abti_waits *waits, const struct abti_unit_note *note, bool reported);

void abti_waits_fini(struct abti_waits *waits);

/*
 * Prints each cycle, unless it was reported before: "ULT 3 (f at program) waits for mutex 0x... held by ULT 5 (...),
 * which waits for ... held by ULT 3 (...)". Marks its units as reported. `part`: of a list that has a head. Returns how
 * many.
 */
unsigned abti_waits_print_cycles(FILE *fp, const struct abti_waits *waits, bool part);

/* The unit is in a cycle that was found. */
bool abti_waits_in_cycle(const struct abti_waits *waits, abti_unit *unit);

/* Prints what a unit waits for, what that waits for, and so on. */
void abti_waits_print(FILE *fp, const struct abti_unit_note *note);

/* The native threads of the program's own that wait for mutexes, a line each. */
void abti_waits_print_natives(FILE *fp);

/*
 * Marks on units, by which the watch thread knows what has changed since its last poll. A mark is above the state
 * of the unit, in the same byte, and is gone with the next store of a state, so that units which run cost nothing more:
 * one that still has it has been in that state all the time. (A unit that yields and goes on at once, since there is no
 * others, keeps it.) Main schedulers are never marked.
 */
/* Between them: how many polls the unit has been blocked for. */
enum { ABTI_MARK_NONE = 0, ABTI_MARK_REPORTED = (ABTI_STATE_SUSPENDED - 1) >> ABTI_STATE_BITS };

/* The mark of the unit, which may have been freed, if it is in this state; else -1. */
int abti_mark_get(abti_unit *unit, ABT_thread_state state);

/* False: the unit is not in this state any more, or has another mark than `from`. */
bool abti_mark_change(abti_unit *unit, ABT_thread_state state, int from, int to);

#endif
