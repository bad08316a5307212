#include "run/switch.h"

#include <limits.h>
#include "run/leftover.h"
#include "run/overflow.h"
#include "rt/rt.h"
#include "run/shortage.h"
#include "run/stackuse.h"

_Thread_local abti_es *abti_es_self;

ABTI_INLINE int start(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    if (ABTI_UNLIKELY(abti_annotate_on))
        return abti_start_annotated(self, to, after, arg);
    return abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_ult_entry), after, arg);
}

/* --- Leaving --- */

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    if (ABTI_LIKELY(next != NULL)) {
        if (ABTI_LIKELY(abti_is_resumable(next))) {
            abti_set_running(es, next);
            return abti_switch(self, next, after, arg);
        }
        if (abti_is_startable(next) && abti_take_stack(es, next)) {
            abti_set_running(es, next);
            return start(self, next, after, arg);
        }
    }
    es->handoff = next;
    es->cur = es->parent;
    return abti_switch(self, es->parent, after, arg);
}

/* --- Yielding --- */

static void after_yield(void *arg)
{
    abti_unit *self = arg;
    abti_pool_push(self->pool, self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
}

static void after_yield_loop(void *arg)
{
    abti_unit *self = arg;
    abti_pool_push(self->pool, self, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP);
}

/* Requests are served, or the scheduler looks at events. */
static ABTI_COLD int yield_slow(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    if (abti_unit_is_tasklet(self))
        return ABT_SUCCESS; /* it stays until it ends */
    if (context == ABT_POOL_CONTEXT_OP_THREAD_YIELD)
        abti_tool_event_yield(es, ABT_SYNC_EVENT_TYPE_USER, NULL); /* who waits in a loop has told it */
    if (!es->parent) {
        abti_tool_event_run(es, self, NULL);
        return ABT_SUCCESS; /* a main scheduler has nobody to give its ES to */
    }
    unsigned requests = abti_load_relaxed(&self->requests);
    if (abti_unit_is_cancelled(self)) {
        abti_tool_event_cancel(es, self);
        abti_stackuse_left(self);
        abti_ult_end();
    }
    if (requests & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    void (*after)(void *) = context == ABT_POOL_CONTEXT_OP_THREAD_YIELD ? after_yield : after_yield_loop;
    return abti_leave_to(es, self, NULL, after, self);
}

/* On the stack that was switched to, by the same native thread: the two ways out of a pool's lock. */
static void leave_bias(void *bias)
{
    abti_bias_leave(bias);
}

static void unlock_pool(void *pool)
{
    abti_pool_unlock(abti_es_self, pool);
}

/* The whole of a yield after the quick ways: the scheduler is asked. */
static ABTI_NOINLINE int yield_by_pick(abti_es *es, abti_unit *self, ABT_pool_context context)
{
    abti_unit *next = abti_sched_pick(es->dsched, self);
    if (next == self)
        return ABT_SUCCESS;
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    void (*after)(void *) = context == ABT_POOL_CONTEXT_OP_THREAD_YIELD ? after_yield : after_yield_loop;
    return abti_leave_to(es, self, next, after, self);
}

/*
 * The ULT's pool is a shared one in front, and the next unit in it has only to be resumed: pop and push are one, under
 * the pool's lock, which is held here and released when the ULT has left its stack. So nobody finds the ULT before
 * that.
 */
ABTI_INLINE void rotate_locked(abti_es *es, abti_unit *self, abti_pool *pool, abti_unit *next)
{
    abti_pool_rotate_locked(pool, self, next);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_set_running(es, next);
}

/* Who sleeps on the pool may have the ULT instead. The lock is held. */
ABTI_INLINE bool may_rotate_locked(abti_pool *pool, abti_unit *next)
{
    return ABTI_LIKELY(abti_is_resumable(next)) && !abti_pool_has_parked(pool);
}

/* By itself, so that it is not for this that the other saves registers. */
static ABTI_NOINLINE int yield_shared_slow(abti_es *es, abti_unit *self)
{
    abti_pool *pool = self->pool;
    abti_pool_lock(es, pool);
    abti_unit *next = abti_pool_head_locked(pool);
    if (!next || !may_rotate_locked(pool, next)) {
        abti_pool_unlock(es, pool);
        return next ? yield_by_pick(es, self, ABT_POOL_CONTEXT_OP_THREAD_YIELD) : ABT_SUCCESS;
    }
    rotate_locked(es, self, pool, next);
    return abti_switch(self, next, unlock_pool, pool);
}

static ABTI_NOINLINE int yield_shared(abti_es *es, abti_unit *self)
{
    abti_pool *pool = self->pool;
    if (ABTI_UNLIKELY(abti_annotate_on || !abti_bias_enter(&pool->lock, es->bias)))
        return yield_shared_slow(es, self);
    abti_unit *next = abti_pool_head_locked(pool);
    if (ABTI_UNLIKELY(!next)) {
        abti_bias_leave(es->bias);
        return ABT_SUCCESS; /* as pick says */
    }
    if (ABTI_UNLIKELY(!may_rotate_locked(pool, next))) {
        abti_bias_leave(es->bias);
        return yield_by_pick(es, self, ABT_POOL_CONTEXT_OP_THREAD_YIELD); /* all yields are alike to the pool */
    }
    rotate_locked(es, self, pool, next);
    return abti_ctx_switch_after(&self->ctx, next->ctx, leave_bias, es->bias);
}

/*
 * After so many yields as there is a budget for. A ULT that is the only one of a pool which others look at, too, is
 * never in there while it yields: now and then they find it there.
 */
static ABTI_COLD bool may_yield_on(abti_es *es, abti_pool *pool, abti_sched *sched)
{
    bool alone = !pool->priv_fifo && !pool->user_defined && pool->ops->is_empty(pool);
    return !alone && abti_renew_budget(es, sched);
}

static ABTI_NOINLINE int yield_general(abti_es *es, ABT_pool_context context)
{
    abti_unit *self = es->cur;
    abti_sched *sched = es->dsched;
    if (!sched || abti_has_requests(self) || (--es->budget <= 0 && !may_yield_on(es, self->pool, sched)))
        return yield_slow(es, self, context);
    if (sched->front == self->pool)
        return yield_shared(es, self);
    /* Nobody else is in the pool in front: as pick would say. */
    if (es->fast == self->pool && abti_queue_is_empty(&es->fast->queue) && abti_queue_is_empty(&es->fast->inbox))
        return ABT_SUCCESS;
    return yield_by_pick(es, self, context);
}

int abti_yield_any(abti_es *es, ABT_pool_context context)
{
    abti_unit *self = es->cur;
    abti_sched *sched = es->dsched;
    if (!sched || sched->front != self->pool || es->budget <= 1 || abti_has_requests(self))
        return yield_general(es, context);
    es->budget--;
    return yield_shared(es, self);
}

struct push_arg {
    abti_unit *unit;
    ABT_pool_context context;
};

static void after_push(void *arg)
{
    struct push_arg push = *(struct push_arg *)arg; /* it lies on the stack of the unit, which may run on at once */
    abti_pool_push(push.unit->pool, push.unit, push.context);
}

int abti_yield_to(abti_es *es, abti_unit *self, abti_unit *next, ABT_pool_context context)
{
    struct push_arg push = {self, context};
    abti_tool_event_yield(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    return abti_leave_to(es, self, next, after_push, &push);
}

/* --- Blocking --- */

void abti_serve_migration(abti_unit *self)
{
    if (abti_load_relaxed(&self->requests) & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
}

int abti_block(abti_es *es, abti_unit *self, void (*after)(void *), void *arg)
{
    abti_pool_count_entered(es, self->pool);
    return abti_leave_to(es, self, abti_pick_next(es, NULL), after, arg);
}

bool abti_take_next(abti_es *es, abti_unit *self, const abti_unit *unit)
{
    abti_pool *pool = self->pool;
    if (!abti_serves_only(es, pool) || !abti_may_pick(es))
        return false;
    abti_pool_lock(es, pool);
    abti_unit *head = abti_pool_head_locked(pool);
    bool is_next = head && head == unit && abti_is_resumable(head);
    if (is_next)
        abti_pool_pop_head_locked(pool, head);
    abti_pool_unlock(es, pool);
    return is_next;
}

int abti_block_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    abti_pool_count_entered(es, self->pool);
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    abti_set_running(es, next);
    return abti_switch(self, next, after, arg);
}

void abti_after_suspend(void *arg)
{
    abti_unit *self = arg;
    /* release: whoever sees BLOCKED may resume the unit, whose context this orders (abti_unblock, abti_join's ender) */
    abti_store_release(&self->state, ABT_THREAD_STATE_BLOCKED);
}

int abti_suspend(abti_es *es, abti_unit *self)
{
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    if (abti_has_requests(self))
        abti_serve_migration(self);
    return abti_block(es, self, abti_after_suspend, self);
}

int abti_suspend_to(abti_es *es, abti_unit *self, abti_unit *next)
{
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    if (abti_has_requests(self))
        abti_serve_migration(self);
    abti_pool_count_entered(es, self->pool);
    return abti_leave_to(es, self, next, abti_after_suspend, self);
}

void abti_take_blocked(abti_es *es, abti_unit *unit)
{
    abti_tool_event_resume(unit);
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_pool_count_left(es, unit->pool);
}

int abti_suspend_native(abti_es *es)
{
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    abti_sleeper_prepare(&es->sleeper);
    abti_store_seq_cst(&es->cur->state, ABT_THREAD_STATE_BLOCKED);
    while (abti_load_seq_cst(&es->cur->state) == ABT_THREAD_STATE_BLOCKED) {
        abti_sleeper_sleep(&es->sleeper, ABTI_CLOCK_NEVER);
        abti_sleeper_prepare(&es->sleeper);
    }
    abti_sleeper_cancel(&es->sleeper);
    abti_tool_event_run(es, es->cur, NULL);
    return ABT_SUCCESS;
}

static ABTI_COLD void unblock_native(abti_unit *main_unit)
{
    abti_es *es = abti_load_relaxed(&abti_rt.by_index[abti_load_relaxed(&main_unit->es)]);
    abti_store_seq_cst(&main_unit->state, ABT_THREAD_STATE_RUNNING);
    abti_es_wake(es);
}

void abti_unblock_slow(abti_unit *unit, ABT_pool_context context)
{
    abti_pool *pool = unit->pool;
    abti_tool_event_resume(unit);
    if (ABTI_UNLIKELY(!pool)) {
        unblock_native(unit);
        return;
    }
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_pool_push_unblocked(pool, unit, context);
}

/* --- Running as a parent --- */

void abti_discard(abti_es *es, abti_unit *unit)
{
    if (abti_unit_has_started(unit)) {
        abti_stackuse_left(unit);
        if (!(unit->flags & ABTI_UNIT_OWN_STACK) && !abti_unit_runs_in_place(unit))
            abti_cache_put(&es->stacks, unit->stack);
    }
    if (unit->flags & ABTI_UNIT_OWN_STACK && unit->stack->kind == ABTI_STACK_USER)
        abti_stack_open(unit->stack);
    abti_finish_simply(es, unit);
}

/* A popped unit with requests. False when it is not to run now, or has run. */
static bool serve_requests(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    unsigned requests = abti_load_relaxed(&unit->requests);
    if (abti_unit_is_cancelled(unit)) {
        if (requests & ABTI_REQ_FREE)
            abti_leftover_free(abti_leftover_take(unit)); /* the handle may lie on the unit's stack, which goes now */
        abti_tool_event_cancel_popped(es, unit);
        abti_discard(es, unit);
        abti_tool_after_cancel(es);
        return false;
    }
    if (requests & ABTI_REQ_MIGRATE && abti_migrate_serve(unit)) {
        abti_pool_push(unit->pool, unit, ABT_POOL_CONTEXT_OP_THREAD_MIGRATE);
        return false;
    }
    if (requests & ABTI_REQ_FREE) {
        abti_unit *left = abti_leftover_take(unit);
        abti_set_running(es, unit);
        abti_switch(parent, unit, abti_leftover_free, left);
        return false;
    }
    return true;
}

/* The scheduler that runs in the ULT; NULL: none. */
static abti_sched *sched_in(abti_unit *unit)
{
    return unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED) ? abti_unit_cold_get(unit)->sched : NULL;
}

bool abti_serves_only(abti_es *es, abti_pool *pool)
{
    abti_sched *sched = es->parent ? sched_in(es->parent) : NULL;
    if (!sched || !sched->ops->pick)
        return false; /* a user-defined one */
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *first = sched->order[i];
        if (first == pool)
            return abti_pool_is_fifo(pool);
        if (first->user_defined || !first->ops->is_empty(first))
            return false;
    }
    return false;
}

/*
 * There is no memory for the unit's stack: it goes back to its pool as if it had yielded. A predefined scheduler then
 * takes a unit from each of its pools in turn, whatever its order of choice: a unit that it always chooses first would
 * keep those from running that have stacks to give back. Before it looks at events, the other ESs are asked for the
 * stacks they have at hand, and others in the system, who may free memory, get the processor; and when that has been
 * in vain for long, it is told.
 */
static ABTI_COLD void run_another(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    abti_pool *pool = unit->pool;
    abti_pool_push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    abti_sched *sched = sched_in(parent);
    bool is_ours = sched && sched->ops->pick; /* a predefined one */
    if (!is_ours || es->budget <= 0) {
        abti_es_ask_for_stacks(es);
        abti_shortage_note(es, sched ? sched->pools : &pool, sched ? sched->num_pools : 1);
        if (is_ours)
            abti_backoff(UINT_MAX);
        return;
    }
    for (int i = 0; i < sched->num_pools && !es->handoff; i++)
        es->handoff = abti_pool_pop(sched->pools[sched->turn++ % (unsigned)sched->num_pools], 0);
}

static void run_one(abti_es *es, abti_unit *parent, abti_unit *unit, abti_sched *dsched)
{
    if (abti_has_requests(unit) && !serve_requests(es, parent, unit))
        return;
    if (unit->flags & ABTI_UNIT_TASKLET) {
        abti_es_set_dsched(es, NULL); /* a tasklet cannot switch */
        abti_run_tasklet(es, unit);
        es->cur = parent;
        abti_es_set_dsched(es, dsched);
    } else if (abti_unit_has_started(unit)) {
        abti_set_running(es, unit);
        abti_switch(parent, unit, NULL, NULL);
    } else if (abti_take_stack(es, unit)) {
        abti_set_running(es, unit);
        start(parent, unit, NULL, NULL);
    } else {
        run_another(es, parent, unit);
    }
}

void abti_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched)
{
    abti_unit *self = es->cur, *saved_parent = es->parent;
    abti_sched *saved_dsched = es->dsched;
    es->parent = self;
    abti_tool_descend(es, 1);
    abti_es_set_dsched(es, dsched);
    /* The children give the ES back to us on this native thread, whatever becomes of them. */
    do {
        es->handoff = NULL;
        es->budget--;
        run_one(es, self, unit, dsched);
        unit = es->handoff;
    } while (unit);
    es->cur = self;
    abti_tool_descend(es, -1);
    es->parent = saved_parent;
    abti_es_set_dsched(es, saved_dsched);
}
