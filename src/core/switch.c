#include "core/switch.h"

#include <limits.h>
#include "core/overflow.h"
#include "core/rt.h"
#include "core/stackuse.h"

_Thread_local abti_es *abti_es_self;

/* --- Switches under a sanitizer or valgrind: the same, with the tools told. See os/annotate.h. --- */

ABTI_NO_SANITIZE static void annotate_leave(void **fake_save, struct abti_stack *to)
{
    if (!to->tsan_fiber)
        to->tsan_fiber = abti_annotate_fiber_create();
    abti_annotate_asan_start(fake_save, to->base, (size_t)(to->end - to->base));
    abti_annotate_fiber_switch_to(to->tsan_fiber);
}

/*
 * The same to a stack on which a unit starts. Units end by leaving their stack, and so leave frames behind on TSan's
 * shadow of it, which is limited: now and then a stack gets a fresh fiber.
 */
ABTI_NO_SANITIZE static void annotate_leave_to_start(void **fake_save, struct abti_stack *to)
{
    enum { FIBER_USES = 250 };
    void *old_fiber = NULL;
    char *sp = abti_cpu_sp();
    if (sp >= to->base && sp < (char *)to)
        abti_annotate_unpoison(to->base, (size_t)((char *)to - to->base)); /* the caller's own: it still needs it */
    else
        abti_annotate_stack_alive(to->base, (size_t)((char *)to - to->base));
    if (++to->fiber_uses > FIBER_USES) {
        old_fiber = to->tsan_fiber;
        to->tsan_fiber = NULL;
        to->fiber_uses = 1;
    }
    annotate_leave(fake_save, to);
    abti_annotate_fiber_destroy(old_fiber); /* perhaps the one that has just been left */
}

/*
 * Who ends has put its stack into the cache, where it lies uppermost, and leaves it: it is dead when somebody has
 * arrived on another one. Nobody can have taken it out of the cache before that.
 */
ABTI_NO_SANITIZE static void note_dead_stack(abti_es *es)
{
    const struct abti_magazine *magazine = es->stacks.magazine;
    char *sp = abti_cpu_sp();
    struct abti_stack *stack = magazine->count > 0 ? magazine->objects[magazine->count - 1] : NULL;
    es->dead_stack = stack && sp >= stack->base && sp < (char *)stack ? stack : NULL;
}

/* Out of line: on the ES where the caller has arrived. */
ABTI_NO_SANITIZE static ABTI_NOINLINE void bury_dead_stack(void)
{
    abti_es *es = abti_es_self;
    if (!es || !es->dead_stack)
        return;
    struct abti_stack *stack = es->dead_stack;
    es->dead_stack = NULL;
    abti_annotate_stack_dead(stack->base, (size_t)((char *)stack - stack->base));
}

ABTI_NO_SANITIZE int abti_switch_annotated(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    void *fake = NULL;
    annotate_leave(&fake, to->stack);
    if (after)
        abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
    else
        abti_ctx_switch(&self->ctx, to->ctx);
    abti_annotate_asan_finish(fake, NULL, NULL);
    bury_dead_stack();
    return 0;
}

ABTI_NO_SANITIZE static int start_annotated(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    void *fake = NULL;
    annotate_leave_to_start(&fake, to->stack);
    abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_ult_entry), after, arg);
    abti_annotate_asan_finish(fake, NULL, NULL);
    bury_dead_stack();
    return 0;
}

ABTI_NO_SANITIZE ABTI_NORETURN static void jump(abti_unit *to, void (*after)(void *), void *arg)
{
    if (ABTI_UNLIKELY(abti_annotate_on)) {
        note_dead_stack(abti_es_self);
        annotate_leave(NULL, to->stack);
    }
    if (after)
        abti_ctx_jump_after(to->ctx, after, arg);
    abti_ctx_jump(to->ctx);
}

