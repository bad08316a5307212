/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/ledger.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "lock/spin.h"
#include "unit/unit.h"

/* How many freed objects are kept back. */
enum { KEPT = 512, BUCKETS = 1 << 14 };

struct ledger_entry {
    struct ledger_entry *next; /* of the same bucket */
    const void *handle;
    void (*release)(void *); /* freed: releases it */
    struct abti_ledger_note note;
    struct ledger_entry *next_stack; /* of stack_entries; while size is not 0 */
    uintptr_t stack;                 /* a unit's stack in the user's memory */
    size_t size;                     /* of that. 0: it has none there */
};

bool abti_ledger_on;
_Atomic(uint8_t) abti_ledger_misses[ABTI_NUM_HANDLE_KINDS];

static struct abti_spin ledger_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF); /* everything below */
static struct ledger_entry *entry_buckets[BUCKETS];
static struct ledger_entry *kept_entries[KEPT]; /* a ring of freed ones; NULL: a place without one */
static unsigned oldest_entry;                   /* the place of the oldest */
static struct ledger_entry *stack_entries;      /* units with a stack in the user's memory */

static struct ledger_entry **entry_bucket(const void *handle)
{
    return &entry_buckets[abti_hash((uintptr_t)handle) >> 50];
}

/* Where the entry of a handle is linked, or where one would be. lock held */
static struct ledger_entry **find_in_ledger(const void *handle)
{
    struct ledger_entry **link = entry_bucket(handle);
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

struct abti_party abti_party_self(void)
{
    abti_es *es = abti_es_self;
    struct abti_party party = {.kind = ABTI_PARTY_NATIVE};
    if (!es || !es->cur)
        return party;
    party.unit = es->cur;
    party.func = es->cur->func;
    party.kind = es->cur->flags & ABTI_UNIT_PRIMARY                          ? ABTI_PARTY_PRIMARY
                 : es->cur->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED) ? ABTI_PARTY_SCHED
                 : abti_unit_is_tasklet(es->cur)                             ? ABTI_PARTY_TASKLET
                                                                             : ABTI_PARTY_ULT;
    return party;
}

void abti_ledger_begin(void)
{
    abti_ledger_on = true;
}

/* The objects of all kinds are not known from now on. */
static void miss_all(void)
{
    for (int kind = 0; kind < ABTI_NUM_HANDLE_KINDS; kind++)
        abti_store_relaxed(&abti_ledger_misses[kind], 1); /* relaxed: as in abti_ledger_made */
}

static void let_go_of_entry(struct ledger_entry *entry)
{
    if (!entry)
        return;
    if (entry->note.freed)
        entry->release((void *)(uintptr_t)entry->handle);
    free(entry);
}

void abti_ledger_end(void)
{
    if (!abti_ledger_on)
        return; /* nothing was put in */
    miss_all();
    abti_ledger_on = false;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct ledger_entry *entry = entry_buckets[i], *next; entry; entry = next) {
            next = entry->next;
            let_go_of_entry(entry);
        }
        entry_buckets[i] = NULL;
    }
    for (size_t i = 0; i < KEPT; i++)
        kept_entries[i] = NULL;
    stack_entries = NULL;
}

/* lock held */
static void forget_stack(struct ledger_entry *entry)
{
    struct ledger_entry **link = &stack_entries;
    while (entry->size > 0 && *link != entry)
        link = &(*link)->next_stack;
    if (entry->size > 0)
        *link = entry->next_stack;
    entry->size = 0;
}

/* Puts an entry in. Returns the one that it takes the place of, or itself if that cannot be. lock held */
static struct ledger_entry *put_entry(struct ledger_entry *entry)
{
    struct ledger_entry **link = find_in_ledger(entry->handle), *old = *link;
    if (old && old->note.freed)
        return entry; /* it is kept back: its address is nobody else's */
    if (old)
        forget_stack(old);
    entry->next = old ? old->next : NULL;
    *link = entry;
    return old; /* of an object that has gone behind our back */
}

