#include "mem/slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec)
{
    *slab = (struct abti_slab){.spec = *spec};
}

static void free_magazines(struct abti_magazine *magazine)
{
    while (magazine) {
        struct abti_magazine *next = magazine->next;
        free(magazine);
        magazine = next;
    }
}

static void unmake_objects(struct abti_slab *slab)
{
    for (struct abti_magazine *magazine = slab->full; magazine; magazine = magazine->next) {
        for (unsigned i = 0; i < magazine->count; i++)
            slab->spec.unmake(magazine->objects[i]);
    }
    for (struct abti_node *node = slab->loose; node; node = node->next)
        slab->spec.unmake(node);
}

void abti_slab_fini(struct abti_slab *slab)
{
    if (slab->spec.unmake)
        unmake_objects(slab);
    for (size_t i = 0; i < slab->num_regions; i++) {
        abti_chunk_unmap(&slab->regions[i]->chunk);
        free(slab->regions[i]);
    }
    free(slab->regions);
    free_magazines(slab->full);
    free_magazines(slab->empty);
}

static void push_magazine(struct abti_magazine **list, struct abti_magazine *magazine)
{
    magazine->next = *list;
    *list = magazine;
}

static struct abti_magazine *pop_magazine(struct abti_magazine **list)
{
    struct abti_magazine *magazine = *list;
    if (magazine)
        *list = magazine->next;
    return magazine;
}

/* An empty one, from the depot if that has one; NULL when there is no memory. */
static struct abti_magazine *empty_magazine(struct abti_slab *slab)
{
    abti_spin_lock(&slab->lock);
    struct abti_magazine *magazine = pop_magazine(&slab->empty);
    abti_spin_unlock(&slab->lock);
    if (!magazine) {
        magazine = malloc(sizeof(*magazine) + slab->spec.batch * sizeof(magazine->objects[0]));
        if (magazine)
            magazine->count = 0;
    }
    return magazine;
}

int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab)
{
    *cache = (struct abti_cache){.batch = slab->spec.batch, .slab = slab};
    cache->magazine = empty_magazine(slab);
    cache->spare = empty_magazine(slab);
    if (cache->magazine && cache->spare)
        return 0;
    free(cache->magazine);
    free(cache->spare);
    return -ENOMEM;
}

static void swap_magazines(struct abti_cache *cache)
{
    struct abti_magazine *magazine = cache->magazine;
    cache->magazine = cache->spare;
    cache->spare = magazine;
}

/* An object of an unused slot; NULL when the run is used up, or nothing can be made of its next slot now. */
static void *cache_from_run(struct abti_cache *cache)
{
    const struct abti_slab_spec *spec = &cache->slab->spec;
    if (cache->run == cache->run_end)
        return NULL;
    void *object = spec->make ? spec->make(spec, cache->run, cache->run_index, cache->source) : (void *)cache->run;
    if (object) {
        cache->run += spec->slot;
        cache->run_index++;
    }
    return object;
}

/* A magazine that need not be full comes to the depot. */
static void depot_put(struct abti_slab *slab, struct abti_magazine *magazine)
{
    abti_spin_lock(&slab->lock);
    push_magazine(magazine->count > 0 ? &slab->full : &slab->empty, magazine);
    abti_spin_unlock(&slab->lock);
}

void abti_cache_fini(struct abti_cache *cache)
{
    /* The rest of the run becomes ordinary objects: it is short, and nothing is lost. */
    for (void *object; (object = cache_from_run(cache)) != NULL;)
        abti_cache_put(cache, object);
    depot_put(cache->slab, cache->magazine);
    depot_put(cache->slab, cache->spare);
}

/* --- Regions (slab's lock held) --- */

enum { WORD = 64 }; /* slots in a word of a region's bits */

static size_t words_of(size_t slots)
{
    return (slots + WORD - 1) / WORD;
}

static bool make_room(struct abti_slab *slab)
{
    if (slab->num_regions < slab->room)
        return true;
    size_t room = slab->room ? 2 * slab->room : 4;
    struct abti_region **regions = realloc(slab->regions, room * sizeof(*regions));
    if (!regions)
        return false;
    slab->regions = regions;
    slab->room = room;
    return true;
}

/* A region over a new chunk, all of its slots unused; NULL when there is no memory. */
static struct abti_region *region_create(const struct abti_slab_spec *spec)
{
    struct abti_chunk chunk;
    if (!spec->map(&chunk, spec->chunk, spec->huge))
        return NULL;
    size_t slots = chunk.size / spec->block * (spec->span / spec->slot), words = words_of(slots);
    struct abti_region *region = malloc(sizeof(*region) + words * sizeof(region->unused[0]));
    if (!region) {
        abti_chunk_unmap(&chunk);
        return NULL;
    }
    *region = (struct abti_region){.chunk = chunk, .num_slots = slots, .num_unused = slots};
    memset(region->unused, 0xff, words * sizeof(region->unused[0]));
    if (slots % WORD)
        region->unused[words - 1] = (UINT64_C(1) << slots % WORD) - 1;
    return region;
}

