/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/round.h"
#include "os/annotate.h"
#include "os/vm.h"
#include "rt/rt.h"

/* The first entries come with the table: most units use very few keys. */
#define NUM_INLINE_ENTRIES 4

/* One value. Only value changes after the entry was published through the link that leads to it. */
struct key_entry {
    _Atomic(struct key_entry *) next;
    uint64_t id;
    void (*destructor)(void *value);
    /* Threads that race on one value see one of them: the table promises no more. */
    _Atomic(void *) value;
};

/* A block of further entries. */
struct key_entries {
    struct key_entries *next;
    struct key_entry entries[];
};

struct abti_ktable {
    struct abti_spin lock;    /* guards the adding of entries */
    uint32_t mask;            /* constant: number of buckets less one */
    unsigned num_unused;      /* lock: how many entries are left at unused */
    _Atomic(uint32_t) end;    /* lock, to write it: no bucket from here on has an entry with a destructor */
    struct key_entry *unused; /* lock */
    struct key_entries *more; /* lock: blocks of entries that did not come with the table */
    struct key_entry inline_entries[NUM_INLINE_ENTRIES];
    _Atomic(struct key_entry *) buckets[];
};

/* --- Memory: blocks of equal size, each a table or further entries of one --- */

/* The largest block. Larger tables, by ABT_KEY_TABLE_SIZE, come from malloc. */
enum { MOST_BLOCK = 4096 };

static size_t table_size(uint32_t num_buckets)
{
    return sizeof(struct abti_ktable) + num_buckets * sizeof(_Atomic(struct key_entry *));
}

static size_t block_size(void)
{
    return abti_rt.ktable_slab.spec.arena.cell;
}

static void release_blocks(char *word)
{
    abti_vm_release(word, ABTI_ARENA_WORD * block_size());
}

void abti_ktables_init(uint32_t num_buckets, size_t kept, void (*watch)(struct abti_slab_spec *, size_t))
{
    enum { FEW_BUCKETS = 4, CACHED = 8 * 1024, MOST_BATCH = 29, CHUNK = 64 * 1024 };
    size_t size = table_size(num_buckets) <= MOST_BLOCK ? table_size(num_buckets) : table_size(FEW_BUCKETS);
    size_t block = abti_round_up(size, ABTI_CACHE_LINE);
    size_t word = block * ABTI_ARENA_WORD, batch = CACHED / block; /* a cache has two magazines */
    size_t chunk = word < CHUNK ? CHUNK / word * word : word;
    struct abti_slab_spec spec = {
        .arena =
            {
                .cell = block,
                .block = word,
                .span = word,
                .chunk = abti_round_up(chunk, abti_vm_page_size()),
                .words = true,
                .map = abti_chunk_map,
            },
        .run = 8,
        .spares = 1,
        .batch = batch < MOST_BATCH ? (unsigned)batch : MOST_BATCH,
        .release = release_blocks,
    };
    watch(&spec, kept / block);
    abti_slab_init(&abti_rt.ktable_slab, &spec);
}

/* Takes a zeroed block. Returns NULL when there is no memory. */
static void *block_take(void)
{
    abti_es *es = abti_es_self;
    abti_rt_begin_shared(es);
    void *block = abti_lazycache_get(es ? &es->ktables : &abti_rt.external_ktables, &abti_rt.ktable_slab);
    abti_rt_end_shared(es);
    if (!block)
        return NULL;
    abti_annotate_begin_private();
    memset(block, 0, block_size());
    abti_annotate_end_private();
    if (abti_annotate_on)
        abti_annotate_root_begin(block, block_size());
    return block;
}

static void block_give(void *block)
{
    abti_es *es = abti_es_self;
    if (abti_annotate_on)
        abti_annotate_root_end(block, block_size());
    abti_rt_begin_shared(es);
    abti_lazycache_put(es ? &es->ktables : &abti_rt.external_ktables, &abti_rt.ktable_slab, block);
    abti_rt_end_shared(es);
}

static void table_give(struct abti_ktable *table)
{
    if (table_size(table->mask + 1) <= block_size())
        block_give(table);
    else
        free(table);
}

/* --- Keys and tables --- */

/*
 * The number of the next key. The first one is part of the contract, since numbers decide the order in which
 * destructors run.
 */
static _Atomic uint64_t next_key_id = 2;

void abti_key_init(struct ABT_key_opaque *key, void (*destructor)(void *value))
{
    key->destructor = destructor;
    key->id = abti_fetch_add_relaxed(&next_key_id, 1);
}

struct abti_ktable *abti_ktable_create(uint32_t num_buckets)
{
    abti_assert(num_buckets > 0 && (num_buckets & (num_buckets - 1)) == 0);
    size_t size = table_size(num_buckets);
    struct abti_ktable *table = size <= block_size() ? block_take() : calloc(1, size);
    if (!table)
        return NULL;
    abti_spin_init(&table->lock, ABTI_RANK_KEYS);
    table->mask = num_buckets - 1;
    table->num_unused = NUM_INLINE_ENTRIES;
    table->unused = table->inline_entries;
    return table;
}

struct abti_ktable *abti_ktable_obtain(_Atomic(struct abti_ktable *) *place, uint32_t num_buckets)
{
    /* acquire: pairs with the release in abti_ktable_obtain, below, so that the table is seen as it was made */
    struct abti_ktable *table = abti_load_acquire(place);
    if (ABTI_LIKELY(table))
        return table;

