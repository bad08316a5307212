/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of clang: the program gets memory for one, fills it, and then says what is to become of it. */
#include "ompt/tool.h"
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>
#include "api/routines.h"
#include "kmp/kmp.h"

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

/* Bits of a task's flags. */
enum { IS_TIED = 1, IS_FINAL = 1 << 1, HAS_DESTRUCTORS = 1 << 3, IS_PROXY = 1 << 4, HAS_PRIORITY = 1 << 5 };

/* A task in memory: what the library knows of it, and behind that what the program does. Then come shared variables. */
struct made {
    struct abtomp_task task; /* its data: this; or the frame of its caller, if that is the program */
    size_t size;             /* of all that belongs to `program` */
    uint32_t flags;
    bool is_again; /* the program wants its routine to be called once more: of an untied task */
    _Alignas(16) struct kmp_task program;
};

static inline struct made *made_of(struct kmp_task *task)
{
    return (struct made *)(void *)((char *)task - offsetof(struct made, program));
}

static inline size_t size_of(const struct made *made)
{
    return offsetof(struct made, program) + made->size;
}

static inline int32_t priority_of(const struct made *made)
{
    return made->flags & HAS_PRIORITY ? made->program.data2.priority : 0;
}

static inline void destroy_data(struct kmp_task *task, uint32_t flags)
{
    if (flags & HAS_DESTRUCTORS)
        (void)task->data1.destructors(abtomp_current->num, task);
}

static inline void call_routine(struct made *made)
{
    do {
        made->is_again = false;
        if (ABTOMP_LIKELY(made->program.routine != NULL)) /* a wait for dependences has none */
            (void)made->program.routine(abtomp_current->num, &made->program);
    } while (made->is_again);
    destroy_data(&made->program, made->flags);
}

KMP_RUN(run_made, call_routine)

/* The same of most tasks: tied ones, without destructors. */
static void run_plain(void *data)
{
    struct made *made = data;
    (void)made->program.routine(abtomp_current->num, &made->program);
}

static inline bool is_plain(int32_t flags, kmp_routine routine)
{
    return (flags & (IS_TIED | HAS_DESTRUCTORS | IS_PROXY)) == IS_TIED && routine;
}

/* What the program sets, since it depends on the flags, is not initialised. */
static inline void init_made(struct abtomp_member *me, struct abtomp_tasks *own, struct made *made, int32_t flags,
                             size_t size, size_t shared_size, kmp_routine routine)
{
    abtomp_task_init(me, own, &made->task, (unsigned)flags & ABTOMP_TASK_FINAL);
    made->task.fn = run_plain;
    made->task.data = made;
    made->size = size + shared_size;
    made->flags = (uint32_t)flags;
    made->is_again = false;
    made->program.shareds = shared_size > 0 ? (char *)&made->program + size : NULL;
    made->program.routine = routine;
    made->program.part = 0;
}

static __attribute__((noinline)) struct kmp_task *make_special(int32_t flags, size_t size, size_t shared_size,
                                                               kmp_routine routine, bool plain)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    struct made *made = (void *)abtomp_block_get(own, offsetof(struct made, program) + size + shared_size);
    init_made(me, own, made, flags, size, shared_size, routine);
    if (!plain)
        made->task.fn = run_made;
    if (abtomp_is_observed()) {
        made->task.fn = run_viewed;
        abtomp_view_of(&made->task)->flags = flags & IS_TIED ? 0 : ompt_task_untied;
    }
    made->task.is_needed = flags & HAS_DESTRUCTORS;
    if (flags & IS_PROXY)
        abtomp_task_expect(&made->task);
    return &made->program;
}

