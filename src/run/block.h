/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking, by which the calling ULT leaves its stream until somebody wakes it, and the waking. */
#ifndef ABTI_RUN_BLOCK_H
#define ABTI_RUN_BLOCK_H

#include "base/assert.h"
#include "run/budget.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "run/switch.h"

/*
 * Carries out a migration that was asked for of the calling ULT, which is about to block, so that it is counted as
 * blocked in the pool to which it will come back.
 */
void abti_serve_migration(abti_unit *self);

/* The same for the target of a directed switch, which runs here next all the same, unless it is cancelled. */
void abti_serve_target_requests(abti_unit *next) ABTI_COLD;

ABTI_INLINE void abti_serve_target(abti_unit *next)
{
    if (abti_has_requests(next))
        abti_serve_target_requests(next);
}

/* While waits are observed. */
void abti_note_wait(abti_unit *self);

/*
 * abti_unit_wait_for on the general paths, with the time in the header of the stack if waits are observed. A unit in
 * place shares its stack with its joiner: the time is that of the one which has blocked last.
 */
ABTI_INLINE void abti_wait_for(abti_unit *self, const void *what)
{
    abti_unit_wait_for(self, what);
    if (ABTI_UNLIKELY(abti_rt.config.watch_waits))
        abti_note_wait(self);
}

/*
 * Blocks the calling ULT: it is counted, others run, and after(arg) must store ABT_THREAD_STATE_BLOCKED and make the
 * ULT findable by its waker.
 */
int abti_block(abti_es *es, abti_unit *self, void (*after)(void *), void *arg);

/*
 * Whether the calling ULT may block by the shortest way, with abti_ctx_leave: its pool is the private one in front, and
 * the next unit in that has only to be resumed. Only this native thread takes a unit out of that pool, so that a waker
 * may find the ULT while it is still on its stack, unless the waker would switch to it directly. relaxed: the thread
 * alone writes the queue.
 */
ABTI_INLINE bool abti_may_block_quick(abti_es *es)
{
    abti_unit *next;
    return ABTI_LIKELY(es != NULL) && ABTI_LIKELY(es->fast == es->cur->pool) && ABTI_LIKELY(abti_budget_allows(es)) &&
           ABTI_LIKELY((next = abti_load_relaxed(&es->fast->queue.head)) != NULL) &&
           ABTI_LIKELY(abti_is_resumable(next)) && !abti_has_requests(es->cur) && !abti_switch_is_slow(es);
}

/* Marks `self` as blocked and the next unit as running. Returns where that one goes on. */
ABTI_INLINE abti_ctx abti_block_quick(abti_es *es, abti_unit *self)
{
    abti_assert(abti_may_block_quick(es) && es->cur == self);
    struct abti_queue *queue = &es->fast->queue;
    abti_unit *next = abti_load_relaxed(&queue->head); /* relaxed: this thread alone writes the queue */
    abti_budget_count(es);
    abti_queue_pop_head(queue, next);
    abti_pool_count_own_entered(self->pool);
    /* relaxed: the lock or the pool by which the waker finds the unit orders it */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    abti_set_running(es, next);
    return next->ctx;
}

/* Pushes a blocked ULT, which its one waker has found, to its pool. Any thread may call this. */
void abti_unblock_slow(abti_unit *unit, ABT_pool_context context);

/* Whether the pool of a blocked ULT is this ES's private one in front. */
ABTI_INLINE bool abti_may_unblock_quick(abti_es *es, abti_unit *unit)
{
    return ABTI_LIKELY(es && es->fast == unit->pool);
}

/* Pushes such a ULT. relaxed: only queries look at the state before the ULT runs, and they may see it late. */
ABTI_INLINE void abti_unblock_quick(abti_es *es, abti_unit *unit)
{
    abti_assert(abti_may_unblock_quick(es, unit));
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_queue_push(&es->fast->queue, unit);
    abti_pool_count_own_left(es->fast, 1);
}

/*
 * Pushes several blocked ULTs of one pool, at least one, in this order. The caller has seen that abti_unblock_quick
 * may push one of them, and relaxed stores do for the same reason.
 */
