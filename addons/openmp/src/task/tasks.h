/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit tasks.
 *
 *   task.c      tasks: made, run and ended, taskwait, and events
 *   taskloop.c  loops of tasks
 *   deque.c     the tasks that are ready: deques and the box
 *   crew.c      what members do while they wait: they run tasks; and when all tasks have ended
 *   relief.c    what runs tasks on the stream of a member that waits unseen
 *   depend.c    dependences
 *   group.c     task groups, and reductions of tasks
 *
 * A task is ready, or waits for others by its dependences. A ready one is in the deque of a member, or in the box of
 * the team. A team of one member runs a task at once. Tasks do not change their thread: while a task waits by a
 * construct, its member runs only descendants of it, on top of its stack; at barriers it runs any. While it waits by a
 * call of another library, reliefs run any on other stacks of the same thread.
 *
 * Counts. A task counts its children, and a group its tasks, by plain numbers of the member that runs it, as long as
 * that member ends them, and by an atomic number for what others end. Each member counts what it has made and what it
 * has ended in this team, by numbers that others read: see abtomp_tasks_are_over.
 */
#ifndef ABTOMP_TASKS_H
#define ABTOMP_TASKS_H

#include "omp.h"
#include "pool/thief_policy.h"

/* Flags of abtomp_task and abtomp_taskloop: those of GOMP_task. */
enum {
    ABTOMP_TASK_FINAL = 1 << 1,
    ABTOMP_TASK_DEPEND = 1 << 3,
    ABTOMP_TASK_PRIORITY = 1 << 4,
    ABTOMP_LOOP_UP = 1 << 8,
    ABTOMP_LOOP_GRAINS = 1 << 9,
    ABTOMP_LOOP_IF = 1 << 10,
    ABTOMP_LOOP_NO_GROUP = 1 << 11,
    ABTOMP_LOOP_REDUCTIONS = 1 << 12,
    ABTOMP_TASK_DETACH = 1 << 13,
    ABTOMP_LOOP_STRICT = 1 << 14,
    ABTOMP_TASK_KIND = ABTOMP_TASK_FINAL | ABTOMP_TASK_DEPEND | ABTOMP_TASK_PRIORITY | ABTOMP_TASK_DETACH
};

/*
 * What has not ended yet, of what a member has made: made - ended - others. `others` is in its upper bits, the lower
 * ones say that the member waits, or that it makes no more. The member alone uses `made` and `ended`. Before it sleeps,
 * or makes no more, it subtracts what is left from `others`: so the thread that makes that 0 knows to ring, or to free
 * what it is of. All are counted modulo 2^30: there is no memory for as many tasks that have not ended.
 */
enum { ABTOMP_WAITS = 1, ABTOMP_OVER = 2, ABTOMP_ONE = 4 };

struct abtomp_count {
    uint32_t made, ended;
    _Atomic(uint32_t) others; /* that other members have ended; less those that they have made, of a group */
};

struct abtomp_task {
    void (*fn)(void *data);
    void *data;
    struct abtomp_task *parent;   /* whose memory stays as long as it has children; NULL: an implicit task */
    struct abtomp_group *group;   /* the innermost one when it was made */
    struct abtomp_member *runner; /* the member that runs it, and makes its children */
    struct abtomp_tasks *lender;  /* whose memory it is; NULL: it has memory of its own */
    struct abtomp_task *next;     /* in a list */
    struct abtomp_node *node;     /* its dependences; NULL: it has none */
    struct abtomp_table *table;   /* the dependences of its children; NULL: they have none */
    struct abtomp_icvs *icvs;     /* with which it begins; NULL: with those of the implicit task */
    struct abtomp_count children;
    int priority;
    _Atomic(uint32_t) to_come; /* of its end and of its event, if it has one */
    bool is_final;
    bool has_event;
    bool is_over;     /* it has ended, and has children: read by its runner only */
    bool is_needed;   /* it has copies that it destroys: it runs also if it is cancelled */
    bool is_included; /* it was run by its maker, in place */
    bool is_skipped;  /* of one with an event: it is cancelled, and ends without it. Written before `to_come` */
};

/*
 * The deque of a member. The entries head..split-1 are public, to be taken with the lock; those from split to top - 1
 * are the owner's, which pushes and pops there without the lock and without a fence. Indices grow modulo 2^32.
 */
