/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may touch a lane: its stream's native thread; and, if the lane is polled, the poller (poller.h), so that
 * each of them does so under the lane's lock only. That is the first of all locks but that of the list of lanes, since
 * a result is delivered under it, which takes those of multishots, pools and helpers. The stream does not hold it while
 * it sleeps in its ring: then the lane is `asleep`, and the poller keeps out, as it does once the lane is `ending`.
 *
 * The poller takes the stream for busy when it has not looked at its lane between two looks of the poller. What
 * it does then would be right at any other time, too.
 *
 * A completion that says that the stream is woken may be found by the poller, when the stream has announced its
 * sleep and not begun it yet; `woken` keeps it from sleeping then. A look of its own, which comes before the
 * announcement, clears that.
 *
 * A ULT that waits for an operation suspends itself after its start, and only then may it be resumed. When the stream
 * finds the result he has left, since something else runs there. The poller looks: only the last one who has called may
 * still be on his way, whose operation is `fresh`, since the stream has gone on from the others to him. It is not fresh
 * any more when the stream has looked at its lane.
 */
#ifndef ABTIO_LANE_OWN_H
#define ABTIO_LANE_OWN_H

#include <pthread.h>
#include "direct.h"
#include "lane.h"
#include "lane_list.h"
#include "ring/ring.h"

struct lane {
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
    bool polled;                /* from when on it stays so; set while it is not in the list of lanes */
    bool has_handles;           /* operations have been begun in it that others may cancel */
    bool asleep, woken;         /* see above */
    abtio_op *fresh;            /* see above */
    bool helped;                /* the poller is in it */
    unsigned looks, looks_seen; /* by the stream; what the poller has seen of them */
    int streams;                /* that there were when it was decided whether it is polled; 0: decide again */
    int64_t next_try;           /* not before, if `streams` is 0 */
    pthread_mutex_t lock;
    _Atomic(abtio_op *) to_cancel; /* a list that any thread puts to, and the lane takes whole */
    atomic_uint cancelling;        /* threads that are about to wake the stream */
    struct lane_place place;
};

/* Whether the kernel lets us enter its ring no more. */
static inline bool lane_is_refused(const struct lane *lane)
{
    /* relaxed: what the poller writes is seen by the stream when it has held the lock */
    return atomic_load_explicit(&lane->refused, memory_order_relaxed);
}

/* Whether it has no ring any more. */
static inline bool lane_is_forgotten(const struct lane *lane)
{
    return lane->ring.fd < 0;
}

/* -- lane.c -- */

/* Whether the caller may touch it. */
bool abtioi_lane_is_mine(struct lane *lane);

/* Hands over what is gathered, and waits for that many completions, no longer than so; -1: for any time. */
void abtioi_lane_enter(struct lane *lane, unsigned completions, int64_t nanoseconds);

/* Tells the results that there are. */
void abtioi_lane_reap(struct lane *lane);

/* Its call, or a poll of its descriptor if it is polling. */
void abtioi_lane_submit(struct lane *lane, abtio_op *op);

/* A cancel of the operation. */
void abtioi_lane_submit_cancel(struct lane *lane, const abtio_op *op);

/* The result is known. One whose end has been asked for is kept until it is found in the list of those. */
void abtioi_lane_settle(struct lane *lane, abtio_op *op, ssize_t result);

/* Its ring is about to go, or was given up: what is registered there is so no more. */
void abtioi_lane_leave_ring(struct lane *lane, bool lost);

/* A ring of the kind that lanes with a poller have, or others. 0, or -errno. */
int abtioi_lane_ring_create(struct ring *ring, bool polled);

/* Whether there is a poller from now on. */
bool abtioi_lane_poller_begin(void);

/* -- lane_change.c -- */

/* By its stream: whether it is to be polled. */
bool abtioi_lane_wants_poller(struct lane *lane);

/* Asks for the end of all operations that it has not asked for yet; and of those once more. */
void abtioi_lane_cancel_each(struct lane *lane);
void abtioi_lane_cancel_again(struct lane *lane);

/* At a look at events: whether it is to be decided again whether it is polled. */
bool abtioi_lane_is_due(const struct lane *lane);

/* Gives it a ring with a poller, if it wants one by now. */
void abtioi_lane_reconsider(struct lane *lane);

/* The first operation with a handle is about to be begun. */
void abtioi_lane_note_handles(struct lane *lane);

#endif
