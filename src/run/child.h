/* A scheduler runs units, as their parent. */
#ifndef ABTI_RUN_CHILD_H
#define ABTI_RUN_CHILD_H

#include "base/assert.h"
#include "run/end.h"
#include "run/switch.h"

/*
 * The calling ULT runs a popped unit, and what that hands off, until control comes back to it. `dsched` is the
 * caller's scheduler if its children may dispatch directly, else NULL.
 */
void abti_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched);

/*
 * The calling scheduler runs a tasklet without requests: it never switches. es->cur is the tasklet afterwards, for the
 * scheduler to set right before anybody can look.
 */
ABTI_INLINE void abti_run_tasklet(abti_es *es, abti_unit *unit)
{
    abti_assert(unit->flags & ABTI_UNIT_TASKLET && !abti_has_requests(unit));
    abti_set_running(es, unit);
    unit->func(unit->arg);
    abti_tool_event_finish(es, unit);
    uintptr_t join = 0;
    /* release: pairs with abti_unit_is_done; acquire: with a joiner that was faster */
    if (ABTI_UNLIKELY(!(unit->flags & ABTI_UNIT_NAMED)) ||
        ABTI_UNLIKELY(!abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE)))
        abti_end_without_stack(es, unit);
}

/* A popped unit that is to end without running on: its end is published and its joiner resumed. */
void abti_discard(abti_es *es, abti_unit *unit);

#endif
