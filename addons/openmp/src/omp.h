/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of libabtomp: teams, their members, and what all files share. (The header of the same name that programs
 * include is the compiler's.)
 *
 * team/, the threads and the regions:
 *   self.c      who the caller is, and how many threads it may have: what all files may use
 *   root.c      the native threads that use OpenMP, the start of the library, fork
 *   team.c      the threads of a team: made, docked between regions, released, gathered
 *   parallel.c  regions: how many members, and their work
 *   serial.c     regions in regions whose members need no threads; serial.h names the other files of them
 * loop/, what members divide among them:
 *   share.c     work-sharing constructs
 *   range.c     numbers that members divide among them: of chunks, and of parts of a taskloop
 *   ordered.c   ordered, and doacross loops
 * task/, tasks: tasks.h names the files
 * sync/, what members wait for:
 *   wait.c      waits at words, critical and the fallback of atomic by a mutex of 4 bytes, the bell
 *   number.c    the numbers by which tasks own nestable locks
 *   barrier.c   barriers, single and what else members do together
 *   cancel.c    cancellation
 * icv/, what the environment and the program set:
 *   icv.c       control variables: everything that is read from the environment
 *   places.c    the places of OMP_PLACES, and the threads on them
 *   affinity.c  the binding of threads, and texts that say where they are
 * api/, the functions of the standard, omp_*, for C and Fortran:
 *   api.c       all but those that follow,
 *   affinity.c  places,
 *   alloc.c     allocators,
 *   lock.c      locks, simple and nestable,
 *   device.c    and those for devices
 * ompt/, what tools see of all that: tool.h names the files
 * gomp/, what the programs of gcc call:
 *   loop.c      loops
 *   sections.c  sections, single and scope
 *   target.c    device constructs, which run on the host; teams on the host
 *
 * kmp/, what the programs of clang call:
 *   region.c    regions, teams, and what members do together
 *   loop.c      loops, and with them sections and distribute
 *   doacross.c  loops whose iterations wait for others
 *   task.c      tasks
 *   reduce.c    task groups, and reductions of tasks
 *   object.c    memory and locks
 *   routines.c  kmp_*, which programs call themselves
 *   threadprivate.c  variables of threads
 *
 * gomp/abtomp.map has the versions of what compilers call.
 *
 * A team that is no serial team has one native thread for each member. Member 0 is the thread that met the region.
 * Those of the others stay with the team: between regions they wait at the word `go`. A thread becomes a stream of
 * libabt, and what it runs a ULT, when it first has tasks (relief.c): before, nobody would take turns there. A region
 * of a team needs two meetings of its members, one at `go` and one at `back`, and each member waits once: the others at
 * `go`, member 0 at `back`.
 */
#ifndef ABTOMP_OMP_H
#define ABTOMP_OMP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"
#include "icv/icv.h"
#include "icv/places.h"

#define ABTOMP_LIKELY(x) __builtin_expect(!!(x), 1)
#define ABTOMP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ABTOMP_LINE __attribute__((aligned(64)))

/* Between two looks at a word. */
#if defined(__x86_64__) || defined(__i386__)
#define ABTOMP_RELAX() __builtin_ia32_pause()
#else
#define ABTOMP_RELAX() atomic_signal_fence(memory_order_seq_cst)
#endif

#ifndef ABTOMP_BUILD_ASSERT
#define ABTOMP_BUILD_ASSERT 0
#endif

/* Asserts what the caller has to see to, in builds for tests. The condition is compiled in every build. */
#define abtomp_assert(condition)                                                                                       \
    (ABTOMP_BUILD_ASSERT && ABTOMP_UNLIKELY(!(condition)) ? abtomp_fail("assertion failed: " #condition) : (void)0)

/*
 * Where counts of 32 bits begin that go round, 2^32 - 1 being followed by 0: in builds with assertions so near to their
 * ends that each program passes them. A multiple of ABTOMP_NUM_SHARES, and of what is in the low bits of such words.
 */
#define ABTOMP_COUNT_START (ABTOMP_BUILD_ASSERT ? -(uint32_t)32 : 0U)

/* Writes one line to stderr, then ends the program: for what OpenMP has no error code for. */
__attribute__((noreturn, cold)) void abtomp_fail(const char *why);

/* The memory that has been allocated: without it the program ends. */
static inline void *abtomp_must_have(void *memory)
{
    if (ABTOMP_UNLIKELY(!memory))
        abtomp_fail("out of memory");
    return memory;
}

enum {
    ABTOMP_NUM_SHARES = 8,      /* that a team keeps: for members that are few work-sharing constructs apart */
    ABTOMP_MOST_MEMBERS = 32767 /* of a team: ABTOMP_GO_BITS, and SPREADS of serial.c */
};

/* The directive `error`. The length is that of the message, or the largest size if it ends with a zero; NULL: none. */
void abtomp_error(bool is_fatal, const char *message, size_t length);

/* -- Tools: see ompt/tool.h -- */

/* 0: no tool looks. Constant after abtomp_start; before, it is not 0. */
ABTOMP_LOCAL extern _Atomic(uint32_t) abtomp_tools;

/* Whether a tool looks, after abtomp_start. relaxed: as it is written in abtomp_tool_start */
static inline bool abtomp_is_observed(void)
{
    return ABTOMP_UNLIKELY(atomic_load_explicit(&abtomp_tools, memory_order_relaxed) != 0);
}

/* The last call by the program of a function that notes it: from where, and a number of the function's own. */
struct abtomp_call {
    const void *at;
    int kind;
};

extern _Thread_local struct abtomp_call abtomp_call;

/* The function that has this is noted if a tool may look. Whether one may. */
#define ABTOMP_NOTE(kind)                                                                                              \
    (abtomp_is_observed() && (abtomp_call = (struct abtomp_call){__builtin_return_address(0), kind}, true))

/* The same; whether one does, and knows the calling thread. */
#define ABTOMP_NOTED(kind) (ABTOMP_NOTE(kind) && abtomp_is_ready())
bool abtomp_is_ready(void);

/* -- Members and teams -- */

/* The teams of a teams construct: the number of the own one, and how many there are; 0: there is no such construct. */
struct abtomp_league {
    int own, num;
};

/* What a member knows of the task that it runs: one word, since each task has to save it. */
struct abtomp_running {
    uint32_t number;  /* by which it owns nestable locks; 0: it has none yet */
    bool is_final;    /* it is final, or is included in one */
    bool is_explicit; /* it is one of a task construct */
    bool has_changed; /* its control variables may be others than those with which the implicit task began */
};

/* Numbers of tasks by which no task of another member owns a lock, and which none has now. */
struct abtomp_numbers {
    uint32_t *unused;
    uint32_t num, all; /* of these, and of all that the member has */
};

/* A member of a team: the state of an implicit task. That of an initial task is member 0 of a team at level 0. */
struct abtomp_member {
    struct abtomp_team *team; /* constant */
    int num;                  /* constant */
    /* abtomp_serial_spread; NULL: the team is no serial team. Constant */
    bool (*spread)(struct abtomp_team *team, bool has_waited);
    uint64_t num_singles;                 /* single constructs that it has met in this region, */
    uint64_t taken_singles;               /* and how many it knows to be taken */
    struct abtomp_numbers numbers;        /* that its tasks may have */
    struct abtomp_running running;        /* the task that runs, */
    struct abtomp_icvs icvs;              /* and its control variables: changed by abtomp_change_icvs */
    struct abtomp_icvs first_icvs;        /* those with which the implicit task began, if has_changed */
    uint32_t num_shares;                  /* work-sharing constructs that it has met in this region, modulo 2^32 */
    struct abtomp_share *share;           /* the construct that it is in, or the last one */
    uint64_t first, end;                  /* the iterations that it has of that: their numbers */
    uint64_t round;                       /* of a static loop: chunks that it has had */
    bool has_turn;                        /* of an ordered loop: it has had its turn for them */
    struct abtomp_crossing *crossing;     /* the doacross loop of clang that it is in, or that comes; NULL: none */
    struct abtomp_league league;          /* around */
    struct abtomp_group *group;           /* the innermost task group */
    _Atomic(struct abtomp_tasks *) tasks; /* what it has for tasks; NULL: it has made and run none */
    struct abtomp_team *inner;            /* the team of its last region that had several members */
    struct abtomp_team *single;           /* the team of its last region that had itself alone */
    struct abtomp_team *serial;           /* the team of its last region that was a serial team */
    struct kmp_call *call;                /* of its last region, if that is clang's; NULL: it had none */
    uint32_t seen;                        /* the value of `go` that it has seen last */
    uint32_t last;                        /* that of the last region that it had part in before it was left out: of
                                             member 0 */
    int place;                            /* that it is bound to, beginning with 1; 0: none */
    struct abtomp_partition partition;    /* the places for its regions */
    int displayed_num, displayed_policy;  /* members and policy of the region in which it has displayed where it is */
    struct abtomp_view *view;             /* what a tool sees of the task that runs; NULL: none looks, or none runs */
    pthread_t thread;                     /* of each member but 0 */
} ABTOMP_LINE;

/* The last poll of a team by the watch: its ticket, regions until then, and whether processors were free. */
struct abtomp_polled {
    uint64_t seen;
    uint32_t regions, poll;
    bool has_room;
};

/* The shares of constructs that were begun when those of the team were in use: a ring, by the numbers of constructs. */
struct abtomp_later {
    struct abtomp_share **ring;
    uint32_t first, num, room; /* the number of the first one, how many there may be from it on, and entries */
};

/* The tasks of a team that are in no deque: one that is taken first is heap[0]. */
struct abtomp_box {
    struct abtomp_boxed *heap;
    uint32_t room;
    uint32_t count;        /* of all puts, modulo 2^32: of the same priority the oldest is taken first */
    _Atomic(uint32_t) num; /* tasks: written with the lock, read without, as a hint */
};

/* What a thread does: see watch.c. */
struct abtomp_watch {
    struct abtomp_watch *next, **at;
    _Atomic(struct abtomp_team *) team; /* its innermost serial team; NULL: none */
    _Atomic(bool) waits;                /* for other members */
} ABTOMP_LINE;

/* What the team of a root, which is at level 0, is among all others. */
struct abtomp_roots {
    struct abtomp_watch watch;
    struct abtomp_roots *next, **at; /* in the list of all roots: roots_lock */
    _Atomic(uint64_t) used_ns;       /* when its last region of several members ended. 0: it had none; all ones: it has
                                        one. Written by the root */
    bool is_stream;                  /* its thread was a stream of the program when it became a root. Constant */
    int reported;                    /* the number of threads that was reported to it last; 0: none. Of the root */
};

struct abtomp_team {
    /* What each member reads when a region begins is in the line of `go`. Between regions member 0 writes it. */
    ABTOMP_LINE _Atomic(uint32_t) go; /* changes when a region begins: a count, and in its low bits how many members */
    _Atomic(uint32_t) grown;          /* changes with the number of members */
    int num;                          /* members of this region */
    int level;                        /* regions around; 0: there is none, the team is that of an initial task */
    int active_level;                 /* those of several members */
    bool expects_waits;               /* members may wait unseen, and become streams at once: not of serial teams */
    void (*fn)(void *data);
    void *data;
    struct abtomp_member *parent; /* the member that met the region; NULL at level 0. Constant */
    uintptr_t *reductions;        /* of tasks, of the region; NULL: there are none */
    struct abtomp_share **shares; /* ABTOMP_NUM_SHARES of them */
    _Atomic(int) siblings;        /* teams that may run this region or one like it at once: members around it */
    unsigned bind;                /* what the region says of binding; 0: nothing */
    /* What member 0 alone uses. */
    ABTOMP_LINE int reserved;           /* threads that it has of those that the thread limit allows */
    int capacity;                       /* members there are */
    struct abtomp_member **members;     /* by their numbers */
    struct abtomp_combined *combined;   /* what runs if the region is a loop, too */
    _Atomic(int) taken;                 /* at level 0: threads that regions below have of those that the limit allows */
    struct abtomp_roots root;           /* at level 0 */
    ABTOMP_LINE void *copied;           /* what single hands out by copyprivate */
    _Atomic(bool) has_shared;           /* some share was used in this region */
    _Atomic(uint64_t) singles;          /* single constructs that somebody has taken */
    ABTOMP_LINE _Atomic(uint32_t) back; /* changes when the members are back */
    ABTOMP_LINE _Atomic(uint32_t) arrived_of_two; /* at the barrier: see abtomp_arrived */
    _Atomic(uint32_t) barriers;                   /* that have been passed, and in its low bits ABTOMP_BARRIER_* */
    ABTOMP_LINE _Atomic(uint32_t) arrived_of_many;
    /* Of tasks. has_tasks: the words above say so, too, and waiters for tasks wait for the bell. */
    ABTOMP_LINE _Atomic(bool) has_tasks;
    _Atomic(uint32_t) cancelled; /* ABTOMP_CANCELLED_*: what of the region is cancelled */
    _Atomic(uint32_t) bell;     /* changes when there are tasks, or something has happened that a member may wait for */
    _Atomic(uint64_t) waiting;  /* ULTs that wait for it: ABTOMP_RESTS and ABTOMP_HUNGRY */
    _Atomic(uint32_t) scanners; /* members between regions that are looking for tasks */
    _Atomic(uint32_t) box_lock;
    _Atomic(uint32_t) share_lock; /* for the begin and end of a construct there: see share.c */
    struct abtomp_later later;    /* share_lock */
    struct abtomp_box box;        /* box_lock */
    /* Of serial teams: see serial.h. */
    ABTOMP_LINE _Atomic(uint64_t) ticket; /* a count of regions, the next number, and members of this region */
    bool is_serial;                       /* constant */
    struct abtomp_team *outer; /* the next serial team around that the same thread runs; NULL: there is none */
    _Atomic(uint32_t) runners; /* threads that run members, and may use the team still */
    struct abtomp_polled polled;
    void (*_Atomic key)(void *data); /* the function of the program */
};

/*
 * How many members have arrived at the barrier. With two of them that is in the line of `barriers`: the second one
 * writes both, and one line moves. With more, each that arrives would take that line from all threads that poll
 * `barriers`: 64 members moved 378 lines at a barrier and took 6.5 us, in the simulator of many cores.
 */
static inline _Atomic(uint32_t) *abtomp_arrived(struct abtomp_team *team)
{
    return team->num > 2 ? &team->arrived_of_many : &team->arrived_of_two;
}

/*
 * What `go` has: a count of regions above, whether the region has tasks, and how many members it has. No member: the
 * threads end. `back` has the count of the region whose members are all back above, and how many are of the next one.
 * So member 0 writes one word when a region begins, and one only that others read. In builds with assertions the count
 * has 8 bits: so tests see it go round.
 */
enum {
    ABTOMP_GO_NUM = (1 << 15) - 1,
    ABTOMP_GO_TASKS = 1 << 15,
    ABTOMP_GO_BITS = ABTOMP_BUILD_ASSERT ? 24 : 16,
    ABTOMP_BARRIER_TASKS = 1,
    ABTOMP_BARRIER_CANCELLED = 2,
    ABTOMP_BARRIER_ONE = 4
};

/*
 * Each member, or relief of one, that waits for the bell counts as one of these: for all that may happen, or for tasks,
 * too. There may be more reliefs than members: 32 bits count what there is memory for.
 */
#define ABTOMP_RESTS ((uint64_t)1 << 32)
#define ABTOMP_HUNGRY (ABTOMP_RESTS + 1)

enum { ABTOMP_CANCELLED_REGION = 1, ABTOMP_CANCELLED_SHARE = 2 };

/* -- self.c -- */

/* The member that the calling native thread runs; NULL: it has not used OpenMP, and its answers are those of level 0.
 */
extern _Thread_local struct abtomp_member *abtomp_current;

/* A root is alive; it has ended; there is none any more, in the child of a fork. */
void abtomp_roots_add(struct abtomp_roots *root);
void abtomp_roots_remove(struct abtomp_roots *root);
void abtomp_roots_in_child(void);

/* How many threads the next region has, if the program does not say. */
int abtomp_num_threads(const struct abtomp_member *me);

/* The same, of a root for which the user has said nothing. */
int abtomp_root_threads(const struct abtomp_roots *root);

/* The same, to be told to the program: that holds for its next regions. `num` is what it is told; 0: the share. */
int abtomp_tell_threads(struct abtomp_member *me, int num);

/*
 * A root begins a region of several members, and ends it. Written by the root alone; relaxed: only a number of threads
 * depends on it.
 */
static inline void abtomp_root_begin(struct abtomp_roots *root)
{
    atomic_store_explicit(&root->used_ns, UINT64_MAX, memory_order_relaxed);
}

void abtomp_root_end(struct abtomp_roots *root);

/*
 * How many threads want the processors while `num` members of the team wait: other roots, and the other members of the
 * regions around, may have teams of that size, too.
 */
int abtomp_num_rivals(const struct abtomp_team *team, int num);

/* -- root.c -- */

/* Makes the calling thread a root: its initial task. */
struct abtomp_member *abtomp_root(void);

/* The member that calls; a thread without one becomes a root. */
static inline struct abtomp_member *abtomp_self(void)
{
    struct abtomp_member *me = abtomp_current;
    return ABTOMP_LIKELY(me != NULL) ? me : abtomp_root();
}

/* The same; the function that has this is noted. */
#define ABTOMP_CALLER(kind) ((void)ABTOMP_NOTE(kind), abtomp_self())

/* Reads the environment, once. What needs abtomp_env but no member calls this first. */
void abtomp_start(void);

/*
 * The control variables of the task that runs, to be changed. Few tasks do so: tasks that begin with those of the
 * implicit task, as nearly all do, have no copy of them.
 */
static inline struct abtomp_icvs *abtomp_change_icvs(struct abtomp_member *me)
{
    if (!me->running.has_changed)
        me->first_icvs = me->icvs;
    me->running.has_changed = true;
    return &me->icvs;
}

/* -- For omp_*: what a region is like -- */

/* The member of the given level, 0 to that of `me`, that `me` descends from; NULL: there is no such level. */
static inline const struct abtomp_member *abtomp_ancestor(const struct abtomp_member *me, int level)
{
    if (level < 0 || level > me->team->level)
        return NULL;
    while (me->team->level > level)
        me = me->team->parent;
    return me;
}

/* -- team.c -- */

/*
 * A team for a region of `me` of that many members, two at least. With dyn-var they become fewer if the system gives no
 * more threads; without, the program ends with a message. NULL: not even two. Its threads are docked.
 */
struct abtomp_team *abtomp_team_get(struct abtomp_member *me, int num);

/* A team of `me` alone. NULL: out of memory. */
struct abtomp_team *abtomp_team_alone(struct abtomp_member *me);

/* Makes a team of one member, with room for one. NULL: out of memory. */
struct abtomp_team *abtomp_team_new(struct abtomp_member *parent);

void abtomp_team_free(struct abtomp_team *team);

/* Lets the members run team->fn. */
void abtomp_team_release(struct abtomp_team *team);

/* Waits until they have. */
void abtomp_team_gather(struct abtomp_team *team);

/* Begins the implicit task of a member. */
void abtomp_member_begin(struct abtomp_member *me);

/* Ends the threads of the teams of the member and of its reliefs, and frees the teams. */
void abtomp_teams_end(struct abtomp_member *me);

/* Makes members without threads, until the team has that many. False: out of memory. */
bool abtomp_team_fill(struct abtomp_team *team, int num);

/* Starts a thread of the member. False: the system gives no more. */
bool abtomp_thread_start(struct abtomp_member *member, void *(*main)(void *), bool is_detached);

/*
 * Calls run(me), and leaves the stream that the thread has become meanwhile. The member may be gone when `run` returns.
 */
void abtomp_thread_run(struct abtomp_member *me, void (*run)(struct abtomp_member *me));

/* -- parallel.c -- */

/*
 * Runs fn by a team; how many members it had. `num` is what the program says, 0 if nothing. The lower three bits of the
 * flags are the clause proc_bind. `key` is the program's function: fn itself, or what it calls. `reductions` are those
 * of tasks, NULL if there are none.
 */
int abtomp_parallel(void (*fn)(void *), void *data, void (*key)(void *), unsigned num, unsigned flags,
                    uintptr_t *reductions);

/* Runs fn for each of `num` teams, one after another; 0, both: the program does not say. */
void abtomp_teams(void (*fn)(void *data), void *data, unsigned num, unsigned thread_limit);

/* The same, but the caller itself runs fn for member 0 between the two. */
void abtomp_parallel_start(void (*fn)(void *), void *data, unsigned num);
void abtomp_parallel_end(void);

/* -- affinity.c -- */

/* What a member is and where, by a format, NULL: that of the program. How long the text is; it may have less room. */
size_t abtomp_affinity_text(const struct abtomp_member *me, char *buffer, size_t size, const char *format);

/* The same, on stderr. */
void abtomp_affinity_display(const struct abtomp_member *me, const char *format);

/* Binds a root, and a member that begins, to its place, and displays where it is, if the environment says so. */
void abtomp_root_place(struct abtomp_member *me);
void abtomp_member_place(struct abtomp_member *me);

/* -- wait.c -- */

/* Waits until the word is no longer `value`. `num` members of the team meet there: it depends on that how. NULL: no
 * team does.
 */
void abtomp_wait(const _Atomic(uint32_t) *word, uint32_t value, const struct abtomp_team *team, int num);

/* Wakes those that wait for the word, which has been changed. */
void abtomp_wake(const _Atomic(uint32_t) *word);

/* Something has changed that a member may wait for. */
void abtomp_bell_ring(struct abtomp_team *team);

/* There are tasks: rings if somebody wants some. */
void abtomp_bell_call(struct abtomp_team *team);

/* A mutex of 4 bytes. 0: it is free, 1: it is held, 2: it is held and may be waited for. */
void abtomp_mutex_lock_slow(_Atomic(uint32_t) *mutex);
void abtomp_mutex_wake(_Atomic(uint32_t) *mutex);

/* Takes it for the program, which may wait for anything while it holds it. */
void abtomp_users_lock(_Atomic(uint32_t) *mutex);

static inline bool abtomp_mutex_trylock(_Atomic(uint32_t) *mutex)
{
    uint32_t is_free = 0;
    /* acquire: pairs with the release in abtomp_mutex_unlock. relaxed: it is not taken */
    return atomic_compare_exchange_strong_explicit(mutex, &is_free, 1, memory_order_acquire, memory_order_relaxed);
}

static inline void abtomp_mutex_lock(_Atomic(uint32_t) *mutex)
{
    if (ABTOMP_UNLIKELY(!abtomp_mutex_trylock(mutex)))
        abtomp_mutex_lock_slow(mutex);
}

static inline void abtomp_mutex_unlock(_Atomic(uint32_t) *mutex)
{
    /* release: pairs with the acquire in abtomp_mutex_trylock and in abtomp_mutex_lock_slow */
    if (ABTOMP_UNLIKELY(atomic_exchange_explicit(mutex, 0, memory_order_release) == 2))
        abtomp_mutex_wake(mutex);
}

/* -- lock.c -- */

/* Takes, or leaves, a mutex of the program as a tool that may look sees it: it is of that kind, ompt_mutex_*. */
void abtomp_view_lock(void *mutex, int kind);
void abtomp_view_unlock(void *mutex, int kind);

/* The same, of a function that does not know whether one may; the function that has this is noted. */
#define ABTOMP_LOCK(mutex, kind)                                                                                       \
    (ABTOMP_NOTE(0) ? abtomp_view_lock(mutex, kind) : abtomp_users_lock((_Atomic(uint32_t) *)(void *)(mutex)))
#define ABTOMP_UNLOCK(mutex, kind)                                                                                     \
    (ABTOMP_NOTE(0) ? abtomp_view_unlock(mutex, kind) : abtomp_mutex_unlock((_Atomic(uint32_t) *)(void *)(mutex)))

/* -- barrier.c -- */

void abtomp_barrier(struct abtomp_member *me);

/* The same of a team of one, without a word to tools. */
void abtomp_barrier_alone(struct abtomp_member *me);

/* The member's next single construct. True: it is the one that runs it. */
bool abtomp_single(struct abtomp_member *me);

/* Arrives at a barrier that is not cancelled yet. False: it was cancelled meanwhile, if that may be. */
bool abtomp_barrier_pass(struct abtomp_member *me, bool may_be_cancelled);

/* -- watch.c -- */

/* The calling thread begins to use OpenMP, with memory that is all 0; it ends; it is alone in the child of a fork. */
void abtomp_watch_thread(struct abtomp_watch *watch);
void abtomp_watch_end(void);
void abtomp_watch_in_child(void);

/* -- cancel.c -- */

/* What a program cancels: the region, the loop or the sections, or the task group. */
enum abtomp_cancellable { ABTOMP_CANCEL_REGION, ABTOMP_CANCEL_SHARE, ABTOMP_CANCEL_GROUP };

/* Cancels it. False: programs may not, here. */
bool abtomp_cancel(struct abtomp_member *me, enum abtomp_cancellable which);

/* Whether the caller is to leave it. */
bool abtomp_is_cancelled(struct abtomp_member *me, enum abtomp_cancellable which);

/* A barrier that ends when the region is cancelled (true), too. */
bool abtomp_barrier_cancel(struct abtomp_member *me);

static inline bool abtomp_barrier_is_cancelled(const struct abtomp_team *team)
{
    /* acquire: pairs with the release in cancel_region */
    return atomic_load_explicit(&team->barriers, memory_order_acquire) & ABTOMP_BARRIER_CANCELLED;
}

/* The next region is not cancelled. */
void abtomp_cancel_clear(struct abtomp_team *team);

/* -- share.c -- */

/* The shares of a team of `num` members, all unused. NULL: out of memory. */
struct abtomp_share **abtomp_shares_new(int num);
void abtomp_shares_free(struct abtomp_share **shares);

/* Makes them unused again: no member is in one. */
void abtomp_shares_reset(struct abtomp_team *team);

/* Frees what they have, when a region was cancelled that not all members have left by its end. */
void abtomp_shares_clear(struct abtomp_team *team);

/* -- task.c -- */

/* An implicit task begins. */
void abtomp_tasks_begin(struct abtomp_tasks *own);

/* The member has no task group any more. */
void abtomp_group_end(struct abtomp_member *me);

/* Frees a member, with its tasks. */
void abtomp_member_free(struct abtomp_member *me);

/* Makes a task, or runs it at once. The flags are in tasks.h. */
void abtomp_task(struct abtomp_member *me, void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                 long align, bool is_deferred, unsigned flags, void **depend, int priority, void *detach);

/* Waits for the children of the task that runs. */
void abtomp_taskwait(void);

/* Waits for what a task with these dependences would wait for; is_nowait: a task without a body does, in its place. */
void abtomp_taskwait_depend(struct abtomp_member *me, void **depend, bool is_nowait);

/* Runs another task, if there is one. */
void abtomp_taskyield(void);

/* Runs the tasks that a team of one has left. */
void abtomp_tasks_drain(struct abtomp_member *me);

/* -- crew.c -- */

/* Runs tasks until the barrier has been passed that the member has arrived at, or is cancelled (false), if it may be,
 */
bool abtomp_crew_barrier(struct abtomp_member *me, uint32_t passed, bool may_be_cancelled);

/* until all members are back, and all tasks have ended, by member 0, */
void abtomp_crew_gather(struct abtomp_member *me);

/* and as long as the region runs, that the member has left. */
void abtomp_crew_help(struct abtomp_member *me, uint32_t go);

/* Waits until nobody looks for tasks of a region that has ended. */
void abtomp_crew_quiet(struct abtomp_team *team);

/* relaxed: the maker of a task sees it; others see it at the words that they wait for */
static inline bool abtomp_has_tasks(const struct abtomp_team *team)
{
    return atomic_load_explicit(&team->has_tasks, memory_order_relaxed);
}

/* -- number.c -- */

/* The number of the task that runs. */
uint32_t abtomp_number(struct abtomp_member *me);

/* The task that runs ends: another one may have its number. */
static inline void abtomp_number_return(struct abtomp_member *me)
{
    if (ABTOMP_UNLIKELY(me->running.number != 0))
        me->numbers.unused[me->numbers.num++] = me->running.number;
}

/* The member ends, and so has the task that runs. */
void abtomp_numbers_free(struct abtomp_member *me);

/* -- group.c -- */

/* Makes the copies of `num` members, and frees them. */
void abtomp_reductions_make(uintptr_t *reductions, int num);
void abtomp_reductions_free(const uintptr_t *reductions);

/* The end of a construct with reductions: one member has put the copies together. */
void abtomp_reductions_end(struct abtomp_member *me, bool is_cancelled);

/* Replaces addresses by those of the caller's copies; the first `num_originals` originals are stored behind them. */
void abtomp_reductions_find(struct abtomp_member *me, size_t num, size_t num_originals, void **addresses);

/* Begins a task group; `reductions` may be NULL. */
void abtomp_group_begin(struct abtomp_member *me, uintptr_t *reductions);

/* The innermost group gets reductions. */
void abtomp_group_reduce(struct abtomp_member *me, uintptr_t *reductions);

/* The innermost group ends, when its tasks have. */
void abtomp_group_await(struct abtomp_member *me);

#endif
