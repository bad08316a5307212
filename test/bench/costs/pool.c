/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools, their configurations and definitions, and units. */
#include "costs.h"

#include <stdbool.h>

static ABT_pool pools[TIMES];
static ABT_pool_config config, configs[TIMES];
static ABT_pool_user_def def, defs[TIMES];
static ABT_unit units[TIMES];
static ABT_sched scheds[TIMES];
static const int number = 1;

enum { AT_ONCE = 16 };

/* --- Making and asking --- */

static void make_pools(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
}

static void free_pools(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_free(&pools[i]));
}

COST(ABT_pool_create_basic, "a FIFO pool", NULL, free_pools,
     ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
COST(ABT_pool_free, "a FIFO pool", make_pools, NULL, ABT_pool_free(&pools[i]));
COST(ABT_pool_get_access, "a FIFO pool", NULL, NULL, ABT_pool_get_access(world.idle, &out.access));
COST(ABT_pool_is_empty, "a FIFO pool", NULL, NULL, ABT_pool_is_empty(world.idle, &out.yes));
COST(ABT_pool_get_size, "a FIFO pool", NULL, NULL, ABT_pool_get_size(world.idle, &out.size));
COST(ABT_pool_get_total_size, "a FIFO pool", NULL, NULL, ABT_pool_get_total_size(world.idle, &out.size));
COST(ABT_pool_get_id, "a FIFO pool", NULL, NULL, ABT_pool_get_id(world.idle, &out.number));
COST(ABT_pool_get_data, "a FIFO pool", NULL, NULL, ABT_pool_get_data(world.idle, &out.pointer));
COST_IN(IN_ULT, ABTX_pool_data, "a FIFO pool", NULL, NULL, out.pointer = ABTX_pool_data(world.idle));

/* --- Pushing and popping --- */

/* ULTs that are in no pool. */
static void make_popped(void)
{
    make_idle();
    for (int i = 0; i < TIMES; i++) {
        must(ABT_pool_pop_thread(world.idle, &world.units[i]));
        must(ABT_thread_get_unit(world.units[i], &units[i]));
    }
}

/* Back into the pool, from which they are taken to be run. */
static void free_popped(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_push_thread(world.idle, world.units[i]));
    free_units();
}

static void free_popped_units(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_push(world.idle, units[i]));
    free_units();
}

static void make_stored(void)
{
    make_idle();
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_get_unit(world.units[i], &units[i]));
}

static void pop_many(int i)
{
    size_t num;
    if (i % AT_ONCE == 0)
        must(ABT_pool_pop_threads(world.idle, &world.units[i], AT_ONCE, &num));
}

static void pop_many_ex(int i)
{
    size_t num;
    if (i % AT_ONCE == 0)
        must(ABT_pool_pop_threads_ex(world.idle, &world.units[i], AT_ONCE, &num, ABT_POOL_CONTEXT_OP_POOL_OTHER));
}

static void push_many(int i)
{
    if (i % AT_ONCE == 0)
        must(ABT_pool_push_threads(world.idle, &world.units[i], AT_ONCE));
}

static void push_many_ex(int i)
{
    if (i % AT_ONCE == 0)
        must(ABT_pool_push_threads_ex(world.idle, &world.units[i], AT_ONCE, ABT_POOL_CONTEXT_OP_POOL_OTHER));
}

static void print_thread(void *arg, ABT_thread thread)
{
    (void)arg, (void)thread;
}

static void print_unit(void *arg, ABT_unit unit)
{
    (void)arg, (void)unit;
}

static void print_all(int i)
{
    if (i == 0)
        must(ABT_pool_print_all(world.idle, NULL, print_unit));
}

static void print_all_threads(int i)
{
    if (i == 0)
        must(ABT_pool_print_all_threads(world.idle, NULL, print_thread));
}

COST(ABT_pool_pop_thread, "a FIFO pool with ULTs", make_idle, free_popped,
     ABT_pool_pop_thread(world.idle, &world.units[i]));
COST(ABT_pool_pop_thread_ex, "a FIFO pool with ULTs", make_idle, free_popped,
     ABT_pool_pop_thread_ex(world.idle, &world.units[i], ABT_POOL_CONTEXT_OP_POOL_OTHER));
COST_ROW(pop_threads, "ABT_pool_pop_threads", "a FIFO pool, 16 at a time, for each", make_idle, pop_many, free_popped,
         1, IN_ULT, NULL);
COST_ROW(pop_threads_ex, "ABT_pool_pop_threads_ex", "a FIFO pool, 16 at a time, for each", make_idle, pop_many_ex,
         free_popped, 1, IN_ULT, NULL);
COST(ABT_pool_push_thread, "a FIFO pool that nobody sleeps on", make_popped, free_units,
     ABT_pool_push_thread(world.idle, world.units[i]));
COST(ABT_pool_push_thread_ex, "a FIFO pool that nobody sleeps on", make_popped, free_units,
     ABT_pool_push_thread_ex(world.idle, world.units[i], ABT_POOL_CONTEXT_OP_POOL_OTHER));
COST_ROW(push_threads, "ABT_pool_push_threads", "a FIFO pool that nobody sleeps on, 16 at a time, for each",
         make_popped, push_many, free_units, 1, IN_ULT, NULL);
COST_ROW(push_threads_ex, "ABT_pool_push_threads_ex", "a FIFO pool that nobody sleeps on, 16 at a time, for each",
         make_popped, push_many_ex, free_units, 1, IN_ULT, NULL);
