/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and locks of clang, by the functions of the standard. */
#include "kmp/kmp.h"

#include "api/routines.h"

/* -- Memory -- */

#define AS_OMP(type, name, parameters, ...)                                                                            \
    ABTOMP_API type __kmpc_##name parameters                                                                           \
    {                                                                                                                  \
        return omp_##name(__VA_ARGS__);                                                                                \
    }
AS_OMP(void *, alloc, (KMP_GTID, size_t size, uintptr_t allocator), size, allocator)
AS_OMP(void *, aligned_alloc, (KMP_GTID, size_t align, size_t size, uintptr_t allocator), align, size, allocator)
AS_OMP(void *, calloc, (KMP_GTID, size_t num, size_t size, uintptr_t allocator), num, size, allocator)
AS_OMP(void *, realloc, (KMP_GTID, void *memory, size_t size, uintptr_t to, uintptr_t from), memory, size, to, from)
AS_OMP(void, free, (KMP_GTID, void *memory, uintptr_t allocator), memory, allocator)
AS_OMP(uintptr_t, init_allocator, (KMP_GTID, uintptr_t space, int num, const struct abtomp_trait *all), space, num, all)
AS_OMP(void, destroy_allocator, (KMP_GTID, uintptr_t allocator), allocator)
AS_OMP(uintptr_t, get_default_allocator, (KMP_GTID))
AS_OMP(void, set_default_allocator, (KMP_GTID, uintptr_t allocator), allocator)

/* -- Locks -- */

#define LOCKS(kind)                                                                                                    \
    AS_OMP(void, init_##kind, (KMP_CALLER, void **lock), lock)                                                         \
    AS_OMP(void, init_##kind##_with_hint, (KMP_CALLER, void **lock, uintptr_t hint), lock, (int)hint)                  \
    AS_OMP(void, destroy_##kind, (KMP_CALLER, void **lock), lock)                                                      \
    AS_OMP(void, set_##kind, (KMP_CALLER, void **lock), lock)                                                          \
    AS_OMP(void, unset_##kind, (KMP_CALLER, void **lock), lock)                                                        \
    AS_OMP(int, test_##kind, (KMP_CALLER, void **lock), lock)
LOCKS(lock)
LOCKS(nest_lock)
