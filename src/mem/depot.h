/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The depot of a slab: magazines on shelves, for the caches to exchange. A cache has one shelf, and looks at the others
 * when that has nothing for it. No lock is held by the callers.
 */
#ifndef ABTI_MEM_DEPOT_H
#define ABTI_MEM_DEPOT_H

#include "mem/slab.h"

ABTI_INLINE void abti_magazine_push(struct abti_magazine **list, struct abti_magazine *magazine)
{
    magazine->objects[0] = *list;
    *list = magazine;
}

ABTI_INLINE struct abti_magazine *abti_magazine_pop(struct abti_magazine **list)
{
    struct abti_magazine *magazine = *list;
    if (magazine)
        *list = magazine->objects[0];
    return magazine;
}

/* Whether the objects are in huge pages, of which the system does not take back a part. */
ABTI_INLINE bool abti_slab_in_huge_pages(const struct abti_slab *slab)
{
    return slab->spec.arena.huge && abti_chunk_policy() > ABTI_LP_MMAP_RP;
}

/* The NUMA node whose streams have the shelf. */
ABTI_INLINE uint32_t abti_shelf_node(const struct abti_slab *slab, const struct abti_shelf *shelf)
{
    return slab->num_nodes == 1 ? 0 : (uint32_t)(shelf - slab->shelves) % slab->num_nodes;
}

/*
 * Gives a cache the first of the node's shelves that the fewest have, so that threads that come and go have the same.
 * Each node has as many shelves in use as the one that needs most.
 */
struct abti_shelf *abti_depot_join(struct abti_slab *slab, uint32_t node);
void abti_depot_leave(struct abti_slab *slab, struct abti_shelf *shelf);

/* Takes an empty magazine, from the shelf if that has one. Returns NULL when there is no memory. */
struct abti_magazine *abti_depot_get_empty(struct abti_cache *cache);

/* Takes a full magazine from the shelf, and leaves an empty one of the cache's there. NULL: there was none. */
struct abti_magazine *abti_depot_take(struct abti_cache *cache, struct abti_shelf *shelf);

/*
 * Takes a full magazine from the cache's shelf, or from the next one that has some if others have plenty, or there is
 * no memory for more (`any`). Returns NULL when there is none.
 */
struct abti_magazine *abti_depot_get_full(struct abti_cache *cache, bool any);

/* Puts a magazine, which need not be full and whose count is right, on the shelf. */
void abti_depot_put(struct abti_slab *slab, struct abti_shelf *shelf, struct abti_magazine *magazine);

/* Puts a full magazine on the shelf for an empty one. NULL: there is no memory, and it is left with the caller. */
struct abti_magazine *abti_depot_exchange(struct abti_cache *cache, struct abti_magazine *full);

/*
 * Marks the full magazines that have not been needed since the last poll, if they may go; and takes one of them. NULL:
 * there is none.
 */
void abti_depot_look(struct abti_slab *slab, bool may_go);
struct abti_magazine *abti_depot_take_idle(struct abti_slab *slab);

#endif
