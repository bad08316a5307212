/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit tasks: how they are made, run and end; taskwait. */
#include "ompt/tool.h"
#include "task/relief.h"

#include <stdlib.h>
#include <string.h>

/* -- Memory -- */

struct abtomp_tasks *abtomp_tasks_make(struct abtomp_member *me, struct abtomp_tasks *lead)
{
    struct abtomp_tasks *own = abtomp_must_have(aligned_alloc(_Alignof(struct abtomp_tasks), sizeof(*own)));
    memset(own, 0, sizeof(*own));
    if (!abtomp_deque_init(&own->deque))
        abtomp_fail("out of memory");
    own->base = abtomp_deque_top(&own->deque);
    own->implicit.children.made = own->implicit.children.ended = ABTOMP_COUNT_START;
    own->implicit.runner = me;
    own->task = &own->implicit;
    own->member = me;
    own->lead = lead ? lead : own;
    /* release: pairs with the acquires in abtomp_tasks_are_over and steal_task */
    atomic_store_explicit(&me->tasks, own, memory_order_release);
    return own;
}

struct abtomp_tasks *abtomp_tasks_new(struct abtomp_member *me)
{
    struct abtomp_tasks *own = abtomp_tasks_make(me, NULL);
    abtomp_post_begin(own);
    return own;
}

static void free_blocks(struct abtomp_task *task)
{
    while (task) {
        struct abtomp_task *next = task->next;
        free(task);
        task = next;
    }
}

void abtomp_group_end(struct abtomp_member *me)
{
    for (struct abtomp_group *group; (group = me->group) != NULL;) {
        me->group = group->outer;
        free(group);
    }
}

static void tasks_free(struct abtomp_tasks *own)
{
    abtomp_reliefs_free(own);
    abtomp_depend_forget(own, &own->implicit);
    free_blocks(own->unused);
    free_blocks(atomic_load_explicit(&own->returned, memory_order_relaxed)); /* relaxed: no other member is left */
    free(own->deque.entries);
    free(own);
}

void abtomp_member_free(struct abtomp_member *me)
{
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed); /* relaxed: no other has it */
    abtomp_group_end(me);
    abtomp_numbers_free(me);
    if (own)
        tasks_free(own);
    free(me->call);
    free(me);
}

/* If a tool looks no block is kept, so that all memory comes from here. */
struct abtomp_task *abtomp_block_new(struct abtomp_tasks *own, size_t size)
{
    if (abtomp_is_observed())
        return abtomp_view_alloc(size);
    bool is_block = size <= ABTOMP_BLOCK;
    /* acquire: pairs with the release in return_blocks */
    struct abtomp_task *task = is_block ? atomic_exchange_explicit(&own->returned, NULL, memory_order_acquire) : NULL;
    if (task)
        own->unused = task->next;
    else
        task = abtomp_must_have(malloc(is_block ? ABTOMP_BLOCK : size));
    task->lender = is_block ? own : NULL;
    return task;
}

/* To the member that has made them, which takes all at once: so what has come back meanwhile does no harm to the list.
 */
static void return_blocks(struct abtomp_debt *debt)
{
    if (!debt->blocks)
        return;
    struct abtomp_tasks *lender = debt->blocks->lender;
    struct abtomp_task *first = atomic_load_explicit(&lender->returned, memory_order_relaxed); /* relaxed: not read */
    do {
        debt->last->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&lender->returned, &first, debt->blocks, memory_order_release,
                                                    memory_order_relaxed)); /* release: pairs with abtomp_block_new */
    debt->blocks = NULL;
}

static void owe_block(struct abtomp_debt *debt, struct abtomp_task *task)
{
    if (debt->blocks && debt->blocks->lender != task->lender)
        return_blocks(debt);
    task->next = debt->blocks;
    if (!debt->blocks)
        debt->last = task;
    debt->blocks = task;
}

static inline void block_free(struct abtomp_tasks *own, struct abtomp_task *task)
{
    if (ABTOMP_LIKELY(task->lender == own)) {
        task->next = own->unused;
        own->unused = task;
    } else if (task->lender) {
        owe_block(&own->debt, task);
    } else {
        free(abtomp_is_observed() ? (void *)abtomp_view_of(task) : task);
    }
}