/* Most tasks are plain, and fit into a block that the member has: then nothing is called. */
ABTOMP_API struct kmp_task *__kmpc_omp_task_alloc(KMP_CALLER, int32_t flags, size_t size, size_t shared_size,
                                                  kmp_routine routine)
{
    size = (size + 15) & ~(size_t)15; /* behind that are shared variables */
    struct abtomp_member *me = abtomp_current;
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = me ? atomic_load_explicit(&me->tasks, memory_order_relaxed) : NULL;
    struct made *made = NULL;
    bool plain = is_plain(flags, routine);
    if (ABTOMP_LIKELY(own && plain && !abtomp_is_observed()))
        made = (void *)abtomp_block_take(own, offsetof(struct made, program) + size + shared_size);
    if (ABTOMP_UNLIKELY(!made))
        return make_special(flags, size, shared_size, routine, plain);
    init_made(me, own, made, flags, size, shared_size, routine);
    return &made->program;
}

ABTOMP_API struct kmp_task *__kmpc_omp_target_task_alloc(KMP_CALLER, int32_t flags, size_t size, size_t shared_size,
                                                         kmp_routine routine, int64_t device)
{
    (void)device;
    return __kmpc_omp_task_alloc(at, gtid, flags, size, shared_size, routine);
}

ABTOMP_API int32_t __kmpc_omp_reg_task_with_affinity(KMP_CALLER, struct kmp_task *task, int32_t num, void *list)
{
    (void)task, (void)num, (void)list;
    return 0;
}

/* -- What is to become of a task -- */

ABTOMP_API int32_t __kmpc_omp_task(KMP_CALLER, struct kmp_task *task)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    struct made *made = made_of(task);
    if (ABTOMP_UNLIKELY(own->task == &made->task))
        made->is_again = true;
    else
        abtomp_task_submit(me, own, &made->task, size_of(made), NULL, priority_of(made));
    return 0;
}

ABTOMP_API int32_t __kmpc_omp_task_parts(KMP_CALLER, struct kmp_task *task)
{
    return __kmpc_omp_task(at, gtid, task);
}

/* -- Dependences: as gcc's programs give them, by objects -- */

enum { FEW = 8, HEAD = 5, WORDS_EACH = 3 };

static uintptr_t *list_dependences(uintptr_t *few, int32_t num, const struct kmp_depend *list, int32_t num_more,
                                   const struct kmp_depend *more)
{
    size_t all = (size_t)num + (size_t)num_more;
    uintptr_t *words = all <= FEW ? few : abtomp_must_have(malloc((HEAD + all * WORDS_EACH) * sizeof(words[0])));
    uintptr_t *object = &words[HEAD + all];
    memset(words, 0, HEAD * sizeof(words[0]));
    words[1] = all;
    for (size_t i = 0; i < all; i++, object += 2) {
        const struct kmp_depend *each = i < (size_t)num ? &list[i] : &more[i - (size_t)num];
        bool is_set = each->flags == KMP_DEPEND_INOUTSET;
        words[HEAD + i] = (uintptr_t)object;
        object[0] = each->flags & KMP_DEPEND_ALL || each->address == UINTPTR_MAX ? 0 : each->address;
        object[1] = is_set ? ABTOMP_USE_INOUTSET : each->flags & KMP_DEPEND_ALL ? ABTOMP_USE_OUT : each->flags;
    }
    return words;
}

static void free_list(const uintptr_t *few, uintptr_t *list)
{
    if (list != few)
        free(list);
}

ABTOMP_API int32_t __kmpc_omp_task_with_deps(KMP_CALLER, struct kmp_task *task, int32_t num,
                                             const struct kmp_depend *list, int32_t num_more,
                                             const struct kmp_depend *more)
{
    (void)ABTOMP_NOTE(0);
    if (num + num_more == 0)
        return __kmpc_omp_task(at, gtid, task);
    struct abtomp_member *me = abtomp_self();
    struct made *made = made_of(task);
    uintptr_t few[HEAD + FEW * WORDS_EACH], *words = list_dependences(few, num, list, num_more, more);
    abtomp_task_submit(me, abtomp_tasks_of(me), &made->task, size_of(made), (void **)words, priority_of(made));
    free_list(few, words);
    return 0;
}

