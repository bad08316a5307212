/*
 * Caches that are made when they are first needed, of slabs whose objects few streams have. A cache is given by where
 * the pointer to it lies, NULL until then; one thread uses it at a time.
 */
#ifndef ABTI_MEM_LAZYCACHE_H
#define ABTI_MEM_LAZYCACHE_H

#include "mem/slab.h"

/* NULL when there is no memory. */
void *abti_lazycache_get(struct abti_cache **cache, struct abti_slab *slab);

/* Needs no memory: without a cache, and none to be had, the object goes to the depot. */
void abti_lazycache_put(struct abti_cache **cache, struct abti_slab *slab, void *object);

/* As for any cache; nothing to do when there is none. */
void abti_lazycache_flush(struct abti_cache *cache);
void abti_lazycache_fini(struct abti_cache **cache);

#endif