    struct abti_ktable *newtable = abti_ktable_create(num_buckets);
    /* release: pairs with the acquires in abti_ktable_obtain, of which this is one: another thread may be faster */
    if (newtable && !abti_cas_acq_rel(place, &table, newtable)) {
        table_give(newtable);
        return table;
    }
    return newtable;
}

/* Returns the entry of an id in the list that starts at `link`, or NULL. Then *end is the link that ends the list. */
static struct key_entry *find_key_entry(_Atomic(struct key_entry *) *link, uint64_t id,
                                        _Atomic(struct key_entry *) **end)
{
    struct key_entry *entry;

    /* acquire: pairs with the release in add_key_entry_locked */
    while ((entry = abti_load_acquire(link))) {
        if (entry->id == id)
            return entry;
        link = &entry->next;
    }
    *end = link;
    return NULL;
}

/* Takes a zeroed entry. Returns NULL when there is no memory. */
static struct key_entry *alloc_key_entry_locked(struct abti_ktable *table)
{
    abti_assert(abti_spin_is_mine(&table->lock));
    if (table->num_unused == 0) {
        struct key_entries *more = block_take();
        if (!more)
            return NULL;
        more->next = table->more;
        table->more = more;
        table->unused = more->entries;
        table->num_unused = (unsigned)((block_size() - sizeof(*more)) / sizeof(more->entries[0]));
    }
    table->num_unused--;
    return table->unused++;
}

/* A bucket has an entry with a destructor. relaxed, both: as in bucket_end, and the lock is held */
static void note_destructor_locked(struct abti_ktable *table, uint32_t bucket)
{
    if (bucket >= abti_load_relaxed(&table->end))
        abti_store_relaxed(&table->end, bucket + 1);
}

/* Searches from `link` on, since another thread may have added the entry meanwhile, and adds it if none has. */
static struct key_entry *add_key_entry_locked(struct abti_ktable *table, _Atomic(struct key_entry *) *link,
                                              const struct ABT_key_opaque *key)
{
    struct key_entry *entry = find_key_entry(link, key->id, &link);
    if (entry)
        return entry;
    entry = alloc_key_entry_locked(table);
    if (!entry)
        return NULL;
    entry->id = key->id;
    entry->destructor = key->destructor;
    if (key->destructor)
        note_destructor_locked(table, (uint32_t)key->id & table->mask);
    /* release: pairs with the acquire in find_key_entry */
    abti_store_release(link, entry);
    return entry;
}

int abti_ktable_set(struct abti_ktable *table, const struct ABT_key_opaque *key, void *value)
{
    _Atomic(struct key_entry *) *link = &table->buckets[key->id & table->mask];
    struct key_entry *entry = find_key_entry(link, key->id, &link);
    abti_annotate_release(table);
    if (!entry) {
        abti_spin_lock(&table->lock);
        entry = add_key_entry_locked(table, link, key);
        abti_spin_unlock(&table->lock);
        if (!entry)
            return -ENOMEM;
    }
    /* release: pairs with the acquires in abti_ktable_get and next_to_destroy, for what the value points to */
    abti_store_release(&entry->value, value);
    return 0;
}

void *abti_ktable_get(const struct abti_ktable *table, const struct ABT_key_opaque *key)
{
    if (!table)
        return NULL;
    abti_annotate_acquire(table);
    /* acquire: pairs with the releases in add_key_entry_locked and abti_ktable_set */
    struct key_entry *entry = abti_load_acquire(&table->buckets[key->id & table->mask]);
    while (entry && entry->id != key->id)
        entry = abti_load_acquire(&entry->next);
    return entry ? abti_load_acquire(&entry->value) : NULL;
}

/*
 * Returns the first entry whose value is to be destroyed, from `entry` on along its bucket, or NULL. acquire: pairs
 * with the releases in add_key_entry_locked and abti_ktable_set.
 */
static struct key_entry *next_to_destroy(struct key_entry *entry)
{
    while (entry && !(entry->destructor && abti_load_acquire(&entry->value)))
        entry = abti_load_acquire(&entry->next);
    return entry;
}

static struct key_entry *first_to_destroy(const struct abti_ktable *table, uint32_t bucket)
{
    return next_to_destroy(abti_load_acquire(&table->buckets[bucket])); /* acquire: as in next_to_destroy */
}

/*
 * Where the buckets end that may have something to destroy. A table may have thousands of them, and a unit a few keys.
 * relaxed: what is set while the unit ends may be destroyed or not, and what was set before is ordered before its end
 */
static uint32_t bucket_end(const struct abti_ktable *table)
{
    return abti_load_relaxed(&table->end);
}

bool abti_ktable_has_destructors(const struct abti_ktable *table)
{
    for (uint32_t i = 0; table && i < bucket_end(table); i++) {
        if (first_to_destroy(table, i))
            return true;
    }
    return false;
}

/* A destructor may set further values: those of later buckets are destroyed, too. */
static void run_destructors(struct abti_ktable *table)
{
    for (uint32_t i = 0; i < bucket_end(table); i++) {
        /* acquire: as in next_to_destroy */
        struct key_entry *entry = first_to_destroy(table, i);
        for (; entry; entry = next_to_destroy(abti_load_acquire(&entry->next)))
            entry->destructor(abti_load_acquire(&entry->value));
    }
}

void abti_ktable_destroy_all(struct abti_ktable *table)
{
    if (!table)
        return;
    run_destructors(table);
    for (struct key_entries *next, *more = table->more; more; more = next) {
        next = more->next;
        block_give(more);
    }
    table_give(table);
}
