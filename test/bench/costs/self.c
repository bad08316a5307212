/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling work unit, keys, and what switches from one ULT to another. */
#include "costs.h"

static ABT_key keys[TIMES];

/* --- Asking and setting --- */

static void make_keys(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_key_create(NULL, &keys[i]));
}

static void free_keys(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_key_free(&keys[i]));
}

COST(ABT_self_get_xstream, "a ULT calls", NULL, NULL, ABT_self_get_xstream(&out.xstream));
COST(ABT_self_get_xstream_rank, "a ULT calls", NULL, NULL, ABT_self_get_xstream_rank(&out.number));
COST(ABT_self_get_thread, "a ULT calls", NULL, NULL, ABT_self_get_thread(&out.thread));
COST(ABT_self_get_thread_id, "it has its id", NULL, NULL, ABT_self_get_thread_id(&out.id));
COST(ABT_self_set_specific, "a key that has been set before", NULL, NULL, ABT_self_set_specific(world.key, &out));
COST(ABT_self_get_specific, "a key that is set", NULL, NULL, ABT_self_get_specific(world.key, &out.pointer));
COST(ABT_self_get_type, "a ULT calls", NULL, NULL, ABT_self_get_type(&out.type));
COST(ABT_self_is_primary, "a ULT calls", NULL, NULL, ABT_self_is_primary(&out.yes));
COST(ABT_self_on_primary_xstream, "a ULT calls", NULL, NULL, ABT_self_on_primary_xstream(&out.yes));
COST(ABT_self_is_unnamed, "a ULT calls", NULL, NULL, ABT_self_is_unnamed(&out.yes));
COST(ABT_self_get_last_pool, "a ULT calls", NULL, NULL, ABT_self_get_last_pool(&out.pool));
COST(ABT_self_get_last_pool_id, "a ULT calls", NULL, NULL, ABT_self_get_last_pool_id(&out.number));
COST(ABT_self_set_associated_pool, "the pool that it has", NULL, NULL, ABT_self_set_associated_pool(world.pool));
COST(ABT_self_get_unit, "a ULT of a built-in pool", NULL, NULL, ABT_self_get_unit(&out.unit));
COST(ABT_self_set_arg, "a ULT calls", NULL, NULL, ABT_self_set_arg(NULL));
COST(ABT_self_get_arg, "a ULT calls", NULL, NULL, ABT_self_get_arg(&out.pointer));
COST(ABT_self_get_thread_func, "a ULT calls", NULL, NULL, ABT_self_get_thread_func(&out.func));
COST(ABT_key_create, "a key", NULL, free_keys, ABT_key_create(NULL, &keys[i]));
COST(ABT_key_free, "a key", make_keys, NULL, ABT_key_free(&keys[i]));
COST(ABT_key_set, "a key that has been set before", NULL, NULL, ABT_key_set(world.key, &out));
COST(ABT_key_get, "a key that is set", NULL, NULL, ABT_key_get(world.key, &out.pointer));
COST(ABTX_self_put_off_cancel, "none has come", NULL, NULL, ABTX_self_put_off_cancel(ABT_FALSE, NULL));
COST(ABTX_self_set_slot, "a ULT calls", NULL, NULL, ABTX_self_set_slot(0, NULL));
COST(ABTX_self_get_slot, "a ULT calls", NULL, NULL, ABTX_self_get_slot(0, &out.pointer));
COST(ABTX_self_get_slot_place, "a ULT calls", NULL, NULL, ABTX_self_get_slot_place(0, (void *volatile **)&out.pointer));
COST(ABTX_self_get_stack_room, "a ULT calls", NULL, NULL, ABTX_self_get_stack_room(&out.size));
static ABTX_switch_link link_of_hooks;

static void add_and_remove(int i)
{
    (void)i;
    must(ABTX_self_add_switch_hooks(&link_of_hooks));
    must(ABTX_self_remove_switch_hooks(&link_of_hooks));
}

