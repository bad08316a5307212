/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a tool what happens. Callers have seen that one looks. */
#include "ompt/tool.h"

#include <stdlib.h>
#include <string.h>

/* Calls the tool's function for an event, if it has one. */
#define RAISE(name, ...)                                                                                               \
    do {                                                                                                               \
        ompt_callback_##name##_t function = (ompt_callback_##name##_t)abtomp_tool_callback(ompt_callback_##name);      \
        if (function)                                                                                                  \
            function(__VA_ARGS__);                                                                                     \
    } while (0)

/*
 * Archer expects what LLVM's library does beside the standard: the data of the region at the end of an initial task.
 * That of LLVM 14 also needs to see that the task of a taskwait with dependences begins.
 */

/* The region of a task and the task, as most events have them. */
#define BOTH(view) &(view)->region->data, &(view)->data

/* -- Threads -- */

void abtomp_tool_thread_begin(int kind)
{
    abtomp_tool_thread.is_there = true;
    RAISE(thread_begin, kind, &abtomp_tool_thread.data);
}

void abtomp_tool_thread_end(void)
{
    RAISE(thread_end, &abtomp_tool_thread.data);
    abtomp_tool_thread = (struct abtomp_tool_thread){.is_there = false};
}

void abtomp_tool_root_begin(struct abtomp_member *me)
{
    struct abtomp_region_view *region =
        abtomp_must_have(aligned_alloc(_Alignof(struct abtomp_region_view), sizeof(*region)));
    *region = (struct abtomp_region_view){.data = {0}};
    abtomp_tool_thread_begin(ompt_thread_initial);
    region->first = (struct abtomp_view){.region = region, .flags = ompt_task_initial, .members = 1};
    me->view = &region->first;
    RAISE(implicit_task, ompt_scope_begin, BOTH(me->view), 1, 1, ompt_task_initial);
}

void abtomp_tool_root_end(struct abtomp_member *me)
{
    struct abtomp_region_view *region = me->view->region;
    RAISE(implicit_task, ompt_scope_end, BOTH(&region->first), 0, 1, ompt_task_initial);
    abtomp_tool_thread_end();
}

void abtomp_tool_root_free(struct abtomp_member *me)
{
    free(me->view->region);
    me->view = NULL;
}

/* -- Regions -- */

/* The task that runs is in the library, or in the program again. */
static inline __attribute__((always_inline)) void enter_library(struct abtomp_view *view)
{
    view->frame.enter_frame.ptr = __builtin_frame_address(0);
    view->frame.enter_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
}

static void leave_library(struct abtomp_view *view)
{
    view->frame.enter_frame.ptr = NULL;
}

void abtomp_tool_fork(struct abtomp_member *me, struct abtomp_region_view *region, unsigned requested, int flags)
{
    struct abtomp_view *view = me->view;
    region->at = abtomp_call.at;
    region->parent = view;
    region->flags = flags | abtomp_call.kind;
    enter_library(view);
    RAISE(parallel_begin, &view->data, &view->frame, &region->data, requested, region->flags, region->at);
}

void abtomp_tool_join(struct abtomp_member *me, struct abtomp_region_view *region)
{
    RAISE(parallel_end, &region->data, &me->view->data, region->flags, region->at);
    leave_library(me->view);
}

void abtomp_tool_implicit_begin(struct abtomp_member *me, struct abtomp_view *view, struct abtomp_region_view *region,
                                int flags)
{
    *view = (struct abtomp_view){.parent = region->parent, .region = region, .flags = flags, .num = me->num};
    view->members = me->team->num;
    if (view->members == 1)
        view->flags |= ompt_task_undeferred;
    if (flags == ompt_task_initial) {
        view->num = me->league.own;
        view->members = me->league.num;
    }
    view->frame.exit_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
    me->view = view;
    RAISE(implicit_task, ompt_scope_begin, BOTH(view), (unsigned)view->members, (unsigned)view->num, flags);
}

