/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work-unit specific data: values that each work unit has of its own. A unit has a table once a value was set. A table
 * is a fixed number of buckets, each a list of entries that only grows, so that reading takes no lock.
 */
#ifndef ABTI_UNIT_KEY_H
#define ABTI_UNIT_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include "abt.h"
#include "mem/slab.h"

struct ABT_key_opaque {
    void (*destructor)(void *value); /* may be NULL */
    uint64_t id;                     /* counts up process-wide and decides the bucket */
};

struct abti_ktable;

/*
 * Prepares for tables, before the first one. As a rule they have `num_buckets` each, and come from caches of the ESs.
 * `kept` is the number of bytes in free ones. `watch` is informed of the slab, to give memory back.
 */
void abti_ktables_init(uint32_t num_buckets, size_t kept, void (*watch)(struct abti_slab_spec *spec, size_t kept));

/* Gives a new key its number. */
void abti_key_init(struct ABT_key_opaque *key, void (*destructor)(void *value));

/* Makes a table of `num_buckets`, a power of two. Returns NULL when there is no memory. */
struct abti_ktable *abti_ktable_create(uint32_t num_buckets) ABTI_MUST_CHECK;

/*
 * Returns the table in *place, and makes one when there is none. NULL: there is no memory. Any number of threads may do
 * this at once.
 */
struct abti_ktable *abti_ktable_obtain(_Atomic(struct abti_ktable *) *place, uint32_t num_buckets) ABTI_MUST_CHECK;

/* Stores a value. Returns 0 or -ENOMEM. The key may be freed at once; its destructor stays with the value. */
int abti_ktable_set(struct abti_ktable *table, const struct ABT_key_opaque *key, void *value) ABTI_MUST_CHECK;

/* Returns the value of `key`, or NULL when there is none. A NULL table is empty. */
void *abti_ktable_get(const struct abti_ktable *table, const struct ABT_key_opaque *key);

/* Whether the table has a value that is not NULL and has a destructor. A NULL table has none. */
bool abti_ktable_has_destructors(const struct abti_ktable *table);

/*
 * Runs the destructor of each value that is not NULL, bucket by bucket and in each bucket in the order of the first
 * set, then frees the table. A destructor may still use the table; a value that it sets behind the walk is not
 * destroyed. For a NULL table this does nothing.
 */
void abti_ktable_destroy_all(struct abti_ktable *table);

#endif
