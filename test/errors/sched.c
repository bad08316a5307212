/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers and their configuration. */
#include "errors.h"

static int failing_init(ABT_sched sched, ABT_sched_config config)
{
    return CALLBACK_CODE;
}

static ABT_sched_def def = {.run = calling_run}, failing_def = {.init = failing_init, .run = calling_run};
static ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
static ABT_sched sizeless = ABT_SCHED_NULL; /* one of its pools cannot tell its size */

static void setup(void)
{
    ABT_sched_config_var var = {0, ABT_SCHED_CONFIG_INT};

    must(ABT_sched_config_create(&config, var, 17, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 2, (ABT_pool[]){world.idle, world.bare}, ABT_SCHED_CONFIG_NULL, &sizeless));
}

static void teardown(void)
{
    must(ABT_sched_config_free(&config));
    must(ABT_sched_free(&sizeless));
}

/* --- Making and freeing --- */

RETURNS(ABT_sched_create, ABT_ERR_INV_ARG, INITED, "less than no pools", &def, -1, &world.idle, ABT_SCHED_CONFIG_NULL,
        OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create, ABT_ERR_INV_ARG, INITED, "no definition", NULL, 1, &world.idle, ABT_SCHED_CONFIG_NULL,
        OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create, ABT_ERR_INV_ARG, INITED, "nowhere to put it", &def, 1, &world.idle, ABT_SCHED_CONFIG_NULL,
        NULL);
RETURNS(ABT_sched_create, CALLBACK_CODE, INITED | ALWAYS, "the code of init", &failing_def, 1, &world.idle,
        ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create, CALLBACK_CODE, INITED | ALWAYS, "the code of init, with pools made", &failing_def, 2,
        (ABT_pool[]){ABT_POOL_NULL, NULL}, config, OUT_PRESET(ABT_sched, ABT_SCHED_NULL));

RETURNS(ABT_sched_create_basic, ABT_ERR_INV_ARG, INITED, "less than no pools", ABT_SCHED_DEFAULT, -1, &world.idle,
        ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create_basic, ABT_ERR_INV_ARG, INITED, "less than no pools, nor a scheduler", (ABT_sched_predef)99,
        -1, &world.idle, ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create_basic, ABT_ERR_INV_SCHED_PREDEF, INITED, "no scheduler", (ABT_sched_predef)99, 1, &world.idle,
        ABT_SCHED_CONFIG_NULL, OUT_PRESET(ABT_sched, ABT_SCHED_NULL));
RETURNS(ABT_sched_create_basic, ABT_ERR_INV_SCHED_PREDEF, INITED, "no scheduler, with pools to be made",
        (ABT_sched_predef)-1, 3, (ABT_pool[]){NULL, ABT_POOL_NULL, world.idle}, config,
        OUT_PRESET(ABT_sched, ABT_SCHED_NULL));

RETURNS(ABT_sched_free, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", IN_OUT(ABT_sched, ABT_SCHED_NULL));
NULLS(ABT_sched_free, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, IN_OUT(ABT_sched, h));
RETURNS(ABT_sched_free, ABT_ERR_SCHED, INITED | API1, "a running ES's", IN_OUT(ABT_sched, world.used));

PROVOKE(ABT_sched_free, ABT_ERR_SCHED, INITED | API1, "a terminated ES's")
{
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_xstream_get_main_sched(world.ended, &sched));
    return ABT_sched_free(IN_OUT(ABT_sched, sched));
}

/* --- Pools --- */

NULLS(ABT_sched_get_num_pools, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, OUT(int));

NULLS(ABT_sched_get_pools, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, -1, -1, OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_ERR_INV_ARG, INITED, "less than no pools", world.unused, -1, 0, OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_ERR_INV_ARG, INITED, "from before the first", world.unused, 1, -1, OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_ERR_INV_ARG, INITED, "from before the first, more than there are", world.unused, 9, -1,
        OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_ERR_SCHED, INITED | API1, "past the end", world.unused, 2, 1, OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_ERR_SCHED, INITED | API1, "far past the end", world.unused, INT32_MAX, INT32_MAX,
        OUT(ABT_pool));