struct abtomp_deque {
    _Atomic(uint32_t) top;   /* written by the owner */
    _Atomic(uint32_t) split; /* written with the lock; the owner reads it without */
    uint32_t mask;           /* of the entries: their number less 1. Written by the owner with the lock, as `entries` */
    struct abtomp_task **entries;
    ABTOMP_LINE _Atomic(uint32_t) lock;
    _Atomic(uint32_t) num_public;        /* split - head: written with the lock, read without, as a hint */
    _Atomic(uint32_t) head;              /* written with the lock. The owner reads it without: what is below is free */
    _Atomic(struct abtomp_tasks *) next; /* whose member is a relief of the same one: see relief.c. Thieves read it */
};

/*
 * What a member has ended for others and has not reported yet: tasks with the same parent and the same group, neither
 * of which it counts itself. A member that waits for one of them waits for all, so that a member that goes on with such
 * a task may tell later. In all other cases it tells first (abtomp_debts_pay).
 */
struct abtomp_debt {
    struct abtomp_task *parent;
    struct abtomp_group *group;
    uint32_t num;
    struct abtomp_task *blocks, *last; /* memory of tasks, all of the same member; NULL: none */
};

/* What a member has for tasks, from its first one on. */
struct abtomp_tasks {
    struct abtomp_deque deque;
    struct abtomp_task *task;   /* that runs */
    uint32_t base;              /* the deque's top when it began: what is above are its descendants */
    struct abtomp_task *unused; /* memory for tasks */
    struct abtomp_debt debt;
    struct abti_thief thief; /* how it fares with the tasks of others */
    struct abti_truce truce;
    struct abtomp_task implicit; /* the implicit task */
    /* Of reliefs: the stream of the member alone uses this. */
    struct abtomp_member *member;       /* whose they are. Constant */
    struct abtomp_tasks *lead;          /* of the member that this one relieves, itself if it is no relief. Constant */
    bool is_free;                       /* the relief does not run */
    bool uses_program_stream;           /* the thread's stream, which asks for reliefs, is the program's */
    bool stands_by;                     /* of the lead: it waits, and leaves tasks to its reliefs */
    uint32_t num_reliefs;               /* of the lead: that run, or wait; */
    uint32_t num_polling;               /* how many of it and of those wait for any task; */
    uint32_t docked;                    /* that of its wait, if the lead has left the region */
    ABTOMP_LINE _Atomic(uint64_t) made; /* written by the member only */
    _Atomic(uint64_t) ended;            /* likewise */
    ABTOMP_LINE _Atomic(struct abtomp_task *) returned; /* memory that others give back */
};

/* -- task.c -- */

struct abtomp_tasks *abtomp_tasks_new(struct abtomp_member *me);

/* The same, of a relief of `lead`; NULL: it is none. */
struct abtomp_tasks *abtomp_tasks_make(struct abtomp_member *me, struct abtomp_tasks *lead);

static inline struct abtomp_tasks *abtomp_tasks_of(struct abtomp_member *me)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    return ABTOMP_LIKELY(own != NULL) ? own : abtomp_tasks_new(me);
}

/* Whether what was made has ended. acquire: pairs with the release of those that have ended it, in leave_count */
static inline bool abtomp_count_is_zero(const struct abtomp_count *count)
{
    uint32_t left = count->made - count->ended;
    uint32_t others = atomic_load_explicit(&count->others, memory_order_acquire);
    return (others & ~(uint32_t)ABTOMP_WAITS) == left * ABTOMP_ONE;
}

/* Whether the member has ended all of them itself. relaxed: if others have ended some, the caller polls again */
static inline bool abtomp_count_is_own(const struct abtomp_count *count)
{
    return count->made == count->ended && atomic_load_explicit(&count->others, memory_order_relaxed) == 0;
}

/*
 * Whether a task of this process has waited unseen. relaxed, wherever it is used: it is a hint. Then a task is not run
 * in place to save time or memory: what it waits for may be a task that its maker has not made yet.
 */
ABTOMP_LOCAL extern _Atomic(bool) abtomp_has_waited;

/* The same; or there are priorities, by whose order a team of one member runs its tasks. */
ABTOMP_LOCAL extern _Atomic(bool) abtomp_defers;

static inline bool abtomp_tasks_may_wait(void)
{
    return ABTOMP_UNLIKELY(atomic_load_explicit(&abtomp_has_waited, memory_order_relaxed));
}

