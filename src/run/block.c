/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/block.h"

#include "os/clock.h"
#include "run/sched.h"
#include "pool/builtin.h"
#include "run/migrate.h"
#include "wait/external.h"

bool abti_take_next(abti_es *es, abti_unit *self, const abti_unit *unit)
{
    abti_pool *pool = self->pool;
    if (!abti_serves_only(es, pool) || !abti_may_pick(es))
        return false;
    abti_pool_lock(es, pool);
    abti_assert(es == abti_es_self && es->cur == self);
    abti_unit *head = abti_pool_head_locked(pool);
    bool is_next = head && head == unit && abti_is_resumable(head);
    if (is_next)
        abti_pool_pop_head_locked(pool, head);
    abti_pool_unlock(es, pool);
    return is_next;
}

int abti_block_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    abti_assert(es->cur == self && self != next && abti_is_resumable(next));
    abti_pool_count_entered(es, self->pool);
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    abti_set_running(es, next);
    return abti_switch(es, self, next, after, arg);
}

void abti_note_wait(abti_unit *self)
{
    abti_assert(abti_rt.config.watch_waits && self->stack);
    self->stack->blocked_ns = abti_clock_mono_ns();
    if (!abti_unit_waits_for(self))
        abti_unit_wait_for(self, ABTI_WAITS_SINCE);
}

void abti_serve_migration(abti_unit *self)
{
    /* relaxed: abti_migrate_serve looks again */
    if (abti_load_relaxed(&self->requests) & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
}

void abti_serve_target_requests(abti_unit *next)
{
    abti_annotate_acquire(next); /* the user's function is called of a migration */
    if (!abti_unit_is_cancelled(next))
        abti_serve_migration(next);
}

int abti_block(abti_es *es, abti_unit *self, void (*after)(void *), void *arg)
{
    abti_assert(es->cur == self && self->pool);
    abti_pool_count_entered(es, self->pool);
    return abti_leave(es, self, abti_pick_next(es, NULL), after, arg);
}

void abti_after_suspend(void *arg)
{
    abti_unit *self = arg;
    abti_assert(self->pool && !abti_unit_is_tasklet(self));
    /*
     * release: a thread that sees BLOCKED may resume the unit, whose saved context this publishes. It pairs with the
     * acquires in abti_resume_joiner, abti_may_hand_over and abti_unit_state.
     */
    abti_store_release(&self->state, ABT_THREAD_STATE_BLOCKED);
}

/* The same for a ULT that waits for its user. release: pairs with the acquire in abti_unit_is_suspended, too */
static void after_self_suspend(void *arg)
{
    abti_unit *self = arg;
    abti_store_release(&self->state, ABTI_STATE_BLOCKED_BY_USER);
}

/* The calling ULT is to wait for its user. */
ABTI_INLINE void begin_suspension(abti_es *es, abti_unit *self)
{
    bool observed = abti_switch_is_slow(es);
    abti_assert(es == abti_es_self && es->cur == self && !abti_unit_is_tasklet(self));
    if (observed)
        abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    if (abti_has_requests(self))
        abti_serve_migration(self);
    if (observed)
        abti_wait_for(self, NULL);
    else
        abti_unit_wait_for(self, NULL);
}

int abti_suspend(abti_es *es, abti_unit *self)
{
    begin_suspension(es, self);
    return abti_block(es, self, after_self_suspend, self);
}

int abti_suspend_to(abti_es *es, abti_unit *self, abti_unit *next)
{
    abti_assert(es->cur == self && self->pool && self != next);
    abti_serve_target(next);
    begin_suspension(es, self);
    abti_pool_count_entered(es, self->pool);
    return abti_leave(es, self, next, after_self_suspend, self);
}

void abti_take_blocked(abti_es *es, abti_unit *unit)
{
    abti_assert(abti_unit_is_blocked(unit));
    abti_annotate_release(unit);
    abti_tool_event_resume(unit);
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_pool_count_left(es, unit->pool, 1);
}

int abti_suspend_native(abti_es *es)
{
    abti_assert(es == abti_es_self && es->cur->flags & ABTI_UNIT_MAIN_SCHED);
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_USER, NULL);
    abti_sleeper_prepare(&es->sleeper);
    /*
     * seq_cst: these pair with the store in unblock_native. Either the load below sees that store, or the wake that
     * follows it sees the sleeper's announcement.
     */
    abti_store_seq_cst(&es->cur->state, ABTI_STATE_BLOCKED_BY_USER);
    while (abti_load_seq_cst(&es->cur->state) == ABTI_STATE_BLOCKED_BY_USER) {
        abti_sleeper_sleep(&es->sleeper, ABTI_CLOCK_NEVER);
        abti_sleeper_prepare(&es->sleeper);
    }
    abti_sleeper_cancel(&es->sleeper);
    abti_tool_event_run(es, es->cur, NULL);
    return ABT_SUCCESS;
}

/*
 * The unit may run on as soon as it is not BLOCKED any more, and the ES be freed when it has ended. rt.lock keeps the
 * ES until it has been woken (abti_es_list_leave).
 */
static ABTI_COLD void unblock_native(abti_unit *main_unit)
{
    abti_assert(main_unit->flags & ABTI_UNIT_MAIN_SCHED);
    abti_spin_lock(&abti_rt.lock);
    /* relaxed: the waker has found the unit, which waits, and so does its ES. seq_cst: pairs with abti_suspend_native
     */
    abti_es *es = abti_load_relaxed(&abti_rt.by_index[abti_load_relaxed(&main_unit->es)]);
    abti_store_seq_cst(&main_unit->state, ABT_THREAD_STATE_RUNNING);
    abti_es_wake(es);
    abti_spin_unlock(&abti_rt.lock);
}

ABTI_INLINE void report_unblocked(abti_unit *unit)
{
    if (ABTI_LIKELY(!abti_observe_is_on()))
        return;
    abti_annotate_release(unit);
    abti_external_note();
    abti_tool_event_resume(unit);
}

void abti_unblock_later(abti_unit *unit, struct abti_queue *units)
{
    abti_pool *pool = unit->pool;
    if (!pool || !abti_pool_is_fifo(pool) || abti_pool_is_host(abti_es_self, pool)) {
        abti_unblock(unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
        return;
    }
    report_unblocked(unit);
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_queue_push(units, unit);
}

void abti_unblock_slow(abti_unit *unit, ABT_pool_context context)
{
    abti_pool *pool = unit->pool;
    report_unblocked(unit);
    if (ABTI_UNLIKELY(!pool)) {
        unblock_native(unit);
        return;
    }
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    abti_pool_push_unblocked(pool, unit, context);
}
