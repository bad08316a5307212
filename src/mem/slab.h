/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equal objects, allocated on one thread and freed on another, at the cost of an array access.
 *
 *   abti_slab      one per kind of object: its cells, and the depot, shelves of magazines
 *   abti_shelf     one for each few caches: full and empty magazines (guarded by its lock)
 *   abti_cache     one per execution stream: some magazines and a run of never used memory (private)
 *   abti_magazine  an array of free objects
 *
 * A cache gives its shelf full magazines and takes full ones for empty ones, so that objects made here and freed there
 * come back at 1/batch of the lock's cost, and the work of a refill is bounded. It keeps some full ones itself, and
 * what it has given its shelf it finds there: of the first ABTI_SLAB_SHELVES streams none writes a line of another's
 * for what it makes and frees itself. A cache whose shelf has nothing takes new memory, in pieces that grow. If more
 * than half of all objects are free on other shelves it takes from the next one that has some, and leaves an empty
 * magazine there, so that empty ones do not gather where objects are only made. With several NUMA nodes each has
 * shelves and chunks of its own: a cache has a shelf of the node in which its stream is, takes from the others there
 * first, and leaves some to those of other nodes. Memory never used before is handed out in address order without being
 * touched. Arrays, rather than lists through the objects, make allocations independent of one another: a list's head is
 * known only when the object before it has been loaded.
 *
 * Giving back: an object that has lain in the depot for some time is taken out of its magazine. It becomes a cell
 * again, which has no memory.
 */
#ifndef ABTI_MEM_SLAB_H
#define ABTI_MEM_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "lock/spin.h"
#include "mem/arena.h"

/*
 * A free object without a magazine: there was no memory for one when it was put, which cannot fail, or others want the
 * object at once.
 */
struct abti_node {
    struct abti_node *next;
};

struct abti_magazine {
    unsigned count;  /* how many objects it has, at most batch; stale in the magazine in use, see `top` */
    void *objects[]; /* [0], below the objects: NULL in the magazine in use, else the next magazine */
};

/* A cell of which an object is to be made. */
struct abti_new_cell {
    char *at;
    size_t size;  /* of the cell: what the arena's spec says, or lean */
    size_t index; /* it is the index-th that is handed out */
    enum abti_chunk_origin origin;
};

struct abti_slab;

/* The properties of a kind of object. They are constant after abti_slab_init. */
struct abti_slab_spec {
    struct abti_arena_spec arena; /* where its cells are */
    unsigned run;                 /* cells handed to a cache at first; later it gets more at a time */
    unsigned batch;               /* objects in a magazine */
    unsigned spares;              /* full magazines that a cache keeps besides the one in use, at most; not 0 */
    /*
     * Makes an object of a free cell. It returns NULL if that is not possible now; then it is tried again. Without this
     * function the object is the cell.
     */
    void *(*make)(const struct abti_slab_spec *spec, const struct abti_new_cell *cell);
    void (*unmake)(void *object); /* is called for the free objects when the slab goes; NULL: nothing is to be done */
    /*
     * Is called for an object that is to be a cell again, whose memory may go, without the slab's lock. NULL: nothing
     * is to be done.
     */
    void (*retire)(void *object);
    void (*release)(char *word); /* gives the memory of an arena's word of cells back; with arena.words */
    size_t payload;              /* for make: how many bytes of a cell the user may count on */
    size_t guard;                /* for make: how many bytes of it are for a guard, unless it is lean */
    size_t kept;                 /* more free objects than that in the depot are too many; 0: never */
    /* A thread that frees something calls it, without the lock, when the slab may be crowded. NULL: nothing is to be
       done. */
    void (*crowded)(struct abti_slab *slab);
};

/* Says that more than `kept` free objects in the depot, and more than one, are too many, and what is called then. */
ABTI_INLINE void abti_slab_spec_watch(struct abti_slab_spec *spec, size_t kept, void (*crowded)(struct abti_slab *))
{
    spec->kept = kept > 0 ? kept : 1;
    spec->crowded = crowded;
}

/* With 32 of them, creations of 64 streams moved 0.18 lines each in place of 0.05, in the simulator. */
enum { ABTI_SLAB_SHELVES = 64 };

/* The lock is held for a few stores, with no other one. */
struct abti_shelf {
    struct abti_spin lock ABTI_ALIGNED(ABTI_CACHE_LINE);
    _Atomic(uint32_t) num_full;         /* lock: how many full ones there are. Others read it */
    struct abti_magazine *full, *empty; /* lock */
    uint32_t low_full;                  /* lock: the least number since abti_slab_look */
    uint32_t idle_full;                 /* lock: how many are to be given back */
    uint32_t num_caches;                /* slab's lock: how many caches have it */
};

struct abti_slab {
    struct abti_slab_spec spec; /* constant */
    uint32_t num_nodes;         /* constant: the i-th shelf is for streams of the NUMA node i modulo this */
    _Atomic(uint32_t) num_shelves ABTI_ALIGNED(ABTI_CACHE_LINE); /* lock: how many are in use. Others read it */
    _Atomic(size_t) num_loose; /* lock: how many objects have no magazine. Others read it */
    struct abti_spin lock ABTI_ALIGNED(ABTI_CACHE_LINE);
    struct abti_node *loose;     /* lock: objects without a magazine */
    size_t low_loose;            /* lock: the least number since abti_slab_look */
    size_t idle_loose;           /* lock: how many are to be given back */
    struct abti_arena cells;     /* lock */
    struct abti_arena magazines; /* lock: where the magazines are */
    _Atomic(size_t) made;        /* lock: how many cells are handed out. Others read it */
    struct abti_shelf shelves[ABTI_SLAB_SHELVES];
};

