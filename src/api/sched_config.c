/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include "api/misuse.h"
#include "rt/kvconf.h"

#define SCHED_CONFIG_IS_BAD(h) ABTI_IS_BAD(h, ABT_SCHED_CONFIG_NULL, ABTI_HANDLE_SCHED_CONFIG)

ABT_sched_config_var ABT_sched_config_var_end = {ABTI_SCHED_CONFIG_END, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_access = {ABTI_SCHED_CONFIG_ACCESS, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_automatic = {ABTI_SCHED_CONFIG_AUTOMATIC, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_basic_freq = {ABTI_SCHED_CONFIG_FREQ, ABT_SCHED_CONFIG_INT};

/* Takes one value of the list, of the type its variable tells. */
static int set_config_argument(struct abti_kvconf *conf, ABT_sched_config_var var, va_list *args)
{
    int i;
    double d;
    void *p;

    switch (var.type) {
    case ABT_SCHED_CONFIG_INT: i = va_arg(*args, int); return abti_kvconf_set(conf, var.idx, var.type, &i);
    case ABT_SCHED_CONFIG_DOUBLE: d = va_arg(*args, double); return abti_kvconf_set(conf, var.idx, var.type, &d);
    case ABT_SCHED_CONFIG_PTR: p = va_arg(*args, void *); return abti_kvconf_set(conf, var.idx, var.type, &p);
    default: return ABT_ERR_INV_ARG;
    }
}

int ABT_sched_config_create(ABT_sched_config *config, ...)
{
    int err = ABT_SUCCESS;
    va_list args;
    ABT_sched_config newconfig = malloc(sizeof(*newconfig));

    ABTI_FAIL_IF(!newconfig, ABT_ERR_MEM);
    abti_kvconf_init(&newconfig->conf);
    va_start(args, config);
    while (err == ABT_SUCCESS) {
        ABT_sched_config_var var = va_arg(args, ABT_sched_config_var);
        if (var.idx == ABTI_SCHED_CONFIG_END)
            break;
        err = set_config_argument(&newconfig->conf, var, &args);
    }
    va_end(args);
    if (err != ABT_SUCCESS) {
        abti_kvconf_fini(&newconfig->conf);
        free(newconfig);
        return abti_error(err);
    }
    abti_ledger_made(newconfig, ABTI_HANDLE_SCHED_CONFIG);
    *config = newconfig;
    return ABT_SUCCESS;
}

int ABT_sched_config_read(ABT_sched_config config, int num_vars, ...)
{
    va_list args;

    ABTI_REFUSE_IF(SCHED_CONFIG_IS_BAD(config), ABT_ERR_INV_SCHED_CONFIG);
    va_start(args, num_vars);
    for (int idx = 0; idx < num_vars; idx++) {
        void *val = va_arg(args, void *);
        const struct abti_kventry *entry = abti_kvconf_find(&config->conf, idx);
        if (val && entry)
            abti_kventry_read(entry, val);
    }
    va_end(args);
    return ABT_SUCCESS;
}

int ABT_sched_config_free(ABT_sched_config *config)
{
    ABTI_REFUSE_IF(SCHED_CONFIG_IS_BAD(*config), ABT_ERR_INV_SCHED_CONFIG);
    abti_kvconf_fini(&(*config)->conf);
    abti_ledger_free(*config);
    *config = ABT_SCHED_CONFIG_NULL;
    return ABT_SUCCESS;
}

int ABT_sched_config_set(ABT_sched_config config, int idx, ABT_sched_config_type type, const void *val)
{
    ABTI_REFUSE_IF(SCHED_CONFIG_IS_BAD(config), ABT_ERR_INV_SCHED_CONFIG);
    return abti_error(abti_kvconf_set(&config->conf, idx, (int)type, val));
}

int ABT_sched_config_get(ABT_sched_config config, int idx, ABT_sched_config_type *p_type, void *val)
{
    ABTI_REFUSE_IF(SCHED_CONFIG_IS_BAD(config), ABT_ERR_INV_SCHED_CONFIG);
    int type;
    int code = abti_kvconf_get(&config->conf, idx, &type, val);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    if (p_type)
        *p_type = (ABT_sched_config_type)type;
    return ABT_SUCCESS;
}