void abtomp_tool_implicit_end(struct abtomp_member *me, struct abtomp_view *before)
{
    struct abtomp_view *view = me->view;
    int flags = view->flags & (ompt_task_initial | ompt_task_implicit);
    bool is_initial = flags == ompt_task_initial;
    abtomp_tool_single_end(me);
    RAISE(implicit_task, ompt_scope_end, is_initial ? &view->region->data : NULL, &view->data,
          is_initial ? 0 : (unsigned)view->members, (unsigned)view->num, flags);
    me->view = before;
}

/* -- Waits -- */

/* By kinds of sync regions: the state of a thread that waits there. */
static const int states[] = {
    [ompt_sync_region_barrier_explicit] = ompt_state_wait_barrier_explicit,
    [ompt_sync_region_barrier_implementation] = ompt_state_wait_barrier_implementation,
    [ompt_sync_region_taskwait] = ompt_state_wait_taskwait,
    [ompt_sync_region_taskgroup] = ompt_state_wait_taskgroup,
    [ompt_sync_region_barrier_implicit_workshare] = ompt_state_wait_barrier_implicit_workshare,
    [ompt_sync_region_barrier_implicit_parallel] = ompt_state_wait_barrier_implicit_parallel,
};

/* A member that is not the first calls nothing at the end of its region. */
static const void *place_of(const struct abtomp_view *view, int kind)
{
    if (kind != ompt_sync_region_barrier_implicit_parallel)
        return abtomp_call.at;
    return view->num == 0 ? view->region->at : NULL;
}

bool abtomp_tool_sync(struct abtomp_member *me, int kind, bool (*wait)(struct abtomp_member *me))
{
    struct abtomp_view *view = me->view;
    struct abtomp_tool_thread *thread = &abtomp_tool_thread;
    const void *at = place_of(view, kind);
    int state = thread->state;
    if (kind != ompt_sync_region_barrier_implicit_parallel)
        enter_library(view);
    abtomp_tool_single_end(me);
    if (kind != ompt_sync_region_taskgroup) /* that has begun before */
        RAISE(sync_region, kind, ompt_scope_begin, BOTH(view), at);
    RAISE(sync_region_wait, kind, ompt_scope_begin, BOTH(view), at);
    thread->state = states[kind];
    bool result = wait(me);
    thread->state = state;
    ompt_data_t *region = kind == ompt_sync_region_barrier_implicit_parallel ? NULL : &view->region->data;
    RAISE(sync_region_wait, kind, ompt_scope_end, region, &view->data, at);
    RAISE(sync_region, kind, ompt_scope_end, region, &view->data, at);
    leave_library(view);
    return result;
}

void abtomp_tool_scope(struct abtomp_member *me, int kind, int endpoint)
{
    if (kind == ompt_sync_region_reduction)
        RAISE(reduction, kind, endpoint, BOTH(me->view), abtomp_call.at);
    else
        RAISE(sync_region, kind, endpoint, BOTH(me->view), abtomp_call.at);
}

/* -- Tasks -- */

void *abtomp_view_alloc(size_t size)
{
    struct abtomp_view *view = abtomp_must_have(calloc(1, sizeof(*view) + size));
    return view + 1;
}

/*
 * The list: its length, and how many are out or inout, which come first. Or 0, its length, how many are out or inout,
 * mutexinoutset, and in, in this order, and objects after them.
 */
