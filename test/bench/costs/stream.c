/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers, their configurations, and execution streams. */
#include "costs.h"

static ABT_sched scheds[TIMES];
static ABT_sched_config config, configs[TIMES];
static ABT_unit units[TIMES];
static int freq = 50;

static void run(ABT_sched sched)
{
    (void)sched;
}

static ABT_sched_def run_def = {.type = ABT_SCHED_TYPE_ULT, .run = run};

/* --- Schedulers --- */

static void make_config(void)
{
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_basic_freq, freq,
                                 ABT_sched_config_var_end));
}

static void free_config(void)
{
    must(ABT_sched_config_free(&config));
}

static void make_scheds(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_create(&run_def, 1, &world.idle, ABT_SCHED_CONFIG_NULL, &scheds[i]));
}

static void free_scheds(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_free(&scheds[i]));
}

static void free_basic(void)
{
    free_scheds();
    free_config();
}

COST(ABT_sched_create, "over one pool, without init", NULL, free_scheds,
     ABT_sched_create(&run_def, 1, &world.idle, ABT_SCHED_CONFIG_NULL, &scheds[i]));
COST(ABT_sched_create_basic, "over one pool", make_config, free_basic,
     ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &world.idle, config, &scheds[i]));
COST(ABT_sched_free, "over one pool", make_scheds, NULL, ABT_sched_free(&scheds[i]));
COST(ABT_sched_get_num_pools, "over one pool", NULL, NULL, ABT_sched_get_num_pools(world.sched, &out.number));
COST(ABT_sched_get_pools, "over one pool", NULL, NULL, ABT_sched_get_pools(world.sched, 1, 0, &out.pool));
COST(ABT_sched_get_size, "over one pool", NULL, NULL, ABT_sched_get_size(world.sched, &out.size));
COST(ABT_sched_get_total_size, "over one pool", NULL, NULL, ABT_sched_get_total_size(world.sched, &out.size));
COST(ABT_sched_set_data, "of a definition", make_scheds, free_scheds, ABT_sched_set_data(scheds[i], NULL));
COST(ABT_sched_get_data, "of a definition", make_scheds, free_scheds, ABT_sched_get_data(scheds[i], &out.pointer));
COST(ABT_sched_finish, "one that does not run", make_scheds, free_scheds, ABT_sched_finish(scheds[i]));
COST(ABT_sched_exit, "one that does not run", make_scheds, free_scheds, ABT_sched_exit(scheds[i]));
COST_IN(IN_SCHED, ABT_sched_has_to_stop, "it has not", NULL, NULL, must(ABT_sched_has_to_stop(world.sched, &out.yes)));

/* --- Configurations --- */

static void make_configs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_config_create(&configs[i], ABT_sched_config_var_end));
}

static void free_configs(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_sched_config_free(&configs[i]));
}

COST(ABT_sched_config_create, "one variable", NULL, free_configs,
     ABT_sched_config_create(&configs[i], ABT_sched_basic_freq, freq, ABT_sched_config_var_end));
COST(ABT_sched_config_read, "one variable", make_config, free_config, ABT_sched_config_read(config, 1, &out.number));
COST(ABT_sched_config_free, "an empty one", make_configs, NULL, ABT_sched_config_free(&configs[i]));
COST(ABT_sched_config_set, "an index that is there", make_config, free_config,
     ABT_sched_config_set(config, ABT_sched_basic_freq.idx, ABT_SCHED_CONFIG_INT, &freq));
COST(ABT_sched_config_get, "of two variables", make_config, free_config,
     ABT_sched_config_get(config, ABT_sched_basic_freq.idx, &out.sched_type, &out.number));

/* --- Execution streams --- */

static void pop_all(void)
{
    make_idle();
    for (int i = 0; i < TIMES; i++) {
        must(ABT_pool_pop_thread(world.idle, &world.units[i]));
        must(ABT_thread_get_unit(world.units[i], &units[i]));
    }
}

COST(ABT_xstream_self, "a ULT calls", NULL, NULL, ABT_xstream_self(&out.xstream));
COST(ABT_xstream_self_rank, "a ULT calls", NULL, NULL, ABT_xstream_self_rank(&out.number));
COST(ABT_xstream_get_rank, "a running stream", NULL, NULL, ABT_xstream_get_rank(world.other, &out.number));
COST(ABT_xstream_set_rank, "streams are not bound to CPUs", NULL, NULL, ABT_xstream_set_rank(world.other, 2 + i));
COST(ABT_xstream_set_main_sched, "the caller's stream, over one empty pool, to a new default scheduler", NULL, NULL,
     ABT_xstream_set_main_sched(world.es, ABT_SCHED_NULL));
COST(ABT_xstream_set_main_sched_basic, "the caller's stream, over one empty pool", NULL, NULL,
     ABT_xstream_set_main_sched_basic(world.es, ABT_SCHED_DEFAULT, 1, &world.pool));
COST(ABT_xstream_get_main_sched, "a running stream", NULL, NULL, ABT_xstream_get_main_sched(world.es, &world.sched));
COST(ABT_xstream_get_main_pools, "one pool", NULL, NULL, ABT_xstream_get_main_pools(world.es, 1, &out.pool));
COST(ABT_xstream_get_state, "a running stream", NULL, NULL, ABT_xstream_get_state(world.other, &out.xstream_state));
COST(ABT_xstream_equal, "two streams", NULL, NULL, ABT_xstream_equal(world.es, world.other, &out.yes));
COST(ABT_xstream_get_num, "2 streams", NULL, NULL, ABT_xstream_get_num(&out.number));
COST(ABT_xstream_is_primary, "a stream", NULL, NULL, ABT_xstream_is_primary(world.other, &out.yes));
COST_IN(IN_SCHED, ABT_xstream_check_events, "nothing to do", NULL, NULL, must(ABT_xstream_check_events(world.sched)));
COST_IN(IN_SCHED, ABT_xstream_run_unit, "a ULT that ends at once, its run included", pop_all, free_units,
        must(ABT_xstream_run_unit(units[i], world.idle)));
COST_IN(IN_SCHED, ABT_self_schedule, "a ULT that ends at once, its run included", pop_all, free_units,
        must(ABT_self_schedule(world.units[i], ABT_POOL_NULL)));
COST_IN(IN_SCHED, ABTX_xstream_check_sources, "there is none", NULL, NULL, must(ABTX_xstream_check_sources(&out.yes)));
COST(ABTX_xstream_wake, "the caller's own stream, which does not sleep", NULL, NULL, ABTX_xstream_wake(world.es));
COST(ABTX_after, "a second", NULL, NULL, ABTX_after(1000000000) < 0);
COST(ABTX_xstream_set_spin, "a stream", NULL, NULL, ABTX_xstream_set_spin(world.es, -1));