void abtomp_block_free(struct abtomp_tasks *own, struct abtomp_task *task)
{
    block_free(own, task);
}

static inline void task_free(struct abtomp_tasks *own, struct abtomp_task *task)
{
    if (ABTOMP_UNLIKELY(task->node != NULL))
        abtomp_node_leave(own, task->node);
    else
        block_free(own, task);
}

/* -- Counts -- */

static __attribute__((noinline)) void keep_icvs(const struct abtomp_member *me, struct abtomp_task *task)
{
    task->icvs = abtomp_must_have(malloc(sizeof(*task->icvs)));
    *task->icvs = me->icvs;
}

/* The task is one that is waited for. It was initialised last. */
static void task_count(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_group *group = task->group;
    task->parent->children.made++;
    if (group && group->member == me)
        group->tasks.made++;
    else if (group)
        /* relaxed: the task is ended later, by the thread that has it from this member */
        atomic_fetch_sub_explicit(&group->tasks.others, ABTOMP_ONE, memory_order_relaxed);
    if (ABTOMP_UNLIKELY(me->running.has_changed))
        keep_icvs(me, task);
    /* relaxed, both: only this member writes it, and what makes the task known publishes it */
    uint64_t made = atomic_load_explicit(&own->made, memory_order_relaxed);
    atomic_store_explicit(&own->made, made + 1, memory_order_relaxed);
    abtomp_crew_begin(me->team);
}

/* Another member than that of the count has ended some. True: what it is of makes no more, and nothing is left. */
static bool leave_count(struct abtomp_member *me, struct abtomp_count *count, uint32_t num)
{
    /* acq_rel: pairs with the acquire in abtomp_count_is_zero, and with itself: the last one frees what all have used
     */
    uint32_t add = num * ABTOMP_ONE;
    uint32_t after = atomic_fetch_add_explicit(&count->others, add, memory_order_acq_rel) + add;
    if (after == ABTOMP_WAITS)
        abtomp_bell_ring(me->team);
    return after == ABTOMP_OVER;
}

/* A task makes no more children. Its memory is freed when they have ended: at the end of the last of them. */
static inline void leave_memory(struct abtomp_tasks *own, struct abtomp_task *task)
{
    uint32_t left = task->children.made - task->children.ended;
    if (ABTOMP_UNLIKELY(task->table != NULL))
        abtomp_depend_forget(own, task);
    if (ABTOMP_LIKELY(left == 0)) {
        task_free(own, task);
        return;
    }
    task->is_over = true;
    /* acq_rel: pairs with that in leave_count: the thread that makes it 0 frees the memory */
    uint32_t add = ABTOMP_OVER - left * ABTOMP_ONE;
    if (atomic_fetch_add_explicit(&task->children.others, add, memory_order_acq_rel) + add == ABTOMP_OVER)
        task_free(own, task);
}

/* relaxed: only this member writes it. release: pairs with the acquire in abtomp_tasks_are_over */
static inline void count_ended(struct abtomp_tasks *own, uint32_t num)
{
    uint64_t ended = atomic_load_explicit(&own->ended, memory_order_relaxed);
    atomic_store_explicit(&own->ended, ended + num, memory_order_release);
}

/* What has ended is counted last: until then the team stays. */
void abtomp_debts_pay_slow(struct abtomp_member *me, struct abtomp_tasks *own)
{
    struct abtomp_debt *debt = &own->debt;
    if (debt->num > 0 && debt->group)
        (void)leave_count(me, &debt->group->tasks, debt->num);
    if (debt->num > 0 && leave_count(me, &debt->parent->children, debt->num))
        task_free(own, debt->parent);
    return_blocks(debt);
    count_ended(own, debt->num);
    debt->num = 0;
}

static inline bool is_same_debt(const struct abtomp_debt *debt, const struct abtomp_task *task)
{
    return debt->parent == task->parent && debt->group == task->group;
}

