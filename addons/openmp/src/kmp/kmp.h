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
#include <stdlib.h>
#include "omp.h"

/* Where in the source. */
typedef struct ident {
    int32_t unused, flags, more[2];
    const char *text;
} ident_t;

enum { KMP_AT_BARRIER = 0x20, KMP_AT_END = 0x40, KMP_AT_SECTIONS = 0x400, KMP_AT_DISTRIBUTE = 0x800 };

/* What nearly all functions are told first, and few look at: where in the source, and the number of the caller. */
#define KMP_AT ident_t *at __attribute__((unused))
#define KMP_GTID int32_t gtid __attribute__((unused))
#define KMP_CALLER KMP_AT, KMP_GTID

/* The function of a region: two pointers to numbers of the thread, then one for each variable. */
typedef void (*kmp_microtask)(void);

ABTOMP_API void __kmpc_barrier(ident_t *, int32_t gtid);
ABTOMP_API int32_t __kmpc_barrier_master(ident_t *, int32_t gtid);
ABTOMP_API int32_t __kmpc_barrier_master_nowait(ident_t *, int32_t gtid);
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
ABTOMP_API void __kmpc_end_barrier_master(ident_t *, int32_t gtid);
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
ABTOMP_API int __kmpc_get_target_offload(void);
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

#define KMP_DISTRIBUTE_FUNCTIONS(name, type, step_type)                                                                \
    ABTOMP_API void __kmpc_team_static_init_##name(ident_t *, int32_t gtid, int32_t *is_last, type *lower,             \
                                                   type *upper, step_type *stride, step_type step, step_type chunk);   \
    ABTOMP_API void __kmpc_dist_for_static_init_##name(ident_t *, int32_t gtid, int32_t kind, int32_t *is_last,        \
                                                       type *lower, type *upper, type *whole_upper, step_type *stride, \
                                                       step_type step, step_type chunk);                               \
    ABTOMP_API void __kmpc_dist_dispatch_init_##name(ident_t *, int32_t gtid, int32_t kind, int32_t *is_last,          \
                                                     type lower, type upper, step_type step, step_type chunk);
KMP_LOOP_TYPES(KMP_DISTRIBUTE_FUNCTIONS)

/* One of the loops whose iterations wait for others. */
struct kmp_dimension {
    int64_t lower, upper, step;
};