/*
 * Whether tasks of the member are run at once, so that nobody else can have them: not if some wait unseen, since others
 * are to run meanwhile. Outside regions nothing changes that: the initial task may end without a wait for its tasks.
 */
static inline bool abtomp_runs_alone(const struct abtomp_member *me)
{
    return me->team->num == 1 &&
           (!atomic_load_explicit(&abtomp_defers, memory_order_relaxed) || me->team->level == 0); /* relaxed: a hint */
}

/*
 * Memory for tasks. A member keeps blocks of one size for its next ones. abtomp_block_new has new memory, or what
 * others have given back.
 */
enum { ABTOMP_BLOCK = 256 };
struct abtomp_task *abtomp_block_new(struct abtomp_tasks *own, size_t size);

/* A block that the member has. NULL: it has none of that size. */
static inline struct abtomp_task *abtomp_block_take(struct abtomp_tasks *own, size_t size)
{
    struct abtomp_task *task = own->unused;
    if (ABTOMP_UNLIKELY(!task || size > ABTOMP_BLOCK))
        return NULL;
    own->unused = task->next;
    return task;
}

static inline struct abtomp_task *abtomp_block_get(struct abtomp_tasks *own, size_t size)
{
    struct abtomp_task *task = abtomp_block_take(own, size);
    return ABTOMP_LIKELY(task != NULL) ? task : abtomp_block_new(own, size);
}

/*
 * What the task that runs makes, in such memory: a task that is to end, or an included one. The caller sets its
 * function and its data, and is_needed if it has to be run.
 */
static inline void abtomp_task_init(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                                    unsigned flags)
{
    task->parent = own->task;
    task->group = me->group;
    task->node = NULL;
    task->table = NULL;
    task->icvs = NULL;
    task->children.made = task->children.ended = ABTOMP_COUNT_START;
    /* relaxed, both: nobody else knows the task */
    atomic_store_explicit(&task->children.others, 0, memory_order_relaxed);
    atomic_store_explicit(&task->to_come, 2, memory_order_relaxed);
    task->priority = 0;
    task->is_final = me->running.is_final || (flags & ABTOMP_TASK_FINAL);
    task->has_event = false;
    task->is_over = false;
    task->is_needed = false;
    task->is_included = false;
}

/* It has an event, by its address: it does not end before omp_fulfill_event is called with it. */
void abtomp_task_expect(struct abtomp_task *task);

/*
 * It may run from now on, or runs at once. `depend` is a list of dependences, as those of GOMP_task; NULL: it has none.
 * `size`: how much of its memory is in use.
 */
void abtomp_task_submit(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task, size_t size,
                        void **depend, int priority);

/* The event of a task has come that was skipped, and that has ended before. */
void abtomp_task_free_skipped(struct abtomp_task *task);

/* What the caller goes on with after a task that it runs. */
struct abtomp_frame {
    struct abtomp_task *task;
    struct abtomp_group *group;
    struct abtomp_running running;
    uint32_t base;
    struct abtomp_icvs icvs;  /* if it is the program that runs the task; */
    struct abtomp_view *view; /* likewise, what a tool sees of it */
};

/* In place of submitting it: the program itself runs its body, as an included task, between the two. */
void abtomp_task_enter(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task,
                       struct abtomp_frame *frame);
void abtomp_task_leave(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_frame *frame);

/* Makes a task that runs the function, even if it is cancelled. The caller then calls abtomp_crew_offer. */
void abtomp_task_make(struct abtomp_member *me, struct abtomp_tasks *own, void (*fn)(void *data), void *data,
                      int priority);

/* Whether a task that is made now is to be dropped. */
bool abtomp_task_is_cancelled(const struct abtomp_member *me, const struct abtomp_group *group);

/* Where data with that alignment are in a block. */
static inline void *abtomp_task_align(void *block, long align)
{
    return (void *)(((uintptr_t)block + (uintptr_t)align - 1) & ~((uintptr_t)align - 1));
}

/* Runs a task; one that has run, and whose event has come after that, ends. */
void abtomp_task_run(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task);

/* Runs a function as an included task: one that ends before its maker goes on. */
void abtomp_task_run_included(struct abtomp_member *me, struct abtomp_tasks *own, void (*fn)(void *data), void *data,
                              unsigned flags);

