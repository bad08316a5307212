/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that may touch a channel: its stream's native thread; and, if the channel is polled, the poller (poller.h),
 * so that each of them does so under the channel's lock only. That is the first of all locks but that of the list of
 * channels, since a result is delivered under it, which takes those of multishots, pools and helpers. The stream does
 * not hold it while it sleeps in its ring: then the channel is `asleep`, and the poller keeps out, as it does once the
 * channel is `ending`.
 *
 * The poller takes the stream for busy when it has not looked at its channel between two polls of the poller. What
 * it does then would be right at any other time, too.
 *
 * A completion that says that the stream is woken may be found by the poller, when the stream has announced its
 * sleep and not begun it yet; `woken` keeps it from sleeping then. A poll of its own, which comes before the
 * announcement, clears that.
 *
 * A ULT that waits for an operation suspends itself after its start, and only then may it be resumed. When the stream
 * finds the result that it has left, since something else runs there. The poller polls: only the last one that has
 * called may still be on its way, whose operation is `fresh`, since the stream has gone on from the others to it. It
 * is not fresh any more when the stream has looked at its channel.
 */
#ifndef ABTIO_CHANNEL_OWN_H
#define ABTIO_CHANNEL_OWN_H

#include <pthread.h>
#include "direct.h"
#include "channel.h"
#include "channel_list.h"
#include "ring/ring.h"

struct channel {
    struct ring ring;
    ABT_xstream xstream;
    _Atomic(uint64_t) in_flight; /* operations whose result is not delivered yet; others only read it */
    int wake_fd;                 /* that the stream's wait is watching, or -1 */
    struct direct direct;
    bool idle_soon;             /* the last submitter has left the stream with nothing to run, it seems */
    abtio_op *all;              /* those in flight */
    atomic_bool refused;        /* the kernel lets us enter the ring no more; the stream reads it without the lock */
    bool ending;                /* no operation is begun here any more */
    bool changing;              /* its ring is about to go, and what comes back of it is kept for the next one */
    unsigned num_reaps;         /* after which operations may be gone */
    int64_t ask_again;          /* when ends are asked for once more that the kernel has missed, or 0 */
    bool polled;                /* from when on it stays so; set while it is not in the list of channels */
    bool has_handles;           /* operations have been begun in it that others may cancel */
    bool asleep, woken;         /* see above */
    abtio_op *fresh;            /* see above */
    bool helped;                /* the poller is in it */
    unsigned polls, polls_seen; /* by the stream; what the poller has seen of them */
    int streams;                /* that there were when it was decided whether it is polled; 0: decide again */
    int64_t next_try;           /* not before, if `streams` is 0 */
    pthread_mutex_t lock;
    _Atomic(abtio_op *) to_cancel; /* a list that any thread puts to, and the channel takes whole */
    atomic_uint cancelling;        /* threads that are about to wake the stream */
    struct channel_place place;
};

/* Whether the kernel lets us enter its ring no more. */
static inline bool channel_is_refused(const struct channel *channel)
{
    /* relaxed: what the poller writes is seen by the stream when it has held the lock */
    return atomic_load_explicit(&channel->refused, memory_order_relaxed);
}

/* Whether it has no ring any more. */
static inline bool channel_is_forgotten(const struct channel *channel)
{
    return channel->ring.fd < 0;
}

/* -- channel.c -- */

/* Whether the caller may touch it. */
bool abtioi_channel_is_mine(struct channel *channel);

/* Hands over what is gathered, and waits for that many completions, no longer than so; -1: for any time. */
void abtioi_channel_enter(struct channel *channel, unsigned completions, int64_t nanoseconds);

/* Tells the results that there are. */
void abtioi_channel_reap(struct channel *channel);

/* Its call, or a poll of its descriptor if it is polling. */
void abtioi_channel_submit(struct channel *channel, abtio_op *op);

/* A cancel of the operation. */
void abtioi_channel_submit_cancel(struct channel *channel, const abtio_op *op);

/* The result is known. One whose end has been asked for is kept until it is found in the list of those. */
void abtioi_channel_settle(struct channel *channel, abtio_op *op, ssize_t result);

/* Its ring is about to go, or was given up: what is registered there is so no more. */
void abtioi_channel_leave_ring(struct channel *channel, bool lost);

/* A ring of the kind that channels with a poller have, or others. 0, or -errno. */
int abtioi_channel_ring_create(struct ring *ring, bool polled);

/* Whether there is a poller from now on. */
bool abtioi_channel_poller_begin(void);

/* -- channel_change.c -- */

/* By its stream: whether it is to be polled. */
bool abtioi_channel_wants_poller(struct channel *channel);

/* Asks for the end of all operations that it has not asked for yet; and of those once more. */
void abtioi_channel_cancel_each(struct channel *channel);
void abtioi_channel_cancel_again(struct channel *channel);

/* At an event check: whether it is to be decided again whether it is polled. */
bool abtioi_channel_is_due(const struct channel *channel);

/* Gives it a ring with a poller, if it wants one by now. */
void abtioi_channel_reconsider(struct channel *channel);

/* The first operation with a handle is about to be begun. */
void abtioi_channel_note_handles(struct channel *channel);

#endif
