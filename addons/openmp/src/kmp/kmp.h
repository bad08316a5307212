/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clang makes programs call: functions of libomp.so.5, with their prototypes. `gtid` is the number that
 * __kmpc_global_thread_num says, which is not looked at: each function knows who calls.
 */
#ifndef ABTOMP_KMP_H
#define ABTOMP_KMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"

/* Where in the source. */
typedef struct ident ident_t;

/* The function of a region: two pointers to numbers of the thread, then one for each variable. */
typedef void (*kmp_microtask)(void);

ABTOMP_API void __kmpc_barrier(ident_t *, int32_t gtid);
ABTOMP_API int32_t __kmpc_bound_num_threads(ident_t *);
ABTOMP_API int32_t __kmpc_bound_thread_num(ident_t *);
ABTOMP_API int32_t __kmpc_cancel(ident_t *, int32_t gtid, int32_t kind);
ABTOMP_API int32_t __kmpc_cancel_barrier(ident_t *, int32_t gtid);
ABTOMP_API int32_t __kmpc_cancellationpoint(ident_t *, int32_t gtid, int32_t kind);
ABTOMP_API void __kmpc_copyprivate(ident_t *, int32_t gtid, size_t size, void *data, void (*copy)(void *, void *),
                                   int32_t is_single);
ABTOMP_API void __kmpc_critical(ident_t *, int32_t gtid, void *name);
ABTOMP_API void __kmpc_critical_with_hint(ident_t *, int32_t gtid, void *name, uint32_t hint);
ABTOMP_API void __kmpc_dispatch_deinit(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_dispatch_fini_4(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_dispatch_fini_4u(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_dispatch_fini_8(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_dispatch_fini_8u(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_end_critical(ident_t *, int32_t gtid, void *name);
ABTOMP_API void __kmpc_end_masked(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_end_master(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_end_ordered(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_end_reduce(ident_t *, int32_t gtid, void *name);
ABTOMP_API void __kmpc_end_reduce_nowait(ident_t *, int32_t gtid, void *name);
ABTOMP_API void __kmpc_end_serialized_parallel(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_end_single(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_flush(ident_t *);
ABTOMP_API void __kmpc_for_static_fini(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_fork_call(ident_t *, int32_t num, kmp_microtask, ...);
ABTOMP_API int32_t __kmpc_global_num_threads(ident_t *);
ABTOMP_API int32_t __kmpc_global_thread_num(ident_t *);
ABTOMP_API int32_t __kmpc_masked(ident_t *, int32_t gtid, int32_t filter);
ABTOMP_API int32_t __kmpc_master(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_ordered(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_push_num_threads(ident_t *, int32_t gtid, int32_t num);
ABTOMP_API void __kmpc_push_proc_bind(ident_t *, int32_t gtid, int32_t bind);
ABTOMP_API int32_t __kmpc_reduce(ident_t *, int32_t gtid, int32_t num, size_t size, void *data,
                                 void (*reduce)(void *, void *), void *name);
ABTOMP_API int32_t __kmpc_reduce_nowait(ident_t *, int32_t gtid, int32_t num, size_t size, void *data,
                                        void (*reduce)(void *, void *), void *name);
ABTOMP_API void __kmpc_serialized_parallel(ident_t *, int32_t gtid);
ABTOMP_API int32_t __kmpc_single(ident_t *, int32_t gtid);

/* Loops of each type: its name in functions, itself, and the one of its steps. */
#define KMP_LOOP_TYPES(X)                                                                                              \
    X(4, int32_t, int32_t)                                                                                             \
    X(4u, uint32_t, int32_t)                                                                                           \
    X(8, int64_t, int64_t)                                                                                             \
    X(8u, uint64_t, int64_t)

#define KMP_LOOP_FUNCTIONS(name, type, step_type)                                                                      \
    ABTOMP_API void __kmpc_for_static_init_##name(ident_t *, int32_t gtid, int32_t kind, int32_t *is_last,             \
                                                  type *lower, type *upper, step_type *stride, step_type step,         \
                                                  step_type chunk);                                                    \
    ABTOMP_API void __kmpc_dispatch_init_##name(ident_t *, int32_t gtid, int32_t kind, type lower, type upper,         \
                                                step_type step, step_type chunk);                                      \
    ABTOMP_API int32_t __kmpc_dispatch_next_##name(ident_t *, int32_t gtid, int32_t *is_last, type *lower,             \
                                                   type *upper, step_type *step);
KMP_LOOP_TYPES(KMP_LOOP_FUNCTIONS)

/* The end of a construct at which there is nothing to do. */
#define KMP_NOTHING(name)                                                                                              \
    void __kmpc_##name(ident_t *at, int32_t gtid)                                                                      \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        (void)gtid;                                                                                                    \
    }

#endif
