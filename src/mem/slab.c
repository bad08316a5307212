/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/slab.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/round.h"
#include "os/vm.h"

enum { MAGAZINE_CHUNK = 64 * 1024 };

/* Returns the size of a magazine in whole cache lines, so that a word of magazines is whole pages. */
static size_t magazine_size(unsigned batch)
{
    return abti_round_up(sizeof(struct abti_magazine) + (batch + 1) * sizeof(void *), ABTI_CACHE_LINE);
}

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec)
{
    abti_assert(spec->batch > 0 && spec->spares > 0 && spec->run > 0);
    *slab = (struct abti_slab){.spec = *spec, .num_nodes = abti_num_nodes};
    if (slab->num_nodes > ABTI_SLAB_SHELVES)
        slab->num_nodes = ABTI_SLAB_SHELVES;
    abti_spin_init(&slab->lock, ABTI_RANK_SLAB);
    for (unsigned i = 0; i < ABTI_SLAB_SHELVES; i++)
        abti_spin_init(&slab->shelves[i].lock, ABTI_RANK_SLAB);
    abti_arena_init(&slab->cells, &spec->arena);
    size_t size = magazine_size(spec->batch), words = MAGAZINE_CHUNK / size / ABTI_ARENA_WORD;
    struct abti_arena_spec magazines = {.cell = size, .words = true, .map = abti_chunk_map};
    magazines.block = magazines.span = size * ABTI_ARENA_WORD;
    magazines.chunk = magazines.block * (words > 0 ? words : 1);
    abti_arena_init(&slab->magazines, &magazines);
}

static void unmake_objects(struct abti_slab *slab)
{
    for (unsigned shelf = 0; shelf < ABTI_SLAB_SHELVES; shelf++) {
        for (struct abti_magazine *magazine = slab->shelves[shelf].full; magazine; magazine = magazine->objects[0]) {
            for (unsigned i = 1; i <= magazine->count; i++)
                slab->spec.unmake(magazine->objects[i]);
        }
    }
    for (struct abti_node *node = slab->loose; node; node = node->next)
        slab->spec.unmake(node);
}

void abti_slab_fini(struct abti_slab *slab)
{
    if (slab->spec.unmake)
        unmake_objects(slab);
    abti_arena_fini(&slab->cells);
    abti_arena_fini(&slab->magazines);
}

/* The NUMA node whose streams have the shelf. */
static uint32_t shelf_node(const struct abti_slab *slab, const struct abti_shelf *shelf)
{
    return slab->num_nodes == 1 ? 0 : (uint32_t)(shelf - slab->shelves) % slab->num_nodes;
}

/* --- Shelves (their lock held) --- */

static void push_magazine(struct abti_magazine **list, struct abti_magazine *magazine)
{
    magazine->objects[0] = *list;
    *list = magazine;
}

static struct abti_magazine *pop_magazine(struct abti_magazine **list)
{
    struct abti_magazine *magazine = *list;
    if (magazine)
        *list = magazine->objects[0];
    return magazine;
}

static void push_full(struct abti_shelf *shelf, struct abti_magazine *magazine)
{
    abti_assert(abti_spin_is_mine(&shelf->lock) && magazine->count > 0);
    push_magazine(&shelf->full, magazine);
    /* relaxed: the lock is held, and others take it for a hint */
    abti_store_relaxed(&shelf->num_full, abti_load_relaxed(&shelf->num_full) + 1);
}

