/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/lazycache.h"

#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"

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
