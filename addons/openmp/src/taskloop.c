/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of tasks. The tasks of a loop are numbers, its parts. What is in deques is a ticket for each member at most:
 * who runs one takes parts, some at a time, as long as there are any. So a loop costs one piece of memory and some
 * tasks, however many parts it has.
 *
 * The parts that a member takes at once run one after another, and nobody else can have them: they are few of what each
 * member may still get, and one if those are few.
 *
 * To the program each part is a task of its own, though several in a row may be the same for the library: as long as
 * the last one has left nothing behind by which the next could tell.
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>
#include "gomp.h"

enum {
    MOST_PARTS = 16, /* that are taken at once, */
    SHARES = 4       /* and what part of what each member may still get they are at most */
};

struct taskloop {
    void (*fn)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, align;
    unsigned flags;
    int priority;
    uint64_t asked, start, end, step, num;
    uint64_t parts, each, more; /* tasks; iterations of one, and how many have one more */
    char *copies;               /* the data of all parts; NULL: each is copied when it runs */
    size_t copy_size;           /* of the data of one part there */
};

/* A loop whose parts several members run. */
struct shared_loop {
    struct taskloop loop;               /* constant, with data that are behind it */
    uint64_t least_left;                /* as long as this number is left, several are taken at once */
    ABTOMP_LINE _Atomic(uint64_t) next; /* the first part that nobody has taken */
    _Atomic(uint32_t) tickets;          /* that have not ended */
    ABTOMP_LINE char data[];            /* not in the line that who takes parts writes */
};

/* Strict grains: each part but the last has exactly that number. */
static void divide_strictly(struct taskloop *loop, uint64_t each)
{
    loop->parts = loop->num / each + (loop->num % each > 0);
    loop->each = each;
    loop->more = 0;
}

/* How many tasks there are: grains say how many iterations each has at least. */
static void divide_loop(const struct abtomp_member *me, struct taskloop *loop)
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

/* -- Parts -- */

/* Parts that a member runs one after another. */
struct block {
    const struct taskloop *loop;
    uint64_t next, end;
};

/* Whether the task that runs is as one that begins: it may go on as another one. */
static bool is_as_new(const struct abtomp_member *me, const struct abtomp_tasks *own)
{
    const struct abtomp_task *task = own->task;
    return task->children.made == 0 && !task->table && me->running.number == 0 && !me->running.has_changed;
}

/* A task that runs the first of the parts, and more as long as it is as new. */
static void run_first_parts(void *arg)
{
    struct block *block = arg;
    const struct taskloop *loop = block->loop;
    struct abtomp_member *me = abtomp_current;
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    char room[loop->size + loop->align];
    void *data = abtomp_task_align(room, loop->align);
    do {
        uint64_t part = block->next++;
        if (ABTOMP_UNLIKELY(loop->copies != NULL)) {
            data = loop->copies + part * loop->copy_size;
        } else if (ABTOMP_UNLIKELY(abtomp_env.cancels) && abtomp_task_is_cancelled(me, me->group)) {
            continue;
        } else {
            abtomp_task_copy(data, loop->data, loop->copy, loop->size);
            set_bounds(loop, data, part);
        }
        loop->fn(data);
    } while (block->next < block->end && ABTOMP_LIKELY(is_as_new(me, own)));
}

static void run_parts(struct abtomp_member *me, struct abtomp_tasks *own, struct block block)
{
    while (block.next < block.end)
        abtomp_task_run_included(me, own, run_first_parts, &block, block.loop->flags & ABTOMP_TASK_FINAL);
}

/* -- Shared loops -- */

/* Takes parts of a loop. False: there are none. relaxed, all: who has a ticket sees all else, which is constant */
static bool take_parts(struct shared_loop *shared, struct block *block)
{
    uint64_t first = atomic_load_explicit(&shared->next, memory_order_relaxed), num;
    do {
        uint64_t left = shared->loop.parts - first;
        if (left == 0)
            return false;
        num = left / shared->least_left;
        num = num < 1 ? 1 : num < MOST_PARTS ? num : MOST_PARTS;
    } while (!atomic_compare_exchange_weak_explicit(&shared->next, &first, first + num, memory_order_relaxed,
                                                    memory_order_relaxed));
    *block = (struct block){&shared->loop, first, first + num};
    return true;
}

static void run_ticket(void *arg)
{
    struct shared_loop *shared = arg;
    struct abtomp_member *me = abtomp_current;
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    struct block block;
    while (take_parts(shared, &block))
        run_parts(me, own, block);
    /* acq_rel: pairs with itself, in run_ticket: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&shared->tickets, 1, memory_order_acq_rel) == 1)
        free(shared);
}

/* Data that the program has to copy are copied at once, for all parts. The program's own data may be gone later. */
static void copy_data(struct taskloop *loop, char *to)
{
    uint64_t copies = loop->copy ? loop->parts : 1;
    for (uint64_t i = 0; i < copies; i++) {
        abtomp_task_copy(to + i * loop->copy_size, loop->data, loop->copy, loop->size);
        if (loop->copy)
            set_bounds(loop, (uint64_t *)(void *)(to + i * loop->copy_size), i);
    }
    if (loop->copy)
        loop->copies = to;
    else
        loop->data = to;
}

static void share_parts(struct abtomp_member *me, struct abtomp_tasks *own, const struct taskloop *loop)
{
    size_t align = loop->align > 16 ? (size_t)loop->align : 16;
    size_t copy_size = ((size_t)loop->size + align - 1) & ~(align - 1);
    size_t size = sizeof(struct shared_loop) + align + copy_size * (loop->copy ? loop->parts : 1);
    uint32_t members = (uint32_t)me->team->num, tickets = loop->parts < members ? (uint32_t)loop->parts : members;
    struct shared_loop *shared = aligned_alloc(_Alignof(struct shared_loop), (size + 63) & ~(size_t)63);
    if (!shared)
        abtomp_fail("out of memory");
    shared->loop = *loop;
    shared->loop.copy_size = copy_size;
    shared->least_left = SHARES * members;
    copy_data(&shared->loop, abtomp_task_align(shared->data, (long)align));
    /* relaxed, both: nobody else knows it */
    atomic_store_explicit(&shared->next, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->tickets, tickets, memory_order_relaxed);
    for (uint32_t i = 0; i < tickets; i++)
        abtomp_task_make(me, own, run_ticket, shared, loop->priority);
    abtomp_crew_offer(me, own);
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
        divide_loop(me, loop);
        if (me->running.is_final || !(loop->flags & ABTOMP_LOOP_IF) || abtomp_runs_alone(me))
            run_parts(me, own, (struct block){loop, 0, loop->parts});
        else
            share_parts(me, own, loop);
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