static struct abti_magazine *pop_full(struct abti_shelf *shelf)
{
    abti_assert(abti_spin_is_mine(&shelf->lock));
    struct abti_magazine *magazine = pop_magazine(&shelf->full);
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

/* --- The slab (its lock held) --- */

static void push_loose(struct abti_slab *slab, void *object)
{
    abti_assert(abti_spin_is_mine(&slab->lock) && object);
    struct abti_node *node = object;
    node->next = slab->loose;
    slab->loose = node;
    /* relaxed: the lock is held, and others take it for a hint */
    abti_store_relaxed(&slab->num_loose, abti_load_relaxed(&slab->num_loose) + 1);
}

static void *pop_loose(struct abti_slab *slab)
{
    abti_assert(abti_spin_is_mine(&slab->lock));
    struct abti_node *node = slab->loose;
    if (!node)
        return NULL;
    slab->loose = node->next;
    size_t num = abti_load_relaxed(&slab->num_loose) - 1; /* relaxed, as below: as in push_loose */
    abti_store_relaxed(&slab->num_loose, num);
    if (num < slab->low_loose)
        slab->low_loose = num;
    return node;
}

/* Gives the cache a run of cells. False when there is no memory. */
static bool take_run(struct abti_slab *slab, struct abti_cache *cache)
{
    struct abti_run run;
    abti_assert(abti_spin_is_mine(&slab->lock));
    if (!abti_arena_take(&slab->cells, slab->spec.run, shelf_node(slab, cache->shelf), &run))
        return false;
    cache->run = run.num;
    cache->next = (struct abti_new_cell){run.cell, run.size, slab->made, run.origin};
    slab->made += run.num;
    return true;
}

/* --- The depot (no lock held) --- */

/* Whether the objects are in huge pages, of which the system does not take back a part. */
static bool in_huge_pages(const struct abti_slab *slab)
{
    return slab->spec.arena.huge && abti_chunk_policy() > ABTI_LP_MMAP_RP;
}

/*
 * The shelf that is the i-th to be looked at by those who have `own`, those of its node first; NULL behind the last
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
static bool is_crowded(struct abti_slab *slab)
{
    if (in_huge_pages(slab) || slab->spec.kept == 0)
        return false;
    /* relaxed: as said above */
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
    /* relaxed, all: they are hints, as in is_crowded */
    size_t num = (size_t)abti_load_relaxed(&shelf->num_full) * slab->spec.batch + abti_load_relaxed(&slab->num_loose);
    return num * abti_load_relaxed(&slab->num_shelves) > slab->spec.kept && is_crowded(slab);
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
    struct abti_magazine *magazine = pop_magazine(&shelf->empty);
    abti_spin_unlock(&shelf->lock);
    return magazine;
}

