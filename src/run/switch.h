/*
 * Who runs next on this ES, and getting there.
 *
 * A unit runs as the child of a parent ULT, a scheduler. When the parent's scheduler is predefined, a child that
 * yields, blocks or ends picks the next unit itself and switches straight to it (direct dispatch); the parent sees
 * control again when there is nothing to pick, when an event check has something to do, or with a unit in `handoff`
 * that must run from the parent's own stack: a tasklet, a unit with a pending request, a unit that finds no memory for
 * a stack.
 */
#ifndef ABTI_RUN_SWITCH_H
#define ABTI_RUN_SWITCH_H

#include "run/annotated.h"
#include "run/migrate.h"
#include "rt/tool.h"
#include "stream/xstream.h"
#include "os/single.h"

/* Marks `unit` as what runs on `es` from now on. */
ABTI_INLINE void abti_set_running(abti_es *es, abti_unit *unit)
{
    abti_unit *before = es->cur;
    es->cur = unit;
    /* Queries may see them late; whoever resumes or frees the unit synchronises by other words. release: who sees
       that it has started sees the stack, see abti_unit_stack_end. */
    abti_store_release(&unit->running, es->running);
    abti_tool_event_run(es, unit, before);
}

ABTI_INLINE bool abti_has_requests(abti_unit *unit)
{
    /* relaxed: a request takes effect at the next look, whenever it becomes visible */
    return ABTI_UNLIKELY(abti_cpu_is_set(&unit->requests));
}

/* Started, and nothing to do but to go on. */
ABTI_INLINE bool abti_is_resumable(abti_unit *unit)
{
    return abti_unit_has_started(unit) && !abti_has_requests(unit);
}

/* It can be run by whoever gives the ES away, if there is memory for its stack. */
ABTI_INLINE bool abti_is_startable(abti_unit *unit)
{
    return !abti_unit_has_started(unit) && !(unit->flags & ABTI_UNIT_TASKLET) && !abti_has_requests(unit);
}

/*
 * The budget is used up, a look at events is due: a child looks itself, and if there is nothing to do, it has a new
 * budget without the way to its parent and back.
 */
ABTI_INLINE bool abti_renew_budget(abti_es *es, abti_sched *sched)
{
    if (!abti_es_has_no_events(es, sched))
        return false;
    es->budget = (int32_t)sched->event_freq;
    return true;
}

/* A child that leaves may say itself who runs next. Counts that one. */
ABTI_INLINE bool abti_may_pick(abti_es *es)
{
    return ABTI_LIKELY(es->dsched != NULL) &&
           (ABTI_LIKELY(abti_cpu_count_down(&es->budget)) || abti_renew_budget(es, es->dsched));
}

/* Next unit for a child that leaves; NULL: the parent goes on. `self` as in abti_sched_ops.pick. */
ABTI_INLINE abti_unit *abti_pick_next(abti_es *es, abti_unit *self)
{
    return abti_may_pick(es) ? abti_sched_pick(es->dsched, self) : NULL;
}

/* A stack for a ULT that starts, on the ES that starts it. False when there is no memory. */
ABTI_INLINE bool abti_take_stack(abti_es *es, abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    abti_unit_set_stack(unit, stack);
    return stack != NULL;
}

/* One that is to start soon would find a stack. False when there is no memory. */
ABTI_INLINE bool abti_has_stack_for(abti_es *es, abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        return true;
    struct abti_stack *stack = abti_cache_get(&es->stacks);
    if (stack)
        abti_cache_put(&es->stacks, stack);
    return stack != NULL;
}

/* A switch for units that have their state set; after may be NULL. Instrumented programs take the slow form. */
ABTI_INLINE int abti_switch(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    if (ABTI_UNLIKELY(abti_annotate_on))
        return abti_switch_annotated(self, to, after, arg);
    if (!after)
        return abti_ctx_switch(&self->ctx, to->ctx);
    return abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
}

/*
 * `self` leaves the ES, its state set, and `next` runs (NULL: the parent). after(arg) runs when self has left its
 * stack. Returns 0 when self runs again, maybe on another ES.
 */
int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

/* The calling ULT goes back to its pool and others run. */
int abti_yield_any(abti_es *es, ABT_pool_context context);

/* The common case by itself: a private pool, and the next unit in it has only to be resumed. */
ABTI_INLINE int abti_yield(abti_es *es, ABT_pool_context context)
{
    abti_unit *self = es->cur, *next;
    struct abti_queue *queue = &es->fast->queue;
    if (ABTI_UNLIKELY(es->fast != self->pool || !abti_cpu_count_down(&es->budget) || abti_has_requests(self) ||
                      !(next = abti_load_relaxed(&queue->head)) || !abti_is_resumable(next)))
        return abti_yield_any(es, context);
    /* Private: nobody can see the unit in the pool before it has left its stack. */
    abti_queue_rotate_to(queue, self, next);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    abti_set_running(es, next);
    return abti_ctx_switch(&self->ctx, next->ctx);
}

/* The calling ULT goes back to its pool and `next`, popped or new, runs. */
int abti_yield_to(abti_es *es, abti_unit *self, abti_unit *next, ABT_pool_context context);

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
           ABTI_LIKELY(abti_pool_is_owner(es, es->fast)) && ABTI_LIKELY(es->budget > 1) &&
           ABTI_LIKELY((next = abti_load_relaxed(&es->fast->queue.head)) != NULL) &&
           ABTI_LIKELY(abti_is_resumable(next)) && !abti_has_requests(es->cur);
}

