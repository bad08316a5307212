/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of tasks. The tasks of a loop are numbers, its parts. What is in deques is a ticket for each member at most.
 * A member that runs one has a range of the parts, from which it takes some at a time, and of the others' when that is
 * empty, as long as there are any. So a loop costs one piece of memory and some tasks, however many parts it has.
 *
 * The parts that a member takes at once run one after another, and nobody else can have them: they are few of what its
 * range has, and one if those are few.
 *
 * To the program each part is a task of its own, though several in a row may be the same for the library: as long as
 * the last one has left nothing behind by which the next could tell. If a tool looks, each part is one: of its own
 * ticket if there are tickets.
 */
#include "ompt/tool.h"
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>
#include "loop/range.h"

enum { MOST_PARTS = 16 /* that are taken at once */, FEW = 32 };

/* A loop whose parts several members run: constant, but for the last words. Its data are behind it. */
struct shared_loop {
    struct abtomp_taskloop loop;
    uint64_t grain;                           /* parts that a number of the ranges is: 1, unless they are very many */
    uint32_t num;                             /* tickets */
    ABTOMP_LINE _Atomic(uint32_t) begun;      /* of them */
    _Atomic(uint32_t) open;                   /* of them that have not ended */
    ABTOMP_LINE struct abtomp_range ranges[]; /* of the tickets */
};

/* Strict grains: each part but the last has exactly that number. */
static void divide_strictly(struct abtomp_taskloop *loop, uint64_t each)
{
    loop->parts = loop->num / each + (loop->num % each > 0);
    loop->each = each;
    loop->more = 0;
}

/* How many tasks there are: grains say how many iterations each has at least. */
static void divide_loop(const struct abtomp_member *me, struct abtomp_taskloop *loop)
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

/* -- Parts -- */

/* Parts that a member runs one after another. */
struct block {
    const struct abtomp_taskloop *loop;
    uint64_t next, end;
    uint64_t at;                /* the bound between the last one and the next */
    struct shared_loop *shared; /* of which more may be taken; NULL: there are no more */
    uint32_t ticket;            /* whose range that is */
};

static struct block block_of(const struct abtomp_taskloop *loop, uint64_t first, uint64_t end)
{
    uint64_t before = first * loop->each + (first < loop->more ? first : loop->more);
    return (struct block){.loop = loop, .next = first, .end = end, .at = loop->start + before * loop->step};
}

static inline void set_bounds(struct block *block, char *data, uint64_t part)
{
    const struct abtomp_taskloop *loop = block->loop;
    *(uint64_t *)(void *)(data + loop->lower) = block->at;
    block->at += (loop->each + (part < loop->more)) * loop->step;
    *(uint64_t *)(void *)(data + loop->upper) = (part + 1 < loop->parts ? block->at : loop->end) - loop->inside;
}

/* As many bytes as clang's programs without private variables have from the upper bound on are copied without a call.
 */
static inline void memcpy_rest(const struct abtomp_taskloop *loop, char *data, long first)
{
    const char *from = loop->data;
    long size = loop->size - first;
    if (size == FEW)
        memcpy(data + first, from + first, FEW);
    else
        memcpy(data + first, from + first, (size_t)size);
}

/* The data of a part, but for the first bytes and its bounds. */
static inline void copy_rest(const struct abtomp_taskloop *loop, void *data, long first, bool is_last)
{
    if (ABTOMP_UNLIKELY(loop->copy != NULL))
        loop->copy(loop, data, is_last);
    else if (ABTOMP_UNLIKELY(loop->size > first))
        memcpy_rest(loop, data, first);
}

/* Takes parts in place of those that have been run. False: there are none. */
static bool take_parts(struct block *block)
{
    struct shared_loop *shared = block->shared;
    uint32_t first, num;
    if (!shared)
        return false;
    while ((num = abtomp_range_take(&shared->ranges[block->ticket], MOST_PARTS, &first)) == 0)
        if (!abtomp_range_steal(shared->ranges, shared->num, block->ticket))
            return false;
    uint64_t end = ((uint64_t)first + num) * shared->grain, parts = shared->loop.parts;
    uint32_t ticket = block->ticket;
    *block = block_of(&shared->loop, first * shared->grain, end < parts ? end : parts);
    block->shared = shared;
    block->ticket = ticket;
    return true;
}

static inline bool has_parts(struct block *block)
{
    return block->next < block->end || take_parts(block);
}

/* Whether the task that runs is as one that begins: it may go on as another one. */
static inline bool is_as_new(const struct abtomp_member *me, const struct abtomp_tasks *own)
{
    const struct abtomp_task *task = own->task;
    return task->children.made == ABTOMP_COUNT_START && !task->table && me->running.number == 0 &&
           !me->running.has_changed && !abtomp_is_observed();
}

/* A task that runs the first of the parts, and more as long as it is as new. */
static void run_first_parts(void *arg)
{
    struct block *block = arg;
    const struct abtomp_taskloop *loop = block->loop;
    struct abtomp_member *me = abtomp_current;
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    char room[loop->size + loop->align];
    void *data = abtomp_task_align(room, loop->align);
    long first = 0;
    do {
        uint64_t part = block->next++;
        if (ABTOMP_UNLIKELY(loop->copies != NULL)) {
            data = loop->copies + part * loop->copy_size;
        } else if (ABTOMP_UNLIKELY(abtomp_env.cancels) && abtomp_task_is_cancelled(me, me->group)) {
            block->next = block->end; /* and so are all others */
            block->shared = NULL;
            break;
        } else {
            copy_rest(loop, data, first, part + 1 == loop->parts);
            set_bounds(block, data, part);
            first = loop->kept;
        }
        loop->fn(data);
    } while (ABTOMP_LIKELY(is_as_new(me, own)) && has_parts(block));
}

