/* SPDX-License-Identifier: BSD-3-Clause */
/* ULTs and tasklets, their attributes, and what holds for every work unit. */
#include "costs.h"

static ABT_thread_attr attr, attrs[TIMES];
static ABT_pool same_pool[TIMES];
static void (*same_func[TIMES])(void *);

static size_t size;

enum { AT_ONCE = 16 };

static void callback(ABT_thread thread, void *arg)
{
    (void)thread, (void)arg;
}

/* --- Making, joining, freeing --- */

static void prepare_many(void)
{
    for (int i = 0; i < TIMES; i++) {
        same_pool[i] = world.pool;
        same_func[i] = nothing;
    }
}

static void create_many(int i)
{
    if (i % AT_ONCE == 0)
        must(ABT_thread_create_many(AT_ONCE, same_pool, same_func, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
}

static void free_many(int i)
{
    if (i % AT_ONCE == 0)
        must(ABT_thread_free_many(AT_ONCE, &world.units[i]));
}

static void join_many(int i)
{
    if (i % AT_ONCE == 0)
        must(ABT_thread_join_many(AT_ONCE, &world.units[i]));
}

static void make_tasks(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_task_create(world.pool, nothing, NULL, &world.units[i]));
}

static void make_ended_tasks(void)
{
    make_tasks();
    for (int i = 0; i < TIMES; i++)
        must(ABT_task_join(world.units[i]));
}

static void free_one(int i)
{
    must(ABT_thread_free(&world.units[i]));
}

static void join_one(int i)
{
    must(ABT_thread_join(world.units[i]));
}

COST(ABT_thread_create, "a ULT; it has not run", NULL, free_units,
     ABT_thread_create(world.pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
COST(ABT_thread_create_on_xstream, "a ULT of the caller's stream; it has not run", NULL, free_units,
     ABT_thread_create_on_xstream(world.es, nothing, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
COST(ABT_thread_create_to, "a ULT that ends at once, its run included", NULL, free_units,
     ABT_thread_create_to(world.pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &world.units[i]));
COST_ROW(create_many, "ABT_thread_create_many", "16 ULTs at a time, for each; they have not run", prepare_many,
         create_many, free_units, 1, IN_ULT, NULL);
COST(ABT_thread_revive, "a ULT; it has not run", make_ended, free_units,
     ABT_thread_revive(world.pool, nothing, NULL, &world.units[i]));
COST(ABT_thread_revive_to, "a ULT that ends at once, its run included", make_ended, free_units,
     ABT_thread_revive_to(world.pool, nothing, NULL, &world.units[i]));
COST(ABT_thread_free, "a ULT of the caller's stream that has not run and ends at once, its run included", make_ready,
     NULL, ABT_thread_free(&world.units[i]));
COST_ROW(free_ended, "ABT_thread_free", "a ULT that has ended", make_ended, free_one, NULL, 1, IN_ULT, NULL);
COST_ROW(free_many, "ABT_thread_free_many", "16 ULTs at a time, for each, their runs included", make_ready, free_many,
         NULL, 1, IN_ULT, NULL);
COST(ABT_thread_join, "a ULT of the caller's stream that has not run and ends at once, its run included", make_ready,
     free_units, ABT_thread_join(world.units[i]));
COST_ROW(join_ended, "ABT_thread_join", "a ULT that has ended", make_ended, join_one, free_units, 1, IN_ULT, NULL);
COST_ROW(join_many, "ABT_thread_join_many", "16 ULTs at a time, for each, their runs included", make_ready, join_many,
         free_units, 1, IN_ULT, NULL);
COST(ABT_task_create, "a tasklet; it has not run", NULL, free_units,
     ABT_task_create(world.pool, nothing, NULL, &world.units[i]));
COST(ABT_task_create_on_xstream, "a tasklet of the caller's stream; it has not run", NULL, free_units,
     ABT_task_create_on_xstream(world.es, nothing, NULL, &world.units[i]));
COST(ABT_task_revive, "a tasklet; it has not run", make_ended_tasks, free_units,
     ABT_task_revive(world.pool, nothing, NULL, &world.units[i]));
COST(ABT_task_free, "a tasklet of the caller's stream, with its run, where 64 are ready", make_tasks, NULL,
     ABT_task_free(&world.units[i]));
COST(ABT_task_join, "a tasklet of the caller's stream, with its run, where 64 are ready", make_tasks, free_units,
     ABT_task_join(world.units[i]));
COST(ABT_thread_cancel, "a ULT that has not run", make_ready, free_units, ABT_thread_cancel(world.units[i]));
COST(ABT_task_cancel, "a tasklet that has not run", make_tasks, free_units, ABT_task_cancel(world.units[i]));

/* --- What is made before --- */

static void make_attr(void)
{
    must(ABT_thread_attr_create(&attr));
}

static void free_attr(void)
{
    must(ABT_thread_attr_free(&attr));
}

static void make_attrs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_attr_create(&attrs[i]));
}

static void free_attrs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_attr_free(&attrs[i]));
}

static void free_units_and_attrs(void)
{
    free_attrs();
    free_units();
}

static void make_popped(void)
{
    make_idle();
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_pop_thread(world.idle, &world.units[i]));
}

