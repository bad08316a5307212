/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/chunk.h"

#include <stdlib.h>
#include "base/assert.h"
#include "base/round.h"
#include "os/vm.h"

/* Only abti_chunk_init writes these. */
static enum abti_lp_alloc chunk_policy;
static size_t chunk_huge_page; /* 0: there are none */

static enum abti_lp_alloc without_huge_pages(enum abti_lp_alloc choice)
{
    return choice == ABTI_LP_MMAP_HP_RP ? ABTI_LP_MMAP_RP : choice == ABTI_LP_MMAP_HP_THP ? ABTI_LP_THP : choice;
}

void abti_chunk_init(enum abti_lp_alloc choice, size_t huge_page_size)
{
    chunk_policy = choice;
    chunk_huge_page = 0;
    if (choice != ABTI_LP_MMAP_HP_RP && choice != ABTI_LP_MMAP_HP_THP)
        return;
    void *trial = abti_vm_map_huge(huge_page_size, huge_page_size);
    if (trial)
        chunk_huge_page = huge_page_size;
    else
        chunk_policy = without_huge_pages(choice);
    abti_vm_unmap(trial, huge_page_size);
}

enum abti_lp_alloc abti_chunk_policy(void)
{
    return chunk_policy;
}

enum { THP_SIZE = 2 << 20 };

size_t abti_chunk_size(size_t size, bool huge)
{
    if (!huge || chunk_policy == ABTI_LP_MALLOC)
        return size;
    if (chunk_huge_page > 0)
        size = abti_round_up(size, chunk_huge_page);
    return without_huge_pages(chunk_policy) == ABTI_LP_THP ? abti_round_up(size, THP_SIZE) : size;
}

/* Maps huge pages that exist. Others may use them up at any time, and give them back. */
static bool map_huge(struct abti_chunk *chunk, size_t size)
{
    size = abti_round_up(size, chunk_huge_page);
    *chunk = (struct abti_chunk){abti_vm_map_huge(size, chunk_huge_page), size, ABTI_CHUNK_HUGE};
    return chunk->base != NULL;
}

static bool map_normal(struct abti_chunk *chunk, size_t size)
{
    *chunk = (struct abti_chunk){abti_vm_map(size), size, ABTI_CHUNK_NORMAL};
    if (chunk->base)
        (void)abti_vm_advise_huge(chunk->base, size, false); /* objects are touched few at a time */
    return chunk->base != NULL;
}

/* Maps transparent huge pages. Where the system has none, the chunk stays one of normal pages. */
static bool map_thp(struct abti_chunk *chunk, size_t size)
{
    size = abti_round_up(size, THP_SIZE);
    *chunk = (struct abti_chunk){abti_vm_map_aligned(size, THP_SIZE), size, ABTI_CHUNK_THP};
    if (chunk->base && !abti_vm_advise_huge(chunk->base, size, true))
        chunk->origin = ABTI_CHUNK_NORMAL;
    return chunk->base != NULL;
}

bool abti_chunk_map(struct abti_chunk *chunk, size_t size, bool huge)
{
    abti_assert(size > 0 && size % abti_vm_page_size() == 0);
    enum abti_lp_alloc policy = chunk_policy;
    if (policy == ABTI_LP_MALLOC) {
        *chunk = (struct abti_chunk){NULL, size, ABTI_CHUNK_MALLOC};
        return posix_memalign(&chunk->base, abti_vm_page_size(), size) == 0;
    }
    if (!huge)
        return map_normal(chunk, size);
    if (chunk_huge_page > 0 && map_huge(chunk, size))
        return true;
    if (without_huge_pages(policy) == ABTI_LP_THP && map_thp(chunk, size))
        return true;
    return map_normal(chunk, size); /* it takes no more address space than it has to */
}

void abti_chunk_unmap(const struct abti_chunk *chunk)
{
    if (chunk->origin == ABTI_CHUNK_MALLOC) {
        abti_vm_unguard(chunk->base, chunk->size); /* the next owner of the memory would meet the guards */
        free(chunk->base);
    } else {
        abti_vm_unmap(chunk->base, chunk->size);
    }
}
