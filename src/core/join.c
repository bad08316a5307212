/* Waiting for a unit to terminate. The join word's states are in core/unit.h. */
#include "core/rt.h"
#include "core/switch.h"

/* Registers the one joiner that may sleep. False: look at the unit again, it is done or has a joiner already. */
static bool join_register(abti_unit *unit, void *joiner, uintptr_t tags)
{
    uintptr_t none = 0;
    /* release: publishes the joiner to abti_terminate; acquire: a unit found DONE is as if joined */
    return abti_cas_acq_rel(&unit->join, &none, (uintptr_t)joiner | tags);
}

static void join_native(abti_unit *unit)
{
    struct abti_sleeper sleeper = {ABTI_AWAKE};
    abti_sleeper_prepare(&sleeper);
    if (join_register(unit, &sleeper, ABTI_JOIN_EXTERNAL)) {
        /* The ender stores DONE before it wakes: no look at the unit is needed, which may be gone. */
        while (!abti_sleeper_sleep(&sleeper, ABTI_CLOCK_NEVER))
            ;
        return;
    }
    for (unsigned step = 0; !abti_unit_is_done(unit); step++)
        abti_backoff(step);
}

/* Somebody else sleeps on the unit already: look at it again and again. */
static ABTI_COLD int join_poll(abti_unit *unit, bool free_it)
{
    while (!abti_unit_is_done(unit))
        abti_yield(abti_es_self, abti_es_self->cur, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP);
    if (free_it)
        abti_unit_dispose(abti_es_self, unit);
    return ABT_SUCCESS;
}

static void nest_main(void)
{
    abti_unit *unit = abti_es_self->cur;
    unit->func(unit->arg);
    abti_ult_exit();
}

/* The joiner's stack has room for a unit that wants a default stack. */
ABTI_INLINE bool has_room(abti_unit *self)
{
    enum { MARGIN = 2048 };
    char *sp = abti_cpu_sp();
    return (size_t)(sp - self->stack->base) >= abti_rt.config.thread_stacksize + MARGIN;
}

/* The unit runs on the rest of its joiner's stack; its end resumes the joiner. */
static int run_in_place(abti_es *es, abti_unit *self, abti_unit *unit)
{
    unit->flags |= ABTI_UNIT_INPLACE;
    unit->stack = self->stack;
    abti_set_running(es, unit);
    /* relaxed: a waker must see the joiner BLOCKED, but the only one is the unit, which runs on this very stack */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    return abti_ctx_nest(&self->ctx, nest_main);
}

/*
 * The calling ULT sleeps until the unit ends. Its registration asks the ending unit to free itself if it is to be freed,
 * so that nothing is left to do here afterwards and the switch can go straight back to the API's user.
 */
static int join_ult(abti_es *es, abti_unit *self, abti_unit *unit, bool free_it)
{
    if (ABTI_UNLIKELY(abti_has_requests(self)) && abti_load_relaxed(&self->requests) & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
    if (ABTI_UNLIKELY(!join_register(unit, self, free_it ? ABTI_JOIN_FREE : 0)))
        return join_poll(unit, free_it);
    abti_pool_count_entered(es, self->pool);
    abti_unit *next = abti_pick_next(es, NULL);
    if (ABTI_LIKELY(next == unit && abti_unit_is_fresh_default(unit) && !abti_has_requests(unit) && has_room(self)))
        return run_in_place(es, self, unit);
    return abti_leave_to(es, self, next, abti_after_suspend, self);
}

int abti_join(abti_unit *unit, bool free_it)
{
    abti_es *es = abti_es_self;
    if (!abti_unit_is_done(unit)) {
        if (ABTI_LIKELY(es && es->parent && !abti_unit_is_tasklet(es->cur)))
            return join_ult(es, es->cur, unit, free_it);
        join_native(unit);
    }
    if (free_it)
        abti_unit_dispose(es, unit);
    return ABT_SUCCESS;
}

int abti_join_uncounted(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    if (!join_register(unit, self, 0))
        return ABT_SUCCESS;
    return abti_leave_to(es, self, NULL, abti_after_suspend, self);
}
