/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much stack the ULTs of each function use at most, by samples: one in a number of those that start is sampled. The
 * stack below it is filled with a pattern, and its end shows how far down that has changed. While a ULT is sampled no
 * unit runs in place on its stack, so that only its own use is measured.
 *
 * This costs nothing when off: ULTs start in the function in abti_rt.ult_entry, which is another one while there are
 * samples. A caller that turns samples on or off calls abti_entry_watch (run/begin.h) afterwards.
 */
#ifndef ABTI_UNIT_STACKUSE_H
#define ABTI_UNIT_STACKUSE_H

#include <stdint.h>
#include "unit/unit.h"

struct abti_stack_use {
    void (*func)(void *);
    size_t most;      /* bytes, from where the unit began */
    uint64_t samples; /* units that were sampled to their end */
};

/*
 * One in `every` ULTs that start from now on is sampled, none if that is 0. `spare`: fewer, so that it takes a few
 * percent of the time at most. ABT_ERR_MEM, or ABT_SUCCESS.
 */
int abti_stackuse_sample(uint32_t every, bool spare) ABTI_MUST_CHECK;

/* The value that was set last; 0: none. Each ES counts for itself. */
extern _Atomic(uint32_t) abti_stackuse_every ABTI_HIDDEN;

/* relaxed: the last one that changes it sees its own value, or a newer one, under rt.lock */
ABTI_INLINE bool abti_stackuse_is_on(void)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&abti_stackuse_every) > 0);
}

/* Forgets everything. */
void abti_stackuse_fini(void);
/* The same in the child of a fork: another thread may have been changing the table. */
void abti_stackuse_forget(void);

/* Returns what is known of a function; zeroes if nothing is. */
struct abti_stack_use abti_stackuse_of(void (*func)(void *));

/* Gives the index-th function of which something is known. False: there are fewer. */
bool abti_stackuse_at(unsigned index, struct abti_stack_use *use);

/*
 * Begins to sample the calling ULT, which is to start on a stack of its own, if its turn has come. It returns without
 * having touched more of the stack than its own frame.
 */
void abti_stackuse_enter(void);

/*
 * Ends the sample of a ULT that has started and has ended in any way, or is about to. The caller runs the ULT or has
 * popped it.
 */
void abti_stackuse_leave(abti_unit *unit);

/* Does so if the ULT is sampled. */
ABTI_INLINE void abti_stackuse_left(abti_unit *unit)
{
    if (ABTI_UNLIKELY(abti_stack_is_sampled(unit->stack)))
        abti_stackuse_leave(unit);
}

#endif
