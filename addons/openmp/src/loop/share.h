/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work-sharing constructs. A loop of any type is one over numbers of iterations, 0 to num - 1; sections are a loop over
 * their numbers. Each construct that the members of a team meet has a share, of which the team has a few: one that was
 * left by all members serves again. If a member is so far ahead of another one that none is free, it makes one.
 */
#ifndef ABTOMP_SHARE_H
#define ABTOMP_SHARE_H

#include "omp.h"
#include "loop/range.h"

/* Kinds of loops beside those of icv.h. */
enum {
    ABTOMP_RUNTIME = 0, /* as run-sched-var says */
    ABTOMP_RANGES = 16, /* dynamic, not monotonic: each member begins with its part, and takes of others after it */
    ABTOMP_CROSSES = 32 /* beside another kind: iterations wait for others (doacross) */
};

/* Words that members wait at for their turns: with several, a turn wakes few but the one that has it. A power of two */
enum { ABTOMP_TURN_BITS = 6, ABTOMP_TURNS = 1 << ABTOMP_TURN_BITS };

/* A loop: all of it is constant while it runs. Arithmetic is modulo 2^64, so that one form serves for signed ones. */
struct abtomp_loop {
    uint64_t start, end, step; /* of the program's variable */
    uint64_t num;              /* of iterations */
    uint64_t chunk;            /* iterations at a time; 0, of static: one part for each member */
    unsigned kind;             /* maybe with ABTOMP_MONOTONIC */
    bool is_ordered;
    unsigned char work; /* ompt_work_* that it is; 0: a loop */
    uint64_t inside;    /* of clang's programs: the step of iterations that stay together. Those above are of units, */
    uint64_t all;       /* and how many iterations these have; 0: a unit is one */
    unsigned num_sinks; /* dimensions of a doacross loop; 0: it is none */
    const void *sink_counts; /* iterations of each dimension, 8 bytes each */
};

struct abtomp_copies;

struct abtomp_share {
    _Atomic(uint32_t) stage;  /* of which construct it is, or may be next, and whether it is: see share.c */
    _Atomic(uint32_t) inside; /* members that have not left it */
    uint32_t construct;       /* its number: of the member that sets it up, then constant while it is ready */
    bool is_later;            /* it is of one construct only, among the team's `later`. Constant */
    /* Constant while it is ready. */
    struct abtomp_loop loop;
    uint64_t num_chunks;                   /* of a dynamic loop */
    void *memory;                          /* asked for by the program, for all members */
    struct abtomp_copies *copies;          /* of its reductions of tasks; NULL: there are none */
    struct abtomp_doacross *doacross;      /* of a doacross loop */
    ABTOMP_LINE _Atomic(uint64_t) next;    /* the first iteration that nobody has, or chunk if the loop is dynamic */
    ABTOMP_LINE _Atomic(uint64_t) turn;    /* of an ordered loop: the first iteration of the chunk whose turn it is */
    _Atomic(uint32_t) turns[ABTOMP_TURNS]; /* changes with `turn`: the one of that iteration, see ordered.c */
    struct abtomp_range ranges[];          /* of chunks, of each member */
};

/*
 * The member's next construct. True: the caller is the first there, and calls abtomp_share_open when it has set up
 * me->share.
 */
bool abtomp_share_enter(struct abtomp_member *me);
void abtomp_share_open(struct abtomp_member *me);

/* The member leaves me->share. */
void abtomp_share_leave(struct abtomp_member *me);

/* Enters a loop, or sections. `reductions` and `memory` may be NULL. */
void abtomp_loop_enter(struct abtomp_member *me, const struct abtomp_loop *loop, uintptr_t *reductions, void **memory);

/* Takes iterations: me->first to me->end - 1. False: there are no more. */
bool abtomp_loop_take(struct abtomp_member *me);

/* Runs fn by a team of which each member has entered the loop. */
void abtomp_parallel_loop(void (*fn)(void *), void *data, unsigned num, unsigned flags, const struct abtomp_loop *loop);
void abtomp_parallel_loop_start(void (*fn)(void *), void *data, unsigned num, const struct abtomp_loop *loop);

/* -- ordered.c -- */

/* Waits for the turn of the chunk, in an ordered loop. */
void abtomp_ordered_await(struct abtomp_member *me);

/* The member has ended its chunk: when it has had its turn, the next chunk has it. */
void abtomp_ordered_pass(struct abtomp_member *me);

/* How far a member is in such a loop: see ordered.c. */
struct abtomp_position {
    ABTOMP_LINE _Atomic(uint64_t) next; /* the number of the next iteration that is not posted, plus 1. 0: not known
                                           yet, all ones: the member has no chunk */
    _Atomic(uint64_t) first, end;       /* of its chunk: constant as long as `next` is neither. Of the outermost loop */
};

struct abtomp_doacross {
    unsigned num_counts;
    const uint64_t *counts;      /* iterations of each loop */
    uint64_t inner;              /* iterations in one of the outermost loop */
    _Atomic(uint32_t) posts;     /* changes with each post, and with each chunk */
    struct abtomp_position at[]; /* of the members */
};

/* The loop that the member is in; NULL: there is none. */
static inline struct abtomp_doacross *abtomp_doacross_of(const struct abtomp_member *me)
{
    return me->share ? me->share->doacross : NULL;
}

/* A loop of iterations that wait for others, for a team of that many members. */
struct abtomp_doacross *abtomp_doacross_new(const struct abtomp_loop *loop, int num);
void abtomp_doacross_free(struct abtomp_doacross *doacross);

/* Takes a chunk of such a loop by `take`, and says so to waiters. */
bool abtomp_doacross_take(struct abtomp_member *me, bool (*take)(struct abtomp_member *, struct abtomp_share *));

/* The iteration with those numbers in all loops is posted. */
void abtomp_doacross_post(struct abtomp_member *me, const uint64_t *at);

/* The member has no iterations any more, of a loop that it has not taken them from. */
void abtomp_doacross_leave(struct abtomp_member *me);

/* Waits until the iteration with that number is posted, which is in iteration `outer` of the outermost loop. */
void abtomp_doacross_await(struct abtomp_member *me, uint64_t outer, uint64_t number);

/* -- group.c -- */

/*
 * Begins reductions of tasks in a construct: by the first member, and by the others, which get to know where the copies
 * are. They do not look into the description of the first one: it may have left a cancelled region.
 */
struct abtomp_copies *abtomp_reductions_begin(struct abtomp_member *me, uintptr_t *reductions);
void abtomp_reductions_join(struct abtomp_member *me, uintptr_t *reductions, const struct abtomp_copies *copies);

/* Frees the copies themselves, too. NULL: there are none. */
void abtomp_copies_free(struct abtomp_copies *copies);

#endif
