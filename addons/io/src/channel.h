/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel: the ring of one execution stream, and the operations that its ULTs have started. A stream gets it with its
 * first operation; it lasts until the stream ends, or libabtio. All but what is said to be for any thread is done by
 * the stream's native thread, or for it by the poller (poller.h), where other streams share the stream's pools.
 */
#ifndef ABTIO_CHANNEL_H
#define ABTIO_CHANNEL_H

#include "op.h"

struct channel;
struct buffer_set;

/* Of all channels together. */
struct channel_counts {
    unsigned channels;
    int single_issuer; /* what the kernel has accepted */
    uint64_t enters, in_flight;
};

/* Makes rings of `entries` entries from now on, if the kernel lets us: 0, or -errno and the reason in words. */
int abtioi_channels_begin(unsigned entries, char *reason, size_t size);

/* Cancels all operations of all channels, and ends these. */
void abtioi_channels_end(void);

/* Any thread. */
struct channel_counts abtioi_channels_count(void);

/* Around fork(); the child has no channels. */
void abtioi_channels_before_fork(void);
void abtioi_channels_after_fork(void);
void abtioi_channels_forget(void);

/* The channel for an operation that the caller, a ULT, starts. NULL: the helpers do it. */
struct channel *abtioi_channel_for(enum code code);

/* Taken by its stream around what is said to need the lock. It does nothing with NULL, or where nobody attends it. */
void abtioi_channel_lock(struct channel *channel);
void abtioi_channel_unlock(struct channel *channel);

/* Starts an operation with a handle on its channel, which is the caller's. */
void abtioi_channel_start(abtio_op *op);

/* Starts any operation, with the lock held. */
void abtioi_channel_start_locked(abtio_op *op);

/*
 * Starts an operation on the channel of the caller, a ULT that then suspends itself until op->finished is set, which it
 * may be already. He does not wait in here: the frames that stay on the stack of a ULT are in no cache when it goes on.
 */
void abtioi_channel_start_call(struct channel *channel, abtio_op *op);

/* Lets its ring have a set of buffers, and takes that away, with its lock held. False: the kernel does not. */
bool abtioi_channel_add_set(struct channel *channel, struct buffer_set *set);
void abtioi_channel_drop_set(struct channel *channel, struct buffer_set *set);

/* Asks for abtioi_set_serve, if the channel cannot end meanwhile. Any thread. */
void abtioi_channel_ask(struct channel *channel, abtio_op *request);

/* Whether it takes operations. The lock is held. */
bool abtioi_channel_is_open(const struct channel *channel);

/* Polls whether something is done, or asked for, on the channel of the caller's stream, if that has one. */
void abtioi_channel_poll(void);

/* Asks for the end of an operation that is under way on its channel. Returns its phase before. Any thread. */
int abtioi_channel_ask_end(abtio_op *op);

/*
 * The phases of an operation. A caller that asks for its end moves it from UNDER_WAY to ASKED, and only one can; then
 * it puts it into the channel's list of those. The channel tells no result of an operation that is ASKED before it has
 * found it in that list, since it may not be freed while it is there.
 */
enum {
    CHANNEL_UNDER_WAY,
    CHANNEL_ASKED,
    CHANNEL_TAKEN,    /* it was ASKED, and the channel has found it */
    CHANNEL_OVER,     /* the result has been delivered, or is about to be */
    CHANNEL_HELPERS,  /* it is the helpers', from the start or since its channel has ended */
    CHANNEL_MULTISHOT /* it waits for a multishot, see multishot/multishot.h */
};

#endif
