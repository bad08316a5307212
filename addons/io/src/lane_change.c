/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another ring for a lane: whether it is to have one with a poller, and how what is under way is
 * taken back from the kernel and begun anew there.
 */
#include "lane_own.h"

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
bool abtioi_lane_wants_poller(struct lane *lane)
{
    return ABT_xstream_get_num(&lane->streams) == ABT_SUCCESS && lane->streams > 1 &&
           (lane->has_handles || has_shared_pool(lane->xstream));
}

/*
 * Asks for the end of all operations that it has not asked for yet, one by one: the kernel's cancel of all looks at all
 * that it has cancelled before for each that it cancels, which took 8 seconds with 20,000 of them.
 */
void abtioi_lane_cancel_each(struct lane *lane)
{
    abtioi_assert(lane->ending || lane->changing);
    for (abtio_op *op = lane->all, *next; op; op = next) {
        unsigned before = lane->num_reaps;
        next = op->later;
        abtioi_assert(op->lane == lane && *op->link == op);
        if (op->drained || op->over || op->kept)
            continue;
        op->drained = true;
        abtioi_lane_submit_cancel(lane, op);
        next = lane->num_reaps != before ? lane->all : next;
    }
}

/* A cancel fails while the kernel is just trying an operation again. So they are asked once more. */
void abtioi_lane_cancel_again(struct lane *lane)
{
    for (abtio_op *op = lane->all; op; op = op->later)
        op->drained = false;
    abtioi_lane_cancel_each(lane);
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

static bool may_all_begin_anew(const struct lane *lane)
{
    const abtio_op *op = lane->all;

    while (op && (op->over || may_begin_anew(op)))
        op = op->later;
    return !op;
}

static bool has_under_way(const struct lane *lane)
{
    const abtio_op *op = lane->all;

    while (op && (op->over || op->kept))
        op = op->later;
    return op;
}

/* Takes all operations back from the kernel. False: it has not given back all of them within some milliseconds. */
static bool take_back(struct lane *lane)
{
    enum { ROUNDS = 10, ROUND_NS = 1000000 };

    lane->changing = true;
    for (int i = 0; i < ROUNDS && has_under_way(lane) && !lane_is_refused(lane); i++) {
        if (i == ROUNDS / 2)
            abtioi_lane_cancel_again(lane);
        abtioi_lane_cancel_each(lane);
        abtioi_lane_enter(lane, 1, ROUND_NS);
        abtioi_lane_reap(lane);
    }
    lane->changing = false;
    return !has_under_way(lane);
}

/* A multishot begins its operation itself, since that may need buffers of the ring. */
static void begin_anew(struct lane *lane, abtio_op *op)
{
    ssize_t result = -ECANCELED;

    op->kept = false;
    if (op->report != REPORT_TO_MULTISHOT && op_next(op, &result) != NEXT_DELIVER)
        abtioi_lane_submit(lane, op);
    else
        abtioi_lane_settle(lane, op, result);
}

static void begin_all_anew(struct lane *lane)
{
    for (abtio_op *op = lane->all, *next; op; op = next) {
        unsigned before = lane->num_reaps;
        next = op->later;
        op->drained = false;
        if (!op->kept || op->over || lane_is_refused(lane))
            continue;
        begin_anew(lane, op);
        next = lane->num_reaps != before ? lane->all : next;
    }
}

/* Another ring takes the place of its ring, in which there is nothing. */
static void put_ring(struct lane *lane, const struct ring *ring)
{
    abtioi_lane_list_remove(&lane->place);
    abtioi_lane_leave_ring(lane, false);
    abtioi_ring_destroy(&lane->ring);
    memcpy(&lane->ring, ring, sizeof(*ring)); /* nobody has a pointer into it yet */
    lane->wake_fd = -1;
    lane->polled = true;
    abtioi_lane_list_add(&lane->place);
}

/* The lane gets a ring with a poller, and the operations go there. It stays as it is if that cannot be had. */
static __attribute__((noinline)) void change_ring(struct lane *lane)
{
    struct ring *ring = malloc(sizeof(*ring));

    abtioi_assert(abtioi_lane_is_mine(lane) && !lane->polled && !lane->ending);
    if (ring && abtioi_lane_poller_begin() && abtioi_lane_ring_create(ring, true) == 0) {
        if (take_back(lane))
            put_ring(lane, ring);
        else
            abtioi_ring_destroy(ring);
        abtioi_lane_lock(lane);
        begin_all_anew(lane);
        abtioi_lane_unlock(lane);
    }
    free(ring);
}

/*
 * Streams may have come since the lane has begun. The setup of a ring is for its life, so that it is changed for
 * another one, and what is under way goes there; but not while there is something that cannot be taken back, nor soon
 * after the kernel has not given all back.
 */
void abtioi_lane_reconsider(struct lane *lane)
{
    enum { PAUSE_NS = 50000000 };
    int streams = lane->streams;

    ABT_xstream_get_num(&streams);
    if (streams == lane->streams || lane_is_refused(lane) || !abtioi_lane_wants_poller(lane))
        return;
    if (may_all_begin_anew(lane))
        change_ring(lane);
    /* relaxed: if the lane is polled it does not matter, and else the stream writes it */
    if (lane->polled || atomic_load_explicit(&lane->in_flight, memory_order_relaxed) == 0)
        return;
    lane->streams = 0;
    lane->next_try = abtio_after(PAUSE_NS);
}

/* The first operation with a handle is about to be begun. */
void abtioi_lane_note_handles(struct lane *lane)
{
    abtioi_assert(!lane->has_handles);
    lane->has_handles = true;
    if (lane->polled)
        return;
    lane->streams = 0;
    abtioi_lane_reconsider(lane);
}

/* It costs less than the exact time, and is late by a tick of the kernel's clock. */
static int64_t coarse_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * Each look asks for the number of streams, since the unit that runs next may compute for long, and only the stream
 * changes its ring. The number grows before ABT_xstream_create returns: so the creator's stream finds it at its next
 * look, and another stream at a look that comes after it has learnt of the new one.
 */
bool abtioi_lane_is_due(const struct lane *lane)
{
    int streams = lane->streams;

    if (lane->polled || lane->ending || lane_is_forgotten(lane))
        return false;
    if (streams == 0)
        return coarse_time() >= lane->next_try;
    ABT_xstream_get_num(&streams);
    return streams != lane->streams;
}