struct abti_cache {
    void **top, **end;              /* the place of the uppermost object, [0] if there is none; the place of that when
                                       it is full */
    void **quick_end;               /* `end`, or NULL: the cache is closed to quick puts */
    struct abti_magazine *magazine; /* the magazine that is filled and emptied, where these are */
    struct abti_magazine *full, *empty; /* the magazines that are kept besides it */
    unsigned num_full;                  /* how many full ones are kept */
    struct abti_run magazines;          /* empty ones that were never used */
    struct abti_shelf *shelf;           /* its shelf in the depot; several caches may have the same */
    struct abti_new_cell next;          /* the next cell that was never used, if `run` is not 0 */
    unsigned run;                       /* how many there are */
    unsigned piece;                     /* how many cells it takes next */
    bool closed;                        /* a put asks abti_cache_has_room without success */
    bool takes_from_others;             /* it has found plenty on other shelves, and nothing on its own since */
    struct abti_slab *slab;
};

void abti_slab_init(struct abti_slab *slab, const struct abti_slab_spec *spec);
/* Unmaps everything. No object may be in use. */
void abti_slab_fini(struct abti_slab *slab);

/* Adds to the counts of chunks by what they are made of. */
void abti_slab_count_chunks(struct abti_slab *slab, size_t counts[ABTI_CHUNK_ORIGINS]);

/*
 * These are for the thread that gives memory back. A poll marks the objects that have not been needed since the last
 * one, and returns whether the depot is still crowded. Then each call of give_back returns the memory of a magazine's
 * objects; false when nothing marked is left. One thread at a time may call them.
 */
bool abti_slab_look(struct abti_slab *slab);
bool abti_slab_is_crowded(struct abti_slab *slab);
bool abti_slab_give_back(struct abti_slab *slab);

/* Frees an object without a cache. This needs no memory. */
void abti_slab_put(struct abti_slab *slab, void *object);

/* For walks over all objects, free ones among them: see abti_arena_word_after. The memory stays as long as the slab. */
char *abti_slab_word_after(struct abti_slab *slab, const char *after, uint64_t *used);

/* There is a cell of the slab at this address. */
bool abti_slab_has(struct abti_slab *slab, const void *object);

/* Makes a cache. Returns 0 or -ENOMEM; then there is nothing to undo. */
int abti_cache_init(struct abti_cache *cache, struct abti_slab *slab) ABTI_MUST_CHECK;
/* Gives everything back to the slab. */
void abti_cache_fini(struct abti_cache *cache);

/* Whether abti_cache_has_room is false from now on; everything else goes on as before. */
void abti_cache_close(struct abti_cache *cache, bool closed);

/*
 * Moves all free objects to the depot, for others to take. This needs no memory. Nobody may be on one of the objects.
 */
void abti_cache_flush(struct abti_cache *cache);

/* These are the slow halves of get and put, for an empty magazine and for a full one. */
void *abti_cache_refill(struct abti_cache *cache);
void abti_cache_spill(struct abti_cache *cache);

/* Returns the object that a get would return, or NULL if the magazine is empty. */
ABTI_INLINE void *abti_cache_top(const struct abti_cache *cache)
{
    return *cache->top;
}

/* Takes an object from a magazine that is not empty. */
ABTI_INLINE void *abti_cache_pop(struct abti_cache *cache)
{
    void *object = abti_cache_top(cache); /* it is loaded before the store, so that it need not be loaded again after
                                             a check */
    cache->top--;
    return object;
}

/* Takes an object. Returns NULL when there is no memory. */
ABTI_INLINE void *abti_cache_get(struct abti_cache *cache)
{
    if (ABTI_UNLIKELY(!abti_cache_top(cache)))
        return abti_cache_refill(cache);
    return abti_cache_pop(cache);
}

ABTI_INLINE bool abti_cache_is_full(const struct abti_cache *cache)
{
    return cache->top == cache->end;
}

/* A cache that is not full, and not closed. */
ABTI_INLINE bool abti_cache_has_room(const struct abti_cache *cache)
{
    return (uintptr_t)cache->top < (uintptr_t)cache->quick_end;
}

/* Puts an object into a cache that is not full. */
ABTI_INLINE void abti_cache_push(struct abti_cache *cache, void *object)
{
    *++cache->top = object;
}

/*
 * Puts an object into a cache. It may be the stack that the caller runs on: a put never lets the object itself leave
 * the cache, only those that were there before.
 */
ABTI_INLINE void abti_cache_put(struct abti_cache *cache, void *object)
{
    if (ABTI_UNLIKELY(abti_cache_is_full(cache)))
        abti_cache_spill(cache);
    abti_cache_push(cache, object);
}

/*
 * Caches that are made when they are first needed, for slabs whose objects few streams have. A cache is given by the
 * place of the pointer to it, which is NULL until then. One thread uses it at a time.
 */

/* Takes an object. NULL: there is no memory. */
void *abti_lazycache_get(struct abti_cache **cache, struct abti_slab *slab);

/*
 * Gives an object back. This needs no memory: if there is no cache and none can be made, the object goes to the depot.
 */
void abti_lazycache_put(struct abti_cache **cache, struct abti_slab *slab, void *object);

/* These do what they do for any cache, and nothing when there is none. */
void abti_lazycache_flush(struct abti_cache *cache);
void abti_lazycache_fini(struct abti_cache **cache);

#endif
