/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit tasks. Each runs at once, in the call that makes it, so that all dependences are in order, and nothing is
 * left to wait for.
 */
#include "omp.h"

#include <string.h>
#include "gomp.h"

enum {
    TASK_FINAL = 1 << 1,
    LOOP_GRAINS = 1 << 9,
    LOOP_NO_GROUP = 1 << 11,
    LOOP_REDUCTIONS = 1 << 12,
    TASK_DETACH = 1 << 13
};

/* What a task has of its own beside its data. */
struct frame {
    struct abtomp_icvs icvs;
    uint32_t number;
    bool is_final, is_explicit;
};

static struct frame enter_task(struct abtomp_member *me, bool is_final)
{
    struct frame frame = {me->icvs, me->task_number, me->is_final, me->is_explicit};
    me->task_number = 0;
    me->is_explicit = true;
    me->is_final = me->is_final || is_final;
    return frame;
}

static void leave_task(struct abtomp_member *me, const struct frame *frame)
{
    me->icvs = frame->icvs;
    me->task_number = frame->number;
    me->is_explicit = frame->is_explicit;
    me->is_final = frame->is_final;
}

/* Where the task's own data are in a block that has room for them and their alignment. */
static void *aligned(char *block, long align)
{
    return (void *)(((uintptr_t)block + (uintptr_t)align - 1) & ~((uintptr_t)align - 1));
}

static void copy_data(void *to, void *from, void (*copy)(void *, void *), long size)
{
    if (copy)
        copy(to, from);
    else
        memcpy(to, from, (size_t)size);
}

/* An event that is fulfilled later does not keep the task from having ended: nobody waits for it here. */
void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool is_deferred,
               unsigned flags, void **depend, int priority, void *detach)
{
    (void)is_deferred;
    (void)depend;
    (void)priority;
    struct abtomp_member *me = abtomp_self();
    struct frame frame = enter_task(me, flags & TASK_FINAL);
    char block[size + align];
    void *own = aligned(block, align);
    copy_data(own, data, copy, size);
    if (flags & TASK_DETACH)
        *(void **)detach = *(void **)own = me;
    fn(own);
    leave_task(me, &frame);
}

/* Runs one task of a loop, over the values from..to. */
static void run_part(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, uint64_t from,
                     uint64_t to)
{
    char block[size + align];
    uint64_t *own = aligned(block, align);
    copy_data(own, data, copy, size);
    own[0] = from;
    own[1] = to;
    fn(own);
}

/* How many tasks a loop of so many iterations is: grains say how many iterations each has at least. */
static uint64_t count_parts(const struct abtomp_member *me, uint64_t num, uint64_t asked, unsigned flags)
{
    uint64_t parts = asked;
    if (asked == 0)
        parts = (uint64_t)me->team->num;
    else if (flags & LOOP_GRAINS)
        parts = num / asked;
    return parts < 1 ? 1 : parts < num ? parts : num;
}

struct taskloop {
    void (*fn)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, align;
    unsigned flags;
    uint64_t asked, start, end, step, num;
};

/* The words after the bounds point to the reductions, if there are any. */
static void run_taskloop(const struct taskloop *loop)
{
    struct abtomp_member *me = abtomp_self();
    uint64_t parts = loop->num > 0 ? count_parts(me, loop->num, loop->asked, loop->flags) : 0;
    uint64_t each = parts > 0 ? loop->num / parts : 0, more = loop->num - each * parts, first = 0;
    struct frame frame = enter_task(me, loop->flags & TASK_FINAL);
    if (!(loop->flags & LOOP_NO_GROUP))
        GOMP_taskgroup_start();
    if (loop->flags & LOOP_REDUCTIONS)
        GOMP_taskgroup_reduction_register(((uintptr_t **)loop->data)[2]);
    for (uint64_t i = 0; i < parts; i++) {
        uint64_t end = first + each + (i < more);
        run_part(loop->fn, loop->data, loop->copy, loop->size, loop->align, loop->start + first * loop->step,
                 end == loop->num ? loop->end : loop->start + end * loop->step);
        me->icvs = frame.icvs;
        first = end;
    }
    if (!(loop->flags & LOOP_NO_GROUP))
        GOMP_taskgroup_end();
    leave_task(me, &frame);
}

void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, unsigned flags,
                   unsigned long asked, int priority, long start, long end, long step)
{
    (void)priority;
    struct taskloop loop = {fn, data, copy, size, align, flags, asked, (uint64_t)start, (uint64_t)end, (uint64_t)step,
                            0};
    if (step > 0 ? start < end : start > end)
        loop.num =
            step > 0 ? (loop.end - loop.start - 1) / loop.step + 1 : (loop.start - loop.end - 1) / -loop.step + 1;
    if (loop.num > 0 || (flags & LOOP_REDUCTIONS))
        run_taskloop(&loop);
}

enum { LOOP_UP = 1 << 8 };

void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                       unsigned flags, unsigned long asked, int priority, unsigned long long start,
                       unsigned long long end, unsigned long long step)
{
    (void)priority;
    struct taskloop loop = {fn, data, copy, size, align, flags, asked, start, end, step, 0};
    bool is_up = flags & LOOP_UP;
    if (is_up ? start < end : start > end)
        loop.num = is_up ? (end - start - 1) / step + 1 : (start - end - 1) / -step + 1;
    if (loop.num > 0 || (flags & LOOP_REDUCTIONS))
        run_taskloop(&loop);
}

void GOMP_taskwait(void)
{
}

void GOMP_taskwait_depend(void **depend)
{
    (void)depend;
}

void GOMP_taskwait_depend_nowait(void **depend)
{
    (void)depend;
}

void GOMP_taskyield(void)
{
}
