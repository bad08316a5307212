/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/row.h"

#include "run/sched.h"
#include "run/end.h"

size_t abti_join_row(ABT_thread *handles, size_t num, bool free)
{
    abti_es *es = abti_es_self;
    if (!es)
        return 0;
    if (!abti_budget_allows(es) && es->dsched)
        abti_renew_budget(es, es->dsched);
    abti_unit *self = es->cur;
    abti_assert(!es->handoff);
    struct abti_row row = {.joiner = self, .next = handles, .end = handles + num, .free = free};
    if (!abti_row_begin_next(es, &row))
        return 0;
    abti_pool_count_entered_quick(self->pool);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED); /* relaxed: as in abti_run_in_place */
    struct abti_saved kept = abti_saved_lay_by(es);
    abti_ctx_in_place(&self->ctx, &row, abti_run_row);
    abti_saved_pick_up(&kept);
    return (size_t)(row.next - handles);
}