/* Takes an empty magazine, from the shelf if that has one. Returns NULL when there is no memory. */
static struct abti_magazine *get_empty(struct abti_slab *slab, struct abti_shelf *own)
{
    struct abti_magazine *magazine = pop_empty(own);
    if (!magazine)
        magazine = make_magazine(slab, shelf_node(slab, own));
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

/*
 * Whether those who have `own` are to leave alone what is on another shelf. relaxed: it may change meanwhile in any
 * case
 */
static bool needs_all(const struct abti_slab *slab, struct abti_shelf *shelf, const struct abti_shelf *own)
{
    bool is_near = shelf_node(slab, shelf) == shelf_node(slab, own);
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

/* A cache that has used the shelf goes. Others that have the same learn again what they need. relaxed: as in push_full
 */
static void need_none(struct abti_shelf *shelf)
{
    abti_spin_lock(&shelf->lock);
    shelf->taken = 0;
    abti_store_relaxed(&shelf->needed, 0);
    abti_spin_unlock(&shelf->lock);
}

/*
 * Takes a full magazine from the shelf, or else from the next one that has some, and leaves one of the list of empty
 * ones there. Others are left what they need, unless there is no memory for more (`any`). Returns NULL when there is
 * none.
 */
static struct abti_magazine *get_full(struct abti_slab *slab, struct abti_shelf *own, struct abti_magazine **empty,
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
        struct abti_magazine *left = full ? pop_magazine(empty) : NULL;
        if (left)
            push_magazine(&shelf->empty, left);
        abti_spin_unlock(&shelf->lock);
    }
    if (!full && needy)
        need_less(needy);
    return full;
}

/* --- Caches --- */

static unsigned magazine_count(const struct abti_cache *cache)
{
    return (unsigned)(cache->top - cache->magazine->objects);
}

/* Lets the cache fill and empty this magazine from now on. */
static void use_magazine(struct abti_cache *cache, struct abti_magazine *magazine)
{
    magazine->objects[0] = NULL;
    cache->magazine = magazine;
    cache->top = magazine->objects + magazine->count;
    cache->end = magazine->objects + cache->slab->spec.batch;
    cache->quick_end = cache->closed ? NULL : cache->end;
}

void abti_cache_close(struct abti_cache *cache, bool closed)
{
    cache->closed = closed;
    cache->quick_end = closed ? NULL : cache->end;
}

/* Puts a magazine, which need not be full and whose count is right, on the shelf. */
static void depot_put(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *magazine)
{
    abti_assert(magazine->count <= slab->spec.batch);
    abti_spin_lock(&shelf->lock);
    if (magazine->count > 0) {
        push_full(shelf, magazine);
        learn_put(shelf);
    } else {
        push_magazine(&shelf->empty, magazine);
    }
    abti_spin_unlock(&shelf->lock);
    if (ABTI_UNLIKELY(becomes_crowded(slab, shelf)))
        slab->spec.crowded();
}

/* The node that the calling thread is in, as the slab numbers them. */
static uint32_t node_here(const struct abti_slab *slab)
{
    return abti_nodes_here() % slab->num_nodes;
}

/*
 * Gives a cache the first of the node's shelves that the fewest have, so that those who come and go have the same. Each
 * node has as many shelves in use as the one that needs most.
 */
static struct abti_shelf *join_shelf(struct abti_slab *slab, uint32_t node)
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

static void leave_shelf(struct abti_slab *slab, struct abti_shelf *shelf)
{
    abti_spin_lock(&slab->lock);
    abti_assert(shelf->num_caches > 0);
    shelf->num_caches--;
    abti_spin_unlock(&slab->lock);
}

static void exchange_shelf(struct abti_cache *cache, uint32_t node)
{
    need_none(cache->shelf);
    leave_shelf(cache->slab, cache->shelf);
    cache->shelf = join_shelf(cache->slab, node);
}

/*
 * Sees to it that the cache has a shelf of the node in which its thread is now. Another thread may have made it, and
 * the system, or the user, may have moved this one.
 */
static void follow_thread(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    if (ABTI_LIKELY(slab->num_nodes == 1))
        return;
    uint32_t node = node_here(slab);
    if (node != shelf_node(slab, cache->shelf))
        exchange_shelf(cache, node);
}

int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab)
{
    *cache = (struct abti_cache){.slab = slab, .shelf = join_shelf(slab, node_here(slab))};
    struct abti_magazine *magazine = get_empty(slab, cache->shelf);
    if (!magazine) {
        leave_shelf(slab, cache->shelf);
        return -ENOMEM;
    }
    use_magazine(cache, magazine);
    return 0;
}

static void keep_full(struct abti_cache *cache, struct abti_magazine *magazine)
{
    push_magazine(&cache->full, magazine);
    cache->num_full++;
}

static struct abti_magazine *take_full(struct abti_cache *cache)
{
    struct abti_magazine *magazine = pop_magazine(&cache->full);
    cache->num_full -= magazine != NULL;
    return magazine;
}

/* Replaces the magazine in use, which has become empty, by a full one. */
static void replace_empty(struct abti_cache *cache, struct abti_magazine *full)
{
    cache->magazine->count = 0;
    push_magazine(&cache->empty, cache->magazine);
    use_magazine(cache, full);
}

/*
 * Makes an object of an unused cell. Returns NULL when the run is used up, or nothing can be made of its next cell now.
 */
static void *cache_from_run(struct abti_cache *cache)
{
    const struct abti_slab_spec *spec = &cache->slab->spec;
    if (cache->run == 0)
        return NULL;
    void *object = spec->make ? spec->make(spec, &cache->next) : (void *)cache->next.at;
    if (object) {
        cache->run--;
        cache->next.at += cache->next.size;
        cache->next.index++;
    }
    return object;
}

void abti_cache_fini(struct abti_cache *cache)
{
    /* The rest of the run becomes ordinary objects. It is short, and nothing is lost. */
    for (void *object; (object = cache_from_run(cache)) != NULL;)
        abti_cache_put(cache, object);
    cache->magazine->count = magazine_count(cache);
    depot_put(cache->slab, cache->shelf, cache->magazine);
    for (struct abti_magazine *magazine; (magazine = take_full(cache)) != NULL;)
        depot_put(cache->slab, cache->shelf, magazine);
    for (struct abti_magazine *magazine; (magazine = pop_magazine(&cache->empty)) != NULL;)
        depot_put(cache->slab, cache->shelf, magazine);
    need_none(cache->shelf);
    leave_shelf(cache->slab, cache->shelf);
}

