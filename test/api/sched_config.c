/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

static const ABT_sched_config_var var_int = {0, ABT_SCHED_CONFIG_INT};
static const ABT_sched_config_var var_double = {1, ABT_SCHED_CONFIG_DOUBLE};
static const ABT_sched_config_var var_ptr = {2, ABT_SCHED_CONFIG_PTR};

static void test_objects(void)
{
    is_int(ABT_sched_config_var_end.idx, -1, "end");
    is_int(ABT_sched_config_access.idx, -2, "access");
    is_int(ABT_sched_config_automatic.idx, -3, "automatic");
    is_int(ABT_sched_basic_freq.idx, -4, "freq");
    ok(ABT_sched_config_var_end.type == ABT_SCHED_CONFIG_INT && ABT_sched_config_access.type == ABT_SCHED_CONFIG_INT &&
           ABT_sched_config_automatic.type == ABT_SCHED_CONFIG_INT && ABT_sched_basic_freq.type == ABT_SCHED_CONFIG_INT,
       "all of them are int");
}

static void test_list(void)
{
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    int i = 0, untouched = 77;
    double d = 0.0;
    void *p = NULL;

    ok_abt(ABT_sched_config_create(&config, ABT_sched_basic_freq, 12, var_int, 1, var_double, 2.5, var_ptr, &config,
                                   var_int, 3, ABT_sched_config_var_end));
    ok_abt(ABT_sched_config_read(config, 4, &i, &d, &p, &untouched));
    is_int(i, 3, "the last of two values wins");
    ok(d == 2.5 && p == &config && untouched == 77, "each type, and a missing one");
    i = 0, d = 0.0;
    ok_abt(ABT_sched_config_read(config, 2, NULL, &d));
    ok(i == 0 && d == 2.5, "NULL skips");
    ok_abt(ABT_sched_config_read(config, 0));
    ok_abt(ABT_sched_config_read(config, -1, &i));
    is_int(i, 0, "nothing to read");
    ok_abt(ABT_sched_config_get(config, ABT_sched_basic_freq.idx, NULL, &i));
    is_int(i, 12, "a predefined variable");
    ok_abt(ABT_sched_config_free(&config));
    ok(config == ABT_SCHED_CONFIG_NULL, "null after free");

    ABT_sched_config_var bad = {5, (ABT_sched_config_type)3};
    config = (ABT_sched_config)(uintptr_t)0x1000;
    ok_err(ABT_sched_config_create(&config, var_int, 1, bad, 2, ABT_sched_config_var_end), ABT_ERR_INV_ARG);
    ok(config == (ABT_sched_config)(uintptr_t)0x1000, "left alone by an error");
}

static void test_values(void)
{
    ABT_sched_config config;
    ABT_sched_config_type type = (ABT_sched_config_type)9;
    int i = 41;
    double d = 1.25;

    ok_abt(ABT_sched_config_create(&config, ABT_sched_config_var_end));
    ok_err(ABT_sched_config_get(config, 3, &type, &i), ABT_ERR_INV_ARG);
    ok(type == (ABT_sched_config_type)9 && i == 41, "errors store nothing");
    ok_err(ABT_sched_config_set(config, 3, (ABT_sched_config_type)3, &i), ABT_ERR_INV_ARG);
    ok_abt(ABT_sched_config_set(config, 3, ABT_SCHED_CONFIG_INT, &i));
    ok_abt(ABT_sched_config_set(config, 3, ABT_SCHED_CONFIG_DOUBLE, &d));
    d = 0.0;
    ok_abt(ABT_sched_config_get(config, 3, &type, &d));
    ok(type == ABT_SCHED_CONFIG_DOUBLE && d == 1.25, "set again with another type");
    ok_abt(ABT_sched_config_get(config, 3, NULL, NULL));
    ok_abt(ABT_sched_config_set(config, 3, ABT_SCHED_CONFIG_DOUBLE, NULL));
    ok_err(ABT_sched_config_get(config, 3, NULL, NULL), ABT_ERR_INV_ARG);
    ok_abt(ABT_sched_config_free(&config));
}

int main(void)
{
    test_objects();
    test_list();
    test_values();
    return done_testing();
}
