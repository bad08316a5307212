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
    *slab = (struct abti_slab){.spec = *spec};
    abti_spin_init(&slab->lock, ABTI_RANK_SLAB);
    abti_arena_init(&slab->slots, &spec->arena);
    size_t size = magazine_size(spec->batch), words = MAGAZINE_CHUNK / size / ABTI_ARENA_WORD;
    struct abti_arena_spec magazines = {.slot = size, .words = true, .map = abti_chunk_map};
    magazines.block = magazines.span = size * ABTI_ARENA_WORD;
    magazines.chunk = magazines.block * (words > 0 ? words : 1);
    abti_arena_init(&slab->magazines, &magazines);
}

static void unmake_objects(struct abti_slab *slab)
{
    for (unsigned shelf = 0; shelf < ABTI_SLAB_SHELVES; shelf++) {
        for (struct abti_magazine *magazine = slab->full[shelf]; magazine; magazine = magazine->slots[0]) {
            for (unsigned i = 1; i <= magazine->count; i++)
                slab->spec.unmake(magazine->slots[i]);
        }
    }
    for (struct abti_node *node = slab->loose; node; node = node->next)
        slab->spec.unmake(node);
}

void abti_slab_fini(struct abti_slab *slab)
{
    if (slab->spec.unmake)
        unmake_objects(slab);
    abti_arena_fini(&slab->slots);
    abti_arena_fini(&slab->magazines);
}

/* --- The depot (slab's lock held) --- */

static void push_magazine(struct abti_magazine **list, struct abti_magazine *magazine)
{
    magazine->slots[0] = *list;
    *list = magazine;
}

static struct abti_magazine *pop_magazine(struct abti_magazine **list)
{
    struct abti_magazine *magazine = *list;
    if (magazine)
        *list = magazine->slots[0];
    return magazine;
}

static void push_full(struct abti_slab *slab, unsigned shelf, struct abti_magazine *magazine)
{
    abti_assert(abti_spin_is_mine(&slab->lock) && magazine->count > 0 && magazine->count <= slab->spec.batch);
    push_magazine(&slab->full[shelf], magazine);
    slab->num_full++;
}

/* Pops a full magazine from that shelf, or else from another one. */
static struct abti_magazine *pop_full(struct abti_slab *slab, unsigned shelf)
{
    abti_assert(abti_spin_is_mine(&slab->lock));
    struct abti_magazine *magazine = NULL;
    for (unsigned i = 0; !magazine && i < ABTI_SLAB_SHELVES && slab->num_full > 0; i++)
        magazine = pop_magazine(&slab->full[(shelf + i) % ABTI_SLAB_SHELVES]);
    if (magazine && --slab->num_full < slab->low_full)
        slab->low_full = slab->num_full;
    return magazine;
}

static void push_loose(struct abti_slab *slab, void *object)
{
    abti_assert(abti_spin_is_mine(&slab->lock) && object);
    struct abti_node *node = object;
    node->next = slab->loose;
    slab->loose = node;
    slab->num_loose++;
}

static void *pop_loose(struct abti_slab *slab)
{
    abti_assert(abti_spin_is_mine(&slab->lock));
    struct abti_node *node = slab->loose;
    if (!node)
        return NULL;
    slab->loose = node->next;
    if (--slab->num_loose < slab->low_loose)
        slab->low_loose = slab->num_loose;
    return node;
}

/* Whether the objects lie in huge pages, of which the system does not take back a part. */
static bool in_huge_pages(const struct abti_slab *slab)
{
    return slab->spec.arena.huge && abti_chunk_policy() > ABTI_LP_MMAP_RP;
}

static bool is_crowded(const struct abti_slab *slab)
{
    return !in_huge_pages(slab) && slab->spec.kept > 0 &&
           slab->num_full * slab->spec.batch + slab->num_loose > slab->spec.kept;
}

/* Makes a magazine. Returns NULL when there is no memory. */
static struct abti_magazine *make_magazine(struct abti_slab *slab)
{
    struct abti_run run;
    if (!abti_arena_take(&slab->magazines, 1, &run))
        return NULL;
    struct abti_magazine *magazine = (struct abti_magazine *)run.slot;
    magazine->count = 0;
    return magazine;
}

