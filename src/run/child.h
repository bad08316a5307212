/* SPDX-License-Identifier: BSD-3-Clause */
/* How a scheduler runs units, as their parent. */
#ifndef ABTI_RUN_CHILD_H
#define ABTI_RUN_CHILD_H

#include "base/assert.h"
#include "run/end.h"
#include "run/switch.h"

/*
 * Runs a popped unit as a child of the calling ULT, and what that unit hands off, until control comes back. `dsched` is
 * the caller's scheduler if its children may dispatch directly, or NULL. With a scheduler, a tasklet that is handed off
 * is not run but returned: the scheduler has ways of its own for them. Else returns NULL.
 */
abti_unit *abti_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched);

/*
 * Does the same for a ULT that may have no scheduler for its children, and returns ABT_SUCCESS. A caller whose last act
 * this is gets back to its own caller without a return that the processor would mispredict, see abti_ctx_wait.
 */
int abti_run_child_last(abti_es *es, abti_unit *unit);

/*
 * Does the same as abti_run_child for a scheduler's loop whose children may dispatch directly, and in the same way as
 * abti_run_child_last. The tasklet that is handed off, or NULL, is in es->picked, for the caller to take.
 * ABT_ERR_OTHER: the unit needs abti_run_child, and nothing has been done.
 */
int abti_try_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched);

/*
 * Calls the function of a tasklet, which had no requests, has been set running and never switches. es->cur is the
 * tasklet afterwards, and the caller sets it right before anybody can look.
 */
ABTI_INLINE void abti_call_tasklet(abti_unit *unit)
{
    abti_assert(unit->flags & ABTI_UNIT_TASKLET);
    ABTI_STOPS_EXCEPTIONS();
    unit->func(unit->arg);
}

/* Ends a tasklet that has returned, if nobody waits for it yet. */
ABTI_INLINE bool abti_try_end_tasklet(abti_unit *unit)
{
    uintptr_t join = 0;
    /*
     * release: pairs with abti_unit_is_done. acquire: pairs with the registration of a joiner that was faster
     * (join_register)
     */
    return ABTI_LIKELY(unit->flags & ABTI_UNIT_NAMED) && abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE);
}

ABTI_INLINE void abti_end_tasklet(abti_es *es, abti_unit *unit)
{
    if (ABTI_UNLIKELY(!abti_try_end_tasklet(unit)))
        abti_end_without_stack(es, unit);
}

/* Ends a popped unit without running it on: publishes its end and resumes its joiner. */
void abti_discard(abti_es *es, abti_unit *unit);

#endif
