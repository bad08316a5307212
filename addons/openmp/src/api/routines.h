/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs call: the functions of the standard. The types of parameters are those of the compiler's omp.h, seen by
 * the calling convention: enumerations are int, handles uintptr_t. Names that end in an underscore are Fortran's, which
 * passes addresses; those with an 8 are for integers and logicals of 8 bytes.
 */
#ifndef ABTOMP_ROUTINES_H
#define ABTOMP_ROUTINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"

/* A function that Fortran calls as C does: it has no parameters, or takes addresses. */
#define ABTOMP_FORTRAN(type, name, parameters)                                                                         \
    ABTOMP_API type name##_ parameters;                                                                                \
    type name##_ parameters __attribute__((alias(#name)))
/* One that takes an integer, for both sizes of it. */
#define ABTOMP_FORTRAN_INT(type, name)                                                                                 \
    ABTOMP_API type name##_(const int32_t *value);                                                                     \
    ABTOMP_API type name##_8_(const int64_t *value);                                                                   \
    type name##_(const int32_t *value)                                                                                 \
    {                                                                                                                  \
        return name(*value);                                                                                           \
    }                                                                                                                  \
    type name##_8_(const int64_t *value)                                                                               \
    {                                                                                                                  \
        return name(abtomp_to_int(*value));                                                                            \
    }

/* The nearest int. */
static inline int abtomp_to_int(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int)value;
}

ABTOMP_API void omp_set_num_threads(int num);
ABTOMP_API int omp_get_num_threads(void);
ABTOMP_API int omp_get_max_threads(void);
ABTOMP_API int omp_get_thread_num(void);
ABTOMP_API int omp_get_num_procs(void);
ABTOMP_API int omp_in_parallel(void);
ABTOMP_API void omp_set_dynamic(int is_dynamic);
ABTOMP_API int omp_get_dynamic(void);
ABTOMP_API void omp_set_nested(int is_nested);
ABTOMP_API int omp_get_nested(void);
ABTOMP_API void omp_set_schedule(unsigned kind, int chunk);
ABTOMP_API void omp_get_schedule(unsigned *kind, int *chunk);
ABTOMP_API int omp_get_thread_limit(void);
ABTOMP_API void omp_set_max_active_levels(int num);
ABTOMP_API int omp_get_max_active_levels(void);
ABTOMP_API int omp_get_supported_active_levels(void);
ABTOMP_API int omp_get_level(void);
ABTOMP_API int omp_get_ancestor_thread_num(int level);
ABTOMP_API int omp_get_team_size(int level);
ABTOMP_API int omp_get_active_level(void);
ABTOMP_API int omp_in_final(void);
ABTOMP_API int omp_in_explicit_task(void);
ABTOMP_API void omp_fulfill_event(uintptr_t event);
ABTOMP_API int omp_get_cancellation(void);
ABTOMP_API int omp_get_max_task_priority(void);
ABTOMP_API double omp_get_wtime(void);
ABTOMP_API double omp_get_wtick(void);
ABTOMP_API int omp_pause_resource(int kind, int device);
ABTOMP_API int omp_pause_resource_all(int kind);
ABTOMP_API void omp_display_env(int is_verbose);

ABTOMP_API int omp_get_num_teams(void);
ABTOMP_API int omp_get_team_num(void);
ABTOMP_API void omp_set_num_teams(int num);
ABTOMP_API int omp_get_max_teams(void);
ABTOMP_API void omp_set_teams_thread_limit(int limit);
ABTOMP_API int omp_get_teams_thread_limit(void);

ABTOMP_API void omp_set_default_device(int device);
ABTOMP_API int omp_get_default_device(void);
ABTOMP_API int omp_get_num_devices(void);
ABTOMP_API int omp_get_device_num(void);
ABTOMP_API int omp_get_initial_device(void);
ABTOMP_API int omp_is_initial_device(void);
ABTOMP_API void *omp_target_alloc(size_t size, int device);
ABTOMP_API void omp_target_free(void *memory, int device);
ABTOMP_API int omp_target_is_present(const void *address, int device);
ABTOMP_API int omp_target_is_accessible(const void *address, size_t size, int device);
ABTOMP_API void *omp_get_mapped_ptr(const void *address, int device);
ABTOMP_API int omp_target_memcpy(void *to, const void *from, size_t length, size_t to_offset, size_t from_offset,
                                 int to_device, int from_device);
ABTOMP_API int omp_target_memcpy_rect(void *to, const void *from, size_t element, int num, const size_t *volume,
                                      const size_t *to_offsets, const size_t *from_offsets, const size_t *to_sizes,
                                      const size_t *from_sizes, int to_device, int from_device);
ABTOMP_API int omp_target_memcpy_async(void *to, const void *from, size_t length, size_t to_offset, size_t from_offset,
                                       int to_device, int from_device, int num, void *depend);
ABTOMP_API int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int num, const size_t *volume,
                                            const size_t *to_offsets, const size_t *from_offsets,
                                            const size_t *to_sizes, const size_t *from_sizes, int to_device,
                                            int from_device, int num_depend, void *depend);
ABTOMP_API int omp_target_associate_ptr(const void *host, const void *address, size_t size, size_t offset, int device);
ABTOMP_API int omp_target_disassociate_ptr(const void *address, int device);

ABTOMP_API int omp_get_proc_bind(void);
ABTOMP_API int omp_get_num_places(void);
ABTOMP_API int omp_get_place_num_procs(int place);
ABTOMP_API void omp_get_place_proc_ids(int place, int *ids);
ABTOMP_API int omp_get_place_num(void);
ABTOMP_API int omp_get_partition_num_places(void);
ABTOMP_API void omp_get_partition_place_nums(int *places);
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
ABTOMP_API void *omp_aligned_calloc(size_t alignment, size_t num, size_t size, uintptr_t allocator);
ABTOMP_API void *omp_realloc(void *memory, size_t size, uintptr_t allocator, uintptr_t former);
ABTOMP_API void omp_free(void *memory, uintptr_t allocator);

#endif
