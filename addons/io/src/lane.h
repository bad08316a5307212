/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lane: the ring of one execution stream, and the operations that its ULTs have started. A stream gets it with its
 * first operation; it lasts until the stream ends, or libabtio. All but what is said to be for any thread is done by
 * the stream's native thread, or for it by the poller (poller.h), where other streams share the stream's pools.
 */
#ifndef ABTIO_LANE_H
#define ABTIO_LANE_H

#include "op.h"

struct lane;
struct buffer_set;

/* Of all lanes together. */
struct lane_counts {
    unsigned lanes;
    int single_issuer; /* what the kernel has accepted */
    uint64_t enters, in_flight;
};

/* Makes rings of `entries` entries from now on, if the kernel lets us: 0, or -errno and the reason in words. */
int abtioi_lanes_begin(unsigned entries, char *reason, size_t size);

/* Cancels all operations of all lanes, and ends these. */
void abtioi_lanes_end(void);

/* Any thread. */
struct lane_counts abtioi_lanes_count(void);

/* Around fork(); the child has no lanes. */
void abtioi_lanes_before_fork(void);
void abtioi_lanes_after_fork(void);
void abtioi_lanes_forget(void);

/* The lane for an operation that the caller, a ULT, starts. NULL: the helpers do it. */
struct lane *abtioi_lane_for(enum code code);

/* Taken by its stream around what is said to need the lock. It does nothing with NULL, or where nobody attends it. */
void abtioi_lane_lock(struct lane *lane);
void abtioi_lane_unlock(struct lane *lane);

/* Starts an operation with a handle on its lane, which is the caller's. */
void abtioi_lane_start(abtio_op *op);

/* Starts any operation, with the lock held. */
void abtioi_lane_start_locked(abtio_op *op);

/*
 * Starts an operation on the lane of the caller, a ULT that then suspends itself until op->finished is set, which it
 * may be already. He does not wait in here: the frames that stay on the stack of a ULT are in no cache when it goes on.
 */
void abtioi_lane_start_call(struct lane *lane, abtio_op *op);

/* Lets its ring have a set of buffers, and takes that away, with its lock held. False: the kernel does not. */
bool abtioi_lane_add_set(struct lane *lane, struct buffer_set *set);
void abtioi_lane_drop_set(struct lane *lane, struct buffer_set *set);

/* Asks for abtioi_set_serve, if the lane cannot end meanwhile. Any thread. */
void abtioi_lane_ask(struct lane *lane, abtio_op *request);

/* Whether it takes operations. The lock is held. */
bool abtioi_lane_is_open(const struct lane *lane);

/* Looks whether something is done, or asked for, on the lane of the caller's stream, if that has one. */
void abtioi_lane_look(void);

/* Asks for the end of an operation that is under way on its lane. Returns its phase before. Any thread. */
int abtioi_lane_ask_end(abtio_op *op);

/*
 * The phases of an operation. A caller that asks for its end moves it from UNDER_WAY to ASKED, and only one can; then
 * it puts it into the lane's list of those. The lane tells no result of an operation that is ASKED before it has found
 * it in that list, since it may not be freed while it is there.
 */
enum {
    LANE_UNDER_WAY,
    LANE_ASKED,
    LANE_TAKEN,    /* it was ASKED, and the lane has found it */
    LANE_OVER,     /* the result has been delivered, or is about to be */
    LANE_HELPERS,  /* it is the helpers', from the start or since its lane has ended */
    LANE_MULTISHOT /* it waits for a multishot, see multishot/multishot.h */
};

#endif
