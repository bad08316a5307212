/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/held.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "lock/spin.h"

enum { HELD_BITS = 12, HELD_BUCKETS = 1 << HELD_BITS };

struct held {
    struct held *next; /* of the same bucket */
    const void *owner, *lock;
    enum abti_handle_kind kind; /* of the lock */
};

static struct abti_spin held_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF); /* the buckets */
static struct held *held_buckets[HELD_BUCKETS];                     /* by the owner */

static struct held **held_bucket(const void *owner)
{
    return &held_buckets[abti_hash((uintptr_t)owner) >> (64 - HELD_BITS)];
}

/* Where an entry of the owner is linked, or where one would be. lock: NULL is any. held_lock is held */
static struct held **find_held(struct held **link, const void *owner, const void *lock)
{
    while (*link && ((owner && (*link)->owner != owner) || (lock && (*link)->lock != lock)))
        link = &(*link)->next;
    return link;
}

/* Takes an entry out, and returns it; NULL: there is none. held_lock is held */
static struct held *unlink_held(struct held **link)
{
    struct held *held = *link;
    if (held)
        *link = held->next;
    return held;
}

static struct held *remove_held(const void *owner, const void *lock)
{
    abti_spin_lock(&held_lock);
    struct held *held = unlink_held(find_held(held_bucket(owner), owner, lock));
    abti_spin_unlock(&held_lock);
    return held;
}

void abti_held_add(const void *owner, const void *lock, enum abti_handle_kind kind)
{
    struct held *held = malloc(sizeof(*held));
    if (!held)
        return;
    struct held **link = held_bucket(owner);
    *held = (struct held){.owner = owner, .lock = lock, .kind = kind};
    abti_spin_lock(&held_lock);
    held->next = *link;
    *link = held;
    abti_spin_unlock(&held_lock);
}

bool abti_held_drop(const void *owner, const void *lock)
{
    struct held *held = remove_held(owner, lock);
    free(held);
    return held != NULL;
}

void abti_held_drop_of_all(const void *lock)
{
    struct held *held = NULL;
    abti_spin_lock(&held_lock);
    for (size_t i = 0; i < HELD_BUCKETS && !held; i++)
        held = unlink_held(find_held(&held_buckets[i], NULL, lock));
    abti_spin_unlock(&held_lock);
    free(held);
}

bool abti_held_has(const void *owner, const void *lock)
{
    abti_spin_lock(&held_lock);
    bool has = *find_held(held_bucket(owner), owner, lock) != NULL;
    abti_spin_unlock(&held_lock);
    return has;
}

bool abti_held_take(const void *owner, const void **lock, enum abti_handle_kind *kind)
{
    struct held *held = remove_held(owner, NULL);
    if (!held)
        return false;
    *lock = held->lock;
    *kind = held->kind;
    free(held);
    return true;
}

void abti_held_end(void)
{
    for (size_t i = 0; i < HELD_BUCKETS; i++) {
        for (struct held *held; (held = unlink_held(&held_buckets[i]));)
            free(held);
    }
}

void abti_held_forget(void)
{
    abti_spin_forget(&held_lock, ABTI_RANK_LEAF);
    memset(held_buckets, 0, sizeof(held_buckets));
}
