/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and locks of clang, by the functions of the standard. */
#include "kmp/kmp.h"

#include "api/routines.h"

/* -- Memory -- */

void *__kmpc_alloc(int32_t gtid, size_t size, uintptr_t allocator)
{
    (void)gtid;
    return omp_alloc(size, allocator);
}

void *__kmpc_aligned_alloc(int32_t gtid, size_t alignment, size_t size, uintptr_t allocator)
{
    (void)gtid;
    return omp_aligned_alloc(alignment, size, allocator);
}

void *__kmpc_calloc(int32_t gtid, size_t num, size_t size, uintptr_t allocator)
{
    (void)gtid;
    return omp_calloc(num, size, allocator);
}

void *__kmpc_realloc(int32_t gtid, void *memory, size_t size, uintptr_t allocator, uintptr_t former)
{
    (void)gtid;
    return omp_realloc(memory, size, allocator, former);
}

void __kmpc_free(int32_t gtid, void *memory, uintptr_t allocator)
{
    (void)gtid;
    omp_free(memory, allocator);
}

uintptr_t __kmpc_init_allocator(int32_t gtid, uintptr_t space, int num, const struct abtomp_trait *traits)
{
    (void)gtid;
    return omp_init_allocator(space, num, traits);
}

void __kmpc_destroy_allocator(int32_t gtid, uintptr_t allocator)
{
    (void)gtid;
    omp_destroy_allocator(allocator);
}

uintptr_t __kmpc_get_default_allocator(int32_t gtid)
{
    (void)gtid;
    return omp_get_default_allocator();
}

void __kmpc_set_default_allocator(int32_t gtid, uintptr_t allocator)
{
    (void)gtid;
    omp_set_default_allocator(allocator);
}

/* -- Locks -- */

#define LOCK(verb, type, kind)                                                                                         \
    type __kmpc_##verb##_##kind(ident_t *at, int32_t gtid, void **lock)                                                \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        (void)gtid;                                                                                                    \
        return omp_##verb##_##kind(lock);                                                                              \
    }
KMP_LOCK_FUNCTIONS(LOCK, lock)
KMP_LOCK_FUNCTIONS(LOCK, nest_lock)

void __kmpc_init_lock_with_hint(ident_t *at, int32_t gtid, void **lock, uintptr_t hint)
{
    (void)hint;
    __kmpc_init_lock(at, gtid, lock);
}

void __kmpc_init_nest_lock_with_hint(ident_t *at, int32_t gtid, void **lock, uintptr_t hint)
{
    (void)hint;
    __kmpc_init_nest_lock(at, gtid, lock);
}
