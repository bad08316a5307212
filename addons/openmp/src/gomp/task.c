/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks, loops of tasks, task groups, and reductions of tasks. */
#include "ompt/tool.h"
#include "task/tasks.h"

#include "gomp/gomp.h"
#include "gomp/task.versions.h"

ABTOMP_API void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                          bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
    abtomp_task(ABTOMP_CALLER(0), fn, data, copy, size, align, is_deferred, flags, depend, priority, detach);
}

ABTOMP_API void GOMP_taskwait(void)
{
    (void)ABTOMP_NOTE(0);
    abtomp_taskwait();
}

ABTOMP_API void GOMP_taskwait_depend(void **depend)
{
    abtomp_taskwait_depend(ABTOMP_CALLER(0), depend, false);
}

ABTOMP_API void GOMP_taskwait_depend_nowait(void **depend)
{
    abtomp_taskwait_depend(ABTOMP_CALLER(0), depend, true);
}

ABTOMP_API void GOMP_taskyield(void)
{
    abtomp_taskyield();
}

static void copy_data(const struct abtomp_taskloop *loop, void *to, bool is_last)
{
    (void)is_last;
    loop->program_copy(to, loop->data);
}

/* Loops of signed and of unsigned numbers differ only in when they have no iterations. The data begin with the bounds.
 */
#define TASKLOOP                                                                                                       \
    {                                                                                                                  \
        .fn = fn, .data = data, .program_copy = copy, .copy = copy ? copy_data : NULL, .size = size, .align = align,   \
        .upper = sizeof(long), .kept = 2 * sizeof(long), .flags = flags, .priority = priority, .asked = asked,         \
        .start = (uint64_t)start, .end = (uint64_t)end, .step = (uint64_t)step                                         \
    }

ABTOMP_API void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                              unsigned flags, unsigned long asked, int priority, long start, long end, long step)
{
    (void)ABTOMP_NOTE(0);
    struct abtomp_taskloop loop = TASKLOOP;
    abtomp_taskloop(&loop, step > 0, step > 0 ? start >= end : start <= end);
}

ABTOMP_API void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                                  unsigned flags, unsigned long asked, int priority, unsigned long long start,
                                  unsigned long long end, unsigned long long step)
{
    (void)ABTOMP_NOTE(0);
    struct abtomp_taskloop loop = TASKLOOP;
    bool is_up = flags & ABTOMP_LOOP_UP;
    abtomp_taskloop(&loop, is_up, is_up ? start >= end : start <= end);
}

/* -- Groups and reductions -- */

ABTOMP_API void GOMP_taskgroup_start(void)
{
    abtomp_group_begin(ABTOMP_CALLER(0), NULL);
}

ABTOMP_API void GOMP_taskgroup_end(void)
{
    abtomp_group_await(ABTOMP_CALLER(0));
}

ABTOMP_API void GOMP_taskgroup_reduction_register(uintptr_t *reductions)
{
    abtomp_group_reduce(abtomp_self(), reductions);
}

ABTOMP_API void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions)
{
    abtomp_reductions_free(reductions);
}

ABTOMP_API void GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
    abtomp_reductions_end(abtomp_self(), is_cancelled);
}

ABTOMP_API void GOMP_task_reduction_remap(size_t num, size_t num_originals, void **addresses)
{
    abtomp_reductions_find(abtomp_self(), num, num_originals, addresses);
}
