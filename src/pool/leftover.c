/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/leftover.h"

#include "os/annotate.h"
#include "pool/member.h"
#include "unit/tool_event.h"

/*
 * The units that were left, linked by `next`, each with its joiner in `left_to`. As a rule the
 * first one left is the first one taken, since joiners run on in the order in which they were resumed.
 */
static struct abti_spin leftover_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static abti_unit *first, **end = &first; /* leftover_lock */

void abti_leftover_leave(abti_unit *unit, abti_unit *joiner)
{
    abti_unit_cold_get(unit)->handle = abti_unit_join_handle(joiner);
    unit->next = NULL;
    unit->left_to = joiner;
    abti_store_release(&unit->join, ABTI_JOIN_DONE); /* release: pairs with abti_unit_is_done */
    abti_spin_lock(&leftover_lock);
    *end = unit;
    end = &unit->next;
    abti_spin_unlock(&leftover_lock);
    /*
     * release: pairs with the acquire in abti_leftover_take. The request is seen when the joiner is popped from its
     * pool
     */
    abti_fetch_or_acq_rel(&joiner->requests, ABTI_REQ_FREE);
}

abti_unit *abti_leftover_take(abti_unit *joiner)
{
    /* acquire: pairs with the release in abti_leftover_leave */
    abti_fetch_and_acq_rel(&joiner->requests, (uint8_t)~ABTI_REQ_FREE);
    abti_spin_lock(&leftover_lock);
    abti_unit **link = &first;
    while ((*link)->left_to != joiner)
        link = &(*link)->next;
    abti_unit *unit = *link;
    *link = unit->next;
    if (end == &unit->next)
        end = link;
    abti_spin_unlock(&leftover_lock);
    return unit;
}

void abti_leftover_free(void *unit)
{
    ABT_thread *handle = abti_unit_cold_get(unit)->handle;
    abti_tool_event_join(unit);
    abti_tool_event_free(unit);
    abti_annotate_acquire(unit);
    abti_unit_free(unit);
    *handle = ABT_THREAD_NULL;
}

void abti_leftover_forget(void)
{
    abti_spin_forget(&leftover_lock, ABTI_RANK_LEAF);
    first = NULL;
    end = &first;
}
