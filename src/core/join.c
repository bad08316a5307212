/* Waiting for a unit to terminate. The join word's states are in core/unit.h. */
#include "core/rt.h"
#include "core/switch.h"

/* Registers the one joiner that may sleep. False: look at the unit again, it is done or has a joiner already. */
static bool join_register(abti_unit *unit, void *joiner, uintptr_t tags)
{
    uintptr_t none = 0;
    /* release: publishes the joiner to abti_terminate; acquire: a unit found DONE is as if joined */
    return abti_cas_word(&unit->join, &none, (uintptr_t)joiner | tags);
}

_Static_assert(_Alignof(struct abti_sleeper) > ABTI_JOIN_TAGS, "room for the tags");

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

/* The unit is done; with a handle it is to be freed. */
static ABTI_NOINLINE int free_done(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (handle) {
        abti_unit_dispose(es, unit);
        *handle = ABT_THREAD_NULL;
    }
    return ABT_SUCCESS;
}

/* Somebody else sleeps on the unit already: look at it again and again. */
static ABTI_COLD int join_poll(abti_unit *unit, ABT_thread *handle)
{
    while (!abti_unit_is_done(unit))
        abti_yield_any(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP);
    return free_done(abti_es_self, unit, handle);
}

/*
 * The calling ULT sleeps until the unit ends. Its registration asks the ending unit to free itself if it is to be freed,
 * and to null the user's handle, which waits in the joiner's link: nothing is left to do here afterwards, and the switch
 * can go straight back to the API's user.
 */
static ABTI_NOINLINE int join_ult(abti_es *es, abti_unit *self, abti_unit *unit, ABT_thread *handle)
{
    if (ABTI_UNLIKELY(abti_has_requests(self)) && abti_load_relaxed(&self->requests) & ABTI_REQ_MIGRATE)
        abti_migrate_serve(self);
    self->next = (abti_unit *)handle;
    if (ABTI_UNLIKELY(!join_register(unit, self, handle ? ABTI_JOIN_FREE : 0)))
        return join_poll(unit, handle);
    abti_pool_count_entered(es, self->pool);
    return abti_leave_to(es, self, abti_pick_next(es, NULL), abti_after_suspend, self);
}

static ABTI_NOINLINE int join_slow(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    if (es && es->parent && !abti_unit_is_tasklet(es->cur))
        return join_ult(es, es->cur, unit, handle);
    join_native(unit);
    return free_done(es, unit, handle);
}

/*
 * Registers the joiner of a unit that nobody else can start. Who frees a unit is alone with it, so that an ordinary store
 * will do; who only joins may have rivals.
 */
ABTI_INLINE bool register_in_place(abti_unit *unit, abti_unit *self, ABT_thread *handle)
{
    uintptr_t none = 0;
    if (!handle)
        return abti_cas_word(&unit->join, &none, (uintptr_t)self);
    self->next = (abti_unit *)handle;
    abti_store_relaxed(&unit->join, (uintptr_t)self | ABTI_JOIN_FREE);
    return true;
}

/*
 * Join in place: the unit stands next in the joiner's own private queue and has not been touched, so it runs on the rest
 * of the joiner's stack, if there is enough of it. Its end resumes the joiner. False when that is not the case.
 */
ABTI_INLINE bool may_run_in_place(abti_es *es, abti_unit *self, abti_unit *unit)
{
    return abti_load_relaxed(&es->fast->queue.head) == unit && abti_unit_is_fresh_default(unit) &&
           (char *)abti_cpu_sp() >= self->stack->nest_limit && !abti_has_requests(self) && --es->budget > 0;
}

ABTI_INLINE int run_in_place(abti_es *es, abti_unit *self, abti_unit *unit, abti_pool *pool)
{
    abti_queue_pop_head(&es->fast->queue, unit);
    abti_pool_owner_entered(pool);
    unit->flags |= ABTI_UNIT_INPLACE;
    unit->stack = self->stack;
    abti_set_running(es, unit);
    /* relaxed: a waker must see the joiner BLOCKED, but the only one is the unit, which runs on this very stack */
    abti_store_relaxed(&self->state, ABT_THREAD_STATE_BLOCKED);
    return abti_ctx_nest(&self->ctx, abti_nest_main);
}

/* The common cases by themselves: the unit is done, or runs in place. Everything else is a tail call. */
ABTI_INLINE int join(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    /* acquire: as abti_unit_is_done */
    uintptr_t word = abti_load_acquire(&unit->join);
    if (word == ABTI_JOIN_DONE) {
        if (!handle)
            return ABT_SUCCESS;
        if (ABTI_UNLIKELY(!es || !abti_unit_is_bare(es, unit)))
            return free_done(es, unit, handle);
        abti_cache_put_quick(&es->units, unit);
        *handle = ABT_THREAD_NULL;
        return ABT_SUCCESS;
    }
    if (ABTI_UNLIKELY(!es || word != 0))
        return join_slow(es, unit, handle);
    abti_unit *self = es->cur;
    abti_pool *pool = self->pool;
    if (ABTI_LIKELY(may_run_in_place(es, self, unit)) && abti_pool_is_owner(es, pool) &&
        ABTI_LIKELY(register_in_place(unit, self, handle)))
        return run_in_place(es, self, unit, pool);
    return join_slow(es, unit, handle);
}

int abti_join(abti_es *es, abti_unit *unit)
{
    return join(es, unit, NULL);
}

int abti_join_and_free(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    return join(es, unit, handle);
}

int abti_join_uncounted(abti_es *es, abti_unit *unit)
{
    abti_unit *self = es->cur;
    if (!join_register(unit, self, 0))
        return ABT_SUCCESS;
    return abti_leave_to(es, self, NULL, abti_after_suspend, self);
}
