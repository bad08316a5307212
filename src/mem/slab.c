#include "mem/slab.h"

#include <stdlib.h>
#include "os/vm.h"

/* Kept outside the chunk: most chunks are never touched as a whole. */
struct abti_chunk {
    struct abti_chunk *next;
    void *base;
};

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec)
{
    *slab = (struct abti_slab){.spec = *spec};
}

void abti_slab_fini(struct abti_slab *slab)
{
    while (slab->chunks) {
        struct abti_chunk *chunk = slab->chunks;
        slab->chunks = chunk->next;
        abti_vm_unmap(chunk->base, slab->spec.chunk);
        free(chunk);
    }
}

void abti_cache_init(struct abti_cache *cache, struct abti_slab *slab)
{
    *cache = (struct abti_cache){.batch = slab->spec.batch, .slab = slab};
}

/* Links a list of objects into the depot. */
static void depot_put(struct abti_slab *slab, struct abti_node *batch, unsigned count)
{
    batch->count = count;
    abti_spin_lock(&slab->lock);
    batch->next_batch = slab->depot;
    slab->depot = batch;
    abti_spin_unlock(&slab->lock);
}

/* An unused slot, or NULL when the run is used up. */
static void *cache_from_run(struct abti_cache *cache)
{
    const struct abti_slab_spec *spec = &cache->slab->spec;
    if (cache->run == cache->run_end)
        return NULL;
    char *slot = cache->run;
    cache->run += spec->slot;
    return spec->make ? spec->make(spec, slot, cache->run_index++) : (void *)slot;
}

void abti_cache_fini(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    /* The rest of the run becomes ordinary objects: it is short, and nothing is lost. */
    for (void *object; (object = cache_from_run(cache)) != NULL;)
        abti_cache_put(cache, object);
    if (cache->list)
        depot_put(slab, cache->list, cache->count);
    if (cache->spare)
        depot_put(slab, cache->spare, slab->spec.batch);
    abti_cache_init(cache, slab);
}

/* Gives the cache a run of unused slots; false when there is no memory. */
static bool slab_take_run(struct abti_slab *slab, struct abti_cache *cache)
{
    const struct abti_slab_spec *spec = &slab->spec;
    if (slab->cursor == slab->end) {
        struct abti_chunk *chunk = malloc(sizeof(*chunk));
        if (!chunk)
            return false;
        chunk->base = spec->map(spec->chunk);
        if (!chunk->base) {
            free(chunk);
            return false;
        }
        chunk->next = slab->chunks;
        slab->chunks = chunk;
        slab->cursor = chunk->base;
        slab->end = slab->cursor + spec->span / spec->slot * spec->slot;
    }
    size_t want = spec->run * spec->slot, have = (size_t)(slab->end - slab->cursor);
    size_t bytes = want < have ? want : have;
    cache->run = slab->cursor;
    cache->run_end = slab->cursor + bytes;
    cache->run_index = slab->made;
    slab->cursor += bytes;
    slab->made += bytes / spec->slot;
    return true;
}

void *abti_cache_refill(struct abti_cache *cache)
{
    struct abti_slab *slab = cache->slab;
    if (cache->spare) {
        cache->list = cache->spare;
        cache->count = slab->spec.batch;
        cache->spare = NULL;
        return abti_cache_get(cache);
    }
    void *object = cache_from_run(cache);
    if (ABTI_LIKELY(object != NULL))
        return object;

    abti_spin_lock(&slab->lock);
    struct abti_node *batch = slab->depot;
    if (batch)
        slab->depot = batch->next_batch;
    else if (!slab_take_run(slab, cache)) {
        abti_spin_unlock(&slab->lock);
        return NULL;
    }
    abti_spin_unlock(&slab->lock);
    if (!batch)
        return cache_from_run(cache);
    cache->list = batch;
    cache->count = batch->count;
    return abti_cache_get(cache);
}

void abti_cache_spill(struct abti_cache *cache)
{
    if (cache->spare)
        depot_put(cache->slab, cache->spare, cache->count);
    cache->spare = cache->list;
    cache->list = NULL;
    cache->count = 0;
}
