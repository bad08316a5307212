/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/depot.h"

#include "base/assert.h"

static void push_full(struct abti_shelf *shelf, struct abti_magazine *magazine)
{
    abti_assert(abti_spin_is_mine(&shelf->lock) && magazine->count > 0);
    abti_magazine_push(&shelf->full, magazine);
    abti_store_relaxed(&shelf->num_full, abti_load_relaxed(&shelf->num_full) + 1);
}

static struct abti_magazine *pop_full(struct abti_shelf *shelf)
{
    abti_assert(abti_spin_is_mine(&shelf->lock));
    struct abti_magazine *magazine = abti_magazine_pop(&shelf->full);
    if (!magazine)
        return NULL;
    uint32_t num = abti_load_relaxed(&shelf->num_full) - 1; /* relaxed, as below: as in push_full */
    abti_store_relaxed(&shelf->num_full, num);
    if (num < shelf->low_full)
        shelf->low_full = num;
    return magazine;
}

/*
 * The shelf that is the i-th to be looked at by a cache of `own`, those of its node first; NULL behind the last
 * one. Each node has the same number of them. relaxed: of a shelf that comes into use meanwhile nothing has been taken,
 * and nothing is missed
 */
static struct abti_shelf *shelf_after(struct abti_slab *slab, struct abti_shelf *own, uint32_t i)
{
    uint32_t num = abti_load_relaxed(&slab->num_shelves), first = (uint32_t)(own - slab->shelves);
    if (i >= num)
        return NULL;
    if (slab->num_nodes == 1)
        return &slab->shelves[(first + i) % num];
    uint32_t nodes = slab->num_nodes, each = num / nodes;
    uint32_t row = (first / nodes + i % each) % each, node = (first % nodes + i / each) % nodes;
    return &slab->shelves[row * nodes + node];
}

/* Whether there are more free objects than are kept. Each number is right, and all of them together nearly. */
bool abti_slab_is_crowded(struct abti_slab *slab)
{
    if (abti_slab_in_huge_pages(slab) || slab->spec.kept == 0)
        return false;
    size_t num = abti_load_relaxed(&slab->num_loose);
    struct abti_shelf *shelf;
    for (uint32_t i = 0; (shelf = shelf_after(slab, slab->shelves, i)) != NULL; i++)
        num += (size_t)abti_load_relaxed(&shelf->num_full) * slab->spec.batch; /* relaxed: as said above */
    return num > slab->spec.kept;
}

/*
 * Tells if the depot may have become crowded by a full magazine on this shelf: it has more than its share then. If
 * there are too many, one of the shelves has that.
 */
static void tell_if_crowded(struct abti_slab *slab, struct abti_shelf *shelf)
{
    /* relaxed, all: they are hints, as in abti_slab_is_crowded */
    size_t num = (size_t)abti_load_relaxed(&shelf->num_full) * slab->spec.batch + abti_load_relaxed(&slab->num_loose);
    if (ABTI_UNLIKELY(num * abti_load_relaxed(&slab->num_shelves) > slab->spec.kept) && slab->spec.crowded)
        slab->spec.crowded(slab);
}

static struct abti_magazine *pop_empty(struct abti_shelf *shelf)
{
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *magazine = abti_magazine_pop(&shelf->empty);
    abti_spin_unlock(&shelf->lock);
    return magazine;
}

/* Takes a magazine that was never used. The cache gets some at a time, since the lock is everybody's. */
static struct abti_magazine *take_unused(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    struct abti_run *run = &cache->magazines;
    unsigned some = 2048 / (unsigned)slab->magazines.spec.cell;
    if (run->num == 0) {
        abti_spin_lock(&slab->lock);
        if (!abti_arena_take(&slab->magazines, some > 1 ? some : 1, abti_shelf_node(slab, cache->shelf), run))
            run->num = 0;
        abti_spin_unlock(&slab->lock);
    }
    if (run->num == 0)
        return NULL;
    struct abti_magazine *magazine = (struct abti_magazine *)run->cell;
    run->cell += run->size;
    run->num--;
    magazine->count = 0;
    return magazine;
}

struct abti_magazine *abti_depot_get_empty(struct abti_cache *cache)
{
    struct abti_magazine *magazine = pop_empty(cache->shelf);
    if (!magazine)
        magazine = take_unused(cache);
    struct abti_shelf *shelf;
    for (uint32_t i = 1; !magazine && (shelf = shelf_after(cache->slab, cache->shelf, i)) != NULL; i++)
        magazine = pop_empty(shelf);
    return magazine;
}

/*
 * How many magazines a cache of `own` may take from a shelf. Streams of another node leave some, since new memory is
 * near them, but not all: what is made in one node and freed in another is to be used again. It is the shelf's part of
 * half of what the depot keeps anyway. relaxed: it may change meanwhile in any case
 */
static size_t num_to_take(const struct abti_slab *slab, struct abti_shelf *shelf, const struct abti_shelf *own)
{
    enum { LEAST = 8 };
    size_t num = abti_load_relaxed(&shelf->num_full), spared = 0;
    if (abti_shelf_node(slab, shelf) != abti_shelf_node(slab, own))
        spared = slab->spec.kept / slab->spec.batch / abti_load_relaxed(&slab->num_shelves) / 2 + LEAST;
    return num > spared ? num - spared : 0;
}

