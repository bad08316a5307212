/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration objects of schedulers and pools: a small set of int keys with typed values. There is no lock: the
 * contract says that a caller which sets values must be alone with the object.
 */
#ifndef ABTI_RT_KVCONF_H
#define ABTI_RT_KVCONF_H

#include <stddef.h>
#include "abt.h"
#include "base/compiler.h"

/* Types of values; the numbers are those of ABT_sched_config_type and ABT_pool_config_type. */
enum abti_kvtype {
    ABTI_KV_INT = 0,
    ABTI_KV_DOUBLE = 1,
    ABTI_KV_PTR = 2,
};

/* Keys that have a meaning to the library. All of their values are int. */
enum {
    ABTI_SCHED_CONFIG_END = -1,    /* ends an argument list */
    ABTI_SCHED_CONFIG_ACCESS = -2, /* ignored */
    ABTI_SCHED_CONFIG_AUTOMATIC = -3,
    ABTI_SCHED_CONFIG_FREQ = -4,
    ABTI_POOL_CONFIG_AUTOMATIC = -2,
};

struct abti_kventry {
    int key;
    enum abti_kvtype type;
    union {
        int i;
        double d;
        void *p;
    } value;
};

struct abti_kvconf {
    struct abti_kventry *entries; /* in no order; NULL when capacity is 0 */
    size_t num;
    size_t capacity;
};

/* What is behind the handles. */
struct ABT_sched_config_opaque {
    struct abti_kvconf conf;
};

struct ABT_pool_config_opaque {
    struct abti_kvconf conf;
};

/* Makes an empty set. Zeroed memory is one, too. */
void abti_kvconf_init(struct abti_kvconf *conf);
void abti_kvconf_fini(struct abti_kvconf *conf);

/*
 * Stores the value of the given type, to which `val` points, under `key`. NULL removes the key if it is there. Returns
 * ABT_ERR_INV_ARG if there is no such type, or ABT_ERR_MEM.
 */
int abti_kvconf_set(struct abti_kvconf *conf, int key, int type, const void *val) ABTI_MUST_CHECK;

/* Returns the entry under `key`, or NULL. A NULL `conf` is empty. The entry is valid until the next set. */
const struct abti_kventry *abti_kvconf_find(const struct abti_kvconf *conf, int key);

/*
 * Gives the type and the value under `key`, each if its pointer is not NULL. Returns ABT_ERR_INV_ARG if there is no
 * such key.
 */
int abti_kvconf_get(const struct abti_kvconf *conf, int key, int *type, void *val) ABTI_MUST_CHECK;

/* Stores the value of an entry to *val, which has the value's type. */
void abti_kventry_read(const struct abti_kventry *entry, void *val);

/* Returns the int under `key`, or `dflt` when there is none or it has another type. A NULL `conf` is empty. */
int abti_kvconf_get_int(const struct abti_kvconf *conf, int key, int dflt);

#endif
