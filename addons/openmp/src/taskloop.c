/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of tasks. All tasks of a loop are in one block of memory, with their data. */
#include "tasks.h"

#include <stdlib.h>
#include "gomp.h"

/* The tasks of a loop: who ends the last of them frees the memory. */
struct abtomp_batch {
    _Atomic(uint64_t) left;
    char tasks[];
};

void abtomp_batch_leave(struct abtomp_batch *batch)
{
    /* acq_rel: pairs with itself, in abtomp_batch_leave: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&batch->left, 1, memory_order_acq_rel) == 1)
        free(batch);
}

struct taskloop {
    void (*fn)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, align;
    unsigned flags;
    int priority;
    uint64_t asked, start, end, step, num;
    uint64_t parts, each, more; /* tasks; iterations of one, and how many have one more */
};

/* Strict grains: each part but the last has exactly so many. */
static void divide_strictly(struct taskloop *loop, uint64_t each)
{
    loop->parts = loop->num / each + (loop->num % each > 0);
    loop->each = each;
    loop->more = 0;
}

/* How many tasks there are: grains say how many iterations each has at least. */
static void divide(const struct abtomp_member *me, struct taskloop *loop)
{
    uint64_t asked = loop->asked, num = loop->num, parts = asked;
    if (asked == 0)
        parts = (uint64_t)me->team->num;
    else if (loop->flags & ABTOMP_LOOP_GRAINS)
        parts = num / asked;
    parts = parts < 1 ? 1 : parts < num ? parts : num;
    if (asked > 0 && (loop->flags & ABTOMP_LOOP_GRAINS) && (loop->flags & ABTOMP_LOOP_STRICT)) {
        divide_strictly(loop, asked);
        return;
    }
    loop->parts = parts;
    loop->each = num / parts;
    loop->more = num % parts;
}

/* The data of one task begin with its bounds. */
static void set_bounds(const struct taskloop *loop, uint64_t *data, uint64_t part)
{
    uint64_t first = part * loop->each + (part < loop->more ? part : loop->more);
    uint64_t end = first + loop->each + (part < loop->more);
    data[0] = loop->start + first * loop->step;
    data[1] = end >= loop->num ? loop->end : loop->start + end * loop->step;
}

/* Runs the tasks one after another, each in place. */
static void run_parts(struct abtomp_member *me, struct abtomp_tasks *own, const struct taskloop *loop)
{
    char block[loop->size + loop->align];
    void *data = abtomp_task_align(block, loop->align);
    for (uint64_t i = 0; i < loop->parts; i++) {
        abtomp_task_copy(data, loop->data, loop->copy, loop->size);
        set_bounds(loop, data, i);
        abtomp_task_run_included(me, own, loop->fn, data, loop->flags & ABTOMP_TASK_FINAL);
    }
}

static void make_parts(struct abtomp_member *me, struct abtomp_tasks *own, const struct taskloop *loop)
{
    size_t align = loop->align > 16 ? (size_t)loop->align : 16, first = sizeof(struct abtomp_task);
    first = (first + align - 1) & ~(align - 1);
    size_t each = (first + (size_t)loop->size + align - 1) & ~(align - 1);
    struct abtomp_batch *batch = malloc(sizeof(*batch) + align + loop->parts * each);
    if (!batch)
        abtomp_fail("out of memory");
    atomic_store_explicit(&batch->left, loop->parts, memory_order_relaxed); /* relaxed: nobody else knows it */
    char *at = abtomp_task_align(batch->tasks, (long)align);
    for (uint64_t i = 0; i < loop->parts; i++, at += each) {
        struct abtomp_task *task = (struct abtomp_task *)(void *)at;
        task->home = NULL;
        task->batch = batch;
        abtomp_task_init(me, own, task, loop->flags & ABTOMP_TASK_FINAL);
        task->fn = loop->fn;
        task->data = at + first;
        task->priority = loop->priority;
        task->is_needed = loop->copy != NULL;
        abtomp_task_copy(task->data, loop->data, loop->copy, loop->size);
        set_bounds(loop, task->data, i);
        abtomp_task_count(me, own, task);
        abtomp_task_put(me, own, task);
        abtomp_crew_offer(me, own);
    }
}

/* The words after the bounds point to the reductions, if there are any. */
static void run_taskloop(struct taskloop *loop)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    bool is_cancelled = abtomp_env.cancels && abtomp_task_is_cancelled(me, me->group);
    if (!(loop->flags & ABTOMP_LOOP_NO_GROUP))
        GOMP_taskgroup_start();
    if (loop->flags & ABTOMP_LOOP_REDUCTIONS)
        GOMP_taskgroup_reduction_register(((uintptr_t **)loop->data)[2]);
    if (loop->num > 0 && !is_cancelled) {
        divide(me, loop);
        if (me->running.is_final || !(loop->flags & ABTOMP_LOOP_IF) || abtomp_runs_alone(me))
            run_parts(me, own, loop);
        else
            make_parts(me, own, loop);
    }
    if (!(loop->flags & ABTOMP_LOOP_NO_GROUP))
        GOMP_taskgroup_end();
}

/* Loops of signed and of unsigned numbers differ only in when they have no iterations. */
static void start_taskloop(struct taskloop *loop, bool is_up, bool is_empty)
{
    uint64_t distance = is_up ? loop->end - loop->start : loop->start - loop->end;
    if (!is_empty)
        loop->num = (distance - 1) / (is_up ? loop->step : -loop->step) + 1;
    if (!(loop->flags & ABTOMP_TASK_PRIORITY))
        loop->priority = 0;
    else if (loop->priority > abtomp_env.max_task_priority)
        loop->priority = abtomp_env.max_task_priority;
    if (loop->num > 0 || (loop->flags & ABTOMP_LOOP_REDUCTIONS))
        run_taskloop(loop);
}

#define TASKLOOP                                                                                                       \
    {                                                                                                                  \
        .fn = fn, .data = data, .copy = copy, .size = size, .align = align, .flags = flags, .priority = priority,      \
        .asked = asked, .start = (uint64_t)start, .end = (uint64_t)end, .step = (uint64_t)step                         \
    }

void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, unsigned flags,
                   unsigned long asked, int priority, long start, long end, long step)
{
    struct taskloop loop = TASKLOOP;
    start_taskloop(&loop, step > 0, step > 0 ? start >= end : start <= end);
}

void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                       unsigned flags, unsigned long asked, int priority, unsigned long long start,
                       unsigned long long end, unsigned long long step)
{
    struct taskloop loop = TASKLOOP;
    bool is_up = flags & ABTOMP_LOOP_UP;
    start_taskloop(&loop, is_up, is_up ? start >= end : start <= end);
}