/* A task that is neither counted by this member at its parent nor at its group has ended. */
static void owe_end(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *parent,
                    struct abtomp_group *group)
{
    struct abtomp_debt *debt = &own->debt;
    if (debt->parent != parent || debt->group != group)
        abtomp_debts_pay(me, own);
    debt->parent = parent;
    debt->group = group;
    debt->num++;
}

/* One that its maker counts has ended: what is above may end, too. */
static inline void end_count(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *parent,
                             struct abtomp_group *group)
{
    bool is_mine = parent->runner == me && !parent->is_over, is_my_group = group && group->member == me;
    if (ABTOMP_UNLIKELY(!is_mine && !is_my_group)) {
        owe_end(me, own, parent, group);
        return;
    }
    if (is_my_group)
        group->tasks.ended++;
    else if (group)
        (void)leave_count(me, &group->tasks, 1);
    if (ABTOMP_LIKELY(is_mine))
        parent->children.ended++;
    else if (leave_count(me, &parent->children, 1))
        task_free(own, parent);
    count_ended(own, 1);
}

/* A task ends that has run, and whose event, if it has one, has come. */
static void end_task(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_task *parent = task->parent;
    struct abtomp_group *group = task->group;
    if (ABTOMP_UNLIKELY(task->node != NULL))
        abtomp_depend_end(me, own, task);
    bool is_included = task->is_included;
    leave_memory(own, task);
    if (!is_included)
        end_count(me, own, parent, group);
}

/* -- Running -- */

bool abtomp_task_is_cancelled(const struct abtomp_member *me, const struct abtomp_group *group)
{
    /* relaxed, both: a task that runs nevertheless does no harm */
    while (group && group->is_construct)
        group = group->outer;
    if (group && atomic_load_explicit(&group->is_cancelled, memory_order_relaxed))
        return true;
    return atomic_load_explicit(&me->team->cancelled, memory_order_relaxed) & ABTOMP_CANCELLED_REGION;
}

/*
 * The end of a task with an event counts. True: the event has come before. If not, the thread that fulfils the event
 * uses the task: it frees a skipped one, which ends without its event, as with libgomp. acq_rel: pairs with the
 * compare-and-swap in omp_fulfill_event, so that the second of the two sees all that the first has done.
 */
static bool count_end(struct abtomp_task *task)
{
    return atomic_fetch_sub_explicit(&task->to_come, 1, memory_order_acq_rel) == 1;
}

void abtomp_task_free_skipped(struct abtomp_task *task)
{
    static struct abtomp_tasks nobody; /* has lent no memory */
    task->lender = NULL;
    task_free(&nobody, task);
}

/* Nothing of the task is used when it is left to its event. */
static void end_skipped(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_task *parent = task->parent;
    struct abtomp_group *group = task->group;
    if (task->node)
        abtomp_depend_end(me, own, task);
    if (count_end(task))
        task_free(own, task);
    end_count(me, own, parent, group);
}

static bool event_has_come(struct abtomp_member *me, void *arg)
{
    struct abtomp_task *task = arg;
    (void)me;
    /* acquire: pairs with the release in omp_fulfill_event */
    return atomic_load_explicit(&task->to_come, memory_order_acquire) == 0;
}

/*
 * The task has run. True: it has ended, too; if not, the thread that fulfils its event puts it into the box: the task
 * may end then, and is used no more here. The team stays meanwhile, since the task has not ended. An included task
 * waits for its event, and for that thread to leave the lock of the box.
 */
static bool has_ended(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_team *team = me->team;
    if (ABTOMP_UNLIKELY(task->is_skipped)) {
        end_skipped(me, own, task);
        return false;
    }
    bool is_included = task->is_included, is_last = count_end(task);
    if (is_last || !is_included)
        return is_last;
    struct abtomp_await await = {.done = event_has_come, .arg = task};
    abtomp_crew_await(me, own, &await);
    abtomp_mutex_lock(&team->box_lock);
    abtomp_mutex_unlock(&team->box_lock);
    return true;
}

/* -- Tasks that a tool looks at -- */

