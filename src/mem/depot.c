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
 * A stream that makes and frees objects in rounds takes magazines of its shelf, and then puts them back. So many as the
 * deepest of its rounds has taken stay there for it. Else streams take each other's, whose lines they then fetch, look
 * for others in turn, and so on. Others learn of it by `needed`. If they find nothing else, and nobody has used the
 * shelf since one of them came for that reason, they halve it: a shelf that is not used keeps nothing for long.
 */
static void learn_take(struct abti_shelf *shelf)
{
    abti_assert(abti_spin_is_mine(&shelf->lock));
    uint32_t needed = abti_load_relaxed(&shelf->needed); /* relaxed, as below: as in push_full */
    shelf->refused = false;
    shelf->taken++;
    if (needed > 0)
        abti_store_relaxed(&shelf->needed, needed - 1);
}

static void learn_put(struct abti_shelf *shelf)
{
    abti_assert(abti_spin_is_mine(&shelf->lock));
    shelf->refused = false;
    if (shelf->taken == 0)
        return;
    shelf->taken--;
    abti_store_relaxed(&shelf->needed, abti_load_relaxed(&shelf->needed) + 1); /* relaxed, both: as in push_full */
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
 * Whether the depot may have become crowded by a full magazine on this shelf. The others are looked at, whose lines
 * their streams write, only if this one has more than its share: if there are too many, one of them has that.
 */
static bool becomes_crowded(struct abti_slab *slab, struct abti_shelf *shelf)
{
    /* relaxed, all: they are hints, as in abti_slab_is_crowded */
    size_t num = (size_t)abti_load_relaxed(&shelf->num_full) * slab->spec.batch + abti_load_relaxed(&slab->num_loose);
    return num * abti_load_relaxed(&slab->num_shelves) > slab->spec.kept && abti_slab_is_crowded(slab);
}

/* Makes a magazine for a stream of the node. Returns NULL when there is no memory. */
static struct abti_magazine *make_magazine(struct abti_slab *slab, uint32_t node)
{
    struct abti_run run;
    abti_spin_lock(&slab->lock);
    bool taken = abti_arena_take(&slab->magazines, 1, node, &run);
    abti_spin_unlock(&slab->lock);
    if (!taken)
        return NULL;
    struct abti_magazine *magazine = (struct abti_magazine *)run.cell;
    magazine->count = 0;
    return magazine;
}

static struct abti_magazine *pop_empty(struct abti_shelf *shelf)
{
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *magazine = abti_magazine_pop(&shelf->empty);
    abti_spin_unlock(&shelf->lock);
    return magazine;
}

struct abti_magazine *abti_depot_get_empty(struct abti_slab *slab, struct abti_shelf *own)
{
    struct abti_magazine *magazine = pop_empty(own);
    if (!magazine)
        magazine = make_magazine(slab, abti_shelf_node(slab, own));
    struct abti_shelf *shelf;
    for (uint32_t i = 1; !magazine && (shelf = shelf_after(slab, own, i)) != NULL; i++)
        magazine = pop_empty(shelf);
    return magazine;
}

/*
 * How many more magazines streams of another node leave on a shelf, since new memory is near them. Not all of them:
 * else what is made in one node and freed in another would never be used again. It is the shelf's part of half of what
 * the depot keeps anyway. With eight of eight objects, 41 % of those of two nodes that took up to 1000 each in turn
 * were of the other one's memory.
 */
static size_t far_spared(const struct abti_slab *slab)
{
    enum { LEAST = 8 };
    uint32_t num = abti_load_relaxed(&slab->num_shelves); /* relaxed: it need not be exact */
    size_t part = slab->spec.kept / slab->spec.batch / num / 2;
    return part > LEAST ? part : LEAST;
}

/* Whether a cache of `own` is to leave alone what is on another shelf. relaxed: it may change meanwhile in any case */
static bool needs_all(const struct abti_slab *slab, struct abti_shelf *shelf, const struct abti_shelf *own)
{
    bool is_near = abti_shelf_node(slab, shelf) == abti_shelf_node(slab, own);
    size_t needed = abti_load_relaxed(&shelf->needed) + (is_near ? 0 : far_spared(slab));
    return abti_load_relaxed(&shelf->num_full) <= needed;
}

/* For one who has found nothing but what this shelf needs. relaxed, both: as in push_full */
static void need_less(struct abti_shelf *shelf)
{
    abti_spin_lock(&shelf->lock);
    if (shelf->refused)
        abti_store_relaxed(&shelf->needed, abti_load_relaxed(&shelf->needed) / 2);
    shelf->refused = true;
    abti_spin_unlock(&shelf->lock);
}

struct abti_magazine *abti_depot_get_full(struct abti_slab *slab, struct abti_shelf *own, struct abti_magazine **empty,
                                          bool any)
{
    struct abti_magazine *full = NULL;
    struct abti_shelf *shelf, *needy = NULL;
    for (uint32_t i = 0; !full && (shelf = shelf_after(slab, own, i)) != NULL; i++) {
        if (abti_load_relaxed(&shelf->num_full) == 0) /* relaxed: what comes meanwhile need not be found */
            continue;
        if (shelf != own && !any && needs_all(slab, shelf, own)) {
            needy = needy ? needy : shelf;
            continue;
        }
        abti_spin_lock(&shelf->lock);
        full = pop_full(shelf);
        if (full && shelf == own)
            learn_take(shelf);
        struct abti_magazine *left = full ? abti_magazine_pop(empty) : NULL;
        if (left)
            abti_magazine_push(&shelf->empty, left);
        abti_spin_unlock(&shelf->lock);
    }
    if (!full && needy)
        need_less(needy);
    return full;
}

void abti_depot_put(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *magazine)
{
    abti_assert(magazine->count <= slab->spec.batch);
    abti_spin_lock(&shelf->lock);
    if (magazine->count > 0) {
        push_full(shelf, magazine);
        learn_put(shelf);
    } else {
        abti_magazine_push(&shelf->empty, magazine);
    }
    abti_spin_unlock(&shelf->lock);
    if (ABTI_UNLIKELY(becomes_crowded(slab, shelf)))
        slab->spec.crowded();
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

/* A cache that has used the shelf goes. Others that have the same learn again what they need. relaxed: as in push_full
 */
void abti_shelf_need_none(struct abti_shelf *shelf)
{
    abti_spin_lock(&shelf->lock);
    shelf->taken = 0;
    abti_store_relaxed(&shelf->needed, 0);
    abti_spin_unlock(&shelf->lock);
}

struct abti_magazine *abti_depot_exchange(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *full)
{
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *empty = abti_magazine_pop(&shelf->empty);
    if (empty) {
        push_full(shelf, full);
        learn_put(shelf);
    }
    abti_spin_unlock(&shelf->lock);
    if (empty) {
        if (ABTI_UNLIKELY(becomes_crowded(slab, shelf)))
            slab->spec.crowded();
        return empty;
    }
    empty = abti_depot_get_empty(slab, shelf);
    if (empty)
        abti_depot_put(slab, shelf, full);
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