/*
 * A task that has been counted is ready: it is put where members look for tasks. Before the caller leaves the search
 * for them, into a task or into the program, it calls abtomp_crew_offer.
 */
void abtomp_task_put(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task);

/* Frees the memory of a task. */
void abtomp_block_free(struct abtomp_tasks *own, struct abtomp_task *task);

/* Tells what the member has ended for others. */
void abtomp_debts_pay_slow(struct abtomp_member *me, struct abtomp_tasks *own);

static inline void abtomp_debts_pay(struct abtomp_member *me, struct abtomp_tasks *own)
{
    if (ABTOMP_UNLIKELY(own->debt.num > 0 || own->debt.blocks != NULL))
        abtomp_debts_pay_slow(me, own);
}

/* Those of the next relief of the same member; NULL: there is none. acquire: pairs with the release in relief_new */
static inline struct abtomp_tasks *abtomp_tasks_next(const struct abtomp_tasks *tasks)
{
    return atomic_load_explicit(&tasks->deque.next, memory_order_acquire);
}

/* -- deque.c -- */

bool abtomp_deque_init(struct abtomp_deque *deque);

/* Out of memory, or there are as many as there may be: false. */
bool abtomp_deque_grow(struct abtomp_deque *deque);

/* Makes half of the owner's tasks public, and one for each of `others` members, if there are as many. */
void abtomp_deque_publish(struct abtomp_deque *deque, uint32_t others);

/* Makes all of them public. The owner, or another ULT of its thread, calls. */
void abtomp_deque_bare(struct abtomp_deque *deque);

struct abtomp_task *abtomp_deque_pop_public(struct abtomp_deque *deque, uint32_t base, const int *num_members);

/*
 * Another member takes the oldest public tasks, `most` and half of them at most, up to the first that it may not have.
 */
uint32_t abtomp_deque_steal(struct abtomp_deque *deque, struct abtomp_task **tasks, uint32_t most,
                            bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg);

/* relaxed: a hint; takers of tasks hold the lock */
static inline uint32_t abtomp_deque_num_public(const struct abtomp_deque *deque)
{
    return atomic_load_explicit(&deque->num_public, memory_order_relaxed);
}

/*
 * The owner is away, and has kept tasks for itself: half of them become public, unless it takes them just then. Another
 * member calls.
 */
void abtomp_deque_expose(struct abtomp_deque *deque);

/* relaxed: the owner's own; for others a hint */
static inline uint32_t abtomp_deque_top(const struct abtomp_deque *deque)
{
    return atomic_load_explicit(&deque->top, memory_order_relaxed);
}

/*
 * How many tasks the owner has kept for itself. Others may see -1 where the owner is about to find that it has none.
 * relaxed: the owner sees a split that is being changed when it pops; for others it is a hint, but with the lock
 */
static inline int32_t abtomp_deque_num_kept(const struct abtomp_deque *deque)
{
    return (int32_t)(abtomp_deque_top(deque) - atomic_load_explicit(&deque->split, memory_order_relaxed));
}

/* How many tasks it has; the owner asks. acquire: pairs with the release in abtomp_deque_steal: entries are free */
static inline uint32_t abtomp_deque_num(const struct abtomp_deque *deque)
{
    return abtomp_deque_top(deque) - atomic_load_explicit(&deque->head, memory_order_acquire);
}

/* Pushes a task. False: there is no room. */
static inline bool abtomp_deque_push(struct abtomp_deque *deque, struct abtomp_task *task)
{
    if (ABTOMP_UNLIKELY(abtomp_deque_num(deque) > deque->mask) && !abtomp_deque_grow(deque))
        return false;
    uint32_t top = abtomp_deque_top(deque);
    deque->entries[top & deque->mask] = task;
    /* release: pairs with the acquire in abtomp_deque_expose */
    atomic_store_explicit(&deque->top, top + 1, memory_order_release);
    return true;
}

/* Whether it may have a task that was pushed after the top was at `base`. If not, it has none. */
static inline bool abtomp_deque_may_pop(const struct abtomp_deque *deque, uint32_t base)
{
    return (int32_t)(abtomp_deque_top(deque) - base) > 0;
}

/*
 * Takes the newest task: one of those. NULL: others have taken them. It is claimed by the top before the split is read:
 * deque.c says why that needs no fence.
 */