/* Takes an empty magazine, from the depot if that has one. Returns NULL when there is no memory. */
static struct abti_magazine *empty_magazine(struct abti_slab *slab)
{
    struct abti_magazine *magazine = pop_magazine(&slab->empty);
    return magazine ? magazine : make_magazine(slab);
}

/* --- Caches --- */

static struct abti_magazine *get_empty(struct abti_slab *slab)
{
    abti_spin_lock(&slab->lock);
    struct abti_magazine *empty = empty_magazine(slab);
    abti_spin_unlock(&slab->lock);
    return empty;
}

static unsigned magazine_count(const struct abti_cache *cache)
{
    return (unsigned)(cache->top - cache->magazine->slots);
}

/* Lets the cache fill and empty this magazine from now on. */
static void use_magazine(struct abti_cache *cache, struct abti_magazine *magazine)
{
    magazine->slots[0] = NULL;
    cache->magazine = magazine;
    cache->top = magazine->slots + magazine->count;
    cache->end = magazine->slots + cache->slab->spec.batch;
    cache->quick_end = cache->closed ? NULL : cache->end;
}

void abti_cache_close(struct abti_cache *cache, bool closed)
{
    cache->closed = closed;
    cache->quick_end = closed ? NULL : cache->end;
}

/* Puts a magazine, which need not be full and whose count is right, to the depot. */
static void depot_put(struct abti_slab *slab, unsigned shelf, struct abti_magazine *magazine)
{
    abti_spin_lock(&slab->lock);
    if (magazine->count > 0)
        push_full(slab, shelf, magazine);
    else
        push_magazine(&slab->empty, magazine);
    bool crowded = is_crowded(slab);
    abti_spin_unlock(&slab->lock);
    if (ABTI_UNLIKELY(crowded))
        slab->spec.crowded();
}

int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab)
{
    *cache = (struct abti_cache){.slab = slab};
    abti_spin_lock(&slab->lock);
    struct abti_magazine *magazine = empty_magazine(slab);
    cache->shelf = slab->next_shelf++ % ABTI_SLAB_SHELVES;
    abti_spin_unlock(&slab->lock);
    if (!magazine)
        return -ENOMEM;
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
 * Makes an object of an unused slot. Returns NULL when the run is used up, or nothing can be made of its next slot now.
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
}

/* Gives the cache a run of slots. False when there is no memory. */
static bool slab_take_run(struct abti_slab *slab, struct abti_cache *cache)
{
    struct abti_run run;
    if (!abti_arena_take(&slab->slots, slab->spec.run, &run))
        return false;
    cache->run = run.num;
    cache->next = (struct abti_new_slot){run.slot, run.size, slab->made, run.source};
    slab->made += run.num;
    return true;
}

/*
 * Takes a loose object, or a full magazine for the empty one, or a new run if the old one is used up. Returns the
 * object, or NULL when there is no memory.
 */
static void *refill_from_slab(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    abti_spin_lock(&slab->lock);
    void *object = pop_loose(slab);
    struct abti_magazine *full = object ? NULL : pop_full(slab, cache->shelf);
    bool got_run = false;
    struct abti_magazine *empty = full ? pop_magazine(&cache->empty) : NULL;
    if (empty)
        push_magazine(&slab->empty, empty);
    if (!full && !object && cache->run == 0)
        got_run = slab_take_run(slab, cache);
    abti_spin_unlock(&slab->lock);
    if (full) {
        replace_empty(cache, full);
        return abti_cache_get_quick(cache);
    }
    return got_run ? cache_from_run(cache) : object;
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
    return object ? object : refill_from_slab(cache);
}