/* Marks `self` as blocked and the next unit as running. Returns where that one goes on. */
ABTI_INLINE abti_ctx abti_block_quickly(abti_es *es, abti_unit *self)
{
    struct abti_queue *queue = &es->fast->queue;
    abti_unit *next = abti_load_relaxed(&queue->head);
    es->budget--;
    abti_queue_pop_head(queue, next);
    abti_pool_owner_entered(self->pool);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    abti_set_running(es, next);
    return next->ctx;
}

/*
 * Units of the pool, a FIFO, are the next ones to run on this ES, each in its turn: a predefined scheduler runs here,
 * and has nothing in the pools that it looks at before.
 */
bool abti_serves_only(abti_es *es, abti_pool *pool);

/*
 * For a ULT that is about to block: takes `unit` out of the ULT's own pool if it is the very next one to run on this
 * ES, and has only to be resumed. True: the caller owns it, and leaves to it. `unit` is only compared, and may be no
 * more.
 */
bool abti_take_next(abti_es *es, abti_unit *self, const abti_unit *unit) ABTI_MUST_CHECK;

/* The calling ULT blocks and `next`, which was taken so, goes on. `after` as above. */
int abti_block_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg);

/* A blocked ULT, found by its one waker, goes to its pool. Any thread. */
void abti_unblock_slow(abti_unit *unit, ABT_pool_context context);

/* The same when the pool is this ES's private one in front. */
ABTI_INLINE bool abti_may_unblock_quickly(abti_es *es, abti_unit *unit)
{
    return ABTI_LIKELY(es && es->fast == unit->pool) && ABTI_LIKELY(abti_pool_is_owner(es, unit->pool));
}

ABTI_INLINE void abti_unblock_quickly(abti_es *es, abti_unit *unit)
{
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
    abti_set_running(es, next);
    /* release: as in abti_after_suspend */
    return abti_ctx_switch_store(&self->ctx, next->ctx, &self->state, ABT_THREAD_STATE_BLOCKED);
}

/* Ends the calling ULT. With _to, `next`, popped, runs then. */
ABTI_NORETURN void abti_ult_exit(void);
ABTI_NORETURN void abti_ult_end(void); /* the same for who has told of the end and sampled the stack */
ABTI_NORETURN void abti_ult_exit_to(abti_unit *next);

/* The primary ES's main unit ends: the primary ULT, which waits for it, goes on. */
ABTI_NORETURN void abti_main_exit(abti_es *es);

/* Publishes the end of a unit that runs no more. Returns the ULT that waited for it, still blocked, or NULL. */
abti_unit *abti_terminate(abti_es *es, abti_unit *unit);

/* A ULT that waited for a unit goes to its pool. It may still be on its way out: it has registered before it left. */
void abti_resume_joiner(abti_unit *joiner);

/*
 * The calling ULT runs a popped unit, and what that hands off, until control comes back to it. `dsched` is the
 * caller's scheduler if its children may dispatch directly, else NULL.
 */
void abti_run_child(abti_es *es, abti_unit *unit, abti_sched *dsched);

/* The end of a unit that is on no stack: a tasklet that has returned, one that is discarded. */
void abti_finish_simply(abti_es *es, abti_unit *unit);

/*
 * The calling scheduler runs a tasklet without requests: it never switches. es->cur is the tasklet afterwards, for the
 * scheduler to set right before anybody can look.
 */
ABTI_INLINE void abti_run_tasklet(abti_es *es, abti_unit *unit)
{
    abti_set_running(es, unit);
    unit->func(unit->arg);
    abti_tool_event_finish(es, unit);
    uintptr_t join = 0;
    /* release: pairs with abti_unit_is_done; acquire: with a joiner that was faster */
    if (ABTI_UNLIKELY(!(unit->flags & ABTI_UNIT_NAMED)) ||
        ABTI_UNLIKELY(!abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE)))
        abti_finish_simply(es, unit);
}

/* A popped unit that is to end without running on: its end is published and its joiner resumed. */
void abti_discard(abti_es *es, abti_unit *unit);

/*
 * First function of every ULT on a stack of its own: one that just calls the unit's, or, while stack use is sampled,
 * one that watches it. Written by abti_entry_watch; relaxed: a unit that starts in the other way is as good, and who
 * asks for samples sees them soon.
 */
extern _Atomic(void (*)(void)) abti_ult_entry;

/* After abti_stackuse_is_on has changed. */
void abti_entry_watch(void);

/* Runs the units of a row, see run/join.h, in place. */
void abti_nest_row(void *row);

/* Descriptors. */
ABTI_INLINE abti_unit *abti_unit_alloc(abti_es *es)
{
    if (ABTI_LIKELY(es != NULL))
        return abti_cache_get(&es->units);
    return abti_unit_alloc_external();
}

ABTI_INLINE void abti_unit_release(abti_es *es, abti_unit *unit)
{
    if (ABTI_LIKELY(es != NULL))
        abti_cache_put(&es->units, unit);
    else
        abti_unit_release_external(unit);
}

/*
 * A new unit of `pool`; NULL when there is no memory, or the pool is user-defined and would not have it. *code says so,
 * and is left alone otherwise.
 */
ABTI_INLINE abti_unit *abti_unit_new(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, unsigned flags,
                                     int *code)
{
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

/* A joiner in ABT_thread_free keeps the address of the user's handle in its link, which is not used while it sleeps. */
ABTI_INLINE void abti_null_handle(abti_unit *joiner)
{
    *(ABT_thread *)joiner->next = ABT_THREAD_NULL;
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
