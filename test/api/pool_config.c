/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

static void test_values(void)
{
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ABT_pool_config_type type = (ABT_pool_config_type)9;
    int i = 41;
    double d = 1.25;
    void *p = &config;

    ok_abt(ABT_pool_config_create(&config));
    ok_err(ABT_pool_config_get(config, 3, &type, &i), ABT_ERR_INV_ARG);
    ok(type == (ABT_pool_config_type)9 && i == 41, "errors store nothing");
    ok_err(ABT_pool_config_set(config, 3, (ABT_pool_config_type)3, &i), ABT_ERR_INV_ARG);
    ok_abt(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_INT, &i));
    ok_abt(ABT_pool_config_set(config, 4, ABT_POOL_CONFIG_DOUBLE, &d));
    ok_abt(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &i));
    ok_abt(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_PTR, &p));
    i = 0, d = 0.0, p = NULL;
    ok_abt(ABT_pool_config_get(config, 3, &type, &p));
    ok(type == ABT_POOL_CONFIG_PTR && p == &config, "set again with another type");
    ok_abt(ABT_pool_config_get(config, 4, NULL, &d));
    ok_abt(ABT_pool_config_get(config, -2, &type, &i));
    ok(d == 1.25 && i == 41 && type == ABT_POOL_CONFIG_INT, "values come back");
    ok_abt(ABT_pool_config_get(config, 4, NULL, NULL));
    ok_abt(ABT_pool_config_set(config, 4, ABT_POOL_CONFIG_DOUBLE, NULL));
    ok_err(ABT_pool_config_get(config, 4, NULL, NULL), ABT_ERR_INV_ARG);
    ok_abt(ABT_pool_config_free(&config));
    ok(config == ABT_POOL_CONFIG_NULL, "null after free");
}

int main(void)
{
    is_int(ABT_pool_config_automatic.key, -2, "automatic");
    is_int(ABT_pool_config_automatic.type, ABT_POOL_CONFIG_INT, "its type");
    test_values();
    return done_testing();
}
