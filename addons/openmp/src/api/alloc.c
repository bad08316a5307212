/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocators of memory. All memory spaces are the heap; of an allocator's traits alignment, pool_size and fallback have
 * an effect, and memory that is pinned is not to be had. Before each block is what frees it.
 */
#include "omp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "api/routines.h"
#include "api/alloc.versions.h"

/* The keys and values of traits, and handles, by their numbers in the interface. */
enum {
    KEY_SYNC_HINT = 1,
    KEY_ALIGNMENT,
    KEY_ACCESS,
    KEY_POOL_SIZE,
    KEY_FALLBACK,
    KEY_FB_DATA,
    KEY_PINNED,
    KEY_PARTITION
};
enum { VALUE_TRUE = 1, FALLBACK_DEFAULT = 11, FALLBACK_NULL, FALLBACK_ABORT, FALLBACK_ALLOCATOR };
enum { ALLOCATOR_NULL = 0, ALLOCATOR_DEFAULT = 1, ALLOCATOR_LAST = 8, SPACE_LAST = 4 };

struct allocator {
    size_t alignment;
    uintptr_t fallback, fallback_data;
    size_t pool_size;     /* 0: no limit */
    _Atomic(size_t) used; /* of it */
};

struct block {
    void *memory; /* that malloc has given */
    size_t size;  /* that the program has asked for */
    size_t taken; /* of the allocator's pool */
    uintptr_t allocator;
};

static bool is_own(uintptr_t allocator)
{
    return allocator > ALLOCATOR_LAST;
}