/*
 * Whether more than half of all objects are free on other shelves. If not, a cache takes new memory: what it takes from
 * another one that one lacks soon, which then takes from others in turn, and each object costs a transfer of its line.
 */
static bool others_have_plenty(struct abti_slab *slab, struct abti_shelf *own)
{
    size_t half = abti_load_relaxed(&slab->made) / 2, num = 0; /* relaxed: it need not be exact */
    struct abti_shelf *shelf;
    for (uint32_t i = 1; num <= half && (shelf = shelf_after(slab, own, i)) != NULL; i++)
        num += num_to_take(slab, shelf, own) * slab->spec.batch;
    return num > half;
}

struct abti_magazine *abti_depot_take(struct abti_cache *cache, struct abti_shelf *shelf)
{
    if (abti_load_relaxed(&shelf->num_full) == 0) /* relaxed: what comes meanwhile need not be found */
        return NULL;
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *full = pop_full(shelf), *left = full ? abti_magazine_pop(&cache->empty) : NULL;
    if (left)
        abti_magazine_push(&shelf->empty, left);
    abti_spin_unlock(&shelf->lock);
    cache->takes_from_others = full && shelf != cache->shelf;
    return full;
}

struct abti_magazine *abti_depot_get_full(struct abti_cache *cache, bool any)
{
    struct abti_slab *slab = cache->slab;
    struct abti_shelf *own = cache->shelf, *shelf;
    struct abti_magazine *full = abti_depot_take(cache, own);
    if (!full && !any && !cache->takes_from_others && !others_have_plenty(slab, own))
        return NULL;
    cache->takes_from_others = false;
    for (uint32_t i = 1; !full && (shelf = shelf_after(slab, own, i)) != NULL; i++)
        full = any || num_to_take(slab, shelf, own) > 0 ? abti_depot_take(cache, shelf) : NULL;
    return full;
}

void abti_depot_put(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *magazine)
{
    abti_assert(magazine->count <= slab->spec.batch);
    abti_spin_lock(&shelf->lock);
    if (magazine->count > 0) {
        push_full(shelf, magazine);
    } else {
        abti_magazine_push(&shelf->empty, magazine);
    }
    abti_spin_unlock(&shelf->lock);
    tell_if_crowded(slab, shelf);
}

struct abti_shelf *abti_depot_join(struct abti_slab *slab, uint32_t node)
{
    uint32_t nodes = slab->num_nodes, best = node;
    abti_assert(node < nodes);
    abti_spin_lock(&slab->lock);
    for (uint32_t i = node + nodes; i < ABTI_SLAB_SHELVES / nodes * nodes; i += nodes)
        best = slab->shelves[i].num_caches < slab->shelves[best].num_caches ? i : best;
    slab->shelves[best].num_caches++;
    /* relaxed, both: the lock is held, and as said at shelf_after */
    if (best >= abti_load_relaxed(&slab->num_shelves))
        abti_store_relaxed(&slab->num_shelves, best - node + nodes);
    abti_spin_unlock(&slab->lock);
    return &slab->shelves[best];
}

void abti_depot_leave(struct abti_slab *slab, struct abti_shelf *shelf)
{
    abti_spin_lock(&slab->lock);
    abti_assert(shelf->num_caches > 0);
    shelf->num_caches--;
    abti_spin_unlock(&slab->lock);
}

struct abti_magazine *abti_depot_exchange(struct abti_cache *cache, struct abti_magazine *full)
{
    struct abti_shelf *shelf = cache->shelf;
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *empty = abti_magazine_pop(&shelf->empty);
    if (empty)
        push_full(shelf, full);
    abti_spin_unlock(&shelf->lock);
    if (empty) {
        tell_if_crowded(cache->slab, shelf);
        return empty;
    }
    empty = abti_depot_get_empty(cache);
    if (empty)
        abti_depot_put(cache->slab, shelf, full);
    return empty;
}

void abti_depot_look(struct abti_slab *slab, bool may_go)
{
    struct abti_shelf *shelf;
    for (uint32_t i = 0; (shelf = shelf_after(slab, slab->shelves, i)) != NULL; i++) {
        abti_spin_lock(&shelf->lock);
        shelf->idle_full = may_go ? shelf->low_full : 0;
        shelf->low_full = abti_load_relaxed(&shelf->num_full); /* relaxed: the lock is held */
        abti_spin_unlock(&shelf->lock);
    }
}

struct abti_magazine *abti_depot_take_idle(struct abti_slab *slab)
{
    struct abti_magazine *magazine = NULL;
    struct abti_shelf *shelf;
    for (uint32_t i = 0; !magazine && (shelf = shelf_after(slab, slab->shelves, i)) != NULL; i++) {
        abti_spin_lock(&shelf->lock);
        if (shelf->idle_full > 0) {
            shelf->idle_full--;
            magazine = pop_full(shelf);
        }
        abti_spin_unlock(&shelf->lock);
    }
    return magazine;
}