ABTI_NO_SANITIZE ABTI_NORETURN static void restart(abti_unit *to)
{
    if (ABTI_UNLIKELY(abti_annotate_on)) {
        note_dead_stack(abti_es_self);
        annotate_leave_to_start(NULL, to->stack);
    }
    abti_ctx_restart(abti_stack_top(to->stack), abti_load_relaxed(&abti_ult_entry), NULL, NULL);
}

ABTI_INLINE int start(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    if (ABTI_UNLIKELY(abti_annotate_on))
        return start_annotated(self, to, after, arg);
    return abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_ult_entry), after, arg);
}

/* --- Leaving --- */

/* `next` can be run by whoever gives the ES away, if there is memory for its stack. */
ABTI_INLINE bool is_startable(abti_unit *next)
{
    return !next->ctx && !(next->flags & ABTI_UNIT_TASKLET) && !abti_has_requests(next);
}

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    if (ABTI_LIKELY(next != NULL)) {
        if (ABTI_LIKELY(abti_is_resumable(next))) {
            abti_set_running(es, next);
            return abti_switch(self, next, after, arg);
        }
        if (is_startable(next) && abti_take_stack(es, next)) {
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
ABTI_NORETURN ABTI_INLINE void end_ult(void);

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
        end_ult();
    }
    if (requests & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    void (*after)(void *) = context == ABT_POOL_CONTEXT_OP_THREAD_YIELD ? after_yield : after_yield_loop;
    return abti_leave_to(es, self, NULL, after, self);
}

int abti_yield_any(abti_es *es, ABT_pool_context context)
{
    abti_unit *self = es->cur;
    abti_sched *sched = es->dsched;
    if (!sched || --es->budget <= 0 || abti_has_requests(self))
        return yield_slow(es, self, context);
    abti_unit *next = abti_sched_pick(sched, self);
    if (next == self)
        return ABT_SUCCESS;
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_READY);
    void (*after)(void *) = context == ABT_POOL_CONTEXT_OP_THREAD_YIELD ? after_yield : after_yield_loop;
    return abti_leave_to(es, self, next, after, self);
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

/* --- Ending --- */

/* A unit that a joiner waits for, whose registration is `join`. */
ABTI_INLINE abti_unit *terminate_joined(abti_es *es, abti_unit *unit, uintptr_t join)
{
    /* One joiner has registered, and no other can: a plain store ends the unit. */
    if (ABTI_LIKELY(join & ABTI_JOIN_FREE)) {
        abti_null_handle((abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS));
        abti_unit_dispose(es, unit);
    } else {
        abti_store_release(&unit->join, ABTI_JOIN_DONE);
    }
    if (ABTI_UNLIKELY(join & ABTI_JOIN_EXTERNAL)) {
        abti_sleeper_wake((struct abti_sleeper *)(join & ~(uintptr_t)ABTI_JOIN_TAGS));
        return NULL;
    }
    return (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
}

ABTI_INLINE abti_unit *terminate(abti_es *es, abti_unit *unit)
{
    /* acquire: pairs with the joiner's registration */
    uintptr_t join = abti_load_acquire(&unit->join);
    if (join == 0) {
        if (!(unit->flags & ABTI_UNIT_NAMED)) {
            abti_tool_event_free_unnamed(es, unit);
            abti_unit_dispose(es, unit);
            return NULL;
        }
        /* release: pairs with abti_unit_is_done; acquire: with a joiner that was faster */
        if (ABTI_LIKELY(abti_cas_word(&unit->join, &join, ABTI_JOIN_DONE)))
            return NULL;
    }
    return terminate_joined(es, unit, join);
}

abti_unit *abti_terminate(abti_es *es, abti_unit *unit)
{
    return terminate(es, unit);
}

void abti_resume_joiner(abti_unit *joiner)
{
    /* acquire: pairs with abti_after_suspend */
    for (unsigned step = 0; abti_load_acquire(&joiner->state) != ABT_THREAD_STATE_BLOCKED; step++)
        abti_backoff(step);
    abti_unblock(joiner, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

static void after_end_in_place(void *joiner)
{
    abti_resume_joiner(joiner);
}

/* A unit that keeps its stack ends when it has left it: the stack may go with it. */
static void after_end_own_stack(void *unit)
{
    abti_unit *joiner = abti_terminate(abti_es_self, unit);
    if (joiner)
        abti_resume_joiner(joiner);
}

/* The joiner slept on this ES and nothing is asked of it: it goes on without a pass through its pool. */
ABTI_INLINE bool can_continue_joiner(abti_es *es, abti_unit *joiner)
{
    return joiner && abti_load_relaxed(&joiner->es) == es->index && !abti_has_requests(joiner);
}

ABTI_INLINE void take_joiner(abti_es *es, abti_unit *joiner)
{
    abti_tool_event_resume(joiner);
    abti_pool_count_left(es, joiner->pool);
    abti_set_running(es, joiner);
}

/* The ES goes on with `next`, or with the parent, from a stack that nobody comes back to. */
ABTI_NORETURN static void leave_for_good(abti_es *es, abti_unit *next, void (*after)(void *), void *arg)
{
    if (next && (abti_is_resumable(next) || (!after && is_startable(next) && abti_take_stack(es, next)))) {
        abti_set_running(es, next);
        if (!next->ctx)
            restart(next);
        jump(next, after, arg);
    }
    es->handoff = next;
    es->cur = es->parent;
    jump(es->parent, after, arg);
}

ABTI_NORETURN static ABTI_NOINLINE void finish_own_stack(abti_es *es, abti_unit *unit)
{
    leave_for_good(es, abti_pick_next(es, NULL), after_end_own_stack, unit);
}

/* For the stream that runs or has popped the unit. relaxed: who has put that into the word has started the unit, too */
ABTI_INLINE bool runs_in_place(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE) != 0;
}

/*
 * In place: the stack is the joiner's, who is registered and can go on nowhere before we have left. Returns when it is
 * to go on here and now.
 */
ABTI_INLINE abti_unit *finish_in_place(abti_es *es, abti_unit *unit)
{
    abti_unit *joiner = terminate_joined(es, unit, abti_load_relaxed(&unit->join));
    if (ABTI_UNLIKELY(!can_continue_joiner(es, joiner)))
        leave_for_good(es, abti_pick_next(es, NULL), after_end_in_place, joiner);
    take_joiner(es, joiner);
    return joiner;
}

static ABTI_NOINLINE void finish_in_place_any(abti_es *es, abti_unit *unit)
{
    finish_in_place(es, unit);
}

/*
 * The common case by itself: the joiner sleeps on this ES, which owns the counts of its pool (it may have got another
 * pool meanwhile), and the unit is nothing but its descriptor. Requests to the joiner wait until it yields: it has
 * never left its stack.
 */
ABTI_INLINE void end_in_place(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    uintptr_t join = abti_load_relaxed(&unit->join);
    abti_unit *joiner = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS); /* never NULL: it registered first of all */
    if (ABTI_UNLIKELY(abti_load_relaxed(&joiner->es) != es->index || !abti_pool_is_owner(es, joiner->pool) ||
                      abti_load_relaxed(&unit->cold) != 0 || abti_cache_is_full(&es->units))) {
        finish_in_place_any(es, unit);
        return;
    }
    if (ABTI_LIKELY(join & ABTI_JOIN_FREE)) {
        abti_null_handle(joiner);
        abti_cache_put_quick(&es->units, unit);
    } else {
        abti_store_release(&unit->join, ABTI_JOIN_DONE);
    }
    abti_pool_owner_left(joiner->pool, 1);
    es->cur = joiner;
    abti_store_relaxed(&joiner->state, ABT_THREAD_STATE_RUNNING);
}

/* Out of line: it must not use what its caller knew of the ES before the unit ran. */
static ABTI_NOINLINE void end_watch(void)
{
    abti_stackuse_left(abti_es_self->cur);
}

ABTI_INLINE void run_in_place(abti_unit *unit, bool watch)
{
    if (watch)
        abti_stackuse_enter(__builtin_frame_address(0));
    unit->func(unit->arg);
    if (watch)
        end_watch();
    end_in_place();
}

static void nest_main(void *unit)
{
    run_in_place(unit, false);
}

static void nest_main_watched(void *unit)
{
    run_in_place(unit, true);
}

/*
 * Ends the running ULT. Returns when a unit that has not started is to run next and may do so on this very stack;
 * otherwise it leaves the stack.
 */
static void finish(void)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    struct abti_stack *stack = unit->stack;

    if (ABTI_UNLIKELY(runs_in_place(unit)))
        jump(finish_in_place(es, unit), NULL, NULL);
    if (abti_stack_is_overrun(stack))
        abti_overflow_abort(unit);
    if (ABTI_UNLIKELY(unit->flags & ABTI_UNIT_OWN_STACK))
        finish_own_stack(es, unit);
    abti_unit *joiner = terminate(es, unit);
    if (joiner) {
        if (can_continue_joiner(es, joiner)) {
            abti_cache_put(&es->stacks, stack);
            take_joiner(es, joiner);
            jump(joiner, NULL, NULL);
        }
        abti_resume_joiner(joiner);
    }
    abti_unit *next = abti_pick_next(es, NULL);
    if (ABTI_LIKELY(next && abti_unit_is_fresh_default(next))) {
        next->stack = stack;
        abti_set_running(es, next);
        abti_cpu_fpu_reset();
        return;
    }
    abti_cache_put(&es->stacks, stack);
    leave_for_good(es, next, NULL, NULL);
}

ABTI_NO_SANITIZE void abti_annotate_arrival(void)
{
    if (ABTI_UNLIKELY(abti_annotate_on)) {
        abti_annotate_asan_finish(NULL, NULL, NULL);
        bury_dead_stack();
    }
}

/* Out of line: our caller looked where it is before the unit ran, which may have come elsewhere. */
static ABTI_NOINLINE void tell_finish(void)
{
    abti_es *es = abti_es_self;
    abti_tool_event_finish(es, es->cur);
}

ABTI_INLINE void run_ults(bool watch)
{
    abti_annotate_arrival();
    for (;;) {
        abti_unit *unit = abti_es_self->cur;
        if (watch)
            abti_stackuse_enter(abti_stack_top(unit->stack));
        unit->func(unit->arg);
        if (watch)
            end_watch();
        if (ABTI_BUILD_TOOL)
            tell_finish();
        finish();
    }
}

static void ult_main(void)
{
    run_ults(false);
}

static void ult_main_watched(void)
{
    run_ults(true);
}

_Atomic(void (*)(void)) abti_ult_entry = ult_main;
_Atomic(void (*)(void *)) abti_nest_entry = nest_main;

void abti_entries_watch(void)
{
    abti_spin_lock(&abti_rt.lock);
    bool watch = abti_stackuse_is_on();
    abti_store_relaxed(&abti_ult_entry, watch ? ult_main_watched : ult_main);
    abti_store_relaxed(&abti_nest_entry, watch ? nest_main_watched : nest_main);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next)
        abti_store_relaxed(&es->nest_entry, abti_load_relaxed(&abti_nest_entry));
    abti_spin_unlock(&abti_rt.lock);
}

