/* SPDX-License-Identifier: BSD-3-Clause */
/* How units end: a joiner is resumed, and the ES goes on with another unit, from a stack that nobody comes back to. */
#ifndef ABTI_RUN_END_H
#define ABTI_RUN_END_H

#include "run/publish.h"

/*
 * Ends the running ULT. Returns when a unit that has not started is to run next and may do so on this very stack;
 * otherwise it leaves the stack.
 */
void abti_end_ult(void);

/* Exits the calling ULT. The words for ends are explained in run/end.c. */
ABTI_NORETURN void abti_ult_exit(void);

/* Exits the calling ULT. The caller has reported the end to the tools. */
ABTI_NORETURN void abti_ult_exit_reported(void);

/* Exits the calling ULT, and `next`, which the caller has popped, runs. */
ABTI_NORETURN void abti_ult_exit_to(abti_unit *next);

/* Ends the primary ES's main unit. The primary ULT, which waits for it, goes on. */
ABTI_NORETURN void abti_exit_to_entered(abti_es *es);

/* Ends a unit that is on no stack: a tasklet that has returned, or a unit that is discarded. */
void abti_end_without_stack(abti_es *es, abti_unit *unit);

/*
 * The same, but if the ULT that waited for it slept on this ES and could go on here at once, out of `pool`, it stays
 * blocked and is returned. NULL: there was none, or it has been pushed.
 */
abti_unit *abti_end_for_joiner(abti_es *es, abti_unit *unit, const abti_pool *pool) ABTI_MUST_CHECK;

/*
 * In the child of a fork `primary` is the primary ULT, and stands for `forker`, a unit other than the parent's primary
 * ULT: when the function of that returns the process ends, and says EXIT_SUCCESS.
 */
void abti_end_with_process(abti_unit *primary, abti_unit *forker);

/* Runs the units of a row, see run/join.h, in place. */
void abti_run_row(void *row);

/*
 * Ends a unit in place, or a lone tasklet, that cannot be ended so, on the frames of the joiner, which goes on when
 * this returns. Always returns ABT_SUCCESS.
 */
int abti_end_in_place_slow(abti_es *es, abti_unit *unit);

/* Lets the joiner go on. relaxed: queries may see the state late. */
ABTI_INLINE void abti_return_to_joiner(abti_es *es, abti_unit *joiner, abti_pool *pool)
{
    abti_pool_count_own_left(pool, 1);
    es->cur = joiner;
    abti_store_relaxed(&joiner->state, ABT_THREAD_STATE_RUNNING);
}

#endif
