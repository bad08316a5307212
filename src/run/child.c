/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/child.h"

#include "run/sched.h"
#include "pool/leftover.h"
#include "pool/shortage.h"
#include "run/migrate.h"
#include "run/parent.h"

void abti_discard(abti_es *es, abti_unit *unit)
{
    abti_assert(es == abti_es_self && !abti_unit_is_done(unit));
    if (abti_unit_has_started(unit)) {
        if (!(unit->flags & ABTI_UNIT_OWN_STACK) && !abti_unit_runs_in_place(unit))
            abti_cache_put(&es->stacks, unit->stack);
    }
    if (unit->flags & ABTI_UNIT_OWN_STACK && unit->stack->kind == ABTI_STACK_USER)
        abti_stack_open(unit->stack);
    abti_end_without_stack(es, unit);
}

/*
 * Serves the requests of a popped unit. False when it is not to run now, or has run. relaxed: a request takes effect at
 * the next poll, and the functions that serve it acquire it.
 */
static bool serve_requests(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    unsigned requests = abti_load_relaxed(&unit->requests);
    abti_assert(es == abti_es_self && es->parent == parent);
    abti_annotate_acquire(unit); /* its keys are destroyed here, or the user's function is called of a migration */
    if (abti_unit_is_cancelled(unit)) {
        if (requests & ABTI_REQ_FREE)
            abti_leftover_free(abti_leftover_take(unit)); /* the handle may be stored on the unit's stack, which is
                                                             given back now */
        abti_tool_event_cancel_popped(es, unit);
        abti_discard(es, unit);
        abti_tool_after_cancel(es);
        return false;
    }
    if (abti_unit_is_to_migrate(unit) && abti_migrate_serve(unit)) {
        abti_pool_push(unit->pool, unit, ABT_POOL_CONTEXT_OP_THREAD_MIGRATE);
        return false;
    }
    if (requests & ABTI_REQ_FREE) {
        abti_unit *left = abti_leftover_take(unit);
        abti_set_running(es, unit);
        abti_switch(es, parent, unit, abti_leftover_free, left);
        return false;
    }
    return true;
}

/*
 * Puts a unit for whose stack there is no memory back to its pool, as if it had yielded. A predefined scheduler then
 * takes a unit from each of its pools in turn, whatever its order of choice: a unit that it always chooses first would
 * keep the units from running that have stacks to give back. When an event check is due, the other ESs are first
 * asked for the free stacks they have, and the processor is given to others in the system, which may free memory. When
 * that has failed for long, abti_shortage_note tells it.
 */
static ABTI_COLD void run_another(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    abti_assert(!es->picked && !abti_unit_has_started(unit));
    abti_pool *pool = unit->pool;
    abti_pool_push(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    abti_sched *sched = abti_sched_in(parent);
    bool is_ours = sched && abti_sched_is_predefined(sched);
    if (!is_ours || abti_budget_is_exhausted(es)) {
        abti_es_ask_for_stacks(es);
        abti_shortage_note(es, sched ? sched->pools : &pool, sched ? sched->num_pools : 1);
        if (is_ours)
            abti_backoff(ABTI_BACKOFF_LONGEST);
        return;
    }
    for (int i = 0; i < sched->num_pools && !es->picked; i++)
        es->picked = abti_pool_pop(sched->pools[sched->turn++ % (unsigned)sched->num_pools], 0);
}

static void run_child_tasklet(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    abti_assert(es->cur == parent && es->parent == parent);
    abti_set_running(es, unit);
    abti_tool_event_run(es, unit, parent);
    if (abti_annotate_order)
        abti_annotate_tasklet(unit);
    else
        abti_call_tasklet(unit);
    abti_tool_event_finish(es, unit);
    abti_end_tasklet(es, unit);
    es->cur = parent;
}

static void run_one(abti_es *es, abti_unit *parent, abti_unit *unit, abti_sched *dsched)
{
    abti_assert(es == abti_es_self && es->parent == parent && unit != parent);
    if (abti_has_requests(unit) && !serve_requests(es, parent, unit))
        return;
    if (unit->flags & ABTI_UNIT_TASKLET) {
        abti_es_set_dsched(es, NULL); /* a tasklet cannot switch */
        run_child_tasklet(es, parent, unit);
        abti_es_set_dsched(es, dsched);
    } else if (abti_unit_has_started(unit)) {
        abti_set_running(es, unit);
        abti_switch(es, parent, unit, NULL, NULL);
    } else if (abti_take_stack(es, unit)) {
        abti_set_running(es, unit);
        abti_start(es, parent, unit, NULL, NULL);
    } else {
        run_another(es, parent, unit);
    }
}

abti_unit *abti_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched)
{
    abti_assert(es == abti_es_self && unit && !abti_unit_is_tasklet(es->cur));
    abti_unit *self = es->cur;
    struct abti_dispatch_scope scope;
    abti_dispatch_enter(&scope, es, dsched);
    do {
        es->picked = NULL;
        abti_budget_count_left(es);
        run_one(es, self, unit, dsched);
        unit = es->picked;
    } while (unit && !(dsched && abti_unit_is_fresh_tasklet(unit)));
    es->picked = NULL;
    es->cur = self;
    abti_dispatch_leave(&scope);
    return unit;
}

