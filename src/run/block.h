/* The calling ULT leaves its stream until somebody wakes it, and the waking. */
#ifndef ABTI_RUN_BLOCK_H
#define ABTI_RUN_BLOCK_H

#include "base/assert.h"
#include "pool/blocked.h"
#include "run/budget.h"
#include "run/switch.h"

/* Who is about to block carries out a migration that was asked for, so that it is counted where it will come back. */
void abti_serve_migration(abti_unit *self);

/*
 * The calling ULT blocks: it is counted, others run, and after(arg) is to store ABT_THREAD_STATE_BLOCKED and to make
 * the ULT findable by its waker.
 */
int abti_block(abti_es *es, abti_unit *self, void (*after)(void *), void *arg);

/*
 * Blocking by the shortest way, with abti_ctx_leave: the ULT's pool is the private one in front, and the next unit in
 * it has only to be resumed. Nobody but this native thread takes a unit out of that pool, so that the ULT may be found
 * by its waker while it is still on its stack; not by one who would switch to it directly.
 */
ABTI_INLINE bool abti_may_block_quickly(abti_es *es)
{
    abti_unit *next;
    return ABTI_LIKELY(es != NULL) && ABTI_LIKELY(es->fast == es->cur->pool) &&
           ABTI_LIKELY(abti_pool_is_owner(es, es->fast)) && ABTI_LIKELY(abti_budget_allows(es)) &&
           ABTI_LIKELY((next = abti_load_relaxed(&es->fast->queue.head)) != NULL) &&
           ABTI_LIKELY(abti_is_resumable(next)) && !abti_has_requests(es->cur);
}

/* Marks `self` as blocked and the next unit as running. Returns where that one goes on. */
ABTI_INLINE abti_ctx abti_block_quickly(abti_es *es, abti_unit *self)
{
    abti_assert(abti_may_block_quickly(es) && es->cur == self);
    struct abti_queue *queue = &es->fast->queue;
    abti_unit *next = abti_load_relaxed(&queue->head);
    abti_budget_count(es);
    abti_queue_pop_head(queue, next);
    abti_pool_owner_entered(self->pool);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    abti_set_running(es, next);
    return next->ctx;
}

/* A blocked ULT, found by its one waker, goes to its pool. Any thread. */
void abti_unblock_slow(abti_unit *unit, ABT_pool_context context);

/* The same when the pool is this ES's private one in front. */
ABTI_INLINE bool abti_may_unblock_quickly(abti_es *es, abti_unit *unit)
{
    return ABTI_LIKELY(es && es->fast == unit->pool) && ABTI_LIKELY(abti_pool_is_owner(es, unit->pool));
}

ABTI_INLINE void abti_unblock_quickly(abti_es *es, abti_unit *unit)
{
    abti_assert(abti_may_unblock_quickly(es, unit));
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_queue_push(&es->fast->queue, unit);
    abti_pool_owner_left(es->fast, 1);
}

/* The same for several, in this order: the caller has seen that for one of them it may. */
ABTI_INLINE void abti_unblock_all_quickly(abti_es *es, abti_unit *const *units, uint32_t num)
{
    abti_pool *pool = es->fast;
    abti_unit *first = units[0], *last = first;
    abti_store_relaxed(&first->state, ABT_THREAD_STATE_READY);
    for (uint32_t i = 1; i < num; i++) {
        abti_unit *unit = units[i];
        abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
        last->next = unit;
        last = unit;
    }
    abti_queue_push_chain(&pool->queue, first, last, num);
    abti_pool_owner_left(pool, num);
}

ABTI_INLINE void abti_unblock(abti_unit *unit, ABT_pool_context context)
{
    abti_es *es = abti_es_self;
    if (abti_may_unblock_quickly(es, unit))
        abti_unblock_quickly(es, unit);
    else
        abti_unblock_slow(unit, context);
}

/* The calling ULT blocks until abti_unblock, with nothing else to do about it; `next`, popped, runs, or whoever is. */
int abti_suspend(abti_es *es, abti_unit *self);

int abti_suspend_to(abti_es *es, abti_unit *self, abti_unit *next);

void abti_after_suspend(void *unit);

/* The same for a main scheduler's ULT: its native thread sleeps. */
int abti_suspend_native(abti_es *es);

/* A blocked ULT is taken by its one waker, to be switched to without a pass through its pool. */
void abti_take_blocked(abti_es *es, abti_unit *unit);

/*
 * Both at once by the shortest way, abti_take_blocked and abti_suspend_to, where nothing stands in it: they are two
 * ULTs, neither a main scheduler, which would have no pool; they have the same pool, whose count stays as it is;
 * nothing is asked of either, and nobody is to look at the stack that is left.
 */
ABTI_INLINE bool abti_may_hand_over(abti_unit *self, abti_unit *next)
{
    const uint32_t more = ABTI_UNIT_TASKLET | ABTI_UNIT_MAIN_SCHED | ABTI_WHAT_REQUESTS;
    return !ABTI_BUILD_TOOL && ABTI_LIKELY(!abti_annotate_on) && ABTI_LIKELY(!abti_cpu_has_any(&self->what, more)) &&
           ABTI_LIKELY(!abti_cpu_has_any(&next->what, more)) &&
           /* acquire: pairs with the store of who has left its stack elsewhere */
           ABTI_LIKELY(abti_load_acquire(&next->state) == ABT_THREAD_STATE_BLOCKED) &&
           ABTI_LIKELY(self->pool == next->pool) && ABTI_LIKELY(self->stack->guard != ABTI_GUARD_CANARY);
}

ABTI_INLINE int abti_hand_over(abti_es *es, abti_unit *self, abti_unit *next)
{
    abti_assert(es->cur == self && self != next && self->pool == next->pool);
    abti_set_running(es, next);
    /* release: as in abti_after_suspend */
    return abti_ctx_switch_store(&self->ctx, next->ctx, &self->state, ABT_THREAD_STATE_BLOCKED);
}

/*
 * For a ULT that is about to block: takes `unit` out of the ULT's own pool if it is the very next one to run on this
 * ES, and has only to be resumed. True: the caller owns it, and leaves to it. `unit` is only compared, and may be no
 * more.
 */
bool abti_take_next(abti_es *es, abti_unit *self, const abti_unit *unit) ABTI_MUST_CHECK;

/* The calling ULT blocks and `next`, which was taken so, goes on. `after` as above. */
int abti_block_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

#endif