static void await_dependences(int32_t num, const struct kmp_depend *list, int32_t num_more,
                              const struct kmp_depend *more, bool is_nowait)
{
    uintptr_t few[HEAD + FEW * WORDS_EACH], *words = list_dependences(few, num, list, num_more, more);
    abtomp_taskwait_depend(abtomp_self(), (void **)words, is_nowait);
    free_list(few, words);
}

ABTOMP_API void __kmpc_omp_taskwait_deps_51(KMP_CALLER, int32_t num, const struct kmp_depend *list, int32_t num_more,
                                            const struct kmp_depend *more, int32_t is_nowait)
{
    (void)ABTOMP_NOTE(0);
    await_dependences(num, list, num_more, more, is_nowait);
}

ABTOMP_API void __kmpc_omp_wait_deps(KMP_CALLER, int32_t num, const struct kmp_depend *list, int32_t num_more,
                                     const struct kmp_depend *more)
{
    (void)ABTOMP_NOTE(0);
    await_dependences(num, list, num_more, more, false);
}

/* The program itself calls the routine of the task between the two. */
ABTOMP_API void __kmpc_omp_task_begin_if0(KMP_CALLER, struct kmp_task *task)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    struct made *made = made_of(task);
    made->task.data = abtomp_must_have(malloc(sizeof(struct abtomp_frame)));
    abtomp_task_enter(me, abtomp_tasks_of(me), &made->task, made->task.data);
}

ABTOMP_API void __kmpc_omp_task_complete_if0(KMP_CALLER, struct kmp_task *task)
{
    struct abtomp_member *me = abtomp_self();
    struct made *made = made_of(task);
    struct abtomp_frame *frame = made->task.data;
    if (ABTOMP_UNLIKELY(made->is_again))
        run_made(made);
    else
        destroy_data(task, made->flags);
    abtomp_task_leave(me, abtomp_tasks_of(me), frame);
    free(frame);
}

/* -- Events -- */

ABTOMP_API void *__kmpc_task_allow_completion_event(KMP_CALLER, struct kmp_task *task)
{
    struct made *made = made_of(task);
    abtomp_task_expect(&made->task);
    return &made->task;
}

ABTOMP_API void __kmpc_proxy_task_completed_ooo(struct kmp_task *task)
{
    omp_fulfill_event((uintptr_t)&made_of(task)->task);
}

ABTOMP_API void __kmpc_proxy_task_completed(KMP_GTID, struct kmp_task *task)
{
    __kmpc_proxy_task_completed_ooo(task);
}

/* -- Waits, and numbers -- */

ABTOMP_API int32_t __kmpc_omp_taskwait(KMP_CALLER)
{
    (void)ABTOMP_NOTE(0);
    abtomp_taskwait();
    return 0;
}

ABTOMP_API int32_t __kmpc_omp_taskyield(KMP_CALLER, int32_t part)
{
    (void)part;
    abtomp_taskyield();
    return 0;
}

ABTOMP_API uint64_t __kmpc_get_taskid(void)
{
    return (uintptr_t)abtomp_tasks_of(abtomp_self())->task;
}

ABTOMP_API uint64_t __kmpc_get_parent_taskid(void)
{
    return (uintptr_t)abtomp_tasks_of(abtomp_self())->task->parent;
}

/* -- Loops of tasks -- */

/* The data of a part: a copy of the task that the program has made. */
struct part {
    size_t shared; /* where in that the shared variables are */
    void (*copy)(struct kmp_task *to, struct kmp_task *from, int32_t is_last);
    _Alignas(16) struct kmp_task program;
};

static inline struct kmp_task *program_of(struct part *part)
{
    part->program.shareds = (char *)&part->program + part->shared;
    return &part->program;
}

