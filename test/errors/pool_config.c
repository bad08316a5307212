/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations of pools, and definitions of the user's. */
#include "errors.h"

static ABT_pool_config config = ABT_POOL_CONFIG_NULL;

static void setup(void)
{
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_INT, &(int){17}));
}

static void teardown(void)
{
    must(ABT_pool_config_free(&config));
}

NULLS(ABT_pool_config_free, ABT_ERR_INV_POOL_CONFIG, INITED, ABT_POOL_CONFIG_NULL, IN_OUT(ABT_pool_config, h));
NULLS(ABT_pool_config_set, ABT_ERR_INV_POOL_CONFIG, INITED, ABT_POOL_CONFIG_NULL, h, 0, (ABT_pool_config_type)77,
      &(int){1});
RETURNS(ABT_pool_config_set, ABT_ERR_INV_ARG, INITED, "no type, for a new entry", config, 1, (ABT_pool_config_type)77,
        &(int){1});
NULLS(ABT_pool_config_get, ABT_ERR_INV_POOL_CONFIG, INITED, ABT_POOL_CONFIG_NULL, h, 0, OUT(ABT_pool_config_type),
      OUT(int));
RETURNS(ABT_pool_config_get, ABT_ERR_INV_ARG, INITED | ALWAYS, "no such entry", config, 1, OUT(ABT_pool_config_type),
        OUT(int));

/* An error has not changed the entry. */
PROVOKE(ABT_pool_config_set, ABT_ERR_INV_ARG, INITED, "no type: the entry stays")
{
    int code = ABT_pool_config_set(config, 0, (ABT_pool_config_type)-1, &(int){1});

    must(ABT_pool_config_get(config, 0, OUT_GETS(ABT_pool_config_type, ABT_POOL_CONFIG_INT), OUT_GETS(int, 17)));
    return code;
}

NULLS(ABT_pool_user_def_free, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, IN_OUT(ABT_pool_user_def, h));
NULLS(ABT_pool_user_def_set_init, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_init);
NULLS(ABT_pool_user_def_set_free, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_free);
NULLS(ABT_pool_user_def_set_get_size, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_get_size);
NULLS(ABT_pool_user_def_set_pop_wait, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_pop_wait);
NULLS(ABT_pool_user_def_set_pop_many, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_pop_many);
NULLS(ABT_pool_user_def_set_push_many, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, new_push_many);
NULLS(ABT_pool_user_def_set_print_all, ABT_ERR_INV_POOL_USER_DEF, INITED, ABT_POOL_USER_DEF_NULL, h, NULL);

TRY_ALL(setup, teardown)