/* How a task ends whose body has run. */
static int end_status(const struct abtomp_member *me, const struct abtomp_task *task)
{
    /* acquire: pairs with the release in omp_fulfill_event */
    if (task->has_event && atomic_load_explicit(&task->to_come, memory_order_acquire) > 1)
        return ompt_task_detach;
    return abtomp_env.cancels && abtomp_task_is_cancelled(me, task->group) ? ompt_task_cancel : ompt_task_complete;
}

/* What such a task runs in place of its function. */
static void run_viewed(void *arg)
{
    struct abtomp_task *task = arg;
    struct abtomp_view *view = abtomp_view_of(task), *before;
    struct abtomp_member *me = abtomp_current;
    if (abtomp_env.cancels && !view->is_needed && abtomp_task_is_cancelled(me, task->group)) {
        abtomp_tool_discard(view);
        task->is_skipped = true;
        return;
    }
    before = abtomp_tool_task_begin(me, view);
    view->frame.exit_frame.ptr = __builtin_frame_address(0);
    view->fn(view->arg);
    abtomp_tool_task_end(me, before, end_status(me, task));
}

static __attribute__((noinline)) void view_task(struct abtomp_member *me, struct abtomp_task *task, int flags,
                                                void **depend)
{
    struct abtomp_view *view = abtomp_view_of(task);
    view->fn = task->fn;
    view->arg = task->data;
    view->is_needed = task->is_needed;
    task->fn = run_viewed;
    task->data = task;
    task->is_needed = true;
    flags |= ompt_task_explicit | (task->is_final ? ompt_task_final : 0);
    abtomp_tool_create(me, view, flags, depend);
}

/* The task runs from now on. has_changed: the control variables are not those of the implicit task. */
static inline void begin_body(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                              struct abtomp_frame *frame, bool has_changed)
{
    frame->task = own->task;
    frame->group = me->group;
    frame->running = me->running;
    frame->base = own->base;
    task->runner = me;
    own->task = task;
    own->base = abtomp_deque_top(&own->deque);
    me->group = task->group;
    me->running = (struct abtomp_running){0, task->is_final, true, has_changed};
}

/* It has run. True: it has ended. */
static inline bool end_body(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                            const struct abtomp_frame *frame, bool has_changed)
{
    bool ends = ABTOMP_LIKELY(!task->has_event) || has_ended(me, own, task);
    if (ABTOMP_UNLIKELY(me->running.has_changed && !has_changed))
        me->icvs = me->first_icvs;
    abtomp_number_return(me);
    own->task = frame->task;
    own->base = frame->base;
    me->group = frame->group;
    me->running = frame->running;
    return ends;
}

static inline bool run_body(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                            bool has_changed)
{
    struct abtomp_frame frame;
    begin_body(me, own, task, &frame, has_changed);
    if (ABTOMP_LIKELY(!abtomp_env.cancels) || task->is_needed || !abtomp_task_is_cancelled(me, task->group))
        task->fn(task->data);
    else
        task->is_skipped = true;
    return end_body(me, own, task, &frame, has_changed);
}

/* Runs a task that begins with other control variables than those of the implicit task, or inside of one that does. */
static __attribute__((noinline)) bool run_with_icvs(struct abtomp_member *me, struct abtomp_tasks *own,
                                                    struct abtomp_task *task)
{
    struct abtomp_icvs icvs = me->icvs;
    bool is_as_implicit = !task->icvs && !task->is_included;
    if (!me->running.has_changed)
        me->first_icvs = me->icvs;
    if (is_as_implicit)
        me->icvs = me->first_icvs;
    else if (task->icvs)
        me->icvs = *task->icvs;
    free(task->icvs);
    task->icvs = NULL;
    bool ends = run_body(me, own, task, !is_as_implicit);
    me->icvs = icvs;
    return ends;
}

void abtomp_task_run(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    bool ends;
    if (ABTOMP_UNLIKELY(own->debt.num > 0) && !is_same_debt(&own->debt, task))
        abtomp_debts_pay_slow(me, own);
    if (ABTOMP_UNLIKELY(task->has_event) && event_has_come(me, task))
        ends = true;
    else if (ABTOMP_UNLIKELY(me->running.has_changed || task->icvs))
        ends = run_with_icvs(me, own, task);
    else
        ends = run_body(me, own, task, false);
    if (ends)
        end_task(me, own, task);
}

