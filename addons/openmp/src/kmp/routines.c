/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines of LLVM's and Intel's libraries beside the standard, for C and Fortran: memory, sets of processors, and
 * settings. A setting that the library has no counterpart of is accepted, and told as it was set.
 */
#include "ompt/tool.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "api/routines.h"
#include "icv/icv.h"
#include "kmp/kmp.h"

/* -- Memory -- */

ABTOMP_API void *kmp_malloc(size_t size)
{
    return malloc(size);
}

ABTOMP_API void *kmp_aligned_malloc(size_t size, size_t alignment)
{
    void *memory = NULL;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) == 0 ? memory : NULL;
}

ABTOMP_API void *kmp_calloc(size_t num, size_t size)
{
    return calloc(num, size);
}

ABTOMP_API void *kmp_realloc(void *memory, size_t size)
{
    return realloc(memory, size);
}

ABTOMP_API void kmp_free(void *memory)
{
    free(memory);
}

/* -- Sets of processors: by a pointer to one -- */

static void *new_mask(void)
{
    cpu_set_t *mask = abtomp_must_have(calloc(1, sizeof(*mask)));
    return mask;
}

ABTOMP_API void kmp_create_affinity_mask(void **mask)
{
    *mask = new_mask();
}

ABTOMP_API void kmp_destroy_affinity_mask(void **mask)
{
    free(*mask);
    *mask = NULL;
}

ABTOMP_API int kmp_set_affinity(void **mask)
{
    return pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), *mask);
}

ABTOMP_API int kmp_get_affinity(void **mask)
{
    return pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t), *mask);
}

ABTOMP_API int kmp_get_affinity_max_proc(void)
{
    return CPU_SETSIZE;
}

static bool is_processor(int number)
{
    return number >= 0 && number < CPU_SETSIZE;
}

ABTOMP_API int kmp_set_affinity_mask_proc(int number, void **mask)
{
    if (!is_processor(number))
        return -1;
    CPU_SET((size_t)number, (cpu_set_t *)*mask);
    return 0;
}

ABTOMP_API int kmp_unset_affinity_mask_proc(int number, void **mask)
{
    if (!is_processor(number))
        return -1;
    CPU_CLR((size_t)number, (cpu_set_t *)*mask);
    return 0;
}

ABTOMP_API int kmp_get_affinity_mask_proc(int number, void **mask)
{
    return is_processor(number) ? CPU_ISSET((size_t)number, (cpu_set_t *)*mask) != 0 : -1;
}

/* -- Settings -- */

static _Atomic(int) block_time = -1;                 /* milliseconds; negative: it has not been set */
static _Atomic(size_t) stack_size = 4 * 1024 * 1024; /* likewise */

/* relaxed, all: they are only told */
ABTOMP_API void kmp_set_blocktime(int milliseconds)
{
    atomic_store_explicit(&block_time, milliseconds, memory_order_relaxed);
}

ABTOMP_API int kmp_get_blocktime(void)
{
    int set = atomic_load_explicit(&block_time, memory_order_relaxed);
    if (set >= 0)
        return set;
    (void)abtomp_self(); /* reads the variables */
    if (abtomp_env.wait_policy == ABTOMP_WAIT_ACTIVE)
        return INT_MAX;
    return abtomp_env.wait_policy == 0 ? 200 : 0; /* LLVM's default; passive */
}

ABTOMP_API void kmp_set_stacksize_s(size_t size)
{
    atomic_store_explicit(&stack_size, size, memory_order_relaxed);
}

ABTOMP_API size_t kmp_get_stacksize_s(void)
{
    return atomic_load_explicit(&stack_size, memory_order_relaxed);
}

ABTOMP_API void kmp_set_stacksize(int size)
{
    kmp_set_stacksize_s((size_t)size);
}

ABTOMP_API int kmp_get_stacksize(void)
{
    return (int)kmp_get_stacksize_s();
}

/* How waits are made: 1 serial, 2 turnaround, 3 throughput. */
static _Atomic(int) library_kind = 3;

