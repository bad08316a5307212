/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/annotated.h"

#include "run/sched.h"
#include "rt/rt.h"
#include "run/switch.h"

/*
 * Where the order is reported, units of one stream are not ordered by the stream: data that one has written, another
 * may read only after something that orders them; unless the user says that the program relies on its streams. A
 * user-defined scheduler is ordered with the units that it runs, and so are units of user-defined pools: their
 * functions may well share with the units what no lock guards, since one stream runs them all.
 */
ABTI_NO_SANITIZE static bool orders_units(abti_unit *unit)
{
    abti_sched *sched = unit ? abti_sched_in(unit) : NULL;
    return (sched && !abti_sched_is_predefined(sched)) || (unit && unit->pool && abti_pool_is_user(unit->pool));
}

ABTI_NO_SANITIZE static bool is_ordered(void)
{
    return !abti_annotate_order || orders_units(abti_es_self->parent) || orders_units(abti_es_self->cur);
}

ABTI_NO_SANITIZE static void annotate_leave(void **fake_save, struct abti_stack *to)
{
    if (!to->tsan_fiber)
        to->tsan_fiber = abti_annotate_fiber_create();
    abti_annotate_asan_start(fake_save, to->base, (size_t)(to->end - to->base));
    abti_annotate_fiber_switch_to(to->tsan_fiber, is_ordered());
}

/*
 * Tells the tools of a switch to a stack on which a unit starts. Units end by leaving their stack, and so leave frames
 * behind on TSan's shadow of it, which is limited. Therefore a stack gets a fresh fiber now and then.
 */
ABTI_NO_SANITIZE static void annotate_leave_to_start(void **fake_save, struct abti_stack *to)
{
    enum { FIBER_USES = 250 };
    void *old_fiber = NULL;
    char *sp = abti_cpu_sp();
    if (sp >= to->base && sp < (char *)to) {
        abti_stack_set_root(to, true);
        abti_annotate_unpoison(to->base, (size_t)((char *)to - to->base)); /* the caller runs on it and still needs
                                                                              it */
    } else {
        abti_stack_alive(to);
    }
    if (++to->fiber_uses > FIBER_USES) {
        old_fiber = to->tsan_fiber;
        to->tsan_fiber = NULL;
        to->fiber_uses = 1;
    }
    annotate_leave(fake_save, to);
    abti_annotate_fiber_destroy(old_fiber); /* perhaps the one that has just been left */
}

/*
 * A unit that ends has put its stack into the cache, where it is uppermost, and leaves it. The stack is dead when the
 * next unit has arrived on another one. Nobody can have taken it out of the cache before that.
 */
ABTI_NO_SANITIZE static void note_dead_stack(abti_es *es)
{
    char *sp = abti_cpu_sp();
    struct abti_stack *stack = abti_cache_top(&es->stacks);
    es->tool.dead_stack = stack && sp >= stack->base && sp < (char *)stack ? stack : NULL;
}

/* It is out of line, so that it looks anew on which ES the caller has arrived. */
ABTI_NO_SANITIZE ABTI_NOINLINE void abti_bury_dead_stack(void)
{
    abti_es *es = abti_es_self;
    if (!es || !es->tool.dead_stack)
        return;
    struct abti_stack *stack = es->tool.dead_stack;
    es->tool.dead_stack = NULL;
    abti_stack_dead(stack);
}

ABTI_NO_SANITIZE void abti_depart(struct abti_stack *to)
{
    note_dead_stack(abti_es_self);
    annotate_leave(NULL, to);
}

ABTI_NO_SANITIZE void abti_depart_to_start(struct abti_stack *to)
{
    note_dead_stack(abti_es_self);
    annotate_leave_to_start(NULL, to);
}

ABTI_NO_SANITIZE int abti_annotate_switch(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    void *fake = NULL;
    abti_annotate_release(self); /* for a scheduler that ends it, and its keys, by a cancellation */
    annotate_leave(&fake, to->stack);
    if (after)
        abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
    else
        abti_ctx_switch(&self->ctx, to->ctx);
    abti_annotate_asan_finish(fake, NULL, NULL);
    abti_bury_dead_stack();
    abti_annotate_acquire(self); /* its waker has released that */
    return 0;
}

/*
 * Units that use the same stack one after the other are ordered, since they use the same memory. That would hide a race
 * between units that follow each other. Therefore a unit that starts gets an older stack than the one that was left
 * last.
 */
ABTI_NO_SANITIZE static void use_another_stack(abti_unit *unit)
{
    enum { AWAY = 8 };
    struct abti_stack *stacks[AWAY] = {unit->stack};
    struct abti_cache *cache = &abti_es_self->stacks;
    int n = 1;
    if (!abti_annotate_order || unit->flags & ABTI_UNIT_OWN_STACK)
        return;
    while (n < AWAY && (stacks[n] = abti_cache_get(cache)) != NULL)
        n++;
    abti_unit_set_stack(unit, stacks[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        abti_cache_put(cache, stacks[i]);
}

ABTI_NO_SANITIZE void abti_annotate_begin(void)
{
    abti_unit *unit = abti_es_self->cur;
    abti_annotate_acquire(unit);
    abti_annotate_acquire(unit->stack);
}

ABTI_NO_SANITIZE void abti_annotate_end(abti_unit *unit)
{
    abti_annotate_release(unit);
    abti_annotate_release(&abti_annotate_ends);
    if (!(unit->flags & ABTI_UNIT_TASKLET))
        abti_annotate_release(unit->stack);
}

ABTI_NO_SANITIZE void abti_annotate_tasklet(abti_unit *unit)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_acquire(unit);
    unit->func(unit->arg);
    abti_annotate_end(unit);
}

ABTI_NO_SANITIZE int abti_annotate_start(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    void *fake = NULL;
    abti_annotate_release(self);
    use_another_stack(to);
    annotate_leave_to_start(&fake, to->stack);
    abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_rt.ult_entry), after, arg);
    abti_annotate_asan_finish(fake, NULL, NULL);
    abti_bury_dead_stack();
    abti_annotate_acquire(self);
    return 0;
}
