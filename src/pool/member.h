/* A work unit as a member of a pool: its handle there, and its making and freeing, which a user-defined pool hears of.
 */
#ifndef ABTI_POOL_MEMBER_H
#define ABTI_POOL_MEMBER_H

#include "base/assert.h"
#include "pool/pool.h"

/*
 * Frees what hangs on a terminated unit (keys, own stack, the pool's unit) and the descriptor. Calls the destructors of
 * keys and the pool's free_unit, unless abti_unit_call_back has done so before.
 */
void abti_unit_free(abti_unit *unit);

void abti_unit_call_back(abti_unit *unit);

/*
 * There are such functions to be called that must not run wherever the unit happens to be freed. For free_unit any
 * place will do where the unit, or its joiner, still stands on its stack.
 */
bool abti_unit_calls_back(abti_unit *unit);

/* Makes `pool` the unit's pool; with user-defined pools on either side their units are made and freed. ABT code. */
int abti_unit_associate(abti_unit *unit, abti_pool *pool) ABTI_MUST_CHECK;

/* The ABT_unit of a work unit in its present pool, and the way back. */
ABT_unit abti_unit_handle(abti_unit *unit);

abti_unit *abti_unit_from_handle(ABT_unit handle);

/*
 * A new unit of `pool`; NULL when there is no memory, or the pool is user-defined and would not have it. *code says so,
 * and is left alone otherwise.
 */
ABTI_INLINE abti_unit *abti_unit_new(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags,
                                     int *code)
{
    abti_assert(pool && code);
    abti_unit *unit = abti_unit_alloc(es);
    if (ABTI_UNLIKELY(!unit)) {
        *code = ABT_ERR_MEM;
        return NULL;
    }
    abti_unit_init(unit, func, arg, pool, flags);
    unit->stack = NULL; /* the creator's to set, if it is to have its own */
    if (ABTI_UNLIKELY(pool->user_defined)) {
        unit->pool = NULL;
        *code = abti_unit_associate(unit, pool);
        if (*code != ABT_SUCCESS) {
            abti_unit_release(es, unit);
            return NULL;
        }
    }
    return unit;
}

/* A terminated unit of the user's that is only its descriptor, and room for that in the cache: it may be put there. */
ABTI_INLINE bool abti_unit_is_bare(abti_es *es, abti_unit *unit)
{
    /* relaxed: the unit has ended, its last user synchronised by the join word */
    const uint32_t more = ABTI_UNIT_OWN_STACK | ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_PRIMARY | ABTI_WHAT_COLD;
    return !abti_cpu_has_any(&unit->what, more) && !abti_cache_is_full(&es->units);
}

/* What hangs on it, and the descriptor; inline for the unit that has nothing special. */
ABTI_INLINE void abti_unit_dispose(abti_es *es, abti_unit *unit)
{
    /* relaxed: the unit has ended, its last user synchronised by the join word */
    if (ABTI_LIKELY(abti_load_relaxed(&unit->cold) == 0 && !(unit->flags & ABTI_UNIT_OWN_STACK)))
        abti_unit_release(es, unit);
    else
        abti_unit_free(unit);
}

#endif
