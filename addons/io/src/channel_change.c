/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another ring for a channel: whether it is to have one with a poller, and how what is under way is
 * taken back from the kernel and begun anew there.
 */
#include "channel_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whether others than the stream may have to do with its units. */
static bool has_shared_pool(ABT_xstream xstream)
{
    enum { MOST = 16 };
    ABT_sched sched;
    ABT_pool pools[MOST];
    int num = 0;

    if (ABT_xstream_get_main_sched(xstream, &sched) != ABT_SUCCESS ||
        ABT_sched_get_num_pools(sched, &num) != ABT_SUCCESS)
        return false;
    num = num < MOST ? num : MOST;
    if (ABT_sched_get_pools(sched, num, 0, pools) != ABT_SUCCESS)
        return false;
    for (int i = 0; i < num; i++) {
        ABT_pool_access access = ABT_POOL_ACCESS_PRIV;
        ABT_pool_get_access(pools[i], &access);
        if (access != ABT_POOL_ACCESS_PRIV)
            return true;
    }
    return false;
}

/* By its stream. In a private pool nobody goes on before the stream is free, but a canceller is elsewhere. */
bool abtioi_channel_wants_poller(struct channel *channel)
{
    return ABT_xstream_get_num(&channel->streams) == ABT_SUCCESS && channel->streams > 1 &&
           (channel->has_handles || has_shared_pool(channel->xstream));
}

/*
 * Asks for the end of all operations that it has not asked for yet, one by one: the kernel's cancel of all looks at all
 * that it has cancelled before for each that it cancels, which took 8 seconds with 20,000 of them.
 */
void abtioi_channel_cancel_each(struct channel *channel)
{
    abtioi_assert(channel->ending || channel->changing);
    for (abtio_op *op = channel->all, *next; op; op = next) {
        unsigned before = channel->num_reaps;
        next = op->later;
        abtioi_assert(op->channel == channel && *op->link == op);
        if (op->drained || op->over || op->kept)
            continue;
        op->drained = true;
        abtioi_channel_submit_cancel(channel, op);
        next = channel->num_reaps != before ? channel->all : next;
    }
}

/* A cancel fails while the kernel is just trying an operation again. So they are asked once more. */
void abtioi_channel_cancel_again(struct channel *channel)
{
    for (abtio_op *op = channel->all; op; op = op->later)
        op->drained = false;
    abtioi_channel_cancel_each(channel);
}

/*
 * Whether the operation can be taken back from the kernel and begun anew: either it is done then or it has had no
 * effect. Of the others a connect would fail the second time, and those of files are soon done.
 */
static bool may_begin_anew(const abtio_op *op)
{
    switch (op->code) {
    case CODE_accept:
    case CODE_accept_many:
    case CODE_recv_many:
    case CODE_poll:
    case CODE_sleep:
    case CODE_read:
    case CODE_read_all:
    case CODE_write:
    case CODE_write_all: return true;
    case CODE_recv:
    case CODE_recv_all:
    case CODE_recvmsg:
    case CODE_send:
    case CODE_send_all:
    case CODE_sendmsg: return !(op->args.flags & MSG_WAITALL); /* else it may have been done in part */
    default: return false;
    }
}

static bool may_all_begin_anew(const struct channel *channel)
{
    const abtio_op *op = channel->all;

    while (op && (op->over || may_begin_anew(op)))
        op = op->later;
    return !op;
}

static bool has_under_way(const struct channel *channel)
{
    const abtio_op *op = channel->all;

    while (op && (op->over || op->kept))
        op = op->later;
    return op;
}

/* Takes all operations back from the kernel. False: it has not given back all of them within some milliseconds. */
static bool take_back(struct channel *channel)
{
    enum { ROUNDS = 10, ROUND_NS = 1000000 };

    channel->changing = true;
    for (int i = 0; i < ROUNDS && has_under_way(channel) && !channel_is_refused(channel); i++) {
        if (i == ROUNDS / 2)
            abtioi_channel_cancel_again(channel);
        abtioi_channel_cancel_each(channel);
        abtioi_channel_enter(channel, 1, ROUND_NS);
        abtioi_channel_reap(channel);
    }
    channel->changing = false;
    return !has_under_way(channel);
}