/* Links the objects of a magazine together instead (slab's lock held). */
static void push_all_loose(struct abti_slab *slab, struct abti_magazine *magazine)
{
    for (; magazine->count > 0; magazine->count--)
        push_loose(slab, magazine->slots[magazine->count]);
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
static struct abti_magazine *exchange_full(struct abti_slab *slab, unsigned shelf, struct abti_magazine *full)
{
    abti_spin_lock(&slab->lock);
    struct abti_magazine *empty = empty_magazine(slab);
    if (empty)
        push_full(slab, shelf, full);
    else
        push_all_loose(slab, full);
    bool crowded = empty && is_crowded(slab);
    abti_spin_unlock(&slab->lock);
    if (ABTI_UNLIKELY(crowded))
        slab->spec.crowded();
    return empty ? empty : full;
}

void abti_cache_spill(struct abti_cache *cache)
{
    abti_assert(abti_cache_is_full(cache));
    struct abti_magazine *full = cache->magazine, *empty = NULL;
    full->count = magazine_count(cache);
    if (cache->num_full < cache->slab->spec.spares) {
        empty = pop_magazine(&cache->empty);
        if (!empty)
            empty = get_empty(cache->slab);
    }
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

void abti_slab_count_chunks(struct abti_slab *slab, size_t counts[ABTI_CHUNK_SOURCES])
{
    abti_spin_lock(&slab->lock);
    for (size_t i = 0; i < slab->slots.num_regions; i++)
        counts[slab->slots.regions[i]->chunk.source]++;
    abti_spin_unlock(&slab->lock);
}

char *abti_slab_word_after(struct abti_slab *slab, const char *after, uint64_t *used)
{
    abti_spin_lock(&slab->lock);
    char *word = abti_arena_word_after(&slab->slots, after, used);
    abti_spin_unlock(&slab->lock);
    return word;
}

bool abti_slab_has(struct abti_slab *slab, const void *object)
{
    abti_spin_lock(&slab->lock);
    bool has = abti_arena_has(&slab->slots, object);
    abti_spin_unlock(&slab->lock);
    return has;
}

bool abti_slab_is_crowded(struct abti_slab *slab)
{
    abti_spin_lock(&slab->lock);
    bool crowded = is_crowded(slab);
    abti_spin_unlock(&slab->lock);
    return crowded;
}

bool abti_slab_look(struct abti_slab *slab)
{
    abti_spin_lock(&slab->lock);
    bool may_go = !in_huge_pages(slab);
    slab->idle_full = may_go ? slab->low_full : 0;
    slab->idle_loose = may_go ? slab->low_loose : 0;
    slab->low_full = slab->num_full;
    slab->low_loose = slab->num_loose;
    bool crowded = is_crowded(slab);
    abti_spin_unlock(&slab->lock);
    return crowded;
}

/* Returns `num` slots, which their users have given up. The lock is held for few at a time. */
static void return_slots(struct abti_slab *slab, void **objects, unsigned num)
{
    enum { AT_ONCE = 16 };
    char *words[AT_ONCE];
    for (unsigned done = 0; done < num;) {
        unsigned num_words = 0, end = num - done < AT_ONCE ? num : done + AT_ONCE;
        abti_spin_lock(&slab->lock);
        while (done < end) {
            char *word = abti_arena_return(&slab->slots, objects[done++]);
            if (word)
                words[num_words++] = word;
        }
        abti_spin_unlock(&slab->lock);
        for (unsigned i = 0; i < num_words; i++) {
            slab->spec.release(words[i]);
            abti_spin_lock(&slab->lock);
            abti_arena_reopen(&slab->slots, words[i]);
            abti_spin_unlock(&slab->lock);
        }
    }
}

static void slab_retire(struct abti_slab *slab, void **objects, unsigned num)
{
    for (unsigned i = 0; slab->spec.retire && i < num; i++)
        slab->spec.retire(objects[i]);
    return_slots(slab, objects, num);
}

static void give_magazine_back(struct abti_slab *slab, struct abti_magazine *magazine)
{
    abti_spin_lock(&slab->lock);
    char *word = abti_arena_return(&slab->magazines, magazine);
    abti_spin_unlock(&slab->lock);
    if (!word)
        return;
    abti_vm_release(word, slab->magazines.spec.slot * ABTI_ARENA_WORD);
    abti_spin_lock(&slab->lock);
    abti_arena_reopen(&slab->magazines, word);
    abti_spin_unlock(&slab->lock);
}

bool abti_slab_give_back(struct abti_slab *slab)
{
    void *object = NULL;
    struct abti_magazine *magazine = NULL;
    abti_spin_lock(&slab->lock);
    if (slab->idle_full > 0) {
        slab->idle_full--;
        magazine = pop_full(slab, 0);
    } else if (slab->idle_loose > 0) {
        slab->idle_loose--;
        object = pop_loose(slab);
    }
    abti_spin_unlock(&slab->lock);
    if (magazine) {
        slab_retire(slab, magazine->slots + 1, magazine->count);
        give_magazine_back(slab, magazine);
    } else if (object) {
        slab_retire(slab, &object, 1);
    }
    return magazine || object;
}
