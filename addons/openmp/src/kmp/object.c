/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and locks of clang, by the functions of the standard. */
#include "kmp/kmp.h"

#include "api/routines.h"

/* -- Memory -- */

ABTOMP_API void *__kmpc_alloc(KMP_GTID, size_t size, uintptr_t allocator)
{
    return omp_alloc(size, allocator);
}

ABTOMP_API void *__kmpc_aligned_alloc(KMP_GTID, size_t alignment, size_t size, uintptr_t allocator)
{
    return omp_aligned_alloc(alignment, size, allocator);
}

ABTOMP_API void *__kmpc_calloc(KMP_GTID, size_t num, size_t size, uintptr_t allocator)
{
    return omp_calloc(num, size, allocator);
}

ABTOMP_API void *__kmpc_realloc(KMP_GTID, void *memory, size_t size, uintptr_t allocator, uintptr_t former)
{
    return omp_realloc(memory, size, allocator, former);
}

ABTOMP_API void __kmpc_free(KMP_GTID, void *memory, uintptr_t allocator)
{
    omp_free(memory, allocator);
}

ABTOMP_API uintptr_t __kmpc_init_allocator(KMP_GTID, uintptr_t space, int num, const struct abtomp_trait *traits)
{
    return omp_init_allocator(space, num, traits);
}

ABTOMP_API void __kmpc_destroy_allocator(KMP_GTID, uintptr_t allocator)
{
    omp_destroy_allocator(allocator);
}

ABTOMP_API uintptr_t __kmpc_get_default_allocator(KMP_GTID)
{
    return omp_get_default_allocator();
}

ABTOMP_API void __kmpc_set_default_allocator(KMP_GTID, uintptr_t allocator)
{
    omp_set_default_allocator(allocator);
}

/* -- Locks -- */

#define LOCK(verb, type, kind)                                                                                         \
    ABTOMP_API type __kmpc_##verb##_##kind(KMP_CALLER, void **lock)                                                    \
    {                                                                                                                  \
        return omp_##verb##_##kind(lock);                                                                              \
    }
#define LOCKS(kind)                                                                                                    \
    LOCK(init, void, kind)                                                                                             \
    LOCK(destroy, void, kind)                                                                                          \
    LOCK(set, void, kind)                                                                                              \
    LOCK(unset, void, kind)                                                                                            \
    LOCK(test, int, kind)
LOCKS(lock)
LOCKS(nest_lock)

ABTOMP_API void __kmpc_init_lock_with_hint(KMP_CALLER, void **lock, uintptr_t hint)
{
    (void)hint;
    __kmpc_init_lock(at, gtid, lock);
}

ABTOMP_API void __kmpc_init_nest_lock_with_hint(KMP_CALLER, void **lock, uintptr_t hint)
{
    (void)hint;
    __kmpc_init_nest_lock(at, gtid, lock);
}