RETURNS(ABT_sched_get_pools, ABT_SUCCESS, INITED | API2, "past the end: what there is", world.unused, 2, 1,
        OUT_GETS(ABT_pool, world.bare));
RETURNS(ABT_sched_get_pools, ABT_SUCCESS, INITED | API2, "far past the end", world.unused, INT32_MAX, INT32_MAX,
        OUT(ABT_pool));

NULLS(ABT_sched_get_size, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, OUT_PRESET(size_t, 0));
RETURNS(ABT_sched_get_size, ABT_ERR_POOL, INITED, "a pool cannot tell", sizeless, OUT_PRESET(size_t, 0));
NULLS(ABT_sched_get_total_size, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, OUT_PRESET(size_t, 0));
RETURNS(ABT_sched_get_total_size, ABT_ERR_POOL, INITED, "a pool cannot tell", sizeless, OUT_PRESET(size_t, 0));

/* --- The rest --- */

NULLS(ABT_sched_set_data, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, &config);
NULLS(ABT_sched_get_data, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, OUT(void *));
NULLS(ABT_sched_finish, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h);
NULLS(ABT_sched_exit, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h);

NULLS(ABT_sched_has_to_stop, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, h, OUT_PRESET(ABT_bool, ABT_FALSE));
RETURNS(ABT_sched_has_to_stop, ABT_ERR_INV_XSTREAM, BY_EXTERNAL | API1, "not on an ES", world.used,
        OUT_PRESET(ABT_bool, ABT_FALSE));
RETURNS(ABT_sched_has_to_stop, ABT_SUCCESS, BY_EXTERNAL | API2, "not on an ES", world.used,
        OUT_GETS(ABT_bool, ABT_FALSE));

/* --- Configuration --- */

RETURNS(ABT_sched_config_create, ABT_ERR_INV_ARG, INITED, "no type", OUT(ABT_sched_config),
        (ABT_sched_config_var){0, (ABT_sched_config_type)77}, 1, ABT_sched_config_var_end);
RETURNS(ABT_sched_config_create, ABT_ERR_INV_ARG, INITED, "no type, after one that is", OUT(ABT_sched_config),
        (ABT_sched_config_var){0, ABT_SCHED_CONFIG_DOUBLE}, 1.0, (ABT_sched_config_var){1, (ABT_sched_config_type)-1},
        1, ABT_sched_config_var_end);
NULLS(ABT_sched_config_read, ABT_ERR_INV_SCHED_CONFIG, INITED, ABT_SCHED_CONFIG_NULL, h, 1, OUT(int));
NULLS(ABT_sched_config_set, ABT_ERR_INV_SCHED_CONFIG, INITED, ABT_SCHED_CONFIG_NULL, h, 0, (ABT_sched_config_type)77,
      &(int){1});
RETURNS(ABT_sched_config_set, ABT_ERR_INV_ARG, INITED, "no type", config, 0, (ABT_sched_config_type)77, &(int){1});
RETURNS(ABT_sched_config_set, ABT_ERR_INV_ARG, INITED, "no type, for another entry", config, 3,
        (ABT_sched_config_type)-1, &(int){1});
NULLS(ABT_sched_config_get, ABT_ERR_INV_SCHED_CONFIG, INITED, ABT_SCHED_CONFIG_NULL, h, 0, OUT(ABT_sched_config_type),
      OUT(int));
RETURNS(ABT_sched_config_get, ABT_ERR_INV_ARG, INITED | ALWAYS, "no such entry", config, 1, OUT(ABT_sched_config_type),
        OUT(int));
NULLS(ABT_sched_config_free, ABT_ERR_INV_SCHED_CONFIG, INITED, ABT_SCHED_CONFIG_NULL, IN_OUT(ABT_sched_config, h));

/* An error has not changed the entry. */
PROVOKE(ABT_sched_config_set, ABT_ERR_INV_ARG, INITED, "no type: the entry stays")
{
    int code = ABT_sched_config_set(config, 0, (ABT_sched_config_type)77, &(int){1});

    must(ABT_sched_config_get(config, 0, OUT_GETS(ABT_sched_config_type, ABT_SCHED_CONFIG_INT), OUT_GETS(int, 17)));
    return code;
}

TRY_ALL(setup, teardown)