static inline struct abtomp_task *abtomp_deque_pop(struct abtomp_deque *deque, uint32_t base, const int *num_members)
{
    uint32_t top = abtomp_deque_top(deque) - 1;
    atomic_store_explicit(&deque->top, top, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the order; pairs with abtomp_deque_expose */
    if (ABTOMP_LIKELY((int32_t)(top - atomic_load_explicit(&deque->split, memory_order_relaxed)) >= 0))
        return deque->entries[top & deque->mask];
    atomic_store_explicit(&deque->top, top + 1, memory_order_relaxed);
    return abtomp_deque_pop_public(deque, base, num_members);
}

/* Whether too few tasks are public for `others` members, should the owner be away for long. Each time the public ones
 * grow, or are taken back, by a part of all, so that pushes and pops rarely need the lock. */
static inline bool abtomp_deque_is_reserved(const struct abtomp_deque *deque, uint32_t others)
{
    uint32_t own = (uint32_t)abtomp_deque_num_kept(deque), public = abtomp_deque_num_public(deque);
    return own > 0 && (public < others || public < own / 4);
}

/* An entry of the box. */
struct abtomp_boxed {
    struct abtomp_task *task;
    int priority;
    uint32_t number; /* among all puts */
};

void abtomp_box_put(struct abtomp_team *team, struct abtomp_task *task);
void abtomp_box_put_locked(struct abtomp_team *team, struct abtomp_task *task);

/* Takes the task with the highest priority of those that the caller may have. NULL: there is none. */
struct abtomp_task *abtomp_box_take(struct abtomp_team *team,
                                    bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg);

/* -- crew.c -- */

/* What a wait is for: it ends when done(arg) is true. */
struct abtomp_await {
    bool (*done)(struct abtomp_member *me, void *arg);
    void *arg;
    struct abtomp_count *count; /* that is to be 0; NULL: the wait is for something else */
    struct abtomp_group *group; /* begun by the task that runs, and waited for; NULL: none is */
    bool takes_any;             /* tasks that are no descendants of the one that runs */
    bool is_relief;             /* the caller is one */
    uint32_t docked; /* the value of `go` as long as the region runs that the member has left; 0: it has not */
};

/* Runs tasks until the wait has ended. */
void abtomp_crew_await(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await);

/* Runs a task, if there is one. */
void abtomp_crew_run(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await);

/* The newest task that the one which runs has made, or a descendant of it, and which is in the own deque. */
struct abtomp_task *abtomp_crew_take_own(struct abtomp_member *me, struct abtomp_tasks *own);

/* The member leaves the search, into a task or into the program: others are to find enough of its tasks. */
void abtomp_crew_publish(struct abtomp_member *me, struct abtomp_tasks *own);

static inline void abtomp_crew_offer(struct abtomp_member *me, struct abtomp_tasks *own)
{
    /* The number of members is constant as long as there is a task. */
    if (abtomp_deque_num_kept(&own->deque) != 0 &&
        ABTOMP_UNLIKELY(abtomp_deque_is_reserved(&own->deque, (uint32_t)me->team->num - 1)))
        abtomp_crew_publish(me, own);
}

/* The time of CLOCK_MONOTONIC. */
uint64_t abtomp_now_ns(void);

/* The first task since the team had none: waiters are to look for tasks. */
void abtomp_crew_open(struct abtomp_team *team);

/* A relief leaves the search: rings if there is no task any more. */
void abtomp_crew_tell_over(struct abtomp_team *team);

/* There is none any more, and all members wait: they are to wait at their own words again. */
void abtomp_crew_close(struct abtomp_team *team);

static inline void abtomp_crew_begin(struct abtomp_team *team)
{
    /* relaxed: a member that does not see it, opens */
    if (ABTOMP_UNLIKELY(!atomic_load_explicit(&team->has_tasks, memory_order_relaxed)))
        abtomp_crew_open(team);
}

/* Whether all tasks have ended that members which make no more have made. */
bool abtomp_tasks_are_over(struct abtomp_team *team);

/* -- relief.c -- */

/*
 * A member of a region begins to use tasks: its thread's stream asks for reliefs from now on. The stream may be the
 * program's: until the region ends.
 */
void abtomp_post_begin(struct abtomp_tasks *own);

/* Whether members of a region that begins now may wait unseen, also those that have no tasks. */
bool abtomp_expects_waits(void);

/* A member of such a region begins, and has had no tasks: its stream is to take those of others while it waits. */
void abtomp_expect_waits(struct abtomp_member *me);

void abtomp_program_stream_end(struct abtomp_tasks *own);

/* Waits until the member has no reliefs. `docked` is that of its wait, if it has left the region. */
void abtomp_reliefs_end_slow(struct abtomp_member *me, struct abtomp_tasks *own, uint32_t docked);

static inline void abtomp_reliefs_end(struct abtomp_member *me, uint32_t docked)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    if (ABTOMP_UNLIKELY(own && own->num_reliefs > 0))
        abtomp_reliefs_end_slow(me, own, docked);
}

