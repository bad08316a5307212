#include "core/key.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "os/spin.h"

/* The first slots come with the table: most units use very few keys. */
#define NUM_INLINE_SLOTS 4

/* One value. Only value changes after the slot was published through the link that leads to it. */
struct key_slot {
    _Atomic(struct key_slot *) next;
    uint64_t id;
    void (*destructor)(void *value);
    /* Threads that race on one value see one of them: the table promises no more. */
    _Atomic(void *) value;
};

struct abti_ktable {
    struct abti_spin lock; /* guards the adding of slots */
    uint32_t mask;         /* constant: number of buckets less one */
    unsigned num_inline;   /* lock: slots of inline_slots in use */
    struct key_slot inline_slots[NUM_INLINE_SLOTS];
    _Atomic(struct key_slot *) buckets[];
};

/*
 * Number of the next key. The first one is part of the contract, since numbers decide the order in which destructors
 * run.
 */
static _Atomic uint64_t next_key_id = 2;

void abti_key_init(struct ABT_key_opaque *key, void (*destructor)(void *value))
{
    key->destructor = destructor;
    /* relaxed: numbers are only to differ */
    key->id = abti_fetch_add_relaxed(&next_key_id, 1);
}

struct abti_ktable *abti_ktable_create(uint32_t num_buckets)
{
    struct abti_ktable *table = calloc(1, sizeof(*table) + num_buckets * sizeof(table->buckets[0]));
    if (table)
        table->mask = num_buckets - 1;
    return table;
}

struct abti_ktable *abti_ktable_obtain(_Atomic(struct abti_ktable *) *slot, uint32_t num_buckets)
{
    /* acquire: pairs with the exchange below, so that the table is seen as it was made */
    struct abti_ktable *table = abti_load_acquire(slot);
    if (ABTI_LIKELY(table))
        return table;

    struct abti_ktable *newtable = abti_ktable_create(num_buckets);
    if (newtable && !abti_cas_acq_rel(slot, &table, newtable)) {
        free(newtable);
        return table;
    }
    return newtable;
}

/* The slot of an id in the list that starts at link, or NULL; then *end is the link that ends the list. */
static struct key_slot *find_slot(_Atomic(struct key_slot *) *link, uint64_t id, _Atomic(struct key_slot *) **end)
{
    struct key_slot *slot;

    /* acquire: pairs with the release in abti_ktable_set */
    while ((slot = abti_load_acquire(link))) {
        if (slot->id == id)
            return slot;
        link = &slot->next;
    }
    *end = link;
    return NULL;
}

static bool is_inline_slot(const struct abti_ktable *table, const struct key_slot *slot)
{
    return slot >= table->inline_slots && slot < table->inline_slots + NUM_INLINE_SLOTS;
}

static struct key_slot *alloc_slot_locked(struct abti_ktable *table)
{
    if (table->num_inline < NUM_INLINE_SLOTS)
        return &table->inline_slots[table->num_inline++];
    return calloc(1, sizeof(struct key_slot));
}

/* Looks again from link on, since somebody else may have added the slot meanwhile, and adds it when nobody did. */
static struct key_slot *add_slot_locked(struct abti_ktable *table, _Atomic(struct key_slot *) *link,
                                        const struct ABT_key_opaque *key)
{
    struct key_slot *slot = find_slot(link, key->id, &link);
    if (slot)
        return slot;
    slot = alloc_slot_locked(table);
    if (!slot)
        return NULL;
    slot->id = key->id;
    slot->destructor = key->destructor;
    /* release: pairs with the acquire in find_slot */
    abti_store_release(link, slot);
    return slot;
}

int abti_ktable_set(struct abti_ktable *table, const struct ABT_key_opaque *key, void *value)
{
    _Atomic(struct key_slot *) *link = &table->buckets[key->id & table->mask];
    struct key_slot *slot = find_slot(link, key->id, &link);

    if (!slot) {
        abti_spin_lock(&table->lock);
        slot = add_slot_locked(table, link, key);
        abti_spin_unlock(&table->lock);
        if (!slot)
            return -ENOMEM;
    }
    /* release: pairs with the acquire in abti_ktable_get, for what the value points to */
    abti_store_release(&slot->value, value);
    return 0;
}

void *abti_ktable_get(const struct abti_ktable *table, const struct ABT_key_opaque *key)
{
    if (!table)
        return NULL;
    /* acquire: pairs with the releases in abti_ktable_set */
    struct key_slot *slot = abti_load_acquire(&table->buckets[key->id & table->mask]);
    while (slot && slot->id != key->id)
        slot = abti_load_acquire(&slot->next);
    return slot ? abti_load_acquire(&slot->value) : NULL;
}

static void run_destructors(struct abti_ktable *table)
{
    for (uint32_t i = 0; i <= table->mask; i++) {
        struct key_slot *slot = abti_load_acquire(&table->buckets[i]);
        for (; slot; slot = abti_load_acquire(&slot->next)) {
            void *value = abti_load_acquire(&slot->value);
            if (value && slot->destructor)
                slot->destructor(value);
        }
    }
}

void abti_ktable_destroy_all(struct abti_ktable *table)
{
    if (!table)
        return;
    run_destructors(table);
    for (uint32_t i = 0; i <= table->mask; i++) {
        struct key_slot *next, *slot = abti_load_acquire(&table->buckets[i]);
        for (; slot; slot = next) {
            next = abti_load_acquire(&slot->next);
            if (!is_inline_slot(table, slot))
                free(slot);
        }
    }
    free(table);
}