static void free_popped(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_push_thread(world.pool, world.units[i]));
    free_units();
}

static void make_with_values(void)
{
    make_idle();
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_set_specific(world.units[i], world.key, &out));
}

/* --- Asking --- */

COST(ABT_thread_self, "a ULT calls", NULL, NULL, ABT_thread_self(&out.thread));
COST(ABT_thread_self_id, "it has its id", NULL, NULL, ABT_thread_self_id(&out.id));
COST(ABT_thread_get_last_xstream, "a ULT", make_ended, free_units,
     ABT_thread_get_last_xstream(world.units[i], &out.xstream));
COST(ABT_thread_get_state, "a ULT", make_idle, free_units, ABT_thread_get_state(world.units[i], &out.thread_state));
COST(ABT_thread_get_last_pool, "a ULT", make_idle, free_units, ABT_thread_get_last_pool(world.units[i], &out.pool));
COST(ABT_thread_get_last_pool_id, "a ULT", make_idle, free_units,
     ABT_thread_get_last_pool_id(world.units[i], &out.number));
COST(ABT_thread_get_unit, "a ULT of a built-in pool", make_idle, free_units,
     ABT_thread_get_unit(world.units[i], &out.unit));
COST(ABT_thread_is_migratable, "a ULT", make_idle, free_units, ABT_thread_is_migratable(world.units[i], &out.yes));
COST(ABT_thread_is_primary, "a ULT", make_idle, free_units, ABT_thread_is_primary(world.units[i], &out.yes));
COST(ABT_thread_is_unnamed, "a ULT", make_idle, free_units, ABT_thread_is_unnamed(world.units[i], &out.yes));
COST(ABT_thread_equal, "two ULTs", make_idle, free_units, ABT_thread_equal(world.units[i], world.units[0], &out.yes));
COST(ABT_thread_get_stacksize, "a ULT", make_idle, free_units, ABT_thread_get_stacksize(world.units[i], &out.size));
COST(ABT_thread_get_stack, "a ULT", make_idle, free_units, ABT_thread_get_stack(world.units[i], &out.pointer, NULL));
COST(ABT_thread_get_id, "the first time", make_idle, free_units, ABT_thread_get_id(world.units[i], &out.id));
COST(ABT_thread_set_arg, "a ULT", make_idle, free_units, ABT_thread_set_arg(world.units[i], NULL));
COST(ABT_thread_get_arg, "a ULT", make_idle, free_units, ABT_thread_get_arg(world.units[i], &out.pointer));
COST(ABT_thread_get_thread_func, "a ULT", make_idle, free_units, ABT_thread_get_thread_func(world.units[i], &out.func));
COST(ABT_thread_get_attr, "a ULT", make_idle, free_units_and_attrs, ABT_thread_get_attr(world.units[i], &attrs[i]));

/* --- Changing --- */

COST(ABT_thread_set_associated_pool, "a ULT of no pool, from one built-in pool to another", make_popped, free_popped,
     ABT_thread_set_associated_pool(world.units[i], world.pool));
COST(ABT_thread_set_migratable, "a ULT", make_idle, free_units, ABT_thread_set_migratable(world.units[i], ABT_TRUE));
COST(ABT_thread_set_callback, "a ULT, the first time", make_idle, free_units,
     ABT_thread_set_callback(world.units[i], callback, NULL));
