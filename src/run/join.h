/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for a unit to terminate, and freeing it. The common cases are here, with everything in registers, and end
 * in a tail call to the general functions.
 */
#ifndef ABTI_RUN_JOIN_H
#define ABTI_RUN_JOIN_H

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/blocked.h"
#include "pool/member.h"
#include "run/budget.h"
#include "run/switch.h"

/*
 * Waits for a unit to terminate. Any thread may call this; `es` is NULL if it is no ES. With a handle it frees the unit
 * and nulls the handle. It does so when the unit is freed, not before, since others may read the handle meanwhile.
 * Always returns ABT_SUCCESS.
 */
int abti_join_slow(abti_es *es, abti_unit *unit, ABT_thread *handle);

/*
 * Does the same for an ES and a unit that is fresh by a racy read (abti_unit_is_fresh_default); what the unit is under
 * the lock counts. If the caller is a ULT and the unit is the next one in the shared pool in front, it runs in place if
 * possible. It is taken out under the lock, and from then on is as in a private pool: other ESs may get it only when it
 * has left the joiner's stack by yielding or blocking.
 */
int abti_join_shared(abti_es *es, abti_unit *unit, ABT_thread *handle);

/* Ends the join of a unit that is done. With a handle it frees the unit. */
int abti_free_done(abti_es *es, abti_unit *unit, ABT_thread *handle);

/*
 * Waits, in ABT_finalize, for the unit of the calling ULT's scheduler, which ends only if it is waited for. The ULT
 * does not count as blocked, so that the scheduler may end.
 */
int abti_join_uncounted(abti_es *es, abti_unit *unit);

/*
 * Registers the joiner of a unit that nobody else can start. A caller that frees the unit is alone with it, so that a
 * relaxed store will do: the unit runs on this thread, and what moves it to another one orders the store. A caller that
 * only joins may have rivals. `place` is ABTI_JOIN_IN_PLACE for a unit that runs in place, or else 0.
 */
ABTI_INLINE bool abti_register_unstarted(abti_unit *unit, abti_unit *self, ABT_thread *handle, uintptr_t place)
{
    abti_assert(((uintptr_t)self & ABTI_JOIN_TAGS) == 0 && self != unit);
    uintptr_t none = 0;
    abti_unit_wait_for_join(self, unit, handle);
    if (!handle)
        /* release: pairs with default_stack_end (unit/unit.c). acquire: of no use, as the unit has not started */
        return abti_cas_word(&unit->join, &none, (uintptr_t)self | place);
    abti_store_relaxed(&unit->join, (uintptr_t)self + (place | ABTI_JOIN_FREE));
    return true;
}

/*
 * Runs a unit in place, when it is registered and popped and the joiner is counted as blocked. Its end resumes the
 * joiner.
 */
int abti_call_in_place_slow(abti_es *es, abti_unit *self, abti_unit *unit); /* abti_switch_is_slow */
ABTI_INLINE int abti_run_in_place(abti_es *es, abti_unit *self, abti_unit *unit)
{
    abti_assert(es->cur == self && !abti_unit_has_started(unit) && abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE);
    abti_unit_set_stack(unit, self->stack); /* it is for the units that this one joins in place itself */
    abti_set_running(es, unit);
    /* relaxed: a waker must see the joiner BLOCKED, but the only waker is the unit, which runs on this very stack */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    if (abti_switch_is_slow(es))
        return abti_call_in_place_slow(es, self, unit);
    return abti_ctx_in_place_to_end(&self->ctx, unit->arg, unit->func);
}

/*
 * Whether a fresh unit (abti_unit_is_fresh_default) may run in place for `self`, the running ULT: it is next in
 * `queue`, the stream's own, and there is enough of self's stack left. Since it is there, it is a unit that can be
 * joined.
 */
ABTI_INLINE bool abti_may_run_fresh_in_place(abti_unit *self, struct abti_queue *queue, abti_unit *unit)
{
    return ABTI_LIKELY(abti_load_relaxed(&queue->head) == unit) &&
           ABTI_LIKELY(abti_stack_has_room_in_place(self->stack)) && ABTI_LIKELY(abti_load_relaxed(&unit->join) == 0);
}

/* Whether any unit, fresh or not, may run in place for `self`. */
ABTI_INLINE bool abti_may_run_in_place(abti_unit *self, struct abti_queue *queue, abti_unit *unit)
{
    return abti_may_run_fresh_in_place(self, queue, unit) && ABTI_LIKELY(abti_unit_is_fresh_default(unit));
}

/*
 * Joins a fresh unit in place, if that is possible: the unit is registered and runs on the rest of the joiner's stack,
 * and its end resumes the joiner. True: this is done, and the caller returns *code at once. The caller runs on an ES;
 * if it is no ULT there, `fast` is empty.
 */
ABTI_INLINE bool abti_join_in_place(abti_es *es, abti_unit *unit, ABT_thread *handle, int *code)
{
    abti_unit *self = es->cur;
    abti_pool *pool = es->fast;
    if (ABTI_UNLIKELY(!abti_may_run_fresh_in_place(self, &pool->queue, unit)) || ABTI_UNLIKELY(self->pool != pool))
        return false;
    if (ABTI_UNLIKELY(!abti_pool_in_place_take(pool))) {
        abti_pool_in_place_give_back(pool);
        *code = abti_join_slow(es, unit, handle); /* this checks events first */
        return true;
    }
    if (ABTI_UNLIKELY(!abti_register_unstarted(unit, self, handle, ABTI_JOIN_IN_PLACE))) {
        abti_pool_in_place_give_back(pool);
        return false;
    }
    abti_queue_unlink_head(&pool->queue, unit);
    *code = abti_run_in_place(es, self, unit);
    return true;
}

/* Whether the unit has ended and only its descriptor is to be freed. */
ABTI_INLINE bool abti_may_free_at_once(abti_es *es, abti_unit *unit)
{
    return ABTI_LIKELY(abti_unit_is_done(unit)) && ABTI_LIKELY(abti_unit_is_bare(es, unit));
}

/* Joins a unit that is known to be joinable, and with a handle frees it. */
ABTI_INLINE int abti_join(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (abti_unit_is_done(unit))
        return handle || abti_tool_wants(ABT_TOOL_EVENT_THREAD_JOIN) || ABTI_UNLIKELY(abti_annotate_order)
                   ? abti_free_done(es, unit, handle)
                   : ABT_SUCCESS;
    return es && abti_unit_is_fresh_default(unit) ? abti_join_shared(es, unit, handle)
                                                  : abti_join_slow(es, unit, handle);
}

/* --- A lone tasklet: its joiner runs it without the scheduler, as nothing else is ready --- */

/* For a fresh tasklet (abti_unit_is_fresh_tasklet). Returns ABT_SUCCESS, or ABT_ERR_OTHER if it is not lone. */
int abti_join_lone_tasklet(abti_es *es, abti_unit *unit, ABT_thread *handle) ABTI_MUST_CHECK;

/*
 * Does as abti_join does, without the way through the scheduler, for a tasklet that is the only unit of the pool in
 * front and has not started. `es` is the caller's. False: the unit is none, and nothing has been done.
 */
ABTI_INLINE bool abti_try_join_lone(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    return abti_unit_is_fresh_tasklet(unit) && abti_join_lone_tasklet(es, unit, handle) == ABT_SUCCESS;
}

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