static void run_parts(struct abtomp_member *me, struct abtomp_tasks *own, struct block *block)
{
    while (has_parts(block))
        abtomp_task_run_included(me, own, run_first_parts, block, block->loop->flags & ABTOMP_TASK_FINAL);
}

/* -- Shared loops -- */

/* The task of the ticket is that of the part. */
static __attribute__((noinline)) void run_own_part(struct abtomp_member *me, struct block *block)
{
    me->running.is_final |= (block->loop->flags & ABTOMP_TASK_FINAL) != 0;
    if (take_parts(block))
        run_first_parts(block);
}

static void run_ticket(void *arg)
{
    struct shared_loop *shared = arg;
    struct abtomp_member *me = abtomp_current;
    /* relaxed: a ticket only needs a range to itself */
    uint32_t ticket = atomic_fetch_add_explicit(&shared->begun, 1, memory_order_relaxed);
    struct block block = {.loop = &shared->loop, .shared = shared, .ticket = ticket};
    if (!abtomp_is_observed())
        run_parts(me, abtomp_tasks_of(me), &block);
    else
        run_own_part(me, &block);
    /* acq_rel: pairs with itself, in run_ticket: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&shared->open, 1, memory_order_acq_rel) == 1)
        free(shared);
}

/* Data that the program has to copy are copied at once, for all parts. The program's own data may be gone later. */
static void copy_data(struct abtomp_taskloop *loop, char *to)
{
    struct block all = block_of(loop, 0, loop->parts);
    if (!loop->copy) {
        memcpy(to, loop->data, (size_t)loop->size);
        loop->data = to;
        return;
    }
    for (uint64_t i = 0; i < loop->parts; i++) {
        loop->copy(loop, to + i * loop->copy_size, i + 1 == loop->parts);
        set_bounds(&all, to + i * loop->copy_size, i);
    }
    loop->copies = to;
}

/* With its ranges, and that many bytes behind them. */
static struct shared_loop *shared_new(const struct abtomp_taskloop *loop, uint32_t tickets, size_t more)
{
    size_t size = sizeof(struct shared_loop) + tickets * sizeof(struct abtomp_range) + more;
    struct shared_loop *shared =
        abtomp_must_have(aligned_alloc(_Alignof(struct shared_loop), (size + 63) & ~(size_t)63));
    shared->loop = *loop;
    shared->num = tickets;
    shared->grain = loop->parts / UINT32_MAX + 1;
    abtomp_ranges_divide(shared->ranges, tickets, (uint32_t)((loop->parts - 1) / shared->grain + 1));
    /* relaxed, both: nobody else knows it */
    atomic_store_explicit(&shared->begun, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->open, tickets, memory_order_relaxed);
    return shared;
}

static void share_parts(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_taskloop *loop)
{
    size_t align = loop->align > 16 ? (size_t)loop->align : 16;
    size_t copy_size = ((size_t)loop->size + align - 1) & ~(align - 1);
    uint32_t members = abtomp_is_observed() ? UINT32_MAX : (uint32_t)me->team->num,
             tickets = loop->parts < members ? (uint32_t)loop->parts : members;
    struct shared_loop *shared = shared_new(loop, tickets, align + copy_size * (loop->copy ? loop->parts : 1));
    shared->loop.copy_size = copy_size;
    copy_data(&shared->loop, abtomp_task_align(&shared->ranges[tickets], (long)align));
    for (uint32_t i = 0; i < tickets; i++)
        abtomp_task_make(me, own, run_ticket, shared, loop->priority);
    abtomp_crew_offer(me, own);
}

/* The words after the bounds point to the reductions, if there are any. */
static void run_taskloop(struct abtomp_taskloop *loop)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    bool is_cancelled = abtomp_env.cancels && abtomp_task_is_cancelled(me, me->group);
    if (!(loop->flags & ABTOMP_LOOP_NO_GROUP))
        abtomp_group_begin(me, NULL);
    if (loop->flags & ABTOMP_LOOP_REDUCTIONS)
        abtomp_group_reduce(me, ((uintptr_t **)loop->data)[2]);
    if (abtomp_is_observed())
        abtomp_tool_work(me, ompt_work_taskloop, ompt_scope_begin, loop->num);
    if (loop->num > 0 && !is_cancelled) {
        divide_loop(me, loop);
        struct block all = block_of(loop, 0, loop->parts);
        if (me->running.is_final || !(loop->flags & ABTOMP_LOOP_IF) || abtomp_runs_alone(me))
            run_parts(me, own, &all);
        else
            share_parts(me, own, loop);
    }
    if (abtomp_is_observed())
        abtomp_tool_work(me, ompt_work_taskloop, ompt_scope_end, loop->num);
    if (!(loop->flags & ABTOMP_LOOP_NO_GROUP))
        abtomp_group_await(abtomp_self());
}

void abtomp_taskloop(struct abtomp_taskloop *loop, bool is_up, bool is_empty)
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
