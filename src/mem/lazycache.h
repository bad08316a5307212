/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches that are made when they are first needed, for slabs whose objects few streams have. A cache is given by the
 * place of the pointer to it, which is NULL until then. One thread uses it at a time.
 */
#ifndef ABTI_MEM_LAZYCACHE_H
#define ABTI_MEM_LAZYCACHE_H

#include "mem/slab.h"

/* Takes an object. Returns NULL when there is no memory. */
void *abti_lazycache_get(struct abti_cache **cache, struct abti_slab *slab);

/*
 * Gives an object back. This needs no memory: if there is no cache and none can be made, the object goes to the depot.
 */
void abti_lazycache_put(struct abti_cache **cache, struct abti_slab *slab, void *object);

/* These do what they do for any cache, and nothing when there is none. */
void abti_lazycache_flush(struct abti_cache *cache);
void abti_lazycache_fini(struct abti_cache **cache);

#endif
