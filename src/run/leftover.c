#include "run/leftover.h"

#include "pool/member.h"

/*
 * Linked by `next`, with the joiner in `ctx`: an ended unit needs neither. The first left is the first taken, as a
 * rule, since joiners run on in the order in which they were resumed.
 */
static struct abti_spin leftover_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static abti_unit *first, **end = &first; /* leftover_lock */

void abti_leftover_leave(abti_unit *unit, abti_unit *joiner)
{
    abti_unit_cold_get(unit)->handle = (ABT_thread *)joiner->next;
    unit->next = NULL;
    unit->ctx = joiner;
    abti_store_release(&unit->join, ABTI_JOIN_DONE); /* pairs with abti_unit_is_done */
    abti_spin_lock(&leftover_lock);
    *end = unit;
    end = &unit->next;
    abti_spin_unlock(&leftover_lock);
    /* release: pairs with the lock of the pool that the joiner comes to; the request is seen when it is popped */
    abti_fetch_or_acq_rel(&joiner->requests, ABTI_REQ_FREE);
}

abti_unit *abti_leftover_take(abti_unit *joiner)
{
    abti_fetch_and_acq_rel(&joiner->requests, (uint8_t)~ABTI_REQ_FREE);
    abti_spin_lock(&leftover_lock);
    abti_unit **link = &first;
    while ((*link)->ctx != joiner)
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
    abti_unit_free(unit);
    *handle = ABT_THREAD_NULL;
}

void abti_leftover_forget(void)
{
    abti_spin_init(&leftover_lock, ABTI_RANK_LEAF);
    first = NULL;
    end = &first;
}