COST(ABT_pool_pop_wait_thread, "a FIFO pool with ULTs", make_idle, free_popped,
     ABT_pool_pop_wait_thread(world.idle, &world.units[i], 1));
COST(ABT_pool_pop_wait_thread_ex, "a FIFO pool with ULTs", make_idle, free_popped,
     ABT_pool_pop_wait_thread_ex(world.idle, &world.units[i], 1, ABT_POOL_CONTEXT_OP_POOL_OTHER));
COST(ABT_pool_pop, "a FIFO pool with ULTs", make_idle, free_popped_units, ABT_pool_pop(world.idle, &units[i]));
COST(ABT_pool_pop_wait, "a FIFO pool with ULTs", make_idle, free_popped_units,
     ABT_pool_pop_wait(world.idle, &units[i], 1));
COST(ABT_pool_push, "a FIFO pool that nobody sleeps on", make_popped, free_units, ABT_pool_push(world.idle, units[i]));
COST(ABT_pool_remove, "the first of a FIFO pool", make_stored, free_popped, ABT_pool_remove(world.idle, units[i]));
COST_ROW(print_all, "ABT_pool_print_all", "64 ULTs, for each, with an empty function", make_idle, print_all, free_units,
         1, IN_ULT, NULL);
COST_ROW(print_all_threads, "ABT_pool_print_all_threads", "64 ULTs, for each, with an empty function", make_idle,
         print_all_threads, free_units, 1, IN_ULT, NULL);
COST(ABT_unit_get_thread, "a ULT of a FIFO pool", make_stored, free_units, ABT_unit_get_thread(units[i], &out.thread));
COST(ABT_unit_set_associated_pool, "a ULT of a FIFO pool, which stays", make_popped, free_popped,
     ABT_unit_set_associated_pool(units[i], world.idle));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
COST(ABT_pool_pop_timedwait, "a FIFO pool with ULTs", make_idle, free_popped_units,
     ABT_pool_pop_timedwait(world.idle, &units[i], 1e12));
#pragma GCC diagnostic pop

/* --- Schedulers in pools --- */

/* They run until their pool, which is empty, holds no more work. */
static void make_scheds(void)
{
    ABT_sched_config automatic;

    must(ABT_sched_config_create(&automatic, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &world.idle, automatic, &scheds[i]));
    must(ABT_sched_config_free(&automatic));
}

static void free_scheds(void)
{
    must(ABT_self_yield());
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_free(&scheds[i]));
}

COST(ABT_pool_add_sched, "a predefined scheduler; it has not run", make_scheds, free_scheds,
     ABT_pool_add_sched(world.pool, scheds[i]));

/* --- Configurations --- */

static void make_config(void)
{
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, 1, ABT_POOL_CONFIG_INT, &number));
}

static void free_config(void)
{
    must(ABT_pool_config_free(&config));
}

static void make_configs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_config_create(&configs[i]));
}

static void free_configs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_config_free(&configs[i]));
}

COST(ABT_pool_config_create, "an empty one", NULL, free_configs, ABT_pool_config_create(&configs[i]));
COST(ABT_pool_config_free, "an empty one", make_configs, NULL, ABT_pool_config_free(&configs[i]));
COST(ABT_pool_config_set, "a key that is there", make_config, free_config,
     ABT_pool_config_set(config, 1, ABT_POOL_CONFIG_INT, &number));
COST(ABT_pool_config_get, "the only key", make_config, free_config,
     ABT_pool_config_get(config, 1, &out.pool_type, &out.number));

/* --- User-defined pools --- */

static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    (void)pool;
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

static ABT_bool is_empty(ABT_pool pool)
{
    (void)pool;
    return ABT_TRUE;
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)pool, (void)context;
    return ABT_THREAD_NULL;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)pool, (void)unit, (void)context;
}

static void make_def(void)
{
    must(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
}

static void free_def(void)
{
    must(ABT_pool_user_def_free(&def));
}

static void make_defs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &defs[i]));
}

static void free_defs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_pool_user_def_free(&defs[i]));
}

static void free_pools_and_def(void)
{
    free_pools();
    free_def();
}

COST(ABT_pool_create, "of a definition without init", make_def, free_pools_and_def,
     ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pools[i]));
COST(ABT_pool_set_data, "a FIFO pool", make_pools, free_pools, ABT_pool_set_data(pools[i], NULL));
COST(ABT_pool_user_def_create, "a definition", NULL, free_defs,
     ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &defs[i]));
COST(ABT_pool_user_def_free, "a definition", make_defs, NULL, ABT_pool_user_def_free(&defs[i]));
COST(ABT_pool_user_def_set_init, "a definition", make_def, free_def, ABT_pool_user_def_set_init(def, NULL));
COST(ABT_pool_user_def_set_free, "a definition", make_def, free_def, ABT_pool_user_def_set_free(def, NULL));
COST(ABT_pool_user_def_set_get_size, "a definition", make_def, free_def, ABT_pool_user_def_set_get_size(def, NULL));
COST(ABT_pool_user_def_set_pop_wait, "a definition", make_def, free_def, ABT_pool_user_def_set_pop_wait(def, NULL));
COST(ABT_pool_user_def_set_pop_many, "a definition", make_def, free_def, ABT_pool_user_def_set_pop_many(def, NULL));
COST(ABT_pool_user_def_set_push_many, "a definition", make_def, free_def, ABT_pool_user_def_set_push_many(def, NULL));
COST(ABT_pool_user_def_set_print_all, "a definition", make_def, free_def, ABT_pool_user_def_set_print_all(def, NULL));
