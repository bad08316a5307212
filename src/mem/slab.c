/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/slab.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/round.h"
#include "mem/depot.h"
#include "os/annotate.h"
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

/* --- The slab (its lock held) --- */

static void push_loose(struct abti_slab *slab, void *object)
{
    abti_assert(abti_spin_is_mine(&slab->lock) && object);
    struct abti_node *node = object;
    node->next = slab->loose;
    slab->loose = node;
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

/* Gives the cache a run of cells. They grow, since the lock is everybody's. False when there is no memory. */
static bool take_run(struct abti_slab *slab, struct abti_cache *cache)
{
    enum { GROWTH = 4, MOST_RUNS = 16 };
    struct abti_run run;
    abti_assert(abti_spin_is_mine(&slab->lock));
    if (!abti_arena_take(&slab->cells, cache->piece, abti_shelf_node(slab, cache->shelf), &run))
        return false;
    size_t made = abti_load_relaxed(&slab->made); /* relaxed, both: the lock is held; for others it is a hint */
    cache->run = run.num;
    cache->next = (struct abti_new_cell){run.cell, run.size, made, run.origin};
    abti_store_relaxed(&slab->made, made + run.num);
    if (cache->piece < MOST_RUNS * slab->spec.run)
        cache->piece *= GROWTH;
    return true;
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

/* The node that the calling thread is in, as the slab numbers them. */
static uint32_t node_here(const struct abti_slab *slab)
{
    return abti_nodes_here() % slab->num_nodes;
}

/* Gives back what was never used. */
static void return_runs(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    abti_spin_lock(&slab->lock);
    abti_arena_reopen(&slab->cells, cache->next.at, cache->run);
    abti_arena_reopen(&slab->magazines, cache->magazines.cell, cache->magazines.num);
    abti_store_relaxed(&slab->made, abti_load_relaxed(&slab->made) - cache->run); /* relaxed, both: as in take_run */
    abti_spin_unlock(&slab->lock);
    cache->run = cache->magazines.num = 0;
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
    if (node != abti_shelf_node(slab, cache->shelf)) {
        return_runs(cache);
        abti_depot_leave(slab, cache->shelf);
        cache->shelf = abti_depot_join(slab, node);
    }
}

int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab)
{
    *cache =
        (struct abti_cache){.slab = slab, .piece = slab->spec.run, .shelf = abti_depot_join(slab, node_here(slab))};
    struct abti_magazine *magazine = abti_depot_get_empty(cache);
    if (!magazine) {
        abti_depot_leave(slab, cache->shelf);
        return -ENOMEM;
    }
    use_magazine(cache, magazine);
    return 0;
}

static struct abti_magazine *take_full(struct abti_cache *cache)
{
    struct abti_magazine *magazine = abti_magazine_pop(&cache->full);
    cache->num_full -= magazine != NULL;
    return magazine;
}

/* Replaces the magazine in use, which has become empty, by a full one. Returns an object of that. */
static void *replace_empty(struct abti_cache *cache, struct abti_magazine *full)
{
    cache->magazine->count = 0;
    abti_magazine_push(&cache->empty, cache->magazine);
    use_magazine(cache, full);
    return abti_cache_pop(cache);
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

static void put_all(struct abti_cache *cache, struct abti_magazine **list)
{
    for (struct abti_magazine *magazine; (magazine = abti_magazine_pop(list)) != NULL;)
        abti_depot_put(cache->slab, cache->shelf, magazine);
}

void abti_cache_fini(struct abti_cache *cache)
{
    cache->magazine->count = magazine_count(cache);
    abti_depot_put(cache->slab, cache->shelf, cache->magazine);
    put_all(cache, &cache->full);
    put_all(cache, &cache->empty);
    return_runs(cache);
    abti_depot_leave(cache->slab, cache->shelf);
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
        struct abti_magazine *full = abti_depot_get_full(cache, again);
        if (full)
            return replace_empty(cache, full);
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
    /* Cells that were used come before fresh ones. relaxed: what comes meanwhile need not be found */
    if (!full && abti_load_relaxed(&cache->shelf->num_full) > 0) {
        follow_thread(cache);
        full = abti_depot_take(cache, cache->shelf);
    }
    if (full)
        return replace_empty(cache, full);
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
    return_runs(cache);
    cache->magazine->count = magazine_count(cache);
    abti_spin_lock(&cache->slab->lock);
    push_all_loose(cache->slab, cache->magazine);
    for (struct abti_magazine *magazine; (magazine = take_full(cache)) != NULL;) {
        push_all_loose(cache->slab, magazine);
        abti_magazine_push(&cache->empty, magazine);
    }
    abti_spin_unlock(&cache->slab->lock);
    use_magazine(cache, cache->magazine);
}

/* Exchanges a full magazine for an empty one. Without memory it returns the same one, emptied. */
static struct abti_magazine *exchange_full(struct abti_cache *cache, struct abti_magazine *full)
{
    struct abti_magazine *empty = abti_depot_exchange(cache, full);
    if (ABTI_LIKELY(empty != NULL))
        return empty;
    abti_spin_lock(&cache->slab->lock);
    push_all_loose(cache->slab, full);
    abti_spin_unlock(&cache->slab->lock);
    return full;
}

void abti_cache_spill(struct abti_cache *cache)
{
    abti_assert(abti_cache_is_full(cache));
    struct abti_magazine *full = cache->magazine, *empty = NULL;
    full->count = magazine_count(cache);
    bool has_room = cache->num_full < cache->slab->spec.spares;
    if (has_room)
        empty = abti_magazine_pop(&cache->empty);
    if (!empty)
        follow_thread(cache); /* it goes to the depot */
    if (has_room && !empty)
        empty = abti_depot_get_empty(cache);
    if (!empty) {
        /* The depot gets another one, if there is one, since the objects in this one were used last. */
        struct abti_magazine *other = take_full(cache);
        empty = exchange_full(cache, other ? other : full);
        full = other ? full : NULL;
    }
    if (full) {
        abti_magazine_push(&cache->full, full);
        cache->num_full++;
    }
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

bool abti_slab_look(struct abti_slab *slab)
{
    bool may_go = !abti_slab_in_huge_pages(slab);
    abti_depot_look(slab, may_go);
    abti_spin_lock(&slab->lock);
    slab->idle_loose = may_go ? slab->low_loose : 0;
    slab->low_loose = abti_load_relaxed(&slab->num_loose); /* relaxed: the lock is held */
    abti_spin_unlock(&slab->lock);
    return abti_slab_is_crowded(slab);
}

/* Returns `num` cells, which their users have given up. The lock is held for few at a time. */
static void return_cells(struct abti_slab *slab, void **objects, unsigned num)
{
    enum { AT_ONCE = 16 };
    char *words[AT_ONCE];
    for (unsigned done = 0; done < num;) {
        unsigned num_words = 0, first = done, end = num - done < AT_ONCE ? num : done + AT_ONCE;
        abti_spin_lock(&slab->lock);
        while (done < end) {
            char *word = abti_arena_return(&slab->cells, objects[done++]);
            if (word)
                words[num_words++] = word;
        }
        /* relaxed, both: as in take_run */
        abti_store_relaxed(&slab->made, abti_load_relaxed(&slab->made) - (end - first));
        abti_spin_unlock(&slab->lock);
        for (unsigned i = 0; i < num_words; i++) {
            slab->spec.release(words[i]);
            abti_spin_lock(&slab->lock);
            abti_arena_reopen(&slab->cells, words[i], ABTI_ARENA_WORD);
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
    abti_arena_reopen(&slab->magazines, word, ABTI_ARENA_WORD);
    abti_spin_unlock(&slab->lock);
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
    struct abti_magazine *magazine = abti_depot_take_idle(slab);
    void *object = magazine ? NULL : take_idle_loose(slab);
    if (magazine) {
        slab_retire(slab, magazine->objects + 1, magazine->count);
        give_magazine_back(slab, magazine);
    } else if (object) {
        slab_retire(slab, &object, 1);
    }
    return magazine || object;
}

/* --- Caches that are made when they are first needed --- */

/* Returns the cache, which it makes if need be, or NULL when there is no memory for one. */
static struct abti_cache *lazycache_obtain(struct abti_cache **cache, struct abti_slab *slab)
{
    if (ABTI_LIKELY(*cache != NULL))
        return *cache;
    abti_assert(cache && slab->spec.batch > 0); /* the slab has been made */
    abti_annotate_begin_private();
    struct abti_cache *fresh = malloc(sizeof(*fresh));
    if (fresh && abti_cache_init(fresh, slab)) {
        free(fresh);
        fresh = NULL;
    }
    abti_annotate_end_private();
    *cache = fresh;
    return fresh;
}

void *abti_lazycache_get(struct abti_cache **cache, struct abti_slab *slab)
{
    struct abti_cache *found = lazycache_obtain(cache, slab);
    return found ? abti_cache_get(found) : NULL;
}

void abti_lazycache_put(struct abti_cache **cache, struct abti_slab *slab, void *object)
{
    struct abti_cache *found = lazycache_obtain(cache, slab);
    if (found)
        abti_cache_put(found, object);
    else
        abti_slab_put(slab, object);
}

void abti_lazycache_flush(struct abti_cache *cache)
{
    if (cache)
        abti_cache_flush(cache);
}

void abti_lazycache_fini(struct abti_cache **cache)
{
    abti_annotate_begin_private();
    if (*cache)
        abti_cache_fini(*cache);
    free(*cache);
    abti_annotate_end_private();
    *cache = NULL;
}
