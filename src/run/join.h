/*
 * Waiting for a unit to terminate, and freeing it. The common cases stand here by themselves, with everything in
 * registers; they end in a tail call to the general functions.
 */
#ifndef ABTI_RUN_JOIN_H
#define ABTI_RUN_JOIN_H

#include "base/assert.h"
#include "pool/blocked.h"
#include "pool/member.h"
#include "run/switch.h"

/*
 * The caller, any thread (es NULL: no ES), waits for a unit to terminate. With a handle it frees the unit, and nulls
 * the handle when that is done, not before: others may read it meanwhile. Always ABT_SUCCESS.
 */
int abti_join_slow(abti_es *es, abti_unit *unit, ABT_thread *handle);

/*
 * The same for an ES and a unit that has not been touched, at a glance (what it is under the lock counts): in place
 * where that is possible, for a ULT, when the unit is the next one in the shared pool in front. It is taken out under
 * the lock, and is from then on as in a private pool: it may come to other ESs no sooner than it has left the joiner's
 * stack by yielding or blocking.
 */
int abti_join_shared(abti_es *es, abti_unit *unit, ABT_thread *handle);

/* The unit is done and joined; with a handle it is to be freed. */
int abti_free_done(abti_es *es, abti_unit *unit, ABT_thread *handle);

/*
 * For finalize: the calling ULT waits for the unit of its scheduler, which ends for that only. The ULT does not count
 * as blocked, so that the scheduler may end.
 */
int abti_join_uncounted(abti_es *es, abti_unit *unit);

/*
 * Registers the joiner of a unit that nobody else can start. A caller that frees the unit is alone with it, so that
 * an ordinary store will do; one that only joins may have rivals.
 */
ABTI_INLINE bool abti_register_in_place(abti_unit *unit, abti_unit *self, ABT_thread *handle)
{
    abti_assert(((uintptr_t)self & ABTI_JOIN_TAGS) == 0 && self != unit);
    uintptr_t none = 0;
    if (!handle)
        return abti_cas_word(&unit->join, &none, (uintptr_t)self | ABTI_JOIN_IN_PLACE);
    self->next = (abti_unit *)handle;
    abti_store_relaxed(&unit->join, (uintptr_t)self + (ABTI_JOIN_IN_PLACE | ABTI_JOIN_FREE));
    return true;
}

/* The unit is registered and popped, the joiner counted as blocked: it runs, and its end resumes the joiner. */
ABTI_INLINE int abti_run_in_place(abti_es *es, abti_unit *self, abti_unit *unit)
{
    abti_assert(es->cur == self && !abti_unit_has_started(unit) && abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE);
    abti_unit_set_stack(unit, self->stack); /* for the units that it joins in place itself */
    abti_set_running(es, unit);
    /* relaxed: a waker must see the joiner BLOCKED, but the only one is the unit, which runs on this very stack */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    return abti_ctx_in_place_to_end(&self->ctx, unit->arg, unit->func);
}

/*
 * A unit that has not been touched may run in place for `self`, a ULT which runs: it stands next in `queue`, the
 * stream's own, and there is enough of self's stack left. That it stands there also says that it is a unit which can be
 * joined.
 */
ABTI_INLINE bool abti_may_run_fresh_in_place(abti_unit *self, struct abti_queue *queue, abti_unit *unit)
{
    return ABTI_LIKELY(abti_cpu_is_equal(&queue->head, (uintptr_t)unit)) &&
           ABTI_LIKELY(abti_cpu_sp_is_above(&self->stack->in_place_limit)) &&
           ABTI_LIKELY(abti_cpu_is_equal(&unit->join, 0));
}

/* The same for one that may have been touched. */
ABTI_INLINE bool abti_may_run_in_place(abti_unit *self, struct abti_queue *queue, abti_unit *unit)
{
    return abti_may_run_fresh_in_place(self, queue, unit) && ABTI_LIKELY(abti_unit_is_fresh_default(unit));
}

/*
 * Join in place, if that may be, a unit that has not been touched: it is registered, it runs on the rest of the
 * joiner's stack, and its end resumes the joiner. True: done, with *code to be returned at once. On an ES; a caller
 * that is no ULT there has no queue.
 */
ABTI_INLINE bool abti_join_in_place(abti_es *es, abti_unit *unit, ABT_thread *handle, int *code)
{
    abti_unit *self = es->cur;
    abti_pool *pool = es->fast;
    if (ABTI_UNLIKELY(!abti_may_run_fresh_in_place(self, &pool->queue, unit)) || ABTI_UNLIKELY(self->pool != pool) ||
        ABTI_UNLIKELY(!abti_pool_is_owner(es, pool)))
        return false;
    if (ABTI_UNLIKELY(!abti_pool_in_place_take(pool))) {
        abti_pool_in_place_give_back(pool);
        *code = abti_join_slow(es, unit, handle); /* after a look at events */
        return true;
    }
    if (ABTI_UNLIKELY(!abti_register_in_place(unit, self, handle))) {
        abti_pool_in_place_give_back(pool);
        return false;
    }
    abti_queue_unlink_head(&pool->queue, unit);
    *code = abti_run_in_place(es, self, unit);
    return true;
}

/* The unit has ended and only its descriptor is to be freed. That it is so says that it may be. */
ABTI_INLINE bool abti_may_free_at_once(abti_es *es, abti_unit *unit)
{
    return !ABTI_BUILD_TOOL && ABTI_LIKELY(abti_unit_is_done(unit)) && ABTI_LIKELY(abti_unit_is_bare(es, unit));
}

/* For units that are known to be joinable. */
ABTI_INLINE int abti_join(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (abti_unit_is_done(unit))
        return handle || ABTI_BUILD_TOOL ? abti_free_done(es, unit, handle) : ABT_SUCCESS;
    return es && abti_unit_is_fresh_default(unit) ? abti_join_shared(es, unit, handle)
                                                  : abti_join_slow(es, unit, handle);
}

#endif
