/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work unit as a member of a pool: its handle there, and its making and freeing, of which a user-defined pool learns.
 */
#ifndef ABTI_POOL_MEMBER_H
#define ABTI_POOL_MEMBER_H

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/pool.h"
#include "unit/unitmap.h"

/*
 * Frees what hangs on a terminated unit (keys, own stack, the pool's unit) and the descriptor. Calls the destructors of
 * keys and the pool's free_unit, unless abti_unit_call_back has done so before.
 */
void abti_unit_free(abti_unit *unit);

void abti_unit_call_back(abti_unit *unit);

/*
 * Whether there are functions to be called that must not run wherever the unit happens to be freed. A free_unit may run
 * anywhere if the unit, or its joiner, still is on the unit's stack.
 */
bool abti_unit_calls_back(abti_unit *unit);

/*
 * Makes `pool` the unit's pool. With user-defined pools on either side, their units are made and freed. Returns an ABT
 * code.
 */
int abti_unit_associate(abti_unit *unit, abti_pool *pool) ABTI_MUST_CHECK;

/* Does so, and pushes the unit. */
int abti_unit_push_to(abti_unit *unit, abti_pool *pool, ABT_pool_context context) ABTI_MUST_CHECK;

/* Units that go to a pool together. The creator sets pool and context. */
struct abti_batch {
    abti_pool *pool;
    ABT_pool_context context;
    size_t num;
    abti_unit *units[64];
};

/* Associates a unit with the pool, and adds it; a full batch is pushed. Returns an ABT code: it was not added. */
int abti_batch_add(struct abti_batch *batch, abti_unit *unit) ABTI_MUST_CHECK;

/* Pushes what the batch has. */
void abti_batch_push(struct abti_batch *batch);

/* Whether a unit was taken out of its pool: it was; it was not there; or the user's function of the pool failed. */
enum abti_taking { ABTI_TAKING_DONE, ABTI_TAKING_MISSED, ABTI_TAKING_FAILED };

/*
 * Takes a ready unit out of its pool, for a caller on the ES. The answer is a value and not stored through a pointer: a
 * caller with a variable of which others know the address could not end in a tail call of the switch. relaxed: the unit
 * may run elsewhere and choose another pool meanwhile, and then it is not in the one that is looked at; and the host
 * alone writes the queue.
 */
enum abti_taking abti_unit_take_out_by_pool(abti_unit *unit) ABTI_MUST_CHECK;
ABTI_INLINE enum abti_taking abti_unit_take_out(abti_es *es, abti_unit *unit)
{
    abti_pool *pool = abti_plain_load_relaxed(&unit->pool);
    if (!abti_pool_is_host(es, pool) || abti_load_relaxed(&pool->queue.head) != unit)
        return abti_unit_take_out_by_pool(unit);
    abti_queue_pop_head(&pool->queue, unit);
    return ABTI_TAKING_DONE;
}

/* Returns the ABT_unit of a work unit in its present pool. The other function does so if it is not the unit itself. */
ABT_unit abti_unit_other_handle(abti_unit *unit);

ABTI_INLINE ABT_unit abti_unit_handle(abti_unit *unit)
{
    return ABTI_LIKELY(abti_unit_is_handle(unit)) ? (ABT_unit)unit : abti_unit_other_handle(unit);
}

/* The end of abti_unit_enter where the pool has just made the first handle, or NULL, that is not the unit. */
int abti_unit_enter_first(abti_unit *unit, abti_pool *pool, ABT_unit handle) ABTI_MUST_CHECK;

/*
 * Lets a user-defined pool make a handle for a new unit of its own. A pool that has the unit itself for its handle
 * needs no cold line. HANDLE is set before the pool is asked, since its function may tell other threads of the unit.
 * relaxed: nobody else knows the unit yet, and whether the pool has other handles is a hint. Returns an ABT code.
 */
ABTI_INLINE int abti_unit_enter(abti_unit *unit, abti_pool *pool)
{
    abti_assert(abti_pool_is_user(pool) && unit->pool == pool && abti_load_relaxed(&unit->cold) == ABTI_COLD_NONE);
    if (abti_load_relaxed(&pool->has_other_handles))
        return abti_unit_associate(unit, pool);
    abti_store_relaxed(&unit->cold, ABTI_COLD_HANDLE);
    ABT_unit handle = pool->ops->create_unit(pool, unit);
    return ABTI_LIKELY(handle == (ABT_unit)unit) ? ABT_SUCCESS : abti_unit_enter_first(unit, pool, handle);
}

/* Frees the handle, the unit itself, of a unit that is freed. relaxed: nobody else may use the unit any more. */
ABTI_INLINE void abti_unit_free_as_handle(abti_unit *unit)
{
    abti_assert(abti_unit_is_handle(unit));
    uint8_t cold = abti_load_relaxed(&unit->cold);
    abti_store_relaxed(&unit->cold, (uint8_t)(cold & ~ABTI_COLD_HANDLE));
    unit->pool->ops->free_unit(unit->pool, (ABT_unit)unit);
}

/*
 * The handle of a unit in a built-in pool. It is the descriptor, distinguished by bit 0 from the handles of
 * user-defined pools, whose low bits are clear.
 */
ABTI_INLINE ABT_unit abti_unit_own_handle(abti_unit *unit)
{
    return (ABT_unit)((uintptr_t)unit | 1);
}

/* Returns the work unit that has the handle. */
ABTI_INLINE abti_unit *abti_unit_from_handle(ABT_unit handle)
{
    if ((uintptr_t)handle & 1)
        return (abti_unit *)((uintptr_t)handle & ~(uintptr_t)1);
    return abti_unitmap_find(handle);
}

/*
 * Makes a unit of `pool`. Returns NULL when there is no memory, or when the pool is user-defined and refuses the unit;
 * then *code says which, and otherwise *code is left alone.
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
    unit->stack = NULL; /* the creator sets it, if the unit is to have its own */
    if (ABTI_UNLIKELY(abti_pool_is_user(pool))) {
        *code = abti_unit_enter(unit, pool);
        if (ABTI_UNLIKELY(*code != ABT_SUCCESS)) {
            abti_unit_release(es, unit);
            return NULL;
        }
    }
    if (ABTI_UNLIKELY(abti_annotate_order)) {
        abti_unit_cold_get(unit); /* it is freed by the general path, which is reported */
        abti_annotate_tell_release(unit);
    }
    return unit;
}

/*
 * Whether a terminated unit of the user is nothing but its descriptor and the ES's cache has room for that, so that
 * the unit may be put there. It may not on an ES that reports events, see run/observe.h. relaxed: the unit has ended,
 * and its last user has synchronised by the join word.
 */
ABTI_INLINE bool abti_unit_is_bare(abti_es *es, abti_unit *unit)
{
    const uint32_t more = ABTI_UNIT_OWN_STACK | ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_PRIMARY | ABTI_WHAT_COLD;
    return !(abti_load_relaxed(&unit->what) & more) && abti_cache_has_room(&es->units);
}

/* Frees what hangs on the unit, and the descriptor. It is inline for a unit that has nothing special. */
ABTI_INLINE void abti_unit_dispose(abti_es *es, abti_unit *unit)
{
    /* relaxed: the unit has ended, and its last user has synchronised by the join word */
    if (ABTI_LIKELY(abti_load_relaxed(&unit->cold) == 0 && !(unit->flags & ABTI_UNIT_OWN_STACK)))
        abti_unit_release(es, unit);
    else
        abti_unit_free(unit);
}

#endif