/* Frees those of a member that is gone, with their tasks. */
void abtomp_reliefs_free(struct abtomp_tasks *own);

/* -- depend.c -- */

/* A task with dependences, and what depends on it. It is in the memory of the task, or has memory of its own. */
struct abtomp_node {
    _Atomic(uint32_t) refs;   /* the task, and entries of tables: the last to leave frees the memory of both */
    _Atomic(uint32_t) before; /* nodes that it waits for that have not ended; more until all are known */
    _Atomic(uint32_t) lock;
    _Atomic(bool) has_ended;  /* written with the lock */
    bool is_apart;            /* its memory is its own. Constant */
    struct abtomp_task *task; /* NULL: somebody waits */
    uint32_t num, capacity;   /* lock: of `after` */
    uint32_t edges;           /* nodes that it waits for: of its maker */
    struct abtomp_node **after, *first[2];
};

/* The node of a task: in its memory, behind so much of it, or in memory of its own. */
static inline struct abtomp_node *abtomp_node_inside(struct abtomp_task *task, size_t size)
{
    struct abtomp_node *node = (void *)((char *)task + size);
    node->is_apart = false;
    return node;
}

struct abtomp_node *abtomp_node_apart(void);

/* The task, or an entry of a table, uses the node no more. */
void abtomp_node_leave(struct abtomp_tasks *own, struct abtomp_node *node);

/* The task, which has a node, depends on what was made before it. True: it is ready; if not, the thread that ends
 * others makes it so. */
bool abtomp_depend(struct abtomp_tasks *own, struct abtomp_task *task, void **depend);

/* How a task uses an address: the second word of an object. mutexinoutset is as inout: such tasks run one after another
 * as they were made. */
enum { ABTOMP_USE_IN = 1, ABTOMP_USE_OUT = 2, ABTOMP_USE_INOUTSET = 5 };

/* Waits until tasks have ended that one with these dependences would wait for. */
void abtomp_depend_await(struct abtomp_member *me, struct abtomp_tasks *own, void **depend);

/* The task has ended: others may be ready. */
void abtomp_depend_end(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task);

/* The task makes no more children, or has none: the table of them is freed. */
void abtomp_depend_forget(struct abtomp_tasks *own, struct abtomp_task *task);

/* -- taskloop.c -- */

/* What the program asks for, up to `step`. */
struct abtomp_taskloop {
    void (*fn)(void *);
    void *data;
    void (*program_copy)(void *, void *);                                     /* of gcc's programs */
    void (*copy)(const struct abtomp_taskloop *loop, void *to, bool is_last); /* its data, but for the bounds; NULL:
                                                                                 byte by byte */
    long size, align;
    long lower, upper; /* where in the data the bounds of a part are */
    uint64_t inside;   /* what the upper one is less than the end of the part: its step, if it is in the part, or 0 */
    long kept;         /* bytes with which the data begin that a part leaves as they were */
    unsigned flags;
    int priority;
    uint64_t asked, start, end, step, num;
    uint64_t parts, each, more; /* tasks; iterations of one, and how many have one more */
    char *copies;               /* the data of all parts; NULL: each is copied when it runs */
    size_t copy_size;           /* of the data of one part there */
};

/* Whether it has no iterations depends on whether its numbers have signs. */
void abtomp_taskloop(struct abtomp_taskloop *loop, bool is_up, bool is_empty);

/* -- group.c -- */

struct abtomp_group {
    struct abtomp_group *outer;
    uintptr_t *reductions;        /* NULL: it has none */
    struct abtomp_lazy *lazy;     /* likewise, of clang's programs */
    struct abtomp_member *member; /* that has begun it */
    struct abtomp_count tasks;
    bool is_construct; /* of a construct with reductions: it is no task group of the program */
    _Atomic(bool) is_cancelled;
};

#endif
