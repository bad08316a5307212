/*
 * How much stack the ULTs of each function use at most, by samples: one in so many of those that start is watched. What
 * lies below it is filled with a pattern, and when it ends one sees how far down that has changed. While it is watched
 * no unit runs in place on its stack, so that it is its own use and nobody else's.
 *
 * Free when off: ULTs start in the function that abti_ult_entry says, another one while there are samples.
 */
#ifndef ABTI_RUN_STACKUSE_H
#define ABTI_RUN_STACKUSE_H

#include <stdint.h>
#include "unit/unit.h"

struct abti_stack_use {
    void (*func)(void *);
    size_t most;      /* bytes, from where the unit began */
    uint64_t samples; /* units that were watched to their end */
};

/* One in `every` ULTs that start from now on is watched, none if that is 0. ABT_ERR_MEM, or ABT_SUCCESS. */
int abti_stackuse_sample(uint32_t every) ABTI_MUST_CHECK;

extern _Atomic(uint32_t) abti_stackuse_every; /* as said last; 0: none. Each ES counts for itself */

/* relaxed: the last of those who change it sees its own value, or one that is newer, under rt.lock */
ABTI_INLINE bool abti_stackuse_is_on(void)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&abti_stackuse_every) > 0);
}

/* As the environment says, if there is memory for that. */
void abti_stackuse_begin(void);
/* Forgets everything. */
void abti_stackuse_fini(void);
/* The same in the child of a fork: another thread may have been changing the table. */
void abti_stackuse_forget(void);

/* What is known of a function; zeroes if nothing is. */
struct abti_stack_use abti_stackuse_of(void (*func)(void *));

/* The index-th function of which something is known; false: there are not so many. */
bool abti_stackuse_at(unsigned index, struct abti_stack_use *use);

/*
 * The calling ULT, which is to start on a stack of its own, is perhaps watched. Returns without having touched more of
 * the stack than its own frame.
 */
void abti_stackuse_enter(void);

/* The ULT, which has started, has ended, however, or is about to, if it is watched. By who runs or has popped it. */
void abti_stackuse_leave(abti_unit *unit);

ABTI_INLINE void abti_stackuse_left(abti_unit *unit)
{
    if (ABTI_UNLIKELY(abti_stack_is_watched(unit->stack)))
        abti_stackuse_leave(unit);
}

#endif