COST(ABTX_self_set_switch_hooks, "none, and none before", NULL, NULL, ABTX_self_set_switch_hooks(NULL));
COST_ROW(add_hooks, "ABTX_self_add_switch_hooks", "together with ABTX_self_remove_switch_hooks", NULL, add_and_remove,
         NULL, 1, IN_ULT, NULL);
COST_ROW(remove_hooks, "ABTX_self_remove_switch_hooks", "together with ABTX_self_add_switch_hooks", NULL,
         add_and_remove, NULL, 1, IN_ULT, NULL);

/* --- Two ULTs that switch to each other: the caller, and world.units[0] --- */

static void yield_always(void *arg)
{
    (void)arg;
    while (partner_goes_on())
        must(ABT_self_yield());
}

static void yield_to_always(void *arg)
{
    (void)arg;
    while (partner_goes_on())
        must(ABT_thread_yield_to(world.self));
}

static void pop_and_yield(void)
{
    ABT_thread thread;

    must(ABT_pool_pop_thread(world.pool, &thread));
    must(ABT_self_yield_to(thread));
}

static void pop_and_yield_always(void *arg)
{
    (void)arg;
    while (partner_goes_on())
        pop_and_yield();
}

static void suspend_always(void *arg)
{
    (void)arg;
    while (partner_goes_on())
        must(ABT_self_suspend());
}

static void resume_and_yield_always(void *arg)
{
    ABT_thread_state state;

    (void)arg;
    while (partner_goes_on()) {
        must(ABT_thread_get_state(world.self, &state));
        if (state == ABT_THREAD_STATE_BLOCKED)
            must(ABT_thread_resume(world.self));
        must(ABT_self_yield());
    }
}

/* Waits until it is resumed the first time. */
static void resume_and_suspend_always(void *arg)
{
    (void)arg;
    must(ABT_self_suspend());
    while (partner_goes_on())
        must(ABT_self_resume_suspend_to(world.self));
}

static void make_yielder(void)
{
    make_partner(yield_always);
}

static void make_yielder_to(void)
{
    make_partner(yield_to_always);
}

static void make_popper(void)
{
    make_partner(pop_and_yield_always);
}

static void make_suspender(void)
{
    make_partner(suspend_always);
}

static void make_resumer(void)
{
    make_partner(resume_and_yield_always);
}

static void make_switcher(void)
{
    make_partner(resume_and_suspend_always);
}

static void yield_self(int i)
{
    (void)i;
    must(ABT_self_yield());
}

static void yield_thread(int i)
{
    (void)i;
    must(ABT_thread_yield());
}

static void yield_to(int i)
{
    (void)i;
    must(ABT_thread_yield_to(world.units[0]));
}

static void pop_and_yield_at(int i)
{
    (void)i;
    pop_and_yield();
}

static void pop_and_suspend(int i)
{
    ABT_thread thread;

    (void)i;
    must(ABT_pool_pop_thread(world.pool, &thread));
    must(ABT_self_suspend_to(thread));
}

static void resume_and_suspend(int i)
{
    (void)i;
    must(ABT_self_resume_suspend_to(world.units[0]));
}

static void suspend_once(void *arg)
{
    (void)arg;
    must(ABT_self_suspend());
}