static void say_dependences(struct abtomp_view *view, void **list)
{
    uintptr_t num = (uintptr_t)list[0], outs = (uintptr_t)list[1], sets = 0, ins = num - outs;
    void **at = &list[2];
    if (num == 0) {
        num = (uintptr_t)list[1];
        outs = (uintptr_t)list[2];
        sets = (uintptr_t)list[3];
        ins = (uintptr_t)list[4];
        at = &list[5];
    }
    ompt_dependence_t *all = abtomp_must_have(calloc(num + 1, sizeof(*all)));
    for (uintptr_t i = 0; i < num; i++) {
        int kind = i < outs ? ompt_dependence_type_inout : ompt_dependence_type_mutexinoutset;
        all[i].dependence_type = i < outs + sets ? kind : ompt_dependence_type_in;
        all[i].variable.ptr = at[i];
        if (i < outs + sets + ins)
            continue;
        void **object = at[i];
        int use = (int)(uintptr_t)object[1];
        all[i].variable.ptr = object[0];
        all[i].dependence_type = !object[0]                                 ? ompt_dependence_type_out_all_memory
                                 : use > ompt_dependence_type_mutexinoutset ? ompt_dependence_type_inoutset
                                                                            : use;
    }
    RAISE(dependences, &view->data, all, (int)num);
    free(all);
}

void abtomp_tool_create(struct abtomp_member *me, struct abtomp_view *view, int flags, void **depend)
{
    struct abtomp_view *parent = me->view;
    view->parent = parent;
    view->region = parent->region;
    view->members = parent->members;
    view->num = me->num;
    view->flags |= flags;
    view->frame.exit_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
    enter_library(parent);
    RAISE(task_create, &parent->data, &parent->frame, &view->data, view->flags, depend != NULL, abtomp_call.at);
    if (depend)
        say_dependences(view, depend);
    if (!(flags & ompt_task_undeferred))
        leave_library(parent);
}

/* What ran before may be nothing: in a region that was cancelled tasks run when its members have ended. */
struct abtomp_view *abtomp_tool_task_begin(struct abtomp_member *me, struct abtomp_view *view)
{
    struct abtomp_view *before = me->view;
    int status = before && before->yields ? ompt_task_yield : ompt_task_switch;
    view->num = me->num;
    view->parent = before;
    RAISE(task_schedule, before ? &before->data : NULL, status, &view->data);
    me->view = view;
    return before;
}

void abtomp_tool_task_end(struct abtomp_member *me, struct abtomp_view *before, int status)
{
    struct abtomp_view *view = me->view;
    RAISE(task_schedule, &view->data, status, before ? &before->data : NULL);
    if (before && (view->flags & ompt_task_undeferred))
        leave_library(before);
    me->view = before;
}

void abtomp_tool_status(struct abtomp_view *view, int status)
{
    RAISE(task_schedule, &view->data, status, NULL);
}

void abtomp_tool_depend(const struct abtomp_view *before, const struct abtomp_view *after)
{
    RAISE(task_dependence, (ompt_data_t *)&before->data, (ompt_data_t *)&after->data);
}

void abtomp_tool_vector(struct abtomp_member *me, int kind, unsigned num, const int64_t *numbers)
{
    ompt_dependence_t *all = abtomp_must_have(calloc(num, sizeof(*all)));
    for (unsigned i = 0; i < num; i++)
        all[i] = (ompt_dependence_t){{(uint64_t)numbers[i]}, kind};
    RAISE(dependences, &me->view->data, all, (int)num);
    free(all);
}

/* -- Work -- */

void abtomp_tool_work(struct abtomp_member *me, int kind, int endpoint, uint64_t count)
{
    RAISE(work, kind, endpoint, BOTH(me->view), count, abtomp_call.at);
}

void abtomp_tool_chunk(struct abtomp_member *me, bool is_section, uint64_t start, uint64_t num)
{
    ompt_dispatch_chunk_t chunk = {start, num};
    ompt_data_t instance = {.ptr = is_section ? (void *)abtomp_call.at : &chunk};
    RAISE(dispatch, BOTH(me->view), is_section ? ompt_dispatch_section : ompt_dispatch_ws_loop_chunk, instance);
}