/* From anywhere on its stack. */
ABTI_NORETURN ABTI_INLINE void end_ult(void)
{
    finish();
    restart(abti_es_self->cur);
}

void abti_ult_exit(void)
{
    abti_stackuse_left(abti_es_self->cur);
    if (ABTI_BUILD_TOOL)
        tell_finish();
    end_ult();
}

void abti_ult_exit_to(abti_unit *next)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = es->cur;
    if (abti_stack_is_overrun(unit->stack))
        abti_overflow_abort(unit);
    abti_stackuse_left(unit);
    abti_tool_event_finish(es, unit);
    if (unit->flags & ABTI_UNIT_OWN_STACK)
        leave_for_good(es, next, after_end_own_stack, unit);
    bool in_place = runs_in_place(unit);
    struct abti_stack *stack = unit->stack;
    abti_unit *joiner = abti_terminate(es, unit); /* the unit may be gone */
    if (in_place)
        leave_for_good(es, next, after_end_in_place, joiner);
    if (joiner)
        abti_resume_joiner(joiner);
    abti_cache_put(&es->stacks, stack);
    leave_for_good(es, next, NULL, NULL);
}

void abti_main_exit(abti_es *es)
{
    abti_unit *primary = abti_terminate(es, es->main_unit);
    abti_set_running(es, primary);
    jump(primary, NULL, NULL);
}