/* Takes a loose object, or a new run if the old one is used up. Returns the object, or NULL when there is no memory. */
static void *refill_from_slab(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    abti_spin_lock(&slab->lock);
    void *object = pop_loose(slab);
    bool got_run = !object && cache->run == 0 && take_run(slab, cache);
    abti_spin_unlock(&slab->lock);
    return got_run ? cache_from_run(cache) : object;
}

/*
 * Takes a loose object, or a full magazine for the empty one, or a new run. If there is no memory for that, somebody
 * may have put a full magazine on a shelf that had been passed by.
 */
static void *refill_from_depot(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    void *object = NULL;
    follow_thread(cache);
    /* relaxed: what comes meanwhile need not be found */
    if (abti_load_relaxed(&slab->num_loose) > 0)
        object = refill_from_slab(cache);
    for (bool again = false; !object; again = true) {
        struct abti_magazine *full = get_full(slab, cache->shelf, &cache->empty, again);
        if (full) {
            replace_empty(cache, full);
            return abti_cache_get_quick(cache);
        }
        if (again)
            return NULL;
        object = refill_from_slab(cache);
    }
    return object;
}

void *abti_cache_refill(struct abti_cache *cache)
{
    abti_assert(magazine_count(cache) == 0);
    struct abti_magazine *full = take_full(cache);
    if (full) {
        replace_empty(cache, full);
        return abti_cache_get_quick(cache);
    }
    void *object = cache_from_run(cache);
    return object ? object : refill_from_depot(cache);
}

/* Links the objects of a magazine together instead (slab's lock held). */
static void push_all_loose(struct abti_slab *slab, struct abti_magazine *magazine)
{
    for (; magazine->count > 0; magazine->count--)
        push_loose(slab, magazine->objects[magazine->count]);
}

void abti_slab_put(struct abti_slab *slab, void *object)
{
    abti_spin_lock(&slab->lock);
    push_loose(slab, object);
    abti_spin_unlock(&slab->lock);
}

void abti_cache_flush(struct abti_cache *cache)
{
    for (void *object; (object = cache_from_run(cache)) != NULL;)
        abti_cache_put(cache, object);
    cache->magazine->count = magazine_count(cache);
    abti_spin_lock(&cache->slab->lock);
    push_all_loose(cache->slab, cache->magazine);
    for (struct abti_magazine *magazine; (magazine = take_full(cache)) != NULL;) {
        push_all_loose(cache->slab, magazine);
        push_magazine(&cache->empty, magazine);
    }
    abti_spin_unlock(&cache->slab->lock);
    use_magazine(cache, cache->magazine);
}

/* Exchanges a full magazine for an empty one. Without memory it returns the same one, emptied. */
static struct abti_magazine *exchange_full(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *full)
{
    abti_spin_lock(&shelf->lock);
    struct abti_magazine *empty = pop_magazine(&shelf->empty);
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
    empty = get_empty(slab, shelf);
    if (empty) {
        depot_put(slab, shelf, full);
        return empty;
    }
    abti_spin_lock(&slab->lock);
    push_all_loose(slab, full);
    abti_spin_unlock(&slab->lock);
    return full;
}

void abti_cache_spill(struct abti_cache *cache)
{
    abti_assert(abti_cache_is_full(cache));
    struct abti_magazine *full = cache->magazine, *empty = NULL;
    full->count = magazine_count(cache);
    bool has_room = cache->num_full < cache->slab->spec.spares;
    if (has_room)
        empty = pop_magazine(&cache->empty);
    if (!empty)
        follow_thread(cache); /* it goes to the depot */
    if (has_room && !empty)
        empty = get_empty(cache->slab, cache->shelf);
    if (!empty) {
        /* The depot gets another one, if there is one, since the objects in this one were used last. */
        struct abti_magazine *other = take_full(cache);
        empty = exchange_full(cache->slab, cache->shelf, other ? other : full);
        full = other ? full : NULL;
    }
    if (full)
        keep_full(cache, full);
    use_magazine(cache, empty);
}

/* --- Giving back --- */

