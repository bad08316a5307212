/*
 * Equal objects, allocated on one thread and freed on another, at the cost of a list operation.
 *
 *   abti_slab     one per kind of object: chunks of memory and the depot, a stack of full batches (guarded by its lock)
 *   abti_cache    one per execution stream: up to two batches of free objects and a run of never used memory (private)
 *
 * A free object's first word links it to the next one of its list; the depot uses two more of a batch's first object.
 * A cache gives and takes whole batches, so that objects made here and freed there come back at 1/batch of the lock's cost, and
 * a refill is bounded: it never touches more than one object. Memory never used before is handed out in address order
 * without being touched.
 */
#ifndef ABTI_MEM_SLAB_H
#define ABTI_MEM_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "os/spin.h"

struct abti_node {
    struct abti_node *next;
    struct abti_node *next_batch; /* in the depot: the next batch, */
    size_t count;                 /* and how many objects this one has */
};

/* What a slab of some kind of object differs in. Constant after abti_slab_init. */
struct abti_slab_spec {
    size_t slot;          /* bytes from one object to the next */
    size_t chunk;         /* bytes mapped at a time */
    size_t span;          /* bytes of a chunk that hold slots, from its start */
    unsigned run;         /* slots handed to a cache at a time */
    unsigned batch;       /* objects in a batch */
    void *(*map)(size_t); /* obtains a chunk, NULL when there is no memory */
    /* Makes an object of a slot that was never used, the index-th of the slab; NULL: the object is the slot. */
    struct abti_node *(*make)(const struct abti_slab_spec *spec, char *slot, size_t index);
    size_t payload;       /* for make: how many bytes of a slot the user may count on */
};

struct abti_slab {
    struct abti_slab_spec spec;
    struct abti_spin lock;
    struct abti_node *depot;   /* lock: batches linked by next_batch */
    struct abti_chunk *chunks; /* lock: all chunks, to unmap them */
    char *cursor, *end;        /* lock: unused part of the newest chunk */
    size_t made;               /* lock: slots handed out so far */
};

struct abti_cache {
    struct abti_node *list;  /* being filled and emptied */
    unsigned count;          /* objects in it, */
    unsigned batch;          /* at most so many */
    struct abti_node *spare; /* NULL or one whole batch */
    char *run, *run_end;     /* slots never used */
    size_t run_index;        /* index of the slot at run */
    struct abti_slab *slab;
};

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec);
/* Unmaps everything; no object may be in use. */
void abti_slab_fini(struct abti_slab *slab);

void abti_cache_init(struct abti_cache *cache, struct abti_slab *slab);
/* Gives everything back to the slab. */
void abti_cache_fini(struct abti_cache *cache);

/* The slow halves of get and put: an empty list, a full list. */
void *abti_cache_refill(struct abti_cache *cache);
void abti_cache_spill(struct abti_cache *cache);

/* A get from a list that is not empty. */
ABTI_INLINE void *abti_cache_get_quick(struct abti_cache *cache)
{
    struct abti_node *node = cache->list;
    cache->list = node->next;
    cache->count--;
    return node;
}

/* NULL when there is no memory. */
ABTI_INLINE void *abti_cache_get(struct abti_cache *cache)
{
    if (ABTI_UNLIKELY(!cache->list))
        return abti_cache_refill(cache);
    return abti_cache_get_quick(cache);
}

ABTI_INLINE bool abti_cache_is_full(const struct abti_cache *cache)
{
    return cache->count == cache->batch;
}

/* A put into a cache that is not full. */
ABTI_INLINE void abti_cache_put_quick(struct abti_cache *cache, void *object)
{
    struct abti_node *node = object;
    node->next = cache->list;
    cache->list = node;
    cache->count++;
}

/*
 * The object may be the stack the caller runs on: a put never lets the object itself leave the cache, only the batch
 * that was full before it.
 */
ABTI_INLINE void abti_cache_put(struct abti_cache *cache, void *object)
{
    if (ABTI_UNLIKELY(abti_cache_is_full(cache)))
        abti_cache_spill(cache);
    abti_cache_put_quick(cache, object);
}

#endif
