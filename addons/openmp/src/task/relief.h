/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a member waits for by a call of another library, in MPI, in libabtio or at an object of libabt, libabtomp does
 * not see: it only sees the member's ULT leave the stream. Then the stream asks for a ULT that runs tasks in its place,
 * a relief. See relief.c.
 */
#ifndef ABTOMP_RELIEF_H
#define ABTOMP_RELIEF_H

#include <abt_source.h>
#include "task/tasks.h"

/* Why a ULT has left its stream. */
enum abtomp_stay {
    ABTOMP_STAYS_UNSEEN,   /* nobody knows: the program has called another library */
    ABTOMP_STAYS_TIED,     /* it waits for others, and may run nothing but perhaps descendants of its task */
    ABTOMP_STAYS_POLLING,  /* it waits for the bell, and would run any task, */
    ABTOMP_STAYS_RELIEVED, /* or leaves that to reliefs */
    ABTOMP_NUM_STAYS
};

/* A ULT that runs a member, or a relief of one: in the frame of that, or in the post. */
struct abtomp_ult {
    ABTX_switch_link link;
    struct abtomp_post *post;
    struct abtomp_member *current; /* while it is away: the thread's abtomp_current */
    enum abtomp_stay stay;         /* why it would leave the stream now, or has */
    struct abtomp_ult *next, **at; /* in the list of the post */
};

/*
 * A native thread, its stream, and the ULTs that take turns there. All of it is the stream's own, whichever thread
 * carries that.
 */
struct abtomp_post {
    struct abtomp_ult first, *ults, *running; /* that of the thread itself; all; NULL: a ULT of the program runs */
    uint32_t num_reliefs;                     /* ULTs in the list but the first */
    uint32_t num_away[ABTOMP_NUM_STAYS];      /* that have left the stream, by why */
    struct abtomp_tasks *asked;               /* for whom the stream makes a relief now */
    struct abtx_source *source;
    pthread_t thread; /* constant */
};

/* NULL: there is none. A thread that carries the stream of another one for a while has the post of that. */
extern _Thread_local struct abtomp_post *abtomp_own_post;

/* The calling thread is no stream any more, if it has become one for its tasks. */
void abtomp_stream_leave(void);

/* In the child of a fork there is one thread. */
void abtomp_stream_in_child(void);

/* Whether there are reliefs on the stream, so that the caller must not block it. */
static inline bool abtomp_is_relieved(void)
{
    const struct abtomp_post *post = abtomp_own_post;
    return ABTOMP_UNLIKELY(post && post->num_reliefs > 0);
}

/* Says why the caller will leave the stream, if it does. */
static inline void abtomp_stay_as(enum abtomp_stay stay)
{
    struct abtomp_post *post = abtomp_own_post;
    if (ABTOMP_UNLIKELY(post && post->running))
        post->running->stay = stay;
}

/* Waits until the word has changed: blocks the stream, or lets the reliefs on it run. */
void abtomp_pause_at(const _Atomic(uint32_t) *word, uint32_t value, int num);

/*
 * The member, which may be NULL, is about to wait: all tasks in its deque become public. A member that other members
 * wait for may need any of them, and find no other one.
 */
void abtomp_make_bare_slow(struct abtomp_member *me, struct abtomp_tasks *own);

static inline void abtomp_make_bare(struct abtomp_member *me)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = me ? atomic_load_explicit(&me->tasks, memory_order_relaxed) : NULL;
    if (own && ABTOMP_UNLIKELY(abtomp_deque_num_kept(&own->deque) > 0))
        abtomp_make_bare_slow(me, own);
}

#endif