/* --- Running one as the last act of a function --- */

static ABTI_HOT abti_ctx child_resume(void *scope, void *es, void *arg_unit)
{
    abti_unit *unit = arg_unit;
    abti_parent_enter(scope, es);
    abti_set_running(es, unit);
    return unit->ctx;
}

/* It begins the unit itself: a frame to begin by would be written and read again. */
static ABTI_HOT abti_ctx child_start(void *scope, void *es, void *arg_unit)
{
    abti_unit *unit = arg_unit;
    abti_parent_enter(scope, es);
    abti_set_running(es, unit);
    abti_ctx_restart(abti_stack_top(unit->stack), abti_load_relaxed(&abti_rt.ult_entry), NULL, NULL);
}

/* The child has made its parent the running unit. */
static ABTI_HOT int child_then(void *arg_scope)
{
    const struct abti_parent_scope *scope = arg_scope;
    abti_es *es = scope->es;
    abti_assert(es->cur == es->parent);
    abti_parent_leave(scope);
    if (ABTI_UNLIKELY(es->picked != NULL))
        (void)abti_run_child(es, es->picked, NULL);
    return ABT_SUCCESS;
}

/* The same for one whose children may dispatch directly. A tasklet that is handed off is left to it. */
static int dispatcher_then(void *arg_scope)
{
    const struct abti_parent_scope *scope = arg_scope;
    abti_es *es = scope->es;
    abti_assert(es == abti_es_self && es->cur == es->parent);
    abti_sched *dsched = es->dsched;
    abti_es_set_dsched(es, NULL);
    abti_parent_leave(scope);
    if (ABTI_UNLIKELY(es->picked && !abti_unit_is_fresh_tasklet(es->picked)))
        es->picked = abti_run_child(es, es->picked, dsched);
    return ABT_SUCCESS;
}

int abti_try_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched)
{
    abti_assert(es == abti_es_self && !es->dsched && dsched && !es->picked);
    if (abti_switch_is_slow(es))
        return ABT_ERR_OTHER;
    bool starts = !abti_is_resumable(unit);
    if (starts && !(abti_unit_is_fresh_default(unit) && abti_take_cached_stack(es, unit)))
        return ABT_ERR_OTHER;
    abti_budget_count(es);
    abti_es_set_dsched(es, dsched);
    return abti_ctx_wait(&es->cur->ctx, es, unit, starts ? child_start : child_resume, dispatcher_then);
}

/* Also for a scheduler that has exceptions in hand. */
static ABTI_NOINLINE int run_child_last_slow(abti_es *es, abti_unit *unit)
{
    struct abti_saved saved = abti_saved_lay_by(es);
    (void)abti_run_child(es, unit, NULL);
    abti_saved_pick_up(&saved);
    return ABT_SUCCESS;
}

ABTI_HOT int abti_run_child_last(abti_es *es, abti_unit *unit)
{
    abti_assert(es == abti_es_self && !abti_unit_is_tasklet(es->cur) && !es->picked);
    if (es->dsched || abti_switch_is_slow(es))
        return run_child_last_slow(es, unit);
    if (ABTI_LIKELY(abti_is_resumable(unit)))
        return abti_ctx_wait(&es->cur->ctx, es, unit, child_resume, child_then);
    if (ABTI_LIKELY(abti_unit_is_fresh_default(unit) && abti_take_cached_stack(es, unit)))
        return abti_ctx_wait(&es->cur->ctx, es, unit, child_start, child_then);
    return run_child_last_slow(es, unit);
}