void abtomp_task_enter(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                       struct abtomp_frame *frame)
{
    abtomp_debts_pay(me, own);
    task->is_included = !task->has_event;
    if (task->has_event) /* its event may come later than the end of its body */
        task_count(me, own, task);
    frame->icvs = me->icvs;
    begin_body(me, own, task, frame, me->running.has_changed);
    if (abtomp_is_observed()) {
        abtomp_tool_create(me, abtomp_view_of(task), ompt_task_explicit | ompt_task_undeferred, NULL);
        frame->view = abtomp_tool_task_begin(me, abtomp_view_of(task));
        me->view->frame.exit_frame.ptr = __builtin_frame_address(0);
    }
}

void abtomp_task_leave(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_frame *frame)
{
    struct abtomp_task *task = own->task;
    bool has_changed = frame->running.has_changed;
    if (abtomp_is_observed())
        abtomp_tool_task_end(me, frame->view, end_status(me, task));
    bool ends = end_body(me, own, task, frame, has_changed);
    if (has_changed)
        me->icvs = frame->icvs;
    if (ends)
        end_task(me, own, task);
}

__attribute__((always_inline)) static inline void put_task(struct abtomp_member *me, struct abtomp_tasks *own,
                                                           struct abtomp_task *task)
{
    if (ABTOMP_UNLIKELY(task->priority > 0) || !abtomp_deque_push(&own->deque, task)) {
        abtomp_box_put(me->team, task);
        abtomp_bell_call(me->team);
    }
}

void abtomp_task_put(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    put_task(me, own, task);
}

/* -- Making -- */

/* A member that has this number of tasks for each member of the team runs the next ones at once, to use less memory. */
enum { ENOUGH_EACH = 64, MORE = 1024 /* times as many where tasks wait unseen */ };

static void copy_data(void *to, void *from, void (*copy)(void *, void *), long size)
{
    if (copy)
        copy(to, from);
    else if (size > 0) /* a task without data has no place for it */
        memcpy(to, from, (size_t)size);
}

/* What abtomp_task is asked for. */
struct request {
    void (*fn)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, align;
    bool is_deferred;
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
};

static _Atomic(bool) has_events; /* a task with an event was made. relaxed, everywhere: only a bound depends on it */

void abtomp_task_expect(struct abtomp_task *task)
{
    task->has_event = true;
    task->is_skipped = false;
    atomic_store_explicit(&has_events, true, memory_order_relaxed);
}

static inline void say_event(const struct request *request, struct abtomp_task *task)
{
    if (!(request->flags & ABTOMP_TASK_DETACH))
        return;
    *(void **)request->detach = *(void **)task->data = task;
    abtomp_task_expect(task);
}

static inline struct abtomp_task *make_included(struct abtomp_member *me, struct abtomp_tasks *own,
                                                void (*fn)(void *data), void *data, unsigned flags)
{
    struct abtomp_task *task = abtomp_block_get(own, sizeof(*task));
    abtomp_task_init(me, own, task, flags);
    task->is_included = task->is_needed = true;
    task->fn = fn;
    task->data = data;
    return task;
}

static inline void run_made(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    if (abtomp_is_observed())
        view_task(me, task, ompt_task_undeferred, NULL);
    abtomp_task_run(me, own, task);
}

void abtomp_task_run_included(struct abtomp_member *me, struct abtomp_tasks *own, void (*fn)(void *data), void *data,
                              unsigned flags)
{
    run_made(me, own, make_included(me, own, fn, data, flags));
}

static __attribute__((noinline)) void run_included_copy(struct abtomp_member *me, struct abtomp_tasks *own,
                                                        const struct request *request)
{
    char block[request->size + request->align];
    void *data = abtomp_task_align(block, request->align);
    request->copy(data, request->data);
    struct abtomp_task *task = make_included(me, own, request->fn, data, request->flags);
    say_event(request, task);
    run_made(me, own, task);
}