static void make_entry(const void *handle, const struct abti_ledger_note *note)
{
    struct ledger_entry *entry = malloc(sizeof(*entry));
    if (!entry) {
        abti_store_relaxed(&abti_ledger_misses[note->kind], 1); /* relaxed: as in abti_ledger_made */
        return;
    }
    *entry = (struct ledger_entry){.handle = handle, .note = *note};
    abti_spin_lock(&ledger_lock);
    entry = put_entry(entry);
    abti_spin_unlock(&ledger_lock);
    free(entry);
}

void abti_ledger_note_made(const void *handle, enum abti_handle_kind kind, bool tasklet, void (*func)(void *))
{
    make_entry(handle, &(struct abti_ledger_note){
                           .kind = kind, .tasklet = tasklet, .func = func, .creator = abti_party_self()});
}

void abti_ledger_note_foreign(const void *handle, enum abti_handle_kind kind)
{
    make_entry(handle, &(struct abti_ledger_note){.kind = kind, .foreign = true});
}

/* Takes the oldest of those that are kept back out, to put `entry` there. NULL: none is. lock held */
static struct ledger_entry *exchange_oldest(struct ledger_entry *entry)
{
    struct ledger_entry *old = kept_entries[oldest_entry];
    kept_entries[oldest_entry] = entry;
    oldest_entry = (oldest_entry + 1) % KEPT;
    if (old)
        *find_in_ledger(old->handle) = old->next;
    return old;
}

void abti_ledger_note_popped(const void *unit, bool popped)
{
    abti_spin_lock(&ledger_lock);
    struct ledger_entry *entry = *find_in_ledger(unit);
    if (entry)
        entry->note.popped = popped;
    abti_spin_unlock(&ledger_lock);
}

void abti_ledger_note_stack(const void *unit, const void *address, size_t size)
{
    abti_spin_lock(&ledger_lock);
    struct ledger_entry *entry = *find_in_ledger(unit);
    if (entry && size > 0) {
        entry->stack = (uintptr_t)address;
        entry->size = size;
        entry->next_stack = stack_entries;
        stack_entries = entry;
    }
    abti_spin_unlock(&ledger_lock);
}

const void *abti_ledger_stack_user(const void *address, size_t size)
{
    const void *user = NULL;
    uintptr_t begin = (uintptr_t)address, end = begin + size;
    abti_spin_lock(&ledger_lock);
    for (struct ledger_entry *entry = stack_entries; entry && !user; entry = entry->next_stack) {
        if (entry->stack < end && begin < entry->stack + entry->size &&
            !abti_unit_is_done((abti_unit *)(uintptr_t)entry->handle))
            user = entry->handle;
    }
    abti_spin_unlock(&ledger_lock);
    return user;
}

bool abti_ledger_keep(void *handle, void (*release)(void *))
{
    struct ledger_entry *old = NULL;
    abti_spin_lock(&ledger_lock);
    struct ledger_entry *entry = *find_in_ledger(handle);
    if (entry && entry->note.freed)
        entry = NULL;
    if (entry) {
        forget_stack(entry);
        entry->note.freed = true;
        entry->note.freer = abti_party_self();
        entry->release = release;
        old = exchange_oldest(entry);
    }
    abti_spin_unlock(&ledger_lock);
    let_go_of_entry(old);
    return entry != NULL;
}

bool abti_ledger_find(const void *handle, struct abti_ledger_note *note)
{
    abti_spin_lock(&ledger_lock);
    struct ledger_entry *entry = *find_in_ledger(handle);
    if (entry)
        *note = entry->note;
    abti_spin_unlock(&ledger_lock);
    return entry != NULL;
}

void abti_ledger_free(void *object)
{
    if (ABTI_LIKELY(!abti_ledger_on) || !abti_ledger_keep(object, free))
        free(object);
}

void abti_ledger_forget(void)
{
    abti_spin_forget(&ledger_lock, ABTI_RANK_LEAF);
    memset(entry_buckets, 0, sizeof(entry_buckets));
    memset(kept_entries, 0, sizeof(kept_entries));
    oldest_entry = 0;
    stack_entries = NULL;
    miss_all();
}
