/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/kvconf.h"

#include <stdlib.h>
#include "base/assert.h"

_Static_assert((int)ABTI_KV_INT == ABT_SCHED_CONFIG_INT && (int)ABTI_KV_INT == ABT_POOL_CONFIG_INT, "type numbers");
_Static_assert((int)ABTI_KV_DOUBLE == ABT_SCHED_CONFIG_DOUBLE && (int)ABTI_KV_DOUBLE == ABT_POOL_CONFIG_DOUBLE,
               "type numbers");
_Static_assert((int)ABTI_KV_PTR == ABT_SCHED_CONFIG_PTR && (int)ABTI_KV_PTR == ABT_POOL_CONFIG_PTR, "type numbers");

void abti_kvconf_init(struct abti_kvconf *conf)
{
    conf->entries = NULL;
    conf->num = 0;
    conf->capacity = 0;
}

void abti_kvconf_fini(struct abti_kvconf *conf)
{
    free(conf->entries);
    abti_kvconf_init(conf);
}

static struct abti_kventry *find_entry(const struct abti_kvconf *conf, int key)
{
    for (size_t i = 0; i < conf->num; i++) {
        if (conf->entries[i].key == key)
            return &conf->entries[i];
    }
    return NULL;
}

/* Makes room for one more entry; NULL when there is no memory. */
static struct abti_kventry *append_entry(struct abti_kvconf *conf)
{
    if (conf->num == conf->capacity) {
        size_t capacity = conf->capacity ? conf->capacity * 2 : 4;
        struct abti_kventry *entries = realloc(conf->entries, capacity * sizeof(*entries));
        if (!entries)
            return NULL;
        conf->entries = entries;
        conf->capacity = capacity;
    }
    return &conf->entries[conf->num++];
}

static void write_value(struct abti_kventry *entry, int type, const void *val)
{
    entry->type = (enum abti_kvtype)type;
    switch (entry->type) {
    case ABTI_KV_INT: entry->value.i = *(const int *)val; break;
    case ABTI_KV_DOUBLE: entry->value.d = *(const double *)val; break;
    case ABTI_KV_PTR: entry->value.p = *(void *const *)val; break;
    }
}

int abti_kvconf_set(struct abti_kvconf *conf, int key, int type, const void *val)
{
    abti_assert(conf && conf->num <= conf->capacity);
    struct abti_kventry *entry = find_entry(conf, key);

    if (!val) {
        if (entry)
            *entry = conf->entries[--conf->num];
        return ABT_SUCCESS;
    }
    if (type != ABTI_KV_INT && type != ABTI_KV_DOUBLE && type != ABTI_KV_PTR)
        return ABT_ERR_INV_ARG;
    if (!entry)
        entry = append_entry(conf);
    if (!entry)
        return ABT_ERR_MEM;
    entry->key = key;
    write_value(entry, type, val);
    return ABT_SUCCESS;
}

const struct abti_kventry *abti_kvconf_find(const struct abti_kvconf *conf, int key)
{
    return conf ? find_entry(conf, key) : NULL;
}

void abti_kventry_read(const struct abti_kventry *entry, void *val)
{
    abti_assert(entry && val);
    switch (entry->type) {
    case ABTI_KV_INT: *(int *)val = entry->value.i; break;
    case ABTI_KV_DOUBLE: *(double *)val = entry->value.d; break;
    case ABTI_KV_PTR: *(void **)val = entry->value.p; break;
    }
}

int abti_kvconf_get(const struct abti_kvconf *conf, int key, int *type, void *val)
{
    const struct abti_kventry *entry = abti_kvconf_find(conf, key);
    if (!entry)
        return ABT_ERR_INV_ARG;
    if (type)
        *type = (int)entry->type;
    if (val)
        abti_kventry_read(entry, val);
    return ABT_SUCCESS;
}

int abti_kvconf_get_int(const struct abti_kvconf *conf, int key, int dflt)
{
    const struct abti_kventry *entry = abti_kvconf_find(conf, key);
    return entry && entry->type == ABTI_KV_INT ? entry->value.i : dflt;
}
