/*
 * Equal objects, allocated on one thread and freed on another, at the cost of an array access.
 *
 *   abti_slab      one per kind of object: regions of memory and the depot of magazines (guarded by its lock)
 *   abti_region    a chunk of memory and which of its slots are nobody's
 *   abti_cache     one per execution stream: two magazines and a run of never used memory (private)
 *   abti_magazine  an array of free objects
 *
 * A cache gives the depot full magazines and takes full ones for empty ones, so that objects made here and freed there
 * come back at 1/batch of the lock's cost, and the work of a refill is bounded. Memory never used before is handed out
 * in address order without being touched. Arrays, rather than lists through the objects, make allocations independent
 * of one another: a list's head is known only when the object before it has been loaded.
 */
#ifndef ABTI_MEM_SLAB_H
#define ABTI_MEM_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "mem/chunk.h"
#include "os/spin.h"

/* A free object without a magazine: there was no memory for one, and a put cannot fail, or others want it at once. */
struct abti_node {
    struct abti_node *next;
};

struct abti_magazine {
    struct abti_magazine *next; /* in the depot */
    unsigned count;
    void *objects[]; /* count of batch are in use */
};

/* What a slab of some kind of object differs in. Constant after abti_slab_init. */
struct abti_slab_spec {
    size_t slot;    /* bytes from one object to the next */
    size_t block;   /* a chunk consists of blocks of so many bytes */
    size_t span;    /* bytes of a block that hold slots, from its start */
    size_t chunk;   /* bytes asked for at a time: at least a block */
    bool huge;      /* huge pages will do */
    unsigned run;   /* slots handed to a cache at a time, at most */
    unsigned batch; /* objects in a magazine */
    /* Obtains a chunk; false when there is no memory. */
    bool (*map)(struct abti_chunk *chunk, size_t size, bool huge);
    /*
     * Makes an object of a slot that was never used, the index-th of the slab; NULL: not now, it is tried again. No
     * function: the object is the slot.
     */
    void *(*make)(const struct abti_slab_spec *spec, char *slot, size_t index, enum abti_chunk_source source);
    void (*unmake)(void *object); /* called for the free objects when the slab goes; NULL: nothing is to be done */
    size_t payload;               /* for make: how many bytes of a slot the user may count on */
};

struct abti_region {
    struct abti_chunk chunk;
    struct abti_region *next_open; /* slab's lock: the next one with unused slots */
    size_t num_slots;
    size_t num_unused; /* slab's lock */
    size_t first_word; /* slab's lock: no bit is set before this word */
    uint64_t unused[]; /* slab's lock: a bit for each slot that is in no cache, no magazine and not in use */
};

struct abti_slab {
    struct abti_slab_spec spec;
    struct abti_spin lock;
    struct abti_magazine *full, *empty; /* lock: the depot */
    struct abti_node *loose;            /* lock: objects without a magazine */
    struct abti_region **regions;       /* lock: all of them */
    size_t num_regions, room;           /* lock: how many there are, and may be without a larger array */
    struct abti_region *open;           /* lock: those with unused slots */
    size_t made;                        /* lock: slots handed out so far */
};

struct abti_cache {
    struct abti_magazine *magazine; /* being filled and emptied */
    struct abti_magazine *spare;    /* full or empty */
    unsigned batch;                 /* of the slab's spec */
    char *run, *run_end;            /* slots never used */
    size_t run_index;               /* index of the slot at run */
    enum abti_chunk_source source;  /* of the run */
    struct abti_slab *slab;
};

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec);
/* Unmaps everything; no object may be in use. */
void abti_slab_fini(struct abti_slab *slab);

/* Adds to the counts of chunks by what they are made of. */
void abti_slab_count_chunks(struct abti_slab *slab, size_t counts[ABTI_CHUNK_SOURCES]);

/* Frees an object without a cache; needs no memory. */
void abti_slab_put(struct abti_slab *slab, void *object);

/* 0 or -ENOMEM, with nothing to undo. */
int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab) ABTI_MUST_CHECK;
/* Gives everything back to the slab. */
void abti_cache_fini(struct abti_cache *cache);

/* All that is free goes to the depot, for others to take; needs no memory. Nobody may stand on one of the objects. */
void abti_cache_flush(struct abti_cache *cache);

/* The slow halves of get and put: an empty magazine, a full one. */
void *abti_cache_refill(struct abti_cache *cache);
void abti_cache_spill(struct abti_cache *cache);

ABTI_INLINE bool abti_cache_is_empty(const struct abti_cache *cache)
{
    return cache->magazine->count == 0;
}

/* A get from a cache that is not empty. */
ABTI_INLINE void *abti_cache_get_quick(struct abti_cache *cache)
{
    struct abti_magazine *magazine = cache->magazine;
    return magazine->objects[--magazine->count];
}

/* NULL when there is no memory. */
ABTI_INLINE void *abti_cache_get(struct abti_cache *cache)
{
    if (ABTI_UNLIKELY(abti_cache_is_empty(cache)))
        return abti_cache_refill(cache);
    return abti_cache_get_quick(cache);
}

ABTI_INLINE bool abti_cache_is_full(const struct abti_cache *cache)
{
    return cache->magazine->count == cache->batch;
}

/* A put into a cache that is not full. */
ABTI_INLINE void abti_cache_put_quick(struct abti_cache *cache, void *object)
{
    struct abti_magazine *magazine = cache->magazine;
    magazine->objects[magazine->count++] = object;
}

/*
 * The object may be the stack the caller runs on: a put never lets the object itself leave the cache, only those that
 * were there before.
 */
ABTI_INLINE void abti_cache_put(struct abti_cache *cache, void *object)
{
    if (ABTI_UNLIKELY(abti_cache_is_full(cache)))
        abti_cache_spill(cache);
    abti_cache_put_quick(cache, object);
}

#endif
