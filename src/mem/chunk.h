/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of memory for slabs, of the kind that ABT_MEM_LP_ALLOC says. A kind that the system refuses falls back to the
 * simpler ones: huge pages, then transparent huge pages or normal ones.
 */
#ifndef ABTI_MEM_CHUNK_H
#define ABTI_MEM_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/* The kind that is asked for. */
enum abti_lp_alloc {
    ABTI_LP_MALLOC,
    ABTI_LP_MMAP_RP,     /* mmap, normal pages */
    ABTI_LP_MMAP_HP_RP,  /* mmap, huge pages, then normal ones */
    ABTI_LP_MMAP_HP_THP, /* mmap, huge pages, then transparent huge pages */
    ABTI_LP_THP,         /* transparent huge pages */
};

/* What a chunk is made of. */
enum abti_chunk_origin { ABTI_CHUNK_MALLOC, ABTI_CHUNK_NORMAL, ABTI_CHUNK_HUGE, ABTI_CHUNK_THP, ABTI_CHUNK_ORIGINS };

struct abti_chunk {
    void *base; /* it is at a page boundary, and is zeroed unless it is from malloc */
    size_t size;
    enum abti_chunk_origin origin;
};

/* Tries whether there are huge pages, if they are asked for. It is called before the first chunk is made. */
void abti_chunk_init(enum abti_lp_alloc choice, size_t huge_page_size);

/* Returns the kind that is left of the choice. */
enum abti_lp_alloc abti_chunk_policy(void);

/* Returns how large a chunk is that is asked for with `size` bytes: huge pages are whole ones. */
size_t abti_chunk_size(size_t size, bool huge);

/*
 * Maps a chunk of at least `size` bytes, which is a multiple of the page size. It consists of no huge pages if `huge`
 * is false. False when there is no memory.
 */
bool abti_chunk_map(struct abti_chunk *chunk, size_t size, bool huge) ABTI_MUST_CHECK;
/* Unmaps a chunk, and removes guards in it. */
void abti_chunk_unmap(const struct abti_chunk *chunk);

#endif