COST(ABT_thread_migrate_to_pool, "the request for a ready ULT", make_idle, free_units,
     ABT_thread_migrate_to_pool(world.units[i], world.pool));
COST(ABT_thread_migrate_to_sched, "the request for a ready ULT", make_idle, free_units,
     ABT_thread_migrate_to_sched(world.units[i], world.sched));
COST(ABT_thread_migrate_to_xstream, "the request for a ready ULT", make_idle, free_units,
     ABT_thread_migrate_to_xstream(world.units[i], world.es));
COST(ABT_thread_migrate, "the request for a ready ULT, 2 streams", make_idle, free_units,
     ABT_thread_migrate(world.units[i]));
COST(ABT_thread_set_specific, "a ULT's first value", make_idle, free_units,
     ABT_thread_set_specific(world.units[i], world.key, &out));
COST(ABT_thread_get_specific, "a ULT's only value", make_with_values, free_units,
     ABT_thread_get_specific(world.units[i], world.key, &out.pointer));
COST(ABTX_thread_set_slot, "a ULT", make_idle, free_units, ABTX_thread_set_slot(world.units[i], 0, NULL));
COST(ABTX_thread_get_slot, "a ULT", make_idle, free_units, ABTX_thread_get_slot(world.units[i], 0, &out.pointer));

/* --- Attributes --- */

COST(ABT_thread_attr_create, "attributes", NULL, free_attrs, ABT_thread_attr_create(&attrs[i]));
COST(ABT_thread_attr_free, "attributes", make_attrs, NULL, ABT_thread_attr_free(&attrs[i]));
COST(ABT_thread_attr_set_stack, "attributes", make_attr, free_attr, ABT_thread_attr_set_stack(attr, NULL, 65536));
COST(ABT_thread_attr_get_stack, "attributes", make_attr, free_attr,
     ABT_thread_attr_get_stack(attr, &out.pointer, &size));
COST(ABT_thread_attr_set_stacksize, "attributes", make_attr, free_attr, ABT_thread_attr_set_stacksize(attr, 65536));
COST(ABT_thread_attr_get_stacksize, "attributes", make_attr, free_attr, ABT_thread_attr_get_stacksize(attr, &out.size));
COST(ABT_thread_attr_set_callback, "attributes", make_attr, free_attr,
     ABT_thread_attr_set_callback(attr, callback, NULL));
COST(ABT_thread_attr_set_migratable, "attributes", make_attr, free_attr,
     ABT_thread_attr_set_migratable(attr, ABT_TRUE));

/* --- Tasklets --- */

COST_IN(IN_TASK, ABT_task_self, "a tasklet calls", NULL, NULL, must(ABT_task_self(&out.thread)));
COST_IN(IN_TASK, ABT_task_self_id, "it has its id", NULL, NULL, must(ABT_task_self_id(&out.id)));
COST(ABT_task_get_xstream, "a tasklet that has ended", make_ended_tasks, free_units,
     ABT_task_get_xstream(world.units[i], &out.xstream));
COST(ABT_task_get_state, "a tasklet", make_tasks, free_units, ABT_task_get_state(world.units[i], &out.task_state));
COST(ABT_task_get_last_pool, "a tasklet", make_tasks, free_units, ABT_task_get_last_pool(world.units[i], &out.pool));
COST(ABT_task_get_last_pool_id, "a tasklet", make_tasks, free_units,
     ABT_task_get_last_pool_id(world.units[i], &out.number));
COST(ABT_task_set_migratable, "a tasklet", make_tasks, free_units, ABT_task_set_migratable(world.units[i], ABT_TRUE));
COST(ABT_task_is_migratable, "a tasklet", make_tasks, free_units, ABT_task_is_migratable(world.units[i], &out.yes));
COST(ABT_task_equal, "two tasklets", make_tasks, free_units, ABT_task_equal(world.units[i], world.units[0], &out.yes));
COST(ABT_task_get_id, "the first time", make_tasks, free_units, ABT_task_get_id(world.units[i], &out.id));
COST(ABT_task_get_arg, "a tasklet", make_tasks, free_units, ABT_task_get_arg(world.units[i], &out.pointer));