static void make_suspended(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_create(world.pool, suspend_once, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
    must(ABT_self_yield());
}

COST_ROW(self_yield, "ABT_self_yield", "between 2 ULTs of a stream", make_yielder, yield_self, end_partner, 2, IN_ULT,
         NULL);
COST_ROW(thread_yield, "ABT_thread_yield", "between 2 ULTs of a stream", make_yielder, yield_thread, end_partner, 2,
         IN_ULT, NULL);
COST_ROW(thread_yield_to, "ABT_thread_yield_to", "between 2 ULTs of a stream", make_yielder_to, yield_to, end_partner,
         2, IN_ULT, NULL);
COST_ROW(self_yield_to, "ABT_self_yield_to", "between 2 ULTs of a stream, which pop each other: that included",
         make_popper, pop_and_yield_at, end_partner, 2, IN_ULT, NULL);
COST(ABT_self_resume_yield_to, "a ULT of the same stream, its suspension included", make_suspender, end_partner,
     ABT_self_resume_yield_to(world.units[0]));
COST(ABT_self_suspend, "a ULT of the same stream resumes the caller: the resume and its yield included", make_resumer,
     end_partner, ABT_self_suspend());
COST_ROW(suspend_to, "ABT_self_suspend_to",
         "a ULT of the same stream, which the caller pops, resumes it: the pop, the resume and a yield included",
         make_resumer, pop_and_suspend, end_partner, 1, IN_ULT, NULL);
COST_ROW(resume_suspend_to, "ABT_self_resume_suspend_to", "between 2 ULTs of a stream", make_switcher,
         resume_and_suspend, end_partner, 2, IN_ULT, NULL);
COST(ABT_thread_resume, "a ULT of the same stream; it has not run yet", make_suspended, free_units,
     ABT_thread_resume(world.units[i]));

/* --- Ends --- */

static void end_by_thread_exit(void *arg)
{
    (void)arg;
    must(ABT_thread_exit());
}

static void end_by_self_exit(void *arg)
{
    (void)arg;
    must(ABT_self_exit());
}

static void end_by_exit_to(void *arg)
{
    ABT_thread thread;

    (void)arg;
    must(ABT_pool_pop_thread(world.pool, &thread));
    must(ABT_self_exit_to(thread));
}

static void end_by_resume_exit_to(void *arg)
{
    must(ABT_self_resume_exit_to(*(ABT_thread *)arg));
}

static void create_and_free(void (*func)(void *))
{
    ABT_thread thread;

    must(ABT_thread_create(world.pool, func, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void thread_exit(int i)
{
    (void)i;
    create_and_free(end_by_thread_exit);
}

static void self_exit(int i)
{
    (void)i;
    create_and_free(end_by_self_exit);
}

/* The first ULT ends and goes on with the second one. */
static void exit_to(int i)
{
    ABT_thread first, second;

    (void)i;
    must(ABT_thread_create(world.pool, end_by_exit_to, NULL, ABT_THREAD_ATTR_NULL, &first));
    must(ABT_thread_create(world.pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &second));
    must(ABT_thread_free(&first));
    must(ABT_thread_free(&second));
}

static void resume_exit_to(int i)
{
    ABT_thread first, second;

    (void)i;
    must(ABT_thread_create(world.pool, suspend_once, NULL, ABT_THREAD_ATTR_NULL, &second));
    must(ABT_self_yield());
    must(ABT_thread_create(world.pool, end_by_resume_exit_to, &second, ABT_THREAD_ATTR_NULL, &first));
    must(ABT_thread_free(&first));
    must(ABT_thread_free(&second));
}

COST_ROW(thread_exit, "ABT_thread_exit", "the whole life of a ULT that ends so: creation and free included", NULL,
         thread_exit, NULL, 1, IN_ULT, NULL);
COST_ROW(self_exit, "ABT_self_exit", "the whole life of a ULT that ends so: creation and free included", NULL,
         self_exit, NULL, 1, IN_ULT, NULL);
COST_ROW(exit_to, "ABT_self_exit_to",
         "the whole lives of 2 ULTs, one of which pops the other and ends so: creation, the pop and free included",
         NULL, exit_to, NULL, 1, IN_ULT, NULL);
COST_ROW(resume_exit_to, "ABT_self_resume_exit_to",
         "the whole lives of 2 ULTs, one of which is suspended until the other ends so: creation and free included",
         NULL, resume_exit_to, NULL, 1, IN_ULT, NULL);