/* Runs the task in place. Without a function for copies the program's own data serve. */
static inline void run_included(struct abtomp_member *me, struct abtomp_tasks *own, const struct request *request)
{
    if (ABTOMP_UNLIKELY(request->copy != NULL)) {
        run_included_copy(me, own, request);
        return;
    }
    struct abtomp_task *task = make_included(me, own, request->fn, request->data, request->flags);
    say_event(request, task);
    run_made(me, own, task);
}

static void await_dependences(struct abtomp_member *me, struct abtomp_tasks *own, void **depend)
{
    struct abtomp_view view = {.data = {0}};
    if (abtomp_is_observed())
        abtomp_tool_create(me, &view, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, depend);
    abtomp_depend_await(me, own, depend);
    if (abtomp_is_observed())
        abtomp_tool_task_end(me, abtomp_tool_task_begin(me, &view), ompt_taskwait_complete);
}

static __attribute__((noinline)) void run_in_place(struct abtomp_member *me, struct abtomp_tasks *own,
                                                   const struct request *request)
{
    if (request->flags & ABTOMP_TASK_DEPEND)
        await_dependences(me, own, request->depend);
    run_included(me, own, request);
}

void abtomp_task_make(struct abtomp_member *me, struct abtomp_tasks *own, void (*fn)(void *data), void *data,
                      int priority)
{
    struct abtomp_task *task = abtomp_block_get(own, sizeof(*task));
    abtomp_task_init(me, own, task, 0);
    task->fn = fn;
    task->data = data;
    task->priority = priority;
    task->is_needed = true;
    if (abtomp_is_observed())
        view_task(me, task, 0, NULL);
    task_count(me, own, task);
    put_task(me, own, task);
}

/* A task that has its function and its data: from now on it may run. */
static inline __attribute__((always_inline)) void defer_task(struct abtomp_member *me, struct abtomp_tasks *own,
                                                             struct abtomp_task *task, unsigned flags, void **depend,
                                                             int priority)
{
    bool depends = flags & ABTOMP_TASK_DEPEND;
    if (ABTOMP_UNLIKELY(flags & ABTOMP_TASK_PRIORITY))
        task->priority = priority < abtomp_env.max_task_priority ? priority : abtomp_env.max_task_priority;
    if (abtomp_is_observed())
        view_task(me, task, 0, depends ? depend : NULL);
    task_count(me, own, task);
    if (ABTOMP_UNLIKELY(depends) && !abtomp_depend(own, task, depend))
        return;
    if (ABTOMP_UNLIKELY(depends || flags) && abtomp_runs_alone(me)) {
        abtomp_task_run(me, own, task);
        return;
    }
    put_task(me, own, task);
    abtomp_crew_offer(me, own);
}

static inline __attribute__((always_inline)) void make_task(struct abtomp_member *me, struct abtomp_tasks *own,
                                                            const struct request *request)
{
    bool depends = request->flags & ABTOMP_TASK_DEPEND;
    size_t node_size = depends ? sizeof(struct abtomp_node) : 0;
    struct abtomp_task *task =
        abtomp_block_get(own, sizeof(*task) + node_size + (size_t)(request->size + request->align));
    abtomp_task_init(me, own, task, request->flags);
    if (ABTOMP_UNLIKELY(depends))
        task->node = abtomp_node_inside(task, sizeof(*task));
    task->fn = request->fn;
    task->data = abtomp_task_align((char *)(task + 1) + node_size, request->align);
    task->is_needed = request->copy != NULL;
    copy_data(task->data, request->data, request->copy, request->size);
    say_event(request, task);
    defer_task(me, own, task, request->flags, request->depend, request->priority);
}

static inline bool is_enough(const struct abtomp_member *me, uint32_t num)
{
    uint32_t enough = ENOUGH_EACH * (uint32_t)me->team->num;
    return num >= enough && (!abtomp_tasks_may_wait() || num >= MORE * enough);
}

static inline bool is_full(const struct abtomp_member *me, const struct abtomp_tasks *own)
{
    return is_enough(me, abtomp_deque_num(&own->deque));
}

/*
 * Whether the task that runs has so many children that have not ended. Those that wait for others, and those of the
 * box, are in no deque. Where there are events none is full: what its maker would wait for might wait for its maker.
 */