static bool is_power(uintptr_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* ---- Allocators -------------------------------------------------------------------------------------------------- */

/* Whether the trait is right, and can be had. The value -1 is the default of each. */
static bool set_trait(struct allocator *allocator, const struct abtomp_trait *trait)
{
    if (trait->value == UINTPTR_MAX)
        return trait->key >= KEY_SYNC_HINT && trait->key <= KEY_PARTITION;
    switch (trait->key) {
    case KEY_ALIGNMENT: allocator->alignment = trait->value; return is_power(trait->value);
    case KEY_POOL_SIZE: allocator->pool_size = trait->value; return trait->value > 0;
    case KEY_FALLBACK:
        allocator->fallback = trait->value;
        return trait->value >= FALLBACK_DEFAULT && trait->value <= FALLBACK_ALLOCATOR;
    case KEY_FB_DATA: allocator->fallback_data = trait->value; return true;
    case KEY_PINNED: return trait->value != VALUE_TRUE;
    default: return trait->key == KEY_SYNC_HINT || trait->key == KEY_ACCESS || trait->key == KEY_PARTITION;
    }
}

ABTOMP_API uintptr_t omp_init_allocator(uintptr_t space, int num, const struct abtomp_trait *traits)
{
    struct allocator made = {.alignment = sizeof(void *), .fallback = FALLBACK_DEFAULT};
    if (space > SPACE_LAST)
        return ALLOCATOR_NULL;
    for (int i = 0; i < num; i++)
        if (!set_trait(&made, &traits[i]))
            return ALLOCATOR_NULL;
    struct allocator *allocator = malloc(sizeof(*allocator));
    if (!allocator)
        return ALLOCATOR_NULL;
    *allocator = made;
    return (uintptr_t)allocator;
}

ABTOMP_API void omp_destroy_allocator(uintptr_t allocator)
{
    if (is_own(allocator))
        free((struct allocator *)allocator);
}

ABTOMP_API void omp_set_default_allocator(uintptr_t allocator)
{
    abtomp_change_icvs(abtomp_self())->allocator = allocator == ALLOCATOR_NULL ? ALLOCATOR_DEFAULT : allocator;
}

ABTOMP_API uintptr_t omp_get_default_allocator(void)
{
    return abtomp_self()->icvs.allocator;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Takes so much of the allocator's pool, if there is a limit. */
static bool allocator_take(struct allocator *allocator, size_t size)
{
    if (allocator->pool_size == 0)
        return true;
    /* relaxed, both: it is a count, and orders nothing */
    size_t used = atomic_load_explicit(&allocator->used, memory_order_relaxed);
    do {
        if (used > allocator->pool_size || size > allocator->pool_size - used)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&allocator->used, &used, used + size, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static void give_back(uintptr_t allocator, size_t size)
{
    if (is_own(allocator) && size > 0)
        /* relaxed: as in allocator_take */
        atomic_fetch_sub_explicit(&((struct allocator *)allocator)->used, size, memory_order_relaxed);
}

static struct block *block_of(void *memory)
{
    return (struct block *)memory - 1;
}

/* A block of that allocator alone; NULL: there is none. */
static void *try_block(size_t alignment, size_t size, uintptr_t handle, bool is_zero)
{
    struct allocator *own = is_own(handle) ? (struct allocator *)handle : NULL;
    if (alignment < _Alignof(struct block))
        alignment = _Alignof(struct block);
    size_t extra = sizeof(struct block) + alignment - 1;
    if (size > PTRDIFF_MAX - extra)
        return NULL;
    /* The pool counts what the program asks for, and what is added for the alignment. */
    if (own && !allocator_take(own, size + extra))
        return NULL;
    char *memory = is_zero ? calloc(1, size + extra) : malloc(size + extra);
    if (!memory) {
        if (own)
            give_back(handle, own->pool_size > 0 ? size + extra : 0);
        return NULL;
    }
    char *begin = (char *)(((uintptr_t)memory + extra) & ~(alignment - 1));
    *block_of(begin) = (struct block){memory, size, own && own->pool_size > 0 ? size + extra : 0, handle};
    return begin;
}

/* A block by the allocator, or by what it falls back to. */
static void *get_block(size_t alignment, size_t size, uintptr_t handle, bool is_zero)
{
    if (handle == ALLOCATOR_NULL)
        handle = omp_get_default_allocator();
    for (;;) {
        const struct allocator *own = is_own(handle) ? (struct allocator *)handle : NULL;
        void *memory = try_block(own && own->alignment > alignment ? own->alignment : alignment, size, handle, is_zero);
        if (memory || handle == ALLOCATOR_DEFAULT)
            return memory;
        if (own && own->fallback == FALLBACK_NULL)
            return NULL;
        if (own && own->fallback == FALLBACK_ABORT)
            abtomp_fail("out of memory for an allocator whose fallback is abort_fb");
        handle = own && own->fallback == FALLBACK_ALLOCATOR ? own->fallback_data : ALLOCATOR_DEFAULT;
        if (handle == ALLOCATOR_NULL)
            return NULL;
    }
}

ABTOMP_API void *omp_aligned_alloc(size_t alignment, size_t size, uintptr_t allocator)
{
    return size == 0 || !is_power(alignment) ? NULL : get_block(alignment, size, allocator, false);
}

ABTOMP_API void *omp_alloc(size_t size, uintptr_t allocator)
{
    return omp_aligned_alloc(1, size, allocator);
}

ABTOMP_API void *omp_aligned_calloc(size_t alignment, size_t num, size_t size, uintptr_t allocator)
{
    size_t all;
    if (__builtin_mul_overflow(num, size, &all) || all == 0 || !is_power(alignment))
        return NULL;
    return get_block(alignment, all, allocator, true);
}

ABTOMP_API void *omp_calloc(size_t num, size_t size, uintptr_t allocator)
{
    return omp_aligned_calloc(1, num, size, allocator);
}

ABTOMP_API void omp_free(void *memory, uintptr_t allocator)
{
    (void)allocator; /* the block knows it */
    if (!memory)
        return;
    struct block block = *block_of(memory);
    give_back(block.allocator, block.taken);
    free(block.memory);
}

ABTOMP_API void *omp_realloc(void *memory, size_t size, uintptr_t allocator, uintptr_t former)
{
    if (!memory)
        return omp_alloc(size, allocator);
    if (size == 0) {
        omp_free(memory, former);
        return NULL;
    }
    struct block *block = block_of(memory);
    size_t taken = block->taken;
    /* What the block has of its pool may be used for the new one. */
    give_back(block->allocator, taken);
    block->taken = 0;
    void *larger = omp_alloc(size, allocator == ALLOCATOR_NULL ? block->allocator : allocator);
    if (!larger) {
        if (taken > 0)
            /* relaxed: as in allocator_take */
            atomic_fetch_add_explicit(&((struct allocator *)block->allocator)->used, taken, memory_order_relaxed);
        block->taken = taken;
        return NULL;
    }
    memcpy(larger, memory, size < block->size ? size : block->size);
    omp_free(memory, former);
    return larger;
}

/* ---- Fortran ----------------------------------------------------------------------------------------------------- */

ABTOMP_FORTRAN(uintptr_t, omp_get_default_allocator, (void));

ABTOMP_API uintptr_t omp_init_allocator_(const intptr_t *space, const int32_t *num, const struct abtomp_trait *traits)
{
    return omp_init_allocator((uintptr_t)*space, *num, traits);
}

ABTOMP_API uintptr_t omp_init_allocator_8_(const intptr_t *space, const int64_t *num, const struct abtomp_trait *traits)
{
    return omp_init_allocator((uintptr_t)*space, abtomp_to_int(*num), traits);
}

ABTOMP_API void omp_destroy_allocator_(const uintptr_t *allocator)
{
    omp_destroy_allocator(*allocator);
}

ABTOMP_API void omp_set_default_allocator_(const uintptr_t *allocator)
{
    omp_set_default_allocator(*allocator);
}