/* A multishot begins its operation itself, since that may need buffers of the ring. */
static void begin_anew(struct channel *channel, abtio_op *op)
{
    ssize_t result = -ECANCELED;

    op->kept = false;
    if (op->report != REPORT_TO_MULTISHOT && op_next(op, &result) != NEXT_DELIVER)
        abtioi_channel_submit(channel, op);
    else
        abtioi_channel_settle(channel, op, result);
}

static void begin_all_anew(struct channel *channel)
{
    for (abtio_op *op = channel->all, *next; op; op = next) {
        unsigned before = channel->num_reaps;
        next = op->later;
        op->drained = false;
        if (!op->kept || op->over || channel_is_refused(channel))
            continue;
        begin_anew(channel, op);
        next = channel->num_reaps != before ? channel->all : next;
    }
}

/* Another ring takes the place of its ring, in which there is nothing. */
static void put_ring(struct channel *channel, const struct ring *ring)
{
    abtioi_channel_list_remove(&channel->place);
    abtioi_channel_leave_ring(channel, false);
    abtioi_ring_destroy(&channel->ring);
    memcpy(&channel->ring, ring, sizeof(*ring)); /* nobody has a pointer into it yet */
    channel->wake_fd = -1;
    channel->polled = true;
    abtioi_channel_list_add(&channel->place);
}

/* The channel gets a ring with a poller, and the operations go there. It stays as it is if that cannot be had. */
static __attribute__((noinline)) void change_ring(struct channel *channel)
{
    struct ring *ring = malloc(sizeof(*ring));

    abtioi_assert(abtioi_channel_is_mine(channel) && !channel->polled && !channel->ending);
    if (ring && abtioi_channel_poller_begin() && abtioi_channel_ring_create(ring, true) == 0) {
        if (take_back(channel))
            put_ring(channel, ring);
        else
            abtioi_ring_destroy(ring);
        abtioi_channel_lock(channel);
        begin_all_anew(channel);
        abtioi_channel_unlock(channel);
    }
    free(ring);
}

/*
 * Streams may have come since the channel has begun. The setup of a ring is for its life, so that it is changed for
 * another one, and what is under way goes there; but not while there is something that cannot be taken back, nor soon
 * after the kernel has not given all back.
 */
void abtioi_channel_reconsider(struct channel *channel)
{
    enum { PAUSE_NS = 50000000 };
    int streams = channel->streams;

    ABT_xstream_get_num(&streams);
    if (streams == channel->streams || channel_is_refused(channel) || !abtioi_channel_wants_poller(channel))
        return;
    if (may_all_begin_anew(channel))
        change_ring(channel);
    /* relaxed: if the channel is polled it does not matter, and else the stream writes it */
    if (channel->polled || atomic_load_explicit(&channel->in_flight, memory_order_relaxed) == 0)
        return;
    channel->streams = 0;
    channel->next_try = abtio_after(PAUSE_NS);
}

/* The first operation with a handle is about to be begun. */
void abtioi_channel_note_handles(struct channel *channel)
{
    abtioi_assert(!channel->has_handles);
    channel->has_handles = true;
    if (channel->polled)
        return;
    channel->streams = 0;
    abtioi_channel_reconsider(channel);
}

/* It costs less than the exact time, and is late by a tick of the kernel's clock. */
static int64_t coarse_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * Each poll asks for the number of streams, since the unit that runs next may compute for long, and only the stream
 * changes its ring. The number grows before ABT_xstream_create returns: so the creator's stream finds it at its next
 * poll, and another stream at a poll that comes after it has learnt of the new one.
 */
bool abtioi_channel_is_due(const struct channel *channel)
{
    int streams = channel->streams;

    if (channel->polled || channel->ending || channel_is_forgotten(channel))
        return false;
    if (streams == 0)
        return coarse_time() >= channel->next_try;
    ABT_xstream_get_num(&streams);
    return streams != channel->streams;
}