static bool is_crowded(const struct abtomp_member *me, const struct abtomp_tasks *own)
{
    const struct abtomp_count *children = &own->task->children;
    /* relaxed: it is a bound */
    int32_t others = atomic_load_explicit(&children->others, memory_order_relaxed) / ABTOMP_ONE;
    return is_enough(me, children->made - children->ended - (uint32_t)others) &&
           !atomic_load_explicit(&has_events, memory_order_relaxed);
}

/* Whether a task is run by its maker, at once. `special` are those of its flags by which it may have to wait. */
static inline bool runs_at_once(const struct abtomp_member *me, const struct abtomp_tasks *own, unsigned special)
{
    /* Others that have not ended have unfulfilled events, or depend on such. */
    if (abtomp_runs_alone(me))
        return special == 0 || (!(special & ABTOMP_TASK_DETACH) && !abtomp_has_tasks(me->team));
    if (special != 0)
        return !(special & ABTOMP_TASK_DETACH) && is_crowded(me, own);
    return ABTOMP_UNLIKELY(is_full(me, own));
}

/* A task of any kind. */
static __attribute__((noinline)) void add_task(struct abtomp_member *me, struct abtomp_tasks *own,
                                               const struct request *request)
{
    if (abtomp_env.cancels && abtomp_task_is_cancelled(me, me->group))
        return;
    if (!request->is_deferred || me->running.is_final ||
        runs_at_once(me, own, request->flags & (ABTOMP_TASK_DETACH | ABTOMP_TASK_DEPEND | ABTOMP_TASK_PRIORITY)))
        run_in_place(me, own, request);
    else
        make_task(me, own, request);
}

void abtomp_task(struct abtomp_member *me, void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                 long align, bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    if (ABTOMP_UNLIKELY((flags & ABTOMP_TASK_KIND) || !is_deferred || copy || me->running.is_final ||
                        abtomp_env.cancels)) {
        if (abtomp_env.max_task_priority == 0)
            flags &= ~(unsigned)ABTOMP_TASK_PRIORITY;
        struct request request = {fn, data, copy, size, align, is_deferred, flags, depend, priority, detach};
        add_task(me, own, &request);
    } else if (runs_at_once(me, own, 0)) {
        run_made(me, own, make_included(me, own, fn, data, 0));
    } else {
        struct request request = {fn, data, NULL, size, align, true, 0, NULL, 0, NULL};
        make_task(me, own, &request);
    }
}

/* -- Making, in steps -- */

static inline void run_submitted(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    task->is_included = task->is_needed = true;
    run_made(me, own, task);
}

/* A task that was not made known has an event: that may come any time later, from any thread. */
static void discard_submitted(struct abtomp_tasks *own, struct abtomp_task *task)
{
    task->is_skipped = true;
    if (!task->has_event || count_end(task))
        task_free(own, task);
}

static struct abtomp_node *node_behind(struct abtomp_task *task, size_t size)
{
    size = (size + _Alignof(struct abtomp_node) - 1) & ~(_Alignof(struct abtomp_node) - 1);
    bool fits = task->lender && size + sizeof(struct abtomp_node) <= ABTOMP_BLOCK;
    return fits ? abtomp_node_inside(task, size) : abtomp_node_apart();
}

/* A task of any kind. */
static __attribute__((noinline)) void submit_special(struct abtomp_member *me, struct abtomp_tasks *own,
                                                     struct abtomp_task *task, size_t size, void **depend, int priority)
{
    unsigned flags = (task->has_event ? ABTOMP_TASK_DETACH : 0) | (depend ? ABTOMP_TASK_DEPEND : 0) |
                     (priority > 0 && abtomp_env.max_task_priority > 0 ? ABTOMP_TASK_PRIORITY : 0);
    if (abtomp_env.cancels && !task->is_needed && abtomp_task_is_cancelled(me, me->group)) {
        discard_submitted(own, task);
    } else if (me->running.is_final || runs_at_once(me, own, flags)) {
        if (depend)
            await_dependences(me, own, depend);
        run_submitted(me, own, task);
    } else {
        if (depend)
            task->node = node_behind(task, size);
        defer_task(me, own, task, flags, depend, priority);
    }
}

