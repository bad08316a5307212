/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/unitmap.h"

#include <stdlib.h>
#include "base/hash.h"
#include "os/annotate.h"
#include "unit/unit.h"

/*
 * Each stripe has a lock and a table of its own, which doubles when it is full. When there is no memory it stays as it
 * is.
 */
enum { STRIPES = 64, FIRST_BUCKETS = 8 };

struct stripe {
    struct abti_spin lock;
    size_t count, buckets; /* lock */
    abti_unit **table;     /* lock; NULL: `first` */
    abti_unit *first[FIRST_BUCKETS];
} ABTI_ALIGNED(ABTI_CACHE_LINE);

static struct stripe stripes[STRIPES] = {[0 ... STRIPES - 1] = {.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)}};

_Atomic(bool) abti_unitmap_is_used;

static uint64_t handle_hash(ABT_unit handle)
{
    return abti_hash((uintptr_t)handle >> 3);
}

static struct stripe *stripe_of(uint64_t hash)
{
    return &stripes[hash >> 58];
}

static abti_unit **bucket_of(struct stripe *s, uint64_t hash)
{
    if (!s->table) {
        s->table = s->first;
        s->buckets = FIRST_BUCKETS;
    }
    return &s->table[(hash >> 20) & (s->buckets - 1)];
}

/* The handle is in the cold line. relaxed: the unit is in no stripe while its handle changes */
static ABT_unit handle_of(abti_unit *unit)
{
    return abti_load_relaxed(&abti_unit_cold_known(unit)->unit);
}

static abti_unit **next_of(abti_unit *unit)
{
    return &abti_unit_cold_known(unit)->unitmap_next;
}

static void stripe_insert(struct stripe *s, abti_unit *unit, uint64_t hash)
{
    abti_assert(abti_spin_is_mine(&s->lock));
    abti_unit **bucket = bucket_of(s, hash);
    *next_of(unit) = *bucket;
    *bucket = unit;
}

static void stripe_grow(struct stripe *s)
{
    size_t old_buckets = s->buckets;
    abti_annotate_begin_private();
    abti_unit **old = s->table, **table = calloc(old_buckets * 2, sizeof(*table));
    abti_annotate_end_private();
    if (!table)
        return;
    s->table = table;
    s->buckets = old_buckets * 2;
    for (size_t i = 0; i < old_buckets; i++) {
        for (abti_unit *unit = old[i], *next; unit; unit = next) {
            next = *next_of(unit);
            stripe_insert(s, unit, handle_hash(handle_of(unit)));
        }
    }
    abti_annotate_begin_private();
    if (old != s->first)
        free(old);
    abti_annotate_end_private();
}

void abti_unitmap_add(abti_unit *unit)
{
    ABT_unit handle = handle_of(unit);
    abti_assert(handle);
    if ((uintptr_t)handle == (uintptr_t)unit)
        return;
    if (!abti_load_relaxed(&abti_unitmap_is_used))       /* it is stored once, to spare the others that look at it */
        abti_store_relaxed(&abti_unitmap_is_used, true); /* relaxed, both: see abti_unitmap_find */
    uint64_t hash = handle_hash(handle);
    struct stripe *s = stripe_of(hash);
    abti_spin_lock(&s->lock);
    if (s->table && s->count >= s->buckets * 2)
        stripe_grow(s);
    stripe_insert(s, unit, hash);
    s->count++;
    abti_spin_unlock(&s->lock);
}

void abti_unitmap_remove(abti_unit *unit)
{
    ABT_unit handle = handle_of(unit);
    if ((uintptr_t)handle == (uintptr_t)unit)
        return;
    uint64_t hash = handle_hash(handle);
    struct stripe *s = stripe_of(hash);
    abti_spin_lock(&s->lock);
    for (abti_unit **link = bucket_of(s, hash); *link; link = next_of(*link)) {
        if (*link == unit) {
            *link = *next_of(unit);
            s->count--;
            break;
        }
    }
    abti_spin_unlock(&s->lock);
}

abti_unit *abti_unitmap_look_up(ABT_unit handle)
{
    uint64_t hash = handle_hash(handle);
    struct stripe *s = stripe_of(hash);
    abti_spin_lock(&s->lock);
    abti_unit *unit = *bucket_of(s, hash);
    while (unit && handle_of(unit) != handle)
        unit = *next_of(unit);
    abti_spin_unlock(&s->lock);
    return unit ? unit : (abti_unit *)handle;
}

void abti_unitmap_fini(void)
{
    for (int i = 0; i < STRIPES; i++) {
        if (stripes[i].table != stripes[i].first)
            free(stripes[i].table);
    }
    abti_unitmap_forget();
}

void abti_unitmap_forget(void)
{
    abti_store_relaxed(&abti_unitmap_is_used, false); /* relaxed: there are no units */
    for (int i = 0; i < STRIPES; i++)
        stripes[i] = (struct stripe){.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};
}