static void run_part(void *data)
{
    struct kmp_task *task = program_of(data);
    (void)task->routine(abtomp_current->num, task);
}

static void run_and_destroy(void *data)
{
    run_part(data);
    destroy_data(&((struct part *)data)->program, HAS_DESTRUCTORS);
}

static void copy_part(const struct abtomp_taskloop *loop, void *data, bool is_last)
{
    struct part *from = loop->data, *to = data;
    memcpy(to, from, (size_t)loop->size);
    to->copy(program_of(to), &from->program, is_last);
}

/* How many iterations or tasks are asked for. */
enum { GRAINS = 1, TASKS = 2 };

static void run_taskloop(struct kmp_task *task, int32_t may_defer, uint64_t *lower, uint64_t *upper, int64_t step,
                         int32_t no_group, int32_t sched, uint64_t asked, int32_t is_strict, void *copy)
{
    struct abtomp_member *me = abtomp_self();
    struct made *made = made_of(task);
    size_t size = offsetof(struct part, program) + made->size;
    struct part *part = abtomp_must_have(aligned_alloc(16, (size + 15) & ~(size_t)15));
    part->shared = task->shareds ? (size_t)((char *)task->shareds - (char *)task) : 0;
    memcpy(&part->copy, &copy, sizeof(copy));
    memcpy(&part->program, task, made->size);
    struct abtomp_taskloop loop = {.fn = made->flags & HAS_DESTRUCTORS ? run_and_destroy : run_part,
                                   .data = part,
                                   .size = (long)size,
                                   .align = 16,
                                   .start = *lower,
                                   .step = (uint64_t)step,
                                   .inside = (uint64_t)step};
    loop.lower = (char *)lower - (char *)task + (long)offsetof(struct part, program);
    loop.upper = (char *)upper - (char *)task + (long)offsetof(struct part, program);
    loop.kept = loop.upper; /* behind that bound are private variables */
    loop.copy = copy ? copy_part : NULL;
    loop.end = step > 0 ? *lower + ((*upper - *lower) / (uint64_t)step + 1) * (uint64_t)step
                        : *lower - ((*lower - *upper) / -(uint64_t)step + 1) * -(uint64_t)step;
    loop.asked = sched == 0 ? 0 : asked;
    loop.priority = priority_of(made);
    loop.flags = (may_defer ? ABTOMP_LOOP_IF : 0) | (no_group ? ABTOMP_LOOP_NO_GROUP : 0) |
                 (sched == GRAINS ? ABTOMP_LOOP_GRAINS : 0) | (is_strict ? ABTOMP_LOOP_STRICT : 0) |
                 (made->task.is_final ? ABTOMP_TASK_FINAL : 0) | (loop.priority > 0 ? ABTOMP_TASK_PRIORITY : 0);
    abtomp_taskloop(&loop, step > 0, loop.start == loop.end);
    free(part);
    destroy_data(task, made->flags);
    abtomp_block_free(abtomp_tasks_of(me), &made->task);
}

ABTOMP_API void __kmpc_taskloop_5(KMP_CALLER, struct kmp_task *task, int32_t may_defer, uint64_t *lower,
                                  uint64_t *upper, int64_t step, int32_t no_group, int32_t sched, uint64_t asked,
                                  int32_t is_strict, void *copy)
{
    (void)ABTOMP_NOTE(0);
    run_taskloop(task, may_defer, lower, upper, step, no_group, sched, asked, is_strict, copy);
}

ABTOMP_API void __kmpc_taskloop(KMP_CALLER, struct kmp_task *task, int32_t may_defer, uint64_t *lower, uint64_t *upper,
                                int64_t step, int32_t no_group, int32_t sched, uint64_t asked, void *copy)
{
    (void)ABTOMP_NOTE(0);
    run_taskloop(task, may_defer, lower, upper, step, no_group, sched, asked, 0, copy);
}
