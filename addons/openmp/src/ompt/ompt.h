/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tools and the library know of each other: the part of the standard's interface for tools (OMPT, of OpenMP 5.1,
 * and 5.2's kind of dispatch) that the library has. The names and numbers are those of the standard.
 */
#ifndef ABTOMP_OMPT_H
#define ABTOMP_OMPT_H

#include <stddef.h>
#include <stdint.h>

/* What a tool keeps at a thread, a region or a task. */
typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

/* Where a task has left the program for the library (enter), and where the library has called the task (exit). */
typedef struct {
    ompt_data_t exit_frame, enter_frame;
    int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

enum { ompt_frame_runtime = 0, ompt_frame_framepointer = 0x20 };

typedef struct {
    ompt_data_t variable;
    int dependence_type;
} ompt_dependence_t;

/* Some iterations, for the event dispatch. */
typedef struct {
    uint64_t start, iterations;
} ompt_dispatch_chunk_t;

enum {
    ompt_dependence_type_in = 1,
    ompt_dependence_type_out,
    ompt_dependence_type_inout,
    ompt_dependence_type_mutexinoutset,
    ompt_dependence_type_source,
    ompt_dependence_type_sink,
    ompt_dependence_type_inoutset,
    ompt_dependence_type_out_all_memory = 34
};

enum { ompt_set_error, ompt_set_never, ompt_set_impossible, ompt_set_sometimes, ompt_set_always = 5 };
enum { ompt_thread_initial = 1, ompt_thread_worker };
enum { ompt_scope_begin = 1, ompt_scope_end };
enum { ompt_dispatch_section = 2, ompt_dispatch_ws_loop_chunk = 3 };

enum {
    ompt_sync_region_barrier_explicit = 3,
    ompt_sync_region_barrier_implementation,
    ompt_sync_region_taskwait,
    ompt_sync_region_taskgroup,
    ompt_sync_region_reduction,
    ompt_sync_region_barrier_implicit_workshare,
    ompt_sync_region_barrier_implicit_parallel
};

enum {
    ompt_work_loop = 1,
    ompt_work_sections,
    ompt_work_single_executor,
    ompt_work_single_other,
    ompt_work_distribute = 6,
    ompt_work_taskloop,
    ompt_work_scope
};

enum {
    ompt_mutex_lock = 1,
    ompt_mutex_test_lock,
    ompt_mutex_nest_lock,
    ompt_mutex_test_nest_lock,
    ompt_mutex_critical,
    ompt_mutex_atomic,
    ompt_mutex_ordered
};

enum {
    ompt_task_initial = 1,
    ompt_task_implicit = 2,
    ompt_task_explicit = 4,
    ompt_task_taskwait = 0x10,
    ompt_task_undeferred = 0x08000000,
    ompt_task_untied = 0x10000000,
    ompt_task_final = 0x20000000,
    ompt_task_mergeable = 0x40000000
};

enum {
    ompt_task_complete = 1,
    ompt_task_yield,
    ompt_task_cancel,
    ompt_task_detach,
    ompt_task_early_fulfill,
    ompt_task_late_fulfill,
    ompt_task_switch,
    ompt_taskwait_complete
};

enum {
    ompt_parallel_invoker_program = 1,
    ompt_parallel_invoker_runtime = 2,
    ompt_parallel_league = 0x40000000,
    ompt_parallel_team = -0x7fffffff - 1
};

enum {
    ompt_cancel_parallel = 1,
    ompt_cancel_sections = 2,
    ompt_cancel_loop = 4,
    ompt_cancel_taskgroup = 8,
    ompt_cancel_activated = 0x10,
    ompt_cancel_detected = 0x20,
    ompt_cancel_discarded_task = 0x40
};

/* The states of threads: number, name. */
#define OMPT_STATES(X)                                                                                                 \
    X(undefined, 0x102)                                                                                                \
    X(work_serial, 0)                                                                                                  \
    X(work_parallel, 1)                                                                                                \
    X(work_reduction, 2)                                                                                               \
    X(wait_barrier_implicit_parallel, 0x11)                                                                            \
    X(wait_barrier_implicit_workshare, 0x12)                                                                           \
    X(wait_barrier_explicit, 0x14)                                                                                     \
    X(wait_barrier_implementation, 0x15)                                                                               \
    X(wait_taskwait, 0x20)                                                                                             \
    X(wait_taskgroup, 0x21)                                                                                            \
    X(wait_lock, 0x41)                                                                                                 \
    X(wait_critical, 0x42)                                                                                             \
    X(wait_atomic, 0x43)                                                                                               \
    X(wait_ordered, 0x44)                                                                                              \
    X(idle, 0x100)                                                                                                     \
    X(overhead, 0x101)

#define OMPT_STATE(name, number) ompt_state_##name = (number),
enum { OMPT_STATES(OMPT_STATE) };
#undef OMPT_STATE

/* The events that are raised: number, name, what the tool's function returns and gets. `at`: where the program calls */
#define OMPT_SCOPE int endpoint, ompt_data_t *parallel, ompt_data_t *task
#define OMPT_SYNC (int kind, OMPT_SCOPE, const void *at)
#define OMPT_MUTEX (int kind, uint64_t wait_id, const void *at)
#define OMPT_ACQUIRE (int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *at)
#define OMPT_EVENTS(X)                                                                                                 \
    X(1, thread_begin, void, (int kind, ompt_data_t *thread))                                                          \
    X(2, thread_end, void, (ompt_data_t * thread))                                                                     \
    X(3, parallel_begin, void,                                                                                         \
      (ompt_data_t * task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned requested, int flags,            \
       const void *at))                                                                                                \
    X(4, parallel_end, void, (ompt_data_t * parallel, ompt_data_t * task, int flags, const void *at))                  \
    X(5, task_create, void,                                                                                            \
      (ompt_data_t * task, const ompt_frame_t *frame, ompt_data_t *created, int flags, int has_dependences,            \
       const void *at))                                                                                                \
    X(6, task_schedule, void, (ompt_data_t * prior, int status, ompt_data_t *next))                                    \
    X(7, implicit_task, void, (OMPT_SCOPE, unsigned members, unsigned num, int flags))                                 \
    X(11, control_tool, int, (uint64_t command, uint64_t modifier, void *arg, const void *at))                         \
    X(16, sync_region_wait, void, OMPT_SYNC)                                                                           \
    X(17, mutex_released, void, OMPT_MUTEX)                                                                            \
    X(18, dependences, void, (ompt_data_t * task, const ompt_dependence_t *list, int num))                             \
    X(19, task_dependence, void, (ompt_data_t * before, ompt_data_t * after))                                          \
    X(20, work, void, (int kind, OMPT_SCOPE, uint64_t count, const void *at))                                          \
    X(21, masked, void, (OMPT_SCOPE, const void *at))                                                                  \
    X(23, sync_region, void, OMPT_SYNC)                                                                                \
    X(24, lock_init, void, OMPT_ACQUIRE)                                                                               \
    X(25, lock_destroy, void, OMPT_MUTEX)                                                                              \
    X(26, mutex_acquire, void, OMPT_ACQUIRE)                                                                           \
    X(27, mutex_acquired, void, OMPT_MUTEX)                                                                            \
    X(28, nest_lock, void, (int endpoint, uint64_t wait_id, const void *at))                                           \
    X(29, flush, void, (ompt_data_t * thread, const void *at))                                                         \
    X(30, cancel, void, (ompt_data_t * task, int flags, const void *at))                                               \
    X(31, reduction, void, OMPT_SYNC)                                                                                  \
    X(32, dispatch, void, (ompt_data_t * parallel, ompt_data_t * task, int kind, ompt_data_t instance))                \
    X(37, error, void, (int severity, const char *message, size_t length, const void *at))

#define OMPT_EVENT(number, name, type, parameters)                                                                     \
    enum { ompt_callback_##name = (number) };                                                                          \
    typedef type(*ompt_callback_##name##_t) parameters;
OMPT_EVENTS(OMPT_EVENT)
#undef OMPT_EVENT

typedef void (*ompt_callback_t)(void);
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);

/* What ompt_start_tool of a tool returns; NULL: the tool does not want to look. */
typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool);
    void (*finalize)(ompt_data_t *tool);
    ompt_data_t tool;
} ompt_start_tool_result_t;

/* Functions that a tool finds by their names, as far as the library and its tests name their types. */
typedef int (*ompt_set_callback_t)(int event, ompt_callback_t function);
typedef ompt_data_t *(*ompt_get_thread_data_t)(void);
typedef int (*ompt_get_parallel_info_t)(int ancestor, ompt_data_t **parallel, int *members);
typedef int (*ompt_get_task_info_t)(int ancestor, int *flags, ompt_data_t **task, ompt_frame_t **frame,
                                    ompt_data_t **parallel, int *num);

#endif
