/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that wait for the end of another without being blocked: the second joiner of a unit polls again and
 * again, and a tasklet cannot leave its stream. Kept for the check for deadlocks, in a table of a
 * fixed size: a ULT may be cancelled while it polls, and leaves nothing behind that could be in anybody's way.
 */
#ifndef ABTI_UNIT_JOINING_H
#define ABTI_UNIT_JOINING_H

#include <stdbool.h>
#include <stdint.h>
#include "rt/types.h"

struct abti_joining {
    abti_unit *unit;   /* waits; NULL: the entry is free */
    abti_unit *joined; /* for the end of this one */
    bool keeps_stream; /* it waits on its native thread, and nothing else can run on its stream; false: it polls again
                          and again, and yields */
    uint32_t polls;    /* how often it has polled */
    uint32_t seen;     /* the watcher's: how often it had at the last poll */
    uint8_t rounds;    /* the watcher's: for how many polls it has waited on */
    bool reported;     /* the watcher's: of this wait */
};

enum { ABTI_MAX_JOINING = 32 }; /* others are not kept, and seem to run */

/* The caller, this unit, waits so. One that yields notes that each time, so that it is known to be there still. */
void abti_joining_note(abti_unit *unit, abti_unit *joined, bool keeps_stream);

/* It does not any more. */
void abti_joining_end(const abti_unit *unit);

/* Whether the unit, which may be gone, waits so. *joining is a copy. By any thread. */
bool abti_joining_find(const abti_unit *unit, struct abti_joining *joining);

/*
 * By the watcher, now and then: counts up the rounds of those that have polled again, or wait natively, and forgets the
 * others, which have gone, or will be noted anew. Returns how many there are, which are copied.
 */
unsigned abti_joining_round(struct abti_joining joining[ABTI_MAX_JOINING]);

/* The wait of the unit, if it waits so, is reported from now on. */
void abti_joining_tell(const abti_unit *unit);

/* In the child of a fork. */
void abti_joining_forget(void);

#endif