ABTOMP_API void kmp_set_library(int kind)
{
    atomic_store_explicit(&library_kind, kind, memory_order_relaxed);
    if (kind == 1)
        omp_set_num_threads(1);
}

ABTOMP_API int kmp_get_library(void)
{
    return atomic_load_explicit(&library_kind, memory_order_relaxed);
}

ABTOMP_API void kmp_set_library_serial(void)
{
    kmp_set_library(1);
}

ABTOMP_API void kmp_set_library_turnaround(void)
{
    kmp_set_library(2);
}

ABTOMP_API void kmp_set_library_throughput(void)
{
    kmp_set_library(3);
}

ABTOMP_API void kmp_set_warnings_on(void)
{
}

ABTOMP_API void kmp_set_warnings_off(void)
{
}

ABTOMP_API void kmp_set_defaults(const char *text)
{
    (void)text;
}

ABTOMP_API void kmp_set_disp_num_buffers(int num)
{
    (void)num;
}

ABTOMP_API int kmp_get_num_known_threads(void)
{
    return omp_get_max_threads();
}

/* -- Tools, and objects of other run-time systems: there are none of these -- */

ABTOMP_API int omp_control_tool(int command, int modifier, void *arg)
{
    (void)ABTOMP_NOTE(0);
    return abtomp_tool_control(command, modifier, arg);
}

ABTOMP_API int omp_get_num_interop_properties(const void *interop)
{
    (void)interop;
    return 0;
}

#define INTEROP(type, name, parameters, ...)                                                                           \
    ABTOMP_API type name parameters                                                                                    \
    {                                                                                                                  \
        (void)interop, (void)property;                                                                                 \
        __VA_ARGS__                                                                                                    \
        return 0;                                                                                                      \
    }
/* Sets the code that says that the object is empty. */
#define SET_EMPTY                                                                                                      \
    if (code)                                                                                                          \
        *code = -1;
INTEROP(intptr_t, omp_get_interop_int, (const void *interop, int property, int *code), SET_EMPTY)
INTEROP(void *, omp_get_interop_ptr, (const void *interop, int property, int *code), SET_EMPTY)
INTEROP(const char *, omp_get_interop_str, (const void *interop, int property, int *code), SET_EMPTY)
INTEROP(const char *, omp_get_interop_name, (const void *interop, int property))
INTEROP(const char *, omp_get_interop_type_desc, (const void *interop, int property))
INTEROP(const char *, omp_get_interop_rc_desc, (const void *interop, int property))

/* 0: disabled, 1: default, 2: mandatory */
ABTOMP_API int __kmpc_get_target_offload(void)
{
    return (abtomp_env.target_offload + 1) % 3;
}

/* -- For Fortran: what takes no parameters or addresses of what it is about is the same -- */

#define BY_ADDRESS(type, name, of)                                                                                     \
    ABTOMP_API type name##_(const of *value)                                                                           \
    {                                                                                                                  \
        return name(*value);                                                                                           \
    }
#define BY_TWO(type, name, one, other)                                                                                 \
    ABTOMP_API type name##_(const one *first, const other *second)                                                     \
    {                                                                                                                  \
        return name(*first, *second);                                                                                  \
    }
#define OF_MASK(name)                                                                                                  \
    ABTOMP_API int name##_(const int *number, void **mask)                                                             \
    {                                                                                                                  \
        return name(*number, mask);                                                                                    \
    }