static bool slab_grow(struct abti_slab *slab)
{
    struct abti_region *region = make_room(slab) ? region_create(&slab->spec) : NULL;
    if (!region)
        return false;
    slab->regions[slab->num_regions++] = region;
    region->next_open = slab->open;
    slab->open = region;
    return true;
}

static char *slot_address(const struct abti_slab_spec *spec, const struct abti_region *region, size_t slot)
{
    size_t per_block = spec->span / spec->slot;
    return (char *)region->chunk.base + slot / per_block * spec->block + slot % per_block * spec->slot;
}

/* How many bits are set from the lowest one, whose number is *first; at most `most`. They are cleared. */
static unsigned take_bits(uint64_t *word, unsigned most, unsigned *first)
{
    unsigned num = 0;
    *first = (unsigned)__builtin_ctzll(*word);
    while (num<most && * first + num<WORD && * word>>(*first + num) & 1)
        *word &= ~(UINT64_C(1) << (*first + num++));
    return num;
}

/* Gives the cache a run of unused slots; false when there is no memory. A run does not leave its word nor its block. */
static bool slab_take_run(struct abti_slab *slab, struct abti_cache *cache)
{
    const struct abti_slab_spec *spec = &slab->spec;
    if (!slab->open && !slab_grow(slab))
        return false;
    struct abti_region *region = slab->open;
    while (region->unused[region->first_word] == 0)
        region->first_word++;
    unsigned first, num = take_bits(&region->unused[region->first_word], spec->run, &first);
    region->num_unused -= num;
    if (region->num_unused == 0)
        slab->open = region->next_open;
    cache->run = slot_address(spec, region, region->first_word * WORD + first);
    cache->run_end = cache->run + num * spec->slot;
    cache->run_index = slab->made;
    cache->source = region->chunk.source;
    slab->made += num;
    return true;
}

void abti_slab_count_chunks(struct abti_slab *slab, size_t counts[ABTI_CHUNK_SOURCES])
{
    abti_spin_lock(&slab->lock);
    for (size_t i = 0; i < slab->num_regions; i++)
        counts[slab->regions[i]->chunk.source]++;
    abti_spin_unlock(&slab->lock);
}

/* --- Caches --- */

/*
 * A loose object, or a full magazine for the empty one, or a new run if the old one is used up. The object, or NULL
 * when there is no memory.
 */
static void *refill_from_slab(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    abti_spin_lock(&slab->lock);
    void *object = slab->loose;
    struct abti_magazine *full = NULL;
    bool got_run = false;
    if (object)
        slab->loose = slab->loose->next;
    else if ((full = pop_magazine(&slab->full)) != NULL)
        push_magazine(&slab->empty, cache->magazine);
    else if (cache->run == cache->run_end)
        got_run = slab_take_run(slab, cache);
    abti_spin_unlock(&slab->lock);
    if (full) {
        cache->magazine = full;
        return abti_cache_get_quick(cache);
    }
    return got_run ? cache_from_run(cache) : object;
}

void *abti_cache_refill(struct abti_cache *cache)
{
    if (cache->spare->count > 0) {
        swap_magazines(cache);
        return abti_cache_get_quick(cache);
    }
    void *object = cache_from_run(cache);
    return object ? object : refill_from_slab(cache);
}

/* Without memory for another magazine: what is in this one is linked together instead. */
static void spill_loose(struct abti_slab *slab, struct abti_magazine *magazine)
{
    abti_spin_lock(&slab->lock);
    while (magazine->count > 0) {
        struct abti_node *node = magazine->objects[--magazine->count];
        node->next = slab->loose;
        slab->loose = node;
    }
    abti_spin_unlock(&slab->lock);
}

void abti_slab_put(struct abti_slab *slab, void *object)
{
    struct abti_node *node = object;
    abti_spin_lock(&slab->lock);
    node->next = slab->loose;
    slab->loose = node;
    abti_spin_unlock(&slab->lock);
}

void abti_cache_flush(struct abti_cache *cache)
{
    for (void *object; (object = cache_from_run(cache)) != NULL;)
        abti_cache_put(cache, object);
    spill_loose(cache->slab, cache->magazine);
    spill_loose(cache->slab, cache->spare);
}

void abti_cache_spill(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    swap_magazines(cache);
    if (cache->magazine->count == 0)
        return;
    struct abti_magazine *empty = empty_magazine(slab);
    if (!empty) {
        spill_loose(slab, cache->magazine);
        return;
    }
    depot_put(slab, cache->magazine);
    cache->magazine = empty;
}
