/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "rt/kvconf.h"

#define POOL_CONFIG_IS_BAD(h) ABTI_IS_BAD(h, ABT_POOL_CONFIG_NULL, ABTI_HANDLE_POOL_CONFIG)

const ABT_pool_config_var ABT_pool_config_automatic = {ABTI_POOL_CONFIG_AUTOMATIC, ABT_POOL_CONFIG_INT};

int ABT_pool_config_create(ABT_pool_config *config)
{
    ABT_pool_config newconfig = malloc(sizeof(*newconfig));

    ABTI_FAIL_IF(!newconfig, ABT_ERR_MEM);
    abti_kvconf_init(&newconfig->conf);
    abti_ledger_made(newconfig, ABTI_HANDLE_POOL_CONFIG);
    *config = newconfig;
    return ABT_SUCCESS;
}

int ABT_pool_config_free(ABT_pool_config *config)
{
    ABTI_REFUSE_IF(POOL_CONFIG_IS_BAD(*config), ABT_ERR_INV_POOL_CONFIG);
    abti_kvconf_fini(&(*config)->conf);
    abti_ledger_free(*config);
    *config = ABT_POOL_CONFIG_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type, const void *val)
{
    ABTI_REFUSE_IF(POOL_CONFIG_IS_BAD(config), ABT_ERR_INV_POOL_CONFIG);
    return abti_error(abti_kvconf_set(&config->conf, key, (int)type, val));
}

int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type *p_type, void *val)
{
    ABTI_REFUSE_IF(POOL_CONFIG_IS_BAD(config), ABT_ERR_INV_POOL_CONFIG);
    int type;
    int code = abti_kvconf_get(&config->conf, key, &type, val);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    if (p_type)
        *p_type = (ABT_pool_config_type)type;
    return ABT_SUCCESS;
}