/* --- Running as a parent --- */

void abti_finish_simply(abti_es *es, abti_unit *unit)
{
    abti_unit *joiner = abti_terminate(es, unit);
    if (joiner)
        abti_resume_joiner(joiner);
}

/* A unit that is not to run, or not here, has no use for a default stack. */
static void give_stack_back(abti_es *es, abti_unit *unit)
{
    if (unit->stack && !(unit->flags & ABTI_UNIT_OWN_STACK) && !runs_in_place(unit))
        abti_cache_put(&es->stacks, unit->stack);
}

void abti_discard(abti_es *es, abti_unit *unit)
{
    abti_stackuse_left(unit);
    give_stack_back(es, unit);
    abti_finish_simply(es, unit);
}

/* A popped unit with requests. False when it is not to run now. */
static bool serve_requests(abti_es *es, abti_unit *unit)
{
    unsigned requests = abti_load_relaxed(&unit->requests);
    if (abti_unit_is_cancelled(unit)) {
        abti_tool_event_cancel_popped(es, unit);
        abti_discard(es, unit);
        abti_tool_after_cancel(es);
        return false;
    }
    if (requests & ABTI_REQ_MIGRATE && abti_migrate_serve(unit)) {
        if (!unit->ctx && !(unit->flags & ABTI_UNIT_OWN_STACK)) {
            give_stack_back(es, unit); /* which ABT_thread_create_to took */
            unit->stack = NULL;
        }
        abti_pool_push(unit->pool, unit, ABT_POOL_CONTEXT_OP_THREAD_MIGRATE);
        return false;
    }
    return true;
}