ABTOMP_API void __kmpc_begin(ident_t *, int32_t flags);
ABTOMP_API void *__kmpc_copyprivate_light(ident_t *, int32_t gtid, void *data);
ABTOMP_API void __kmpc_doacross_fini(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_doacross_init(ident_t *, int32_t gtid, int32_t num, const struct kmp_dimension *);
ABTOMP_API void __kmpc_doacross_post(ident_t *, int32_t gtid, const int64_t *vector);
ABTOMP_API void __kmpc_doacross_wait(ident_t *, int32_t gtid, const int64_t *vector);
ABTOMP_API void __kmpc_end(ident_t *);
ABTOMP_API void __kmpc_end_scope(ident_t *, int32_t gtid, void *unused);
ABTOMP_API void __kmpc_error(ident_t *, int severity, const char *message);
ABTOMP_API void __kmpc_fork_call_if(ident_t *, int32_t num, kmp_microtask, int32_t condition, void *arg);
ABTOMP_API void __kmpc_fork_teams(ident_t *, int32_t num, kmp_microtask, ...);
ABTOMP_API int32_t __kmpc_in_parallel(ident_t *);
ABTOMP_API int32_t __kmpc_ok_to_fork(ident_t *);
ABTOMP_API void __kmpc_pop_num_threads(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_push_num_teams(ident_t *, int32_t gtid, int32_t num, int32_t limit);
ABTOMP_API void __kmpc_push_num_teams_51(ident_t *, int32_t gtid, int32_t least, int32_t most, int32_t limit);
ABTOMP_API void __kmpc_scope(ident_t *, int32_t gtid, void *unused);
ABTOMP_API void __kmpc_set_thread_limit(ident_t *, int32_t gtid, int32_t limit);

/* -- Variables of threads. Functions may be NULL -- */

typedef void *(*kmp_constructor)(void *copy);
typedef void *(*kmp_copier)(void *copy, void *original);
typedef void (*kmp_destructor)(void *copy);

ABTOMP_API void *__kmpc_threadprivate(ident_t *, int32_t gtid, void *data, size_t size);
ABTOMP_API void *__kmpc_threadprivate_cached(ident_t *, int32_t gtid, void *data, size_t size, void ***cache);
ABTOMP_API void __kmpc_threadprivate_register(ident_t *, void *data, kmp_constructor, kmp_copier, kmp_destructor);

/* -- Routines -- */

ABTOMP_API int omp_control_tool(int command, int modifier, void *arg);
ABTOMP_API int omp_get_num_interop_properties(const void *interop);
ABTOMP_API void *kmp_aligned_malloc(size_t size, size_t alignment);
ABTOMP_API void *kmp_calloc(size_t num, size_t size);
ABTOMP_API void kmp_create_affinity_mask(void **mask);
ABTOMP_API void kmp_destroy_affinity_mask(void **mask);
ABTOMP_API void kmp_free(void *memory);
ABTOMP_API int kmp_get_affinity(void **mask);
ABTOMP_API int kmp_get_affinity_mask_proc(int number, void **mask);
ABTOMP_API int kmp_get_affinity_max_proc(void);
ABTOMP_API int kmp_get_blocktime(void);
ABTOMP_API int kmp_get_cancellation_status(int kind);
ABTOMP_API int kmp_get_library(void);
ABTOMP_API int kmp_get_num_known_threads(void);
ABTOMP_API int kmp_get_stacksize(void);
ABTOMP_API size_t kmp_get_stacksize_s(void);
ABTOMP_API void *kmp_malloc(size_t size);
ABTOMP_API void *kmp_realloc(void *memory, size_t size);
ABTOMP_API int kmp_set_affinity(void **mask);
ABTOMP_API int kmp_set_affinity_mask_proc(int number, void **mask);
ABTOMP_API void kmp_set_blocktime(int milliseconds);
ABTOMP_API void kmp_set_defaults(const char *text);
ABTOMP_API void kmp_set_disp_num_buffers(int num);
ABTOMP_API void kmp_set_library(int kind);
ABTOMP_API void kmp_set_library_serial(void);
ABTOMP_API void kmp_set_library_throughput(void);
ABTOMP_API void kmp_set_library_turnaround(void);
ABTOMP_API void kmp_set_stacksize(int size);
ABTOMP_API void kmp_set_stacksize_s(size_t size);
ABTOMP_API void kmp_set_warnings_off(void);
ABTOMP_API void kmp_set_warnings_on(void);
ABTOMP_API int kmp_unset_affinity_mask_proc(int number, void **mask);

/* -- Memory and locks -- */

struct abtomp_trait;

ABTOMP_API void *__kmpc_alloc(int32_t gtid, size_t size, uintptr_t allocator);
ABTOMP_API void *__kmpc_aligned_alloc(int32_t gtid, size_t alignment, size_t size, uintptr_t allocator);
ABTOMP_API void *__kmpc_calloc(int32_t gtid, size_t num, size_t size, uintptr_t allocator);
ABTOMP_API void __kmpc_destroy_allocator(int32_t gtid, uintptr_t allocator);
ABTOMP_API void __kmpc_free(int32_t gtid, void *memory, uintptr_t allocator);
ABTOMP_API uintptr_t __kmpc_get_default_allocator(int32_t gtid);
ABTOMP_API uintptr_t __kmpc_init_allocator(int32_t gtid, uintptr_t space, int num, const struct abtomp_trait *);
ABTOMP_API void __kmpc_init_lock_with_hint(ident_t *, int32_t gtid, void **lock, uintptr_t hint);
ABTOMP_API void __kmpc_init_nest_lock_with_hint(ident_t *, int32_t gtid, void **lock, uintptr_t hint);
ABTOMP_API void *__kmpc_realloc(int32_t gtid, void *memory, size_t size, uintptr_t allocator, uintptr_t former);
ABTOMP_API void __kmpc_set_default_allocator(int32_t gtid, uintptr_t allocator);

/* What is done with a lock, and what that returns. */
#define KMP_LOCK_FUNCTIONS(X, kind)                                                                                    \
    X(init, void, kind)                                                                                                \
    X(destroy, void, kind)                                                                                             \
    X(set, void, kind)                                                                                                 \
    X(unset, void, kind)                                                                                               \
    X(test, int, kind)

#define KMP_LOCK(verb, type, kind) ABTOMP_API type __kmpc_##verb##_##kind(ident_t *, int32_t gtid, void **lock);
KMP_LOCK_FUNCTIONS(KMP_LOCK, lock)
KMP_LOCK_FUNCTIONS(KMP_LOCK, nest_lock)

/* -- Tasks -- */

struct kmp_task;
typedef int32_t (*kmp_routine)(int32_t gtid, struct kmp_task *task);

/* What the program knows of a task. Its own data are behind it. */
struct kmp_task {
    void *shareds;
    kmp_routine routine;
    int32_t part; /* of an untied task: of the program */
    union {
        int32_t priority;
        kmp_routine destructors;
    } data1, data2;
};

enum { KMP_DEPEND_IN = 1, KMP_DEPEND_OUT = 2, KMP_DEPEND_INOUTSET = 8, KMP_DEPEND_ALL = 0x80 };

struct kmp_depend {
    uintptr_t address;
    size_t size;
    uint8_t flags; /* KMP_DEPEND_* */
};

/* A variable that tasks reduce, and the same as older compilers describe it. Functions may be NULL. */
struct kmp_reduction {
    void *shared, *original;
    size_t size;
    void (*init)(void *copy, void *original);
    void (*fini)(void *copy);
    void (*combine)(void *to, void *copy);
    uint32_t flags;
};

struct kmp_old_reduction {
    void *shared;
    size_t size;
    void (*init)(void *copy, void *unused);
    void (*fini)(void *copy);
    void (*combine)(void *to, void *copy);
    uint32_t flags;
};

ABTOMP_API void __kmpc_end_taskgroup(ident_t *, int32_t gtid);
ABTOMP_API uint64_t __kmpc_get_parent_taskid(void);
ABTOMP_API uint64_t __kmpc_get_taskid(void);
ABTOMP_API int32_t __kmpc_omp_reg_task_with_affinity(ident_t *, int32_t gtid, struct kmp_task *, int32_t num,
                                                     void *list);
ABTOMP_API struct kmp_task *__kmpc_omp_target_task_alloc(ident_t *, int32_t gtid, int32_t flags, size_t size,
                                                         size_t shared_size, kmp_routine, int64_t device);
ABTOMP_API int32_t __kmpc_omp_task(ident_t *, int32_t gtid, struct kmp_task *);
ABTOMP_API struct kmp_task *__kmpc_omp_task_alloc(ident_t *, int32_t gtid, int32_t flags, size_t size,
                                                  size_t shared_size, kmp_routine);
ABTOMP_API void __kmpc_omp_task_begin_if0(ident_t *, int32_t gtid, struct kmp_task *);
ABTOMP_API void __kmpc_omp_task_complete_if0(ident_t *, int32_t gtid, struct kmp_task *);
ABTOMP_API int32_t __kmpc_omp_task_parts(ident_t *, int32_t gtid, struct kmp_task *);
ABTOMP_API int32_t __kmpc_omp_task_with_deps(ident_t *, int32_t gtid, struct kmp_task *, int32_t num,
                                             const struct kmp_depend *, int32_t num_more, const struct kmp_depend *);
ABTOMP_API int32_t __kmpc_omp_taskwait(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_omp_taskwait_deps_51(ident_t *, int32_t gtid, int32_t num, const struct kmp_depend *,
                                            int32_t num_more, const struct kmp_depend *, int32_t is_nowait);
ABTOMP_API int32_t __kmpc_omp_taskyield(ident_t *, int32_t gtid, int32_t part);
ABTOMP_API void __kmpc_omp_wait_deps(ident_t *, int32_t gtid, int32_t num, const struct kmp_depend *, int32_t num_more,
                                     const struct kmp_depend *);
ABTOMP_API void __kmpc_proxy_task_completed(int32_t gtid, struct kmp_task *);
ABTOMP_API void __kmpc_proxy_task_completed_ooo(struct kmp_task *);
ABTOMP_API void *__kmpc_task_allow_completion_event(ident_t *, int32_t gtid, struct kmp_task *);
ABTOMP_API void *__kmpc_task_reduction_get_th_data(int32_t gtid, void *outermost, void *address);
ABTOMP_API void *__kmpc_task_reduction_init(int32_t gtid, int32_t num, void *data);
ABTOMP_API void __kmpc_task_reduction_modifier_fini(ident_t *, int32_t gtid, int32_t is_loop);
ABTOMP_API void *__kmpc_task_reduction_modifier_init(ident_t *, int32_t gtid, int32_t is_loop, int32_t num, void *data);
ABTOMP_API void __kmpc_taskgroup(ident_t *, int32_t gtid);
ABTOMP_API void __kmpc_taskloop(ident_t *, int32_t gtid, struct kmp_task *, int32_t may_defer, uint64_t *lower,
                                uint64_t *upper, int64_t step, int32_t no_group, int32_t sched, uint64_t asked,
                                void *copy);
ABTOMP_API void __kmpc_taskloop_5(ident_t *, int32_t gtid, struct kmp_task *, int32_t may_defer, uint64_t *lower,
                                  uint64_t *upper, int64_t step, int32_t no_group, int32_t sched, uint64_t asked,
                                  int32_t is_strict, void *copy);
ABTOMP_API void *__kmpc_taskred_init(int32_t gtid, int32_t num, void *data);
ABTOMP_API void *__kmpc_taskred_modifier_init(ident_t *, int32_t gtid, int32_t is_loop, int32_t num, void *data);

/* Memory for a variable of the program, of any alignment that it may need. */
static inline void *kmp_alloc(size_t size)
{
    return abtomp_must_have(aligned_alloc(64, (size + 64) & ~(size_t)63));
}

/* A function that teams and tasks run, call(data), and the same with a frame that a tool knows: run_viewed. */
#define KMP_RUN(name, call)                                                                                            \
    static void name(void *data)                                                                                       \
    {                                                                                                                  \
        call(data);                                                                                                    \
    }                                                                                                                  \
    static void run_viewed(void *data)                                                                                 \
    {                                                                                                                  \
        abtomp_current->view->frame.exit_frame.ptr = __builtin_frame_address(0);                                       \
        call(data);                                                                                                    \
        __asm__ volatile(""); /* the frame stays: without it the call might take its place */                          \
    }

/* The end of a construct at which there is nothing to do, but perhaps to tell tools. */
#define KMP_END(name, told)                                                                                            \
    void __kmpc_##name(KMP_CALLER)                                                                                     \
    {                                                                                                                  \
        told;                                                                                                          \
    }
#define KMP_NOTHING(name) KMP_END(name, )
#define KMP_TOLD(name, told)                                                                                           \
    KMP_END(                                                                                                           \
        name, if (ABTOMP_NOTED(0)) { told; })

#endif
