/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of units that run in place one after the other for one joiner. */
#ifndef ABTI_RUN_ROW_H
#define ABTI_RUN_ROW_H

#include "base/assert.h"
#include "run/budget.h"
#include "run/join.h"

/*
 * Units that run in place one after the other for one joiner, which is saved once for all of them. The row is in the
 * joiner's frame. When the joiner goes on, on whatever ES, it finds in `next` how far they have come.
 */
struct abti_row {
    abti_unit *joiner;
    ABT_thread *next, *end; /* the units to come */
    bool free;              /* the units are to be freed, too */
    abti_unit *unit;        /* the unit that runs */
};

/* Takes the next unit of the row out of its pool and marks it as running, if it may run in place now. */
ABTI_INLINE bool abti_row_begin_next(abti_es *es, struct abti_row *row)
{
    abti_assert(es == abti_es_self && row->next <= row->end);
    abti_unit *self = row->joiner;
    if (row->next == row->end)
        return false;
    abti_unit *unit = *row->next;
    struct abti_queue *queue = &es->fast->queue;
    /* A null handle could be taken for the head of an empty queue. */
    if (!unit || !abti_may_run_in_place(self, queue, unit) || ABTI_UNLIKELY(!abti_pool_is_keeper(es, self->pool)) ||
        ABTI_UNLIKELY(!abti_budget_take(es)) ||
        ABTI_UNLIKELY(!abti_register_unstarted(unit, self, row->free ? row->next : NULL, ABTI_JOIN_IN_PLACE)))
        return false;
    row->next++;
    row->unit = unit;
    abti_queue_pop_head(queue, unit);
    abti_unit_set_stack(unit, self->stack);
    abti_set_running(es, unit);
    return true;
}

/* Joins as many of these units as can run in place one after the other, and returns how many, which may be none. */
size_t abti_join_row(ABT_thread *handles, size_t num, bool free);

#endif