/* The end of a single construct is seen at the next barrier, if the compiler calls nothing there. */
void abtomp_tool_single(struct abtomp_member *me, bool is_mine)
{
    int kind = is_mine ? ompt_work_single_executor : ompt_work_single_other;
    abtomp_tool_single_end(me);
    abtomp_tool_work(me, kind, ompt_scope_begin, 1);
    me->view->is_single = is_mine;
    if (!is_mine)
        abtomp_tool_work(me, kind, ompt_scope_end, 1);
}

void abtomp_tool_single_end(struct abtomp_member *me)
{
    if (me->view->is_single)
        abtomp_tool_work(me, ompt_work_single_executor, ompt_scope_end, 1);
    me->view->is_single = false;
}

void abtomp_tool_masked(struct abtomp_member *me, int endpoint)
{
    RAISE(masked, endpoint, BOTH(me->view), abtomp_call.at);
}

void abtomp_tool_cancel(struct abtomp_member *me, int flags)
{
    RAISE(cancel, &me->view->data, flags, abtomp_call.at);
}

void abtomp_tool_discard(const struct abtomp_view *view)
{
    RAISE(cancel, (ompt_data_t *)&view->data, ompt_cancel_taskgroup | ompt_cancel_discarded_task, NULL);
}

void abtomp_tool_flush(void)
{
    RAISE(flush, &abtomp_tool_thread.data, abtomp_call.at);
}

void abtomp_tool_error(bool is_fatal, const char *message, size_t length)
{
    if (length == SIZE_MAX)
        length = message ? strlen(message) : 0;
    RAISE(error, is_fatal ? 2 : 1, message, length, abtomp_call.at);
}

/* The answers are those of omp_control_tool_result_t. */
int abtomp_tool_control(int command, int modifier, void *arg)
{
    enum { NO_TOOL = -2, NO_CALLBACK = -1 };
    if (!abtomp_is_observed())
        return NO_TOOL;
    struct abtomp_view *view = abtomp_current->view;
    ompt_callback_control_tool_t function =
        (ompt_callback_control_tool_t)abtomp_tool_callback(ompt_callback_control_tool);
    if (!function)
        return NO_CALLBACK;
    enter_library(view);
    int result = function((uint64_t)command, (uint64_t)modifier, arg, abtomp_call.at);
    leave_library(view);
    return result;
}

/* -- Mutexes -- */

static int state_at(int kind)
{
    return kind == ompt_mutex_critical  ? ompt_state_wait_critical
           : kind == ompt_mutex_atomic  ? ompt_state_wait_atomic
           : kind == ompt_mutex_ordered ? ompt_state_wait_ordered
                                        : ompt_state_wait_lock;
}

void abtomp_tool_acquire(void *lock, int kind)
{
    RAISE(mutex_acquire, kind, 0, 1, (uintptr_t)lock, abtomp_call.at);
}

bool abtomp_tool_lock(void *lock, int kind, bool (*take)(void *lock))
{
    struct abtomp_tool_thread *thread = &abtomp_tool_thread;
    const void *at = abtomp_call.at;
    uint64_t wait_id = (uintptr_t)lock;
    int state = thread->state;
    abtomp_tool_acquire(lock, kind);
    thread->wait_id = wait_id;
    thread->state = state_at(kind);
    bool is_taken = take(lock);
    thread->state = state;
    thread->wait_id = 0;
    if (is_taken)
        RAISE(mutex_acquired, kind, wait_id, at);
    return is_taken;
}

void abtomp_tool_unlock(void *lock, int kind)
{
    RAISE(mutex_released, kind, (uintptr_t)lock, abtomp_call.at);
}

void abtomp_tool_nest(void *lock, int endpoint)
{
    RAISE(nest_lock, endpoint, (uintptr_t)lock, abtomp_call.at);
}

void abtomp_tool_lock_init(void *lock, int kind, unsigned hint)
{
    RAISE(lock_init, kind, hint, 1, (uintptr_t)lock, abtomp_call.at);
}

void abtomp_tool_lock_destroy(void *lock, int kind)
{
    RAISE(lock_destroy, kind, (uintptr_t)lock, abtomp_call.at);
}