ABTI_INLINE void abti_unblock_all_quick(abti_es *es, abti_unit *const *units, uint32_t num)
{
    abti_assert(num > 0 && abti_may_unblock_quick(es, units[0]));
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
    abti_pool_count_own_left(pool, num);
}

/* Pushes a blocked ULT, which its one waker has found, to its pool by the shortest way. Any thread may call this. */
ABTI_INLINE void abti_unblock(abti_unit *unit, ABT_pool_context context)
{
    abti_es *es = abti_es_self;
    if (abti_may_unblock_quick(es, unit))
        abti_unblock_quick(es, unit);
    else
        abti_unblock_slow(unit, context);
}

/*
 * The same for a ULT that others may follow: it is READY, as far as queries see, and in the queue, which the caller
 * pushes in the end (abti_pool_push_all_unblocked). Or it is pushed at once.
 */
void abti_unblock_later(abti_unit *unit, struct abti_queue *units);

/* Blocks the calling ULT until abti_unblock. The scheduler's next unit runs. */
int abti_suspend(abti_es *es, abti_unit *self);

/*
 * Blocks the calling ULT in the same way, and `next`, which the caller has popped, runs. The caller counts the switch.
 */
int abti_suspend_to(abti_es *es, abti_unit *self, abti_unit *next);

/* Says that a ULT is blocked, when it has left its stack. */
void abti_after_suspend(void *unit);

/* Blocks a main scheduler's ULT: its native thread sleeps. */
int abti_suspend_native(abti_es *es);

/* Takes a blocked ULT, on behalf of its one waker, which then switches to it without a pass through its pool. */
void abti_take_blocked(abti_es *es, abti_unit *unit);

/*
 * Whether abti_take_blocked and abti_suspend_to may be done at once by the shortest way, abti_hand_over: both units are
 * ULTs, and neither is a main scheduler, which would have no pool; they have the same pool, whose count stays as it is;
 * nothing is asked of either, and nobody has to look at the stack that is left. The caller counts the switch. acquire:
 * as abti_unit_is_suspended, in fewer instructions. Only the byte is loaded that the last switch has stored: a load of
 * more would have to wait until the store has reached the cache.
 */
ABTI_INLINE bool abti_may_hand_over(abti_es *es, abti_unit *self, abti_unit *next)
{
    const uint32_t more = ABTI_UNIT_TASKLET | ABTI_UNIT_MAIN_SCHED | ABTI_WHAT_REQUESTS;
    if (ABTI_UNLIKELY((abti_load_relaxed(&self->what) | abti_load_relaxed(&next->what)) & more) ||
        ABTI_UNLIKELY(!(abti_load_relaxed(&next->state) & ABTI_STATE_SUSPENDED)))
        return false;
    abti_fence_acquire();
    return ABTI_LIKELY(self->pool == next->pool) && ABTI_LIKELY(self->stack->guard != ABTI_GUARD_CANARY) &&
           !abti_switch_is_slow(es);
}

/* Blocks `self`, and `next`, a blocked ULT that its one waker has found, goes on. */
ABTI_INLINE int abti_hand_over(abti_es *es, abti_unit *self, abti_unit *next)
{
    abti_assert(es->cur == self && self != next && self->pool == next->pool);
    abti_set_running(es, next);
    abti_unit_wait_for(self, NULL);
    /* The switch stores BLOCKED with release, which pairs with the same acquires as the store in abti_after_suspend. */
    return abti_ctx_switch_store(&self->ctx, next->ctx, ABTI_STATE_BLOCKED_BY_USER, &self->state);
}

/*
 * Takes `unit` out of the pool of `self`, a ULT that is about to block, if `unit` is the very next one to run on this
 * ES and has only to be resumed. True: the caller owns it, and leaves to it. `unit` is only compared, and may no longer
 * exist.
 */
bool abti_take_next(abti_es *es, abti_unit *self, const abti_unit *unit) ABTI_MUST_CHECK;

/* Blocks the calling ULT, and `next`, which abti_take_next has taken, goes on. `after` is as in abti_block. */
int abti_block_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

#endif
