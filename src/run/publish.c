/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/publish.h"

#include "run/observe.h"
#include "pool/leftover.h"
#include "run/block.h"
#include "unit/tool_event.h"
#include "wait/sleeper.h"

/*
 * Frees a unit that is more than its descriptor. If that calls the user's functions, the joiner frees the unit itself.
 */
static ABTI_NOINLINE void free_for_joiner(abti_unit *unit, abti_unit *joiner)
{
    if (abti_unit_calls_back(unit)) {
        abti_leftover_leave(unit, joiner);
    } else {
        abti_null_handle(joiner);
        abti_unit_free(unit);
    }
}

/* Frees a unit for a joiner in ABT_thread_free. */
ABTI_INLINE void free_joined(abti_es *es, abti_unit *unit, abti_unit *joiner)
{
    abti_assert(joiner && joiner != unit);
    /* relaxed: the unit has ended, and its last user has synchronised by the join word */
    if (ABTI_UNLIKELY(abti_load_relaxed(&unit->what) & (ABTI_UNIT_OWN_STACK | ABTI_WHAT_COLD))) {
        free_for_joiner(unit, joiner);
        return;
    }
    abti_null_handle(joiner);
    abti_unit_release(es, unit);
}

abti_unit *abti_publish_end_to_joiner(abti_es *es, abti_unit *unit, uintptr_t join)
{
    abti_assert((join & ~(uintptr_t)ABTI_JOIN_TAGS) != 0);
    /* One joiner has registered, and no other can: a plain store ends the unit. */
    if (ABTI_LIKELY(join & ABTI_JOIN_FREE))
        free_joined(es, unit, (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS));
    else
        abti_store_release(&unit->join, ABTI_JOIN_DONE); /* release: pairs with the acquire in abti_unit_is_done */
    if (ABTI_UNLIKELY(join & ABTI_JOIN_EXTERNAL)) {
        abti_sleeper_wake((struct abti_sleeper *)(join & ~(uintptr_t)ABTI_JOIN_TAGS));
        return NULL;
    }
    return (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
}

ABTI_INLINE abti_unit *publish_end(abti_es *es, abti_unit *unit)
{
    abti_assert(abti_load_relaxed(&unit->join) != ABTI_JOIN_DONE);
    /* acquire: pairs with the joiner's registration (join_register, abti_join_uncounted) */
    uintptr_t join = abti_load_acquire(&unit->join);
    if (join == 0) {
        if (!(unit->flags & ABTI_UNIT_NAMED)) {
            abti_unit_dispose(es, unit);
            return NULL;
        }
        /*
         * release: pairs with abti_unit_is_done. acquire: pairs with the registration of a joiner that was faster
         * (join_register)
         */
        if (ABTI_LIKELY(abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE)))
            return NULL;
    }
    return abti_publish_end_to_joiner(es, unit, join);
}

/* Of a unit that nobody frees, and of one that is freed for its joiner: the joiner does that, and reports it. */
static ABTI_COLD abti_unit *publish_end_observed(abti_es *es, abti_unit *unit)
{
    /* acquire, and again with the compare-and-swap, whose release pairs with abti_unit_is_done: as above */
    uintptr_t join = abti_load_acquire(&unit->join);
    if (join == 0 && !(unit->flags & ABTI_UNIT_NAMED)) {
        abti_tool_event_free_unnamed(es, unit);
        abti_unit_dispose(es, unit);
        return NULL;
    }
    if (join == 0 && abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE))
        return NULL;
    if (!(join & ABTI_JOIN_FREE))
        return abti_publish_end_to_joiner(es, unit, join);
    abti_unit *joiner = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
    abti_leftover_leave(unit, joiner);
    return joiner;
}

abti_unit *abti_publish_end(abti_es *es, abti_unit *unit)
{
    return ABTI_UNLIKELY(abti_es_is_observed(es)) ? publish_end_observed(es, unit) : publish_end(es, unit);
}

void abti_resume_joiner(abti_unit *joiner)
{
    abti_assert(joiner != NULL);
    abti_spin_until(abti_unit_is_blocked(joiner));
    abti_unblock(joiner, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}