void abtomp_task_submit(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task, size_t size,
                        void **depend, int priority)
{
    if (ABTOMP_UNLIKELY(depend || priority > 0 || task->has_event || me->running.is_final || abtomp_env.cancels))
        submit_special(me, own, task, size, depend, priority);
    else if (runs_at_once(me, own, 0))
        run_submitted(me, own, task);
    else
        defer_task(me, own, task, 0, NULL, 0);
}

/* -- Waiting -- */

static bool children_have_ended(struct abtomp_member *me, void *arg)
{
    const struct abtomp_task *task = arg;
    (void)me;
    return abtomp_count_is_zero(&task->children);
}

static inline void wait_for_children(struct abtomp_member *me)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = me ? atomic_load_explicit(&me->tasks, memory_order_relaxed) : NULL;
    if (!own || abtomp_count_is_own(&own->task->children))
        return;
    struct abtomp_task *task = own->task, *next;
    while (task->children.made != task->children.ended && (next = abtomp_crew_take_own(me, own)) != NULL)
        abtomp_task_run(me, own, next);
    if (!abtomp_count_is_own(&task->children)) {
        struct abtomp_await await = {.done = children_have_ended, .arg = task, .count = &task->children};
        abtomp_crew_await(me, own, &await);
    } else {
        abtomp_crew_offer(me, own); /* what tasks whose parents have ended have made ready */
    }
    task->children.made = task->children.ended = ABTOMP_COUNT_START;
    atomic_store_explicit(&task->children.others, 0, memory_order_relaxed); /* relaxed: there are no children */
    if (task->table)
        abtomp_depend_forget(own, task);
}

static bool wait_viewed(struct abtomp_member *me)
{
    wait_for_children(me);
    return true;
}

void abtomp_taskwait(void)
{
    struct abtomp_member *me = abtomp_current;
    if (abtomp_is_observed())
        (void)abtomp_tool_sync(me, ompt_sync_region_taskwait, wait_viewed);
    else
        wait_for_children(me);
}

static void do_nothing(void *data)
{
    (void)data;
}

void abtomp_taskwait_depend(struct abtomp_member *me, void **depend, bool is_nowait)
{
    if (is_nowait)
        abtomp_task(me, do_nothing, NULL, NULL, 0, 1, true, ABTOMP_TASK_DEPEND, depend, 0, NULL);
    else
        await_dependences(me, abtomp_tasks_of(me), depend);
}

void abtomp_taskyield(void)
{
    struct abtomp_member *me = abtomp_current;
    static const struct abtomp_await await;
    if (!me || !abtomp_has_tasks(me->team))
        return;
    if (me->view)
        me->view->yields = true;
    abtomp_crew_run(me, abtomp_tasks_of(me), &await);
    if (me->view)
        me->view->yields = false;
}

/* -- Implicit tasks -- */

void abtomp_tasks_begin(struct abtomp_tasks *own)
{
    struct abtomp_task *implicit = &own->implicit;
    abtomp_assert(own->task == implicit);
    implicit->children.made = implicit->children.ended = ABTOMP_COUNT_START;
    atomic_store_explicit(&implicit->children.others, 0, memory_order_relaxed); /* relaxed: there are no children */
    if (implicit->table)
        abtomp_depend_forget(own, implicit);
    own->base = abtomp_deque_top(&own->deque);
    if (ABTOMP_UNLIKELY(!abtomp_own_post))
        abtomp_post_begin(own);
}

static bool all_have_ended(struct abtomp_member *me, void *arg)
{
    (void)arg;
    return abtomp_tasks_are_over(me->team);
}

void abtomp_tasks_drain(struct abtomp_member *me)
{
    static const struct abtomp_await await = {.done = all_have_ended, .takes_any = true};
    abtomp_assert(me->team->num == 1);
    if (!abtomp_has_tasks(me->team))
        return;
    abtomp_crew_await(me, abtomp_tasks_of(me), &await);
    abtomp_crew_close(me->team);
}
