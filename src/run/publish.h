/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling the waiter of a unit that it has ended, see "publish" in run/end.c. */
#ifndef ABTI_RUN_PUBLISH_H
#define ABTI_RUN_PUBLISH_H

#include "base/assert.h"
#include "pool/blocked.h"
#include "pool/member.h"

/* Publishes the end of a unit that runs no more. Returns the ULT that waited for it, still blocked, or NULL. */
abti_unit *abti_publish_end(abti_es *es, abti_unit *unit);

/* The same for a unit that a joiner waits for, on an ES that is not observed. `join` is the joiner's registration. */
abti_unit *abti_publish_end_to_joiner(abti_es *es, abti_unit *unit, uintptr_t join);

/*
 * Pushes a ULT that waited for a unit to its pool. The ULT may still be about to leave its stack, since it registers
 * before it leaves.
 */
void abti_resume_joiner(abti_unit *joiner);

/* A joiner in ABT_thread_free keeps the address of the handle that is to be nulled in its link, which is not used while
 * it sleeps. */
ABTI_INLINE void abti_null_handle(abti_unit *joiner)
{
    *abti_unit_join_handle(joiner) = ABT_THREAD_NULL;
}

/*
 * Ends a unit in place, or a lone tasklet, in the common case, so that only the joiner's going on is left to do: the
 * joiner sleeps on this ES, which owns the counts of the joiner's pool (the joiner may have got another pool
 * meanwhile), and the unit is nothing but its descriptor. Requests to the joiner wait until it yields, since it has
 * never left its stack. relaxed: the index is this ES's only if this thread has stored it.
 */
ABTI_INLINE bool abti_try_publish_end(abti_es *es, abti_unit *unit, abti_unit *joiner, abti_pool *pool, uintptr_t join)
{
    abti_assert(joiner && !(join & ABTI_JOIN_EXTERNAL));
    if (ABTI_UNLIKELY(abti_load_relaxed(&joiner->es) != es->index || !abti_pool_is_keeper(es, pool) ||
                      abti_load_relaxed(&unit->cold) || !abti_cache_has_room(&es->units)))
        return false;
    if (ABTI_LIKELY(join & ABTI_JOIN_FREE)) {
        abti_unit_release_quick(es, unit);
        abti_null_handle(joiner);
    } else {
        abti_store_release(&unit->join, ABTI_JOIN_DONE); /* release: pairs with the acquire in abti_unit_is_done */
    }
    return true;
}

#endif