ABTOMP_FORTRAN(void, kmp_create_affinity_mask, (void **));
ABTOMP_FORTRAN(void, kmp_destroy_affinity_mask, (void **));
ABTOMP_FORTRAN(int, kmp_set_affinity, (void **));
ABTOMP_FORTRAN(int, kmp_get_affinity, (void **));
ABTOMP_FORTRAN(int, kmp_get_affinity_max_proc, (void));
ABTOMP_FORTRAN(int, kmp_get_blocktime, (void));
ABTOMP_FORTRAN(int, kmp_get_library, (void));
ABTOMP_FORTRAN(int, kmp_get_num_known_threads, (void));
ABTOMP_FORTRAN(int, kmp_get_stacksize, (void));
ABTOMP_FORTRAN(size_t, kmp_get_stacksize_s, (void));
ABTOMP_FORTRAN(void, kmp_set_library_serial, (void));
ABTOMP_FORTRAN(void, kmp_set_library_throughput, (void));
ABTOMP_FORTRAN(void, kmp_set_library_turnaround, (void));
ABTOMP_FORTRAN(void, kmp_set_warnings_off, (void));
ABTOMP_FORTRAN(void, kmp_set_warnings_on, (void));
BY_ADDRESS(void *, kmp_malloc, size_t)
BY_ADDRESS(void, kmp_set_blocktime, int)
BY_ADDRESS(void, kmp_set_disp_num_buffers, int)
BY_ADDRESS(void, kmp_set_library, int)
BY_ADDRESS(void, kmp_set_stacksize, int)
BY_ADDRESS(void, kmp_set_stacksize_s, size_t)
OF_MASK(kmp_get_affinity_mask_proc)
OF_MASK(kmp_set_affinity_mask_proc)
OF_MASK(kmp_unset_affinity_mask_proc)
BY_ADDRESS(int, kmp_get_cancellation_status, int)
BY_TWO(void *, kmp_aligned_malloc, size_t, size_t)
BY_TWO(void *, kmp_calloc, size_t, size_t)

ABTOMP_API void kmp_free_(void **memory)
{
    free(*memory);
}

ABTOMP_API void *kmp_realloc_(void **memory, const size_t *size)
{
    return realloc(*memory, *size);
}

ABTOMP_API void kmp_set_defaults_(const char *text, int length)
{
    (void)text, (void)length;
}

ABTOMP_API void omp_init_lock_with_hint_(void *lock, const int *hint)
{
    omp_init_lock_with_hint(lock, *hint);
}

ABTOMP_API void omp_init_nest_lock_with_hint_(void *lock, const int *hint)
{
    omp_init_nest_lock_with_hint(lock, *hint);
}

ABTOMP_API int omp_control_tool_(const int *command, const int *modifier, void *arg)
{
    (void)ABTOMP_NOTE(0);
    return abtomp_tool_control(*command, *modifier, arg);
}

/* -- Other names of the same, in LLVM's and Intel's headers for C -- */

#define C_NAME(type, name, parameters, ...)                                                                            \
    ABTOMP_API type ompc_##name parameters                                                                             \
    {                                                                                                                  \
        return omp_##name(__VA_ARGS__);                                                                                \
    }

C_NAME(size_t, capture_affinity, (char *text, size_t size, const char *format), text, size, format)
C_NAME(void, display_affinity, (const char *format), format)
C_NAME(size_t, get_affinity_format, (char *text, size_t size), text, size)
C_NAME(int, get_ancestor_thread_num, (int level), level)
C_NAME(int, get_team_size, (int level), level)
C_NAME(void, set_affinity_format, (const char *format), format)
C_NAME(void, set_dynamic, (int value), value)
C_NAME(void, set_max_active_levels, (int num), num)
C_NAME(void, set_nested, (int value), value)
C_NAME(void, set_num_threads, (int num), num)
C_NAME(void, set_schedule, (unsigned kind, int chunk), kind, chunk)

#define ALSO(type, of, parameters) ABTOMP_API type kmpc_##of parameters __attribute__((alias("kmp_" #of)))

ALSO(void *, aligned_malloc, (size_t, size_t));
ALSO(void *, calloc, (size_t, size_t));
ALSO(void, free, (void *));
ALSO(int, get_affinity_mask_proc, (int, void **));
ALSO(void *, malloc, (size_t));
ALSO(void *, realloc, (void *, size_t));
ALSO(int, set_affinity_mask_proc, (int, void **));
ALSO(void, set_blocktime, (int));
ALSO(void, set_defaults, (const char *));
ALSO(void, set_disp_num_buffers, (int));
ALSO(void, set_library, (int));
ALSO(void, set_stacksize, (int));
ALSO(void, set_stacksize_s, (size_t));
ALSO(int, unset_affinity_mask_proc, (int, void **));