/* The scheduler that runs in the ULT, if it is a predefined one; else NULL. */
static abti_sched *predefined_sched(abti_unit *unit)
{
    if (!(unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED)))
        return NULL;
    abti_sched *sched = abti_unit_cold_get(unit)->sched;
    return sched->ops->pick ? sched : NULL;
}

/*
 * There is no memory for the unit's stack: it goes back to its pool as if it had yielded. A predefined scheduler then
 * takes a unit from each of its pools in turn, whatever its order of choice: a unit that it always chooses first would
 * keep those from running that have stacks to give back. Before it looks at events, the other ESs are asked for the
 * stacks they have at hand, and others in the system, who may free memory, get the processor.
 */
static ABTI_COLD void run_another(abti_es *es, abti_unit *parent, abti_unit *unit)
{
    abti_pool_push(unit->pool, unit, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    abti_sched *sched = predefined_sched(parent);
    if (!sched || es->budget <= 0) {
        abti_es_ask_for_stacks(es);
        if (sched)
            abti_backoff(UINT_MAX);
        return;
    }
    for (int i = 0; i < sched->num_pools && !es->handoff; i++)
        es->handoff = abti_pool_pop(sched->pools[sched->turn++ % (unsigned)sched->num_pools], 0);
}

static void run_one(abti_es *es, abti_unit *parent, abti_unit *unit, abti_sched *dsched)
{
    if (abti_has_requests(unit) && !serve_requests(es, unit))
        return;
    if (unit->flags & ABTI_UNIT_TASKLET) {
        abti_es_set_dsched(es, NULL); /* a tasklet cannot switch */
        abti_run_tasklet(es, unit);
        es->cur = parent;
        abti_es_set_dsched(es, dsched);
    } else if (unit->ctx) {
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
