/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools of buffers for receivers. A pool has sets of buffers, each of the pool's number: one for the native threads,
 * and one for each channel that receives into it, whose ring has it as a group of provided buffers. The kernel takes
 * from a group what it likes, and gives nothing back but by a receive; so with sets of their own no ring keeps what
 * another one waits for. A set outlives its channel, since its buffers may be out, and the next channel that needs one
 * gets it.
 *
 * All is under the pool's lock, which is also that of its receivers' multishots (multishot.h): they keep
 * buffers, and one that has to wait for a buffer is in its set's list. The kernel's ring of a set is written under it
 * too, by each caller that gives a buffer back: the kernel only asks that one at a time does. The rest of a ring is for
 * the owner of its channel, which gets a request when somebody waits for a buffer that has come back, or the pool is
 * freed. While it is asked the request is in the channel's list, and the set stays.
 */
#ifndef ABTIO_BUFFERS_H
#define ABTIO_BUFFERS_H

#include <pthread.h>
#include "multishot/multishot.h"

/* Is before each buffer, in a line of its own. */
struct buffer {
    struct result result;
    struct buffer_set *set;
    bool out; /* it is a receiver's, or the user's */
};

enum { BUFFER_LINE = 64 };
_Static_assert(sizeof(struct buffer) <= BUFFER_LINE, "buffers begin where a line does");

struct buffer_set {
    struct abtio_buffers *pool;
    struct buffer_set *next;  /* in the pool */
    struct buffer_set *later; /* of its ring, by the holder of the channel */
    char *memory, *buffers;   /* the former is the kernel's ring, where there is one */
    struct channel *channel;  /* whose ring has it, or NULL */
    bool lost;                /* the ring was given up, and the kernel may still write to them */
    bool asked;               /* the request is in the channel's list */
    bool used;                /* some have been taken, ever */
    unsigned num_free;        /* that are provided, or in the list of those that are free */
    uint16_t tail;            /* of the kernel's ring */
    unsigned num_fresh;       /* of the native threads' set: those from here on have never been taken */
    struct result *first_free;
    struct multishot *first_put_off, **last_put_off;
    abtio_op request;
};

struct abtio_buffers {
    pthread_mutex_t lock;
    size_t size, stride;
    unsigned num, entries; /* the latter is a power of two */
    unsigned id;           /* of its groups, in each ring */
    unsigned num_receivers, num_out;
    bool freed; /* only sets that wait for their channels are left */
    struct buffer_set *sets;
    struct buffer_set plain; /* of the native threads */
    struct abtio_buffers *next;
};

static inline struct buffer *buffer_of(void *buf)
{
    return (struct buffer *)(void *)((char *)buf - BUFFER_LINE);
}

static inline struct buffer *buffer_at(const struct buffer_set *set, unsigned place)
{
    abtioi_assert(place < set->pool->num);
    return (struct buffer *)(void *)(set->buffers + place * set->pool->stride);
}

static inline char *buffer_data(struct buffer *buffer)
{
    return (char *)buffer + BUFFER_LINE;
}

/* The set for receives on a channel, or on the native threads, with *channel NULL then. The lock is held. */
struct buffer_set *abtioi_buffers_choose(struct abtio_buffers *pool, struct channel **channel);

/* The kernel has taken a buffer from a group. The lock is held. */
void *abtioi_set_take(struct buffer_set *set, unsigned place);

/* What it has taken without success. The lock is held. */
void abtioi_set_put(struct buffer_set *set, void *buf);

/* A buffer for a native thread, or NULL: none is free. */
void *abtioi_buffers_take(struct abtio_buffers *pool);

/* A multishot that waits for a buffer, and one that does not any more. The lock is held. */
void abtioi_set_put_off(struct buffer_set *set, struct multishot *multishot);
void abtioi_set_forget(struct buffer_set *set, const struct multishot *multishot);

/* A set's request has come to its channel, which is NULL if it takes no operations any more. By the holder of the
 * channel. */
void abtioi_set_serve(abtio_op *request, struct channel *channel);

/* A ring is about to go, or was given up, with these sets. By its thread. */
void abtioi_sets_leave(struct buffer_set **sets, bool lost);

/* libabtio has come to its end: the waiters for buffers learn of it. */
void abtioi_buffers_end(void);

/* Around fork(); the child has no pools. */
void abtioi_buffers_before_fork(void);
void abtioi_buffers_after_fork(void);
void abtioi_buffers_forget(void);

/* ---- What rings do with it (ring/group.c) ---------------------------------------------------------------------- */

/* Provides a buffer of a set that a ring has. The lock is held; any thread. */
void abtioi_group_add(struct buffer_set *set, unsigned place);

#endif
