#include <errno.h>
#include <stdlib.h>

#include "api/check.h"
#include "core/kvconf.h"

const ABT_pool_config_var ABT_pool_config_automatic = {ABTI_POOL_CONFIG_AUTOMATIC, ABT_POOL_CONFIG_INT};

int ABT_pool_config_create(ABT_pool_config *config)
{
    ABT_pool_config newconfig = malloc(sizeof(*newconfig));

    if (!newconfig)
        return abti_error(ABT_ERR_MEM);
    abti_kvconf_init(&newconfig->conf);
    *config = newconfig;
    return ABT_SUCCESS;
}

int ABT_pool_config_free(ABT_pool_config *config)
{
    if (ABTI_REFUSE(ABTI_IS_NULL(*config, ABT_POOL_CONFIG_NULL)))
        return abti_error(ABT_ERR_INV_POOL_CONFIG);
    abti_kvconf_fini(&(*config)->conf);
    free(*config);
    *config = ABT_POOL_CONFIG_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type, const void *val)
{
    if (ABTI_REFUSE(ABTI_IS_NULL(config, ABT_POOL_CONFIG_NULL)))
        return abti_error(ABT_ERR_INV_POOL_CONFIG);
    switch (abti_kvconf_set(&config->conf, key, (int)type, val)) {
    case 0: return ABT_SUCCESS;
    case -EINVAL: return abti_error(ABT_ERR_INV_ARG);
    default: return abti_error(ABT_ERR_MEM);
    }
}

int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type *p_type, void *val)
{
    if (ABTI_REFUSE(ABTI_IS_NULL(config, ABT_POOL_CONFIG_NULL)))
        return abti_error(ABT_ERR_INV_POOL_CONFIG);
    const struct abti_kventry *entry = abti_kvconf_find(&config->conf, key);
    if (!entry)
        return abti_error(ABT_ERR_INV_ARG);
    if (p_type)
        *p_type = (ABT_pool_config_type)entry->type;
    if (val)
        abti_kventry_read(entry, val);
    return ABT_SUCCESS;
}
