/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools: profilers and race detectors that look at the program by OMPT.
 *
 *   start.c    finds the tool, and has its functions
 *   inquiry.c  what it may ask
 *   event.c    tells it of threads, regions, tasks, waits, mutexes and work
 *
 * Where no tool looks, an event is one branch: whether abtomp_tools is 0. Functions that programs call note from where
 * (ABTOMP_NOTE) by such a branch. All else exists only if a tool looks: each task has a view then, which is what tools
 * see of it; views of explicit tasks are in front of their memory. Regions in regions have threads, and the members of
 * each region meet at a barrier at its end, so that its events come in the standard's order.
 */
#ifndef ABTOMP_TOOL_H
#define ABTOMP_TOOL_H

#include "omp.h"
#include "ompt/ompt.h"

struct abtomp_task;

/* What a tool sees of a task. */
struct abtomp_view {
    ompt_data_t data;
    ompt_frame_t frame;
    struct abtomp_view *parent; /* the task that has made it or met its region, later that on which it runs; or NULL */
    struct abtomp_region_view *region; /* that it is in */
    void (*fn)(void *);                /* what an explicit task runs, */
    void *arg;                         /* with what, */
    bool is_needed;                    /* and whether it does if it is cancelled, too */
    bool is_single;                    /* a single construct has begun that it runs */
    bool yields;                       /* it lets another one run */
    int flags;                         /* ompt_task_* */
    int num, members;                  /* that runs it, and of its region */
} __attribute__((aligned(16)));

/* What a tool sees of a region. The master's thread keeps it. */
struct abtomp_region_view {
    ompt_data_t data;
    const void *at;             /* where the program has called */
    struct abtomp_view *parent; /* the task that met it */
    void (*fn)(void *);         /* what its members run */
    void *arg;
    int flags;                /* ompt_parallel_* */
    struct abtomp_view first; /* the implicit task of member 0 if the program itself calls that, and an initial task */
};

/* Of a native thread. */
struct abtomp_tool_thread {
    ompt_data_t data;
    bool is_there; /* it has begun, for the tool */
    int state;     /* ompt_state_wait_* while it waits; 0: it works */
    uint64_t wait_id;
};

extern _Thread_local struct abtomp_tool_thread abtomp_tool_thread;

/* -- start.c -- */

/*
 * Finds a tool, if the user allows it, and starts it. Called once, when the environment has been read. When the tool
 * asks for its end, how_to_finish is called, which ends what it sees and calls abtomp_tool_finish.
 */
void abtomp_tool_start(bool is_allowed, void (*how_to_finish)(void));

/* The program ends: the tool is told, and looks no more. */
void abtomp_tool_finish(void);

/* The tool's function for an event; NULL: it has none. */
ompt_callback_t abtomp_tool_callback(int event);

/* -- inquiry.c -- */

/* The function with that name that a tool may call; NULL: there is none. */
ompt_interface_fn_t abtomp_tool_inquiry(const char *name);

/* -- event.c -- */

static inline struct abtomp_view *abtomp_view_of(const struct abtomp_task *task)
{
    return (struct abtomp_view *)(void *)task - 1;
}

/* Memory of a task, with its view in front. */
void *abtomp_view_alloc(size_t size);

void abtomp_tool_thread_begin(int kind);
void abtomp_tool_thread_end(void);

/* The initial task of a root begins, and ends for the tool; its view is to be freed. */
void abtomp_tool_root_begin(struct abtomp_member *me);
void abtomp_tool_root_end(struct abtomp_member *me);
void abtomp_tool_root_free(struct abtomp_member *me);

/* A region is met by `me`, and has ended. */
void abtomp_tool_fork(struct abtomp_member *me, struct abtomp_region_view *region, unsigned requested, int flags);
void abtomp_tool_join(struct abtomp_member *me, struct abtomp_region_view *region);

/* A member begins its implicit task, or (initial) that of a team of the league, and ends it. */
void abtomp_tool_implicit_begin(struct abtomp_member *me, struct abtomp_view *view, struct abtomp_region_view *region,
                                int flags);
void abtomp_tool_implicit_end(struct abtomp_member *me, struct abtomp_view *before);

/* Calls wait(me), which is a construct of that kind: ompt_sync_region_*. */
bool abtomp_tool_sync(struct abtomp_member *me, int kind, bool (*wait)(struct abtomp_member *me));

/* The kind of barrier that the function called has noted. */
static inline int abtomp_tool_barrier_kind(void)
{
    int kind = abtomp_call.kind;
    bool is_one = kind == ompt_sync_region_barrier_explicit || kind == ompt_sync_region_barrier_implicit_workshare;
    return is_one ? kind : ompt_sync_region_barrier_implementation;
}

/* A task group or a reduction begins or ends. */
void abtomp_tool_scope(struct abtomp_member *me, int kind, int endpoint);

/* The task that runs makes one. Later that begins, and ends: `before` is what ran before and goes on. */
void abtomp_tool_create(struct abtomp_member *me, struct abtomp_view *view, int flags, void **depend);
struct abtomp_view *abtomp_tool_task_begin(struct abtomp_member *me, struct abtomp_view *view);
void abtomp_tool_task_end(struct abtomp_member *me, struct abtomp_view *before, int status);

/* Others: what the names of the events say. `status` and the like are the standard's numbers. */
void abtomp_tool_status(struct abtomp_view *view, int status);
void abtomp_tool_depend(const struct abtomp_view *before, const struct abtomp_view *after);
void abtomp_tool_vector(struct abtomp_member *me, int kind, unsigned num, const int64_t *numbers);
void abtomp_tool_work(struct abtomp_member *me, int kind, int endpoint, uint64_t count);
void abtomp_tool_chunk(struct abtomp_member *me, bool is_section, uint64_t start, uint64_t num);
void abtomp_tool_single(struct abtomp_member *me, bool is_mine);
void abtomp_tool_single_end(struct abtomp_member *me);
void abtomp_tool_masked(struct abtomp_member *me, int endpoint);
void abtomp_tool_cancel(struct abtomp_member *me, int flags);
void abtomp_tool_discard(const struct abtomp_view *view);
void abtomp_tool_flush(void);
void abtomp_tool_error(bool is_fatal, const char *message, size_t length);
int abtomp_tool_control(int command, int modifier, void *arg);

/* Mutexes: take(lock) takes one, or says that it cannot. */
bool abtomp_tool_lock(void *lock, int kind, bool (*take)(void *lock));
void abtomp_tool_acquire(void *lock, int kind);
void abtomp_tool_unlock(void *lock, int kind);
void abtomp_tool_nest(void *lock, int endpoint);
void abtomp_tool_lock_init(void *lock, int kind, unsigned hint);
void abtomp_tool_lock_destroy(void *lock, int kind);

#endif