void abti_slab_count_chunks(struct abti_slab *slab, size_t counts[ABTI_CHUNK_ORIGINS])
{
    abti_spin_lock(&slab->lock);
    for (size_t i = 0; i < slab->cells.num_extents; i++)
        counts[slab->cells.extents[i]->chunk.origin]++;
    abti_spin_unlock(&slab->lock);
}

char *abti_slab_word_after(struct abti_slab *slab, const char *after, uint64_t *used)
{
    abti_spin_lock(&slab->lock);
    char *word = abti_arena_word_after(&slab->cells, after, used);
    abti_spin_unlock(&slab->lock);
    return word;
}

bool abti_slab_has(struct abti_slab *slab, const void *object)
{
    abti_spin_lock(&slab->lock);
    bool has = abti_arena_has(&slab->cells, object);
    abti_spin_unlock(&slab->lock);
    return has;
}

bool abti_slab_is_crowded(struct abti_slab *slab)
{
    return is_crowded(slab);
}

bool abti_slab_look(struct abti_slab *slab)
{
    bool may_go = !in_huge_pages(slab);
    struct abti_shelf *shelf;
    for (uint32_t i = 0; (shelf = shelf_after(slab, slab->shelves, i)) != NULL; i++) {
        abti_spin_lock(&shelf->lock);
        shelf->idle_full = may_go ? shelf->low_full : 0;
        shelf->low_full = abti_load_relaxed(&shelf->num_full); /* relaxed, as below: the lock is held */
        abti_spin_unlock(&shelf->lock);
    }
    abti_spin_lock(&slab->lock);
    slab->idle_loose = may_go ? slab->low_loose : 0;
    slab->low_loose = abti_load_relaxed(&slab->num_loose);
    abti_spin_unlock(&slab->lock);
    return is_crowded(slab);
}

/* Returns `num` cells, which their users have given up. The lock is held for few at a time. */
static void return_cells(struct abti_slab *slab, void **objects, unsigned num)
{
    enum { AT_ONCE = 16 };
    char *words[AT_ONCE];
    for (unsigned done = 0; done < num;) {
        unsigned num_words = 0, end = num - done < AT_ONCE ? num : done + AT_ONCE;
        abti_spin_lock(&slab->lock);
        while (done < end) {
            char *word = abti_arena_return(&slab->cells, objects[done++]);
            if (word)
                words[num_words++] = word;
        }
        abti_spin_unlock(&slab->lock);
        for (unsigned i = 0; i < num_words; i++) {
            slab->spec.release(words[i]);
            abti_spin_lock(&slab->lock);
            abti_arena_reopen(&slab->cells, words[i]);
            abti_spin_unlock(&slab->lock);
        }
    }
}

static void slab_retire(struct abti_slab *slab, void **objects, unsigned num)
{
    for (unsigned i = 0; slab->spec.retire && i < num; i++)
        slab->spec.retire(objects[i]);
    return_cells(slab, objects, num);
}

static void give_magazine_back(struct abti_slab *slab, struct abti_magazine *magazine)
{
    abti_spin_lock(&slab->lock);
    char *word = abti_arena_return(&slab->magazines, magazine);
    abti_spin_unlock(&slab->lock);
    if (!word)
        return;
    abti_vm_release(word, slab->magazines.spec.cell * ABTI_ARENA_WORD);
    abti_spin_lock(&slab->lock);
    abti_arena_reopen(&slab->magazines, word);
    abti_spin_unlock(&slab->lock);
}

/* Takes a full magazine that is to be given back. NULL: there is none. */
static struct abti_magazine *take_idle_full(struct abti_slab *slab)
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

static void *take_idle_loose(struct abti_slab *slab)
{
    void *object = NULL;
    abti_spin_lock(&slab->lock);
    if (slab->idle_loose > 0) {
        slab->idle_loose--;
        object = pop_loose(slab);
    }
    abti_spin_unlock(&slab->lock);
    return object;
}

bool abti_slab_give_back(struct abti_slab *slab)
{
    struct abti_magazine *magazine = take_idle_full(slab);
    void *object = magazine ? NULL : take_idle_loose(slab);
    if (magazine) {
        slab_retire(slab, magazine->objects + 1, magazine->count);
        give_magazine_back(slab, magazine);
    } else if (object) {
        slab_retire(slab, &object, 1);
    }
    return magazine || object;
}
