/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the standard that other files call as well; those that only programs call have no prototypes. The types
 * of parameters are those of the compiler's omp.h, seen by the calling convention: enumerations are int, handles
 * uintptr_t. Names that end in an underscore are Fortran's, which passes addresses; those with an 8 are for integers
 * and logicals of 8 bytes.
 */
#ifndef ABTOMP_ROUTINES_H
#define ABTOMP_ROUTINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"

/* A function that Fortran calls as C does: it has no parameters, or takes addresses. */
#define ABTOMP_FORTRAN(type, name, parameters) ABTOMP_API type name##_ parameters __attribute__((alias(#name)))
/* One that takes an integer, for both sizes of it. */
#define ABTOMP_FORTRAN_INT(type, name)                                                                                 \
    ABTOMP_API type name##_(const int32_t *value)                                                                      \
    {                                                                                                                  \
        return name(*value);                                                                                           \
    }                                                                                                                  \
    ABTOMP_API type name##_8_(const int64_t *value)                                                                    \
    {                                                                                                                  \
        return name(abtomp_to_int(*value));                                                                            \
    }

/* The nearest int. */
static inline int abtomp_to_int(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int)value;
}

ABTOMP_API void omp_set_num_threads(int num);
ABTOMP_API int omp_get_max_threads(void);
ABTOMP_API void omp_set_dynamic(int is_dynamic);
ABTOMP_API void omp_set_nested(int is_nested);
ABTOMP_API void omp_set_schedule(unsigned kind, int chunk);
ABTOMP_API void omp_set_max_active_levels(int num);
ABTOMP_API int omp_get_ancestor_thread_num(int level);
ABTOMP_API int omp_get_team_size(int level);
ABTOMP_API void omp_fulfill_event(uintptr_t event);

ABTOMP_API void omp_set_affinity_format(const char *format);
ABTOMP_API size_t omp_get_affinity_format(char *buffer, size_t size);
ABTOMP_API void omp_display_affinity(const char *format);
ABTOMP_API size_t omp_capture_affinity(char *buffer, size_t size, const char *format);

ABTOMP_API void omp_init_lock(void *lock);
ABTOMP_API void omp_init_lock_with_hint(void *lock, int hint);
ABTOMP_API void omp_destroy_lock(void *lock);
ABTOMP_API void omp_set_lock(void *lock);
ABTOMP_API void omp_unset_lock(void *lock);
ABTOMP_API int omp_test_lock(void *lock);
ABTOMP_API void omp_init_nest_lock(void *lock);
ABTOMP_API void omp_init_nest_lock_with_hint(void *lock, int hint);
ABTOMP_API void omp_destroy_nest_lock(void *lock);
ABTOMP_API void omp_set_nest_lock(void *lock);
ABTOMP_API void omp_unset_nest_lock(void *lock);
ABTOMP_API int omp_test_nest_lock(void *lock);

/* A trait of an allocator: a key, and its value. */
struct abtomp_trait {
    int key;
    uintptr_t value;
};

ABTOMP_API uintptr_t omp_init_allocator(uintptr_t space, int num, const struct abtomp_trait *traits);
ABTOMP_API void omp_destroy_allocator(uintptr_t allocator);
ABTOMP_API void omp_set_default_allocator(uintptr_t allocator);
ABTOMP_API uintptr_t omp_get_default_allocator(void);
ABTOMP_API void *omp_alloc(size_t size, uintptr_t allocator);
ABTOMP_API void *omp_aligned_alloc(size_t alignment, size_t size, uintptr_t allocator);
ABTOMP_API void *omp_calloc(size_t num, size_t size, uintptr_t allocator);
ABTOMP_API void *omp_realloc(void *memory, size_t size, uintptr_t allocator, uintptr_t former);
ABTOMP_API void omp_free(void *memory, uintptr_t allocator);

#endif
