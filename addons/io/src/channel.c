/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: what their streams do with them, what the poller does, and what others get of them. */
#include "channel_own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "poller.h"
#include "caller.h"
#include "direct.h"
#include "fifo.h"
#include "ring/group.h"
#include "helpers.h"
#include "channel_list.h"
#include "native.h"
#include "ring/ring.h"
#include "multishot/multishot.h"
#include "ring/submit.h"

/* What a completion is of, beside operations, whose address it has. */
enum { OF_NOTHING = 1, OF_WAKE = 2 };

enum { ASK_AGAIN_NS = 10000000 };

static struct {
    ABTX_driver driver;
    unsigned entries; /* of each ring; 0: there are none */
    int single_issuer;
    atomic_bool ending; /* all channels end: operations are cancelled, and not handed to the helpers */
} channels;

/* Of the native thread of a stream: set while it has a channel. Not to be kept over anything that may switch. */
static __thread struct channel *self __attribute__((tls_model("initial-exec")));

/* A counter that only the thread writes that may touch the channel. */
static void channel_count(_Atomic(uint64_t) *counter, int change)
{
    /* relaxed: others want a number of some moment */
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + (uint64_t)change, memory_order_relaxed);
}

/* ---- The lock -------------------------------------------------------------------------------------------------- */

void abtioi_channel_lock(struct channel *channel)
{
    if (channel && channel->polled)
        pthread_mutex_lock(&channel->lock);
}

void abtioi_channel_unlock(struct channel *channel)
{
    if (!channel || !channel->polled)
        return;
    /* relaxed: it changes under the lock */
    if (!channel->asleep && atomic_load_explicit(&channel->in_flight, memory_order_relaxed) > 0)
        poller_need();
    pthread_mutex_unlock(&channel->lock);
}

/* Whether the caller may touch it. */
bool abtioi_channel_is_mine(struct channel *channel)
{
    return channel == self ? !channel->polled || channel->asleep || channel->ending || abtioi_is_held(&channel->lock)
                           : channel->helped;
}

/* ---- Submissions ----------------------------------------------------------------------------------------------- */

void abtioi_channel_enter(struct channel *channel, unsigned completions, int64_t nanoseconds)
{
    abtioi_assert(channel_is_refused(channel) || (abtioi_channel_is_mine(channel) && !channel_is_forgotten(channel)));
    if (channel_is_refused(channel))
        return;
    int code = channel->helped ? abtioi_ring_enter_for(&channel->ring)
                               : abtioi_ring_enter(&channel->ring, completions, nanoseconds);
    if (code < 0)
        atomic_store_explicit(&channel->refused, true, memory_order_relaxed); /* relaxed: see channel_is_refused */
}

static __attribute__((noinline)) bool make_room_slow(struct channel *channel, unsigned num)
{
    while (!channel_is_refused(channel) && ring_room(&channel->ring) < num) {
        abtioi_channel_enter(channel, 0, -1);
        if (ring_room(&channel->ring) < num)
            abtioi_channel_reap(channel);
    }
    return !channel_is_refused(channel);
}

/* Room for `num` submissions that belong together. False: the kernel takes none any more. */
static inline bool make_room(struct channel *channel, unsigned num)
{
    return (!channel_is_refused(channel) && ring_room(&channel->ring) >= num) || make_room_slow(channel, num);
}

/* Its call, or a poll of its descriptor if it is polling. */
void abtioi_channel_submit(struct channel *channel, abtio_op *op)
{
    bool linked = op->deadline != ABTIO_FOREVER && op->code != CODE_sleep;

    abtioi_assert(op->channel == channel && !op->over && (!op->polling || op_ready(op) != 0));
    op->kept = !make_room(channel, 2);
    if (op->kept)
        return;
    struct io_uring_sqe *sqe = ring_next(&channel->ring);
    if (op->polling)
        abtioi_submit_poll(sqe, op->args.fd, op_ready(op));
    else
        abtioi_submit_call(sqe, op);
    sqe->user_data = (uintptr_t)op;
    if (linked) {
        struct io_uring_sqe *timeout = ring_next(&channel->ring);
        sqe->flags |= IOSQE_IO_LINK;
        abtioi_submit_deadline(timeout, op);
        timeout->user_data = OF_NOTHING;
    }
    if (fixed_version() != 0)
        abtioi_fixed_use(&channel->ring.fixed, sqe);
    if (ring_unsubmitted(&channel->ring) >= channel->ring.sq_entries / 2 || submit_is_large(sqe))
        abtioi_channel_enter(channel, 0, -1);
}

void abtioi_channel_submit_cancel(struct channel *channel, const abtio_op *op)
{
    if (!make_room(channel, 1))
        return;
    struct io_uring_sqe *sqe = ring_next(&channel->ring);
    abtioi_submit_cancel(sqe, op);
    sqe->user_data = OF_NOTHING;
}

/* ---- Completions ----------------------------------------------------------------------------------------------- */

/* Whether the phase is this one from now on, instead of CHANNEL_UNDER_WAY. No: somebody has asked for its end. */
static bool leave_way(abtio_op *op, int phase)
{
    int under_way = CHANNEL_UNDER_WAY;
    /* acq_rel: pairs with the exchange in abtioi_channel_ask_end, which then touches nothing but the phase */
    return !op->shared || atomic_compare_exchange_strong_explicit(&op->phase, &under_way, phase, memory_order_acq_rel,
                                                                  memory_order_acquire);
}

static void channel_come(struct channel *channel, abtio_op *op)
{
    abtioi_assert(abtioi_channel_is_mine(channel) && op->channel == channel && !channel->ending &&
                  (!channel->all || channel->all->link == &channel->all));
    channel_count(&channel->in_flight, 1);
    op->later = channel->all;
    op->link = &channel->all;
    if (channel->all)
        channel->all->link = &op->later;
    channel->all = op;
}

static void channel_leave(struct channel *channel, abtio_op *op)
{
    abtioi_assert(*op->link == op && (!op->later || op->later->link == &op->later));
    channel_count(&channel->in_flight, -1);
    *op->link = op->later;
    if (op->later)
        op->later->link = op->link;
}

static void channel_deliver(struct channel *channel, abtio_op *op, ssize_t result)
{
    channel_leave(channel, op);
    abtioi_op_deliver(op, result);
}

/* The result is known. One whose end has been asked for is kept until it is found in the list of those. */
void abtioi_channel_settle(struct channel *channel, abtio_op *op, ssize_t result)
{
    abtioi_assert(op->channel == channel && !op->over);
    op->result = result;
    /* relaxed: TAKEN is written by the owner of the channel */
    if (leave_way(op, CHANNEL_OVER) || atomic_load_explicit(&op->phase, memory_order_relaxed) == CHANNEL_TAKEN)
        channel_deliver(channel, op, result);
    else
        op->over = true;
}

/* Hands an operation to the helpers, if nobody has asked for its end. A multishot does that by itself. */
static void hand_over(struct channel *channel, abtio_op *op)
{
    abtioi_assert(op->channel == channel && !op->over);
    op->polling = false;
    if (op->report == REPORT_TO_MULTISHOT || !leave_way(op, CHANNEL_HELPERS)) {
        abtioi_fifo_drop(op);
        abtioi_channel_settle(channel, op, -ECANCELED);
        return;
    }
    channel_leave(channel, op);
    /* release: pairs with the acquire in abtioi_channel_ask_end; one without a handle has had no exchange */
    atomic_store_explicit(&op->phase, CHANNEL_HELPERS, memory_order_release);
    if (abtioi_helpers_start(op) < 0)
        abtioi_op_deliver(op, -EAGAIN);
}

/* The ring does not make the system call. */
static void go_elsewhere(struct channel *channel, abtio_op *op)
{
    if (!atomic_load_explicit(&channels.ending, memory_order_relaxed)) /* relaxed: set before all channels end */
        hand_over(channel, op);
    else
        abtioi_channel_settle(channel, op, -ECANCELED);
}

/* The system call is made again, in the ring or, when that ends, elsewhere; in the next ring if it is changed. */
static void channel_again(struct channel *channel, abtio_op *op)
{
    op->kept = channel->changing;
    if (channel->changing)
        return;
    if (!channel->ending)
        abtioi_channel_submit(channel, op);
    else
        go_elsewhere(channel, op);
}

static void channel_complete(struct channel *channel, abtio_op *op, int answer, unsigned flags)
{
    ssize_t result = submit_result(op, answer);

    abtioi_assert(op->channel == channel && !op->over && *op->link == op);
    if (flags & (IORING_CQE_F_MORE | IORING_CQE_F_BUFFER)) {
        abtioi_assert(op->report == REPORT_TO_MULTISHOT);
        abtioi_multishot_bring(op, answer, abtioi_submit_place(flags));
        if (flags & IORING_CQE_F_MORE)
            return;
        if (answer > 0)
            result = -EINTR; /* which is delivered, and the next one asked for */
    }
    if (op->polling && result >= 0) {
        /* relaxed: a thread that sets it later asks for the end of the call, too */
        if (atomic_load_explicit(&op->ended, memory_order_relaxed) == 0) {
            op->polling = false;
            channel_again(channel, op);
            return;
        }
        result = -ECANCELED;
    }
    op->polling = false;
    if (submit_goes_elsewhere(op, result)) {
        hand_over(channel, op);
        return;
    }
    enum next next = op_next(op, &result);
    op->polling = next == NEXT_POLL;
    if (next == NEXT_DELIVER)
        abtioi_channel_settle(channel, op, result);
    else
        channel_again(channel, op);
}

static void note_wake(struct channel *channel, bool goes_on)
{
    channel->woken = true;
    if (!goes_on)
        channel->wake_fd = -1; /* it is watched no more */
}

/* Tells the results that there are. */
void abtioi_channel_reap(struct channel *channel)
{
    struct io_uring_cqe *cqe;

    abtioi_assert(abtioi_channel_is_mine(channel) || channel_is_forgotten(channel));
    channel->num_reaps++;
    channel->fresh = NULL;
    while ((cqe = ring_first(&channel->ring))) {
        uint64_t of = cqe->user_data;
        int answer = cqe->res;
        unsigned flags = cqe->flags;
        ring_pop(&channel->ring);
        if (of > OF_WAKE)
            channel_complete(channel, (abtio_op *)(uintptr_t)of, answer, flags);
        else if (of == OF_WAKE)
            note_wake(channel, flags & IORING_CQE_F_MORE);
        else if ((answer == -ENOENT || answer == -EALREADY) && channel->ask_again == 0)
            channel->ask_again = abtio_after(ASK_AGAIN_NS);
    }
}

/* ---- Cancels --------------------------------------------------------------------------------------------------- */

/*
 * Somebody's end of an operation, or a request. The list's push releases and its taking acquires, so that the channel
 * sees `ended`. The channel ends only when `cancelling` is zero, which is the last that a canceller touches. A request
 * comes under the lock of a pool of buffers that the channel has a set of, which it takes before it ends.
 */
void abtioi_channel_ask(struct channel *channel, abtio_op *op)
{
    atomic_fetch_add(&channel->cancelling,
                     1); /* seq_cst: of no use beyond the push, before which it comes: after that the channel may end */
    op->next = atomic_load_explicit(&channel->to_cancel, memory_order_relaxed); /* relaxed: the exchange checks it */
    /*
     * seq_cst: pairs with the acquire in take_cancels; and the poller finds it in channel_attend, or it is found asleep
     * below. relaxed: when it has failed it is done again
     */
    while (!atomic_compare_exchange_weak_explicit(&channel->to_cancel, &op->next, op, memory_order_seq_cst,
                                                  memory_order_relaxed))
        ;
    if (channel != self)
        ABTX_xstream_wake(channel->xstream);
    poller_need();
    /* release: pairs with the acquire in channel_drain; the channel and its stream are not touched any more */
    atomic_fetch_sub_explicit(&channel->cancelling, 1, memory_order_release);
}

/*
 * `ended` is set first, so that a thread that finds the phase changed sees it. When the phase is another than UNDER_WAY
 * the operation has ended, or somebody else has asked for its end, or it is the helpers', or waits for a multishot.
 */
int abtioi_channel_ask_end(abtio_op *op)
{
    int phase = CHANNEL_UNDER_WAY, none = 0;

    abtioi_assert(op->shared || op->code == CODE_waiter);
    /* relaxed: the exchange of the phase hands it over */
    atomic_compare_exchange_strong_explicit(&op->ended, &none, -ECANCELED, memory_order_relaxed, memory_order_relaxed);
    /* acq_rel: pairs with leave_way */
    if (atomic_compare_exchange_strong_explicit(&op->phase, &phase, CHANNEL_ASKED, memory_order_acq_rel,
                                                memory_order_acquire))
        abtioi_channel_ask(op->channel, op);
    return phase;
}

/* Whether it would be over, had the kernel found it when its end was asked for. */
static bool has_missed_its_end(const abtio_op *op)
{
    if (op->over)
        return false;
    /* relaxed: TAKEN is written by the owner of the channel */
    if (op->shared && atomic_load_explicit(&op->phase, memory_order_relaxed) == CHANNEL_TAKEN)
        return true;
    return op->code != CODE_sleep && abtioi_op_is_late(op);
}

/*
 * The kernel does not find an operation that it is just trying again. Then neither its deadline nor a cancel ends it,
 * and it may block a thread of the kernel for ever after.
 */
static void ask_again(struct channel *channel)
{
    abtioi_assert(channel->ask_again != 0);
    channel->ask_again = 0;
    for (abtio_op *op = channel->all; op && !channel_is_refused(channel); op = op->later) {
        if (ring_room(&channel->ring) == 0)
            channel->ask_again = abtio_after(ASK_AGAIN_NS);
        else if (has_missed_its_end(op))
            abtioi_channel_submit_cancel(channel, op);
    }
}

static void take_cancels(struct channel *channel)
{
    if (channel->ask_again != 0 && abtio_after(0) >= channel->ask_again)
        ask_again(channel);
    if (!atomic_load_explicit(&channel->to_cancel, memory_order_relaxed)) /* relaxed: a hint */
        return;
    /* acquire: pairs with the release in abtioi_channel_ask */
    abtio_op *op = atomic_exchange_explicit(&channel->to_cancel, NULL, memory_order_acquire);
    while (op) {
        abtio_op *next = op->next;
        if (op->code == CODE_serve) {
            abtioi_set_serve(op, abtioi_channel_is_open(channel) ? channel : NULL);
            op = next;
            continue;
        }
        /* relaxed: as below, and the list orders what came before */
        abtioi_assert(op->shared && op->channel == channel &&
                      atomic_load_explicit(&op->phase, memory_order_relaxed) == CHANNEL_ASKED);
        atomic_store_explicit(&op->phase, CHANNEL_TAKEN,
                              memory_order_relaxed); /* relaxed: for the holder of the channel */
        if (op->over)
            channel_deliver(channel, op, op->result);
        else
            abtioi_channel_submit_cancel(channel, op);
        op = next;
    }
}

/* ---- A ring that goes ------------------------------------------------------------------------------------------ */

void abtioi_channel_leave_ring(struct channel *channel, bool lost)
{
    abtioi_sets_leave(&channel->ring.sets, lost);
    abtioi_fixed_leave(&channel->ring.fixed);
}

/* ---- A ring that may not be entered any more ------------------------------------------------------------------- */

/*
 * What the kernel has not been informed of goes on elsewhere. What it has taken ends with its ring, and how far that
 * was done is not known. Not inside of a call that still looks at op->finished: helpers would tell it in another
 * thread.
 */
static void give_ring_up(struct channel *channel)
{
    abtioi_assert(channel_is_refused(channel) && !channel_is_forgotten(channel));
    abtioi_channel_reap(channel);
    for (unsigned at = channel->ring.submitted; at != channel->ring.tail; at++) {
        uint64_t of = channel->ring.sqes[at & channel->ring.sq_mask].user_data;
        if (of > OF_WAKE)
            ((abtio_op *)(uintptr_t)of)->kept = true;
    }
    abtioi_channel_leave_ring(channel, true);
    abtioi_ring_abandon(&channel->ring);
    for (abtio_op *op = channel->all, *next; op; op = next) {
        next = op->later;
        if (op->over)
            continue;
        if (op->kept)
            go_elsewhere(channel, op);
        else
            abtioi_channel_settle(channel, op, -EIO);
    }
}

/* ---- A channel that others look at --------------------------------------------------------------------------------
 */

/* Hands over what is gathered. The kernel does not make the poller, which holds locks, wait for any of it. */
static void hand_in(struct channel *channel)
{
    for (unsigned at = channel->ring.submitted; at != channel->ring.tail; at++) {
        struct io_uring_sqe *sqe = &channel->ring.sqes[at & channel->ring.sq_mask];
        if (submit_may_block(sqe))
            sqe->flags |= IOSQE_ASYNC;
    }
    if (ring_unsubmitted(&channel->ring) || ring_wants_enter(&channel->ring))
        abtioi_channel_enter(channel, 0, -1);
}

/* Does what the stream would do at a poll, which it has not made for some time. */
static void channel_help(struct channel *channel)
{
    channel->helped = true;
    take_cancels(channel);
    hand_in(channel);
    abtioi_channel_reap(channel);
    hand_in(channel);
    channel->helped = false;
}

/* Whether no waiter for a result is still on its way. */
static bool all_have_left(const struct channel *channel)
{
    ABT_thread_state state = ABT_THREAD_STATE_RUNNING;

    if (!channel->fresh)
        return true;
    abtioi_assert(channel->fresh->report == REPORT_BY_RESUME && !channel->fresh->finished);
    return ABT_thread_get_state(channel->fresh->waiter, &state) == ABT_SUCCESS && state == ABT_THREAD_STATE_BLOCKED;
}

/* By the poller: whether it is to come again soon. */
static bool channel_attend(struct channel *channel)
{
    if (!channel->polled)
        return false;
    if (pthread_mutex_trylock(&channel->lock) != 0)
        return true; /* its stream is in it */
    bool may = !channel->asleep && !channel->ending;
    /* seq_cst: see abtioi_channel_ask. relaxed: it changes under the lock */
    bool needed = may && (atomic_load_explicit(&channel->in_flight, memory_order_relaxed) > 0 ||
                          atomic_load(&channel->to_cancel));
    if (needed && channel->polls == channel->polls_seen && !channel_is_refused(channel) && all_have_left(channel))
        channel_help(channel);
    channel->polls_seen = channel->polls;
    pthread_mutex_unlock(&channel->lock);
    return needed;
}

static bool channels_attend(void)
{
    return abtioi_channel_list_ask(channel_attend);
}

bool abtioi_channel_poller_begin(void)
{
    return abtioi_poller_begin(channels_attend);
}

int abtioi_channel_ring_create(struct ring *ring, bool polled)
{
    return abtioi_ring_create(ring, channels.entries, polled);
}

/* ---- What a stream does with its channel --------------------------------------------------------------------------
 */

static ABT_bool channel_poll_own(struct channel *channel)
{
    bool gives_up = channel_is_refused(channel) && !channel_is_forgotten(channel);

    abtioi_assert(abtioi_channel_is_mine(channel) || channel_is_forgotten(channel));
    if (gives_up)
        give_ring_up(channel);
    channel->direct.in_a_row = 0;
    channel->idle_soon = channel->woken = false;
    take_cancels(channel);
    if (ring_unsubmitted(&channel->ring) || ring_wants_enter(&channel->ring))
        abtioi_channel_enter(channel, 0, -1);
    if (fixed_is_old(&channel->ring.fixed) && !channel_is_refused(channel))
        abtioi_fixed_renew(&channel->ring, channel->xstream);
    if (!ring_first(&channel->ring))
        return gives_up ? ABT_TRUE : ABT_FALSE;
    abtioi_channel_reap(channel);
    return ABT_TRUE;
}

/*
 * When the stream is likely to come to channel_wait now, one system call there hands over what there is and waits. If
 * it does not come there, because something is ready after all or it goes on polling, the next poll does not leave it.
 */
static ABT_bool poll_once(struct channel *channel, ABT_bool about_to_sleep)
{
    channel->polls++;
    if (channel->idle_soon && !about_to_sleep && !ring_wants_enter(&channel->ring) && !ring_first(&channel->ring) &&
        !fixed_is_old(&channel->ring.fixed)) {
        channel->idle_soon = false;
        return ABT_FALSE;
    }
    return channel_poll_own(channel);
}

static ABT_bool channel_poll(void *data, ABT_bool about_to_sleep)
{
    struct channel *channel = data;

    if (abtioi_channel_is_due(channel))
        abtioi_channel_reconsider(channel);
    abtioi_channel_lock(channel);
    ABT_bool found = poll_once(channel, about_to_sleep);
    abtioi_channel_unlock(channel);
    return found;
}

/* Watches the descriptor that reports other work. */
static void watch_for_wakes(struct channel *channel, int fd)
{
    if (channel->wake_fd == fd || !make_room(channel, 1))
        return;
    struct io_uring_sqe *sqe = ring_next(&channel->ring);
    abtioi_submit_poll(sqe, fd, POLLIN);
    sqe->len = IORING_POLL_ADD_MULTI;
    sqe->user_data = OF_WAKE;
    channel->wake_fd = fd;
}

/* In nanoseconds; -1: any time. */
static int64_t time_left(int64_t deadline)
{
    if (deadline == INT64_MAX)
        return -1;
    int64_t left = deadline - abtio_after(0);
    return left > 0 ? left : 0;
}

/*
 * The stream has nothing to do: it waits in its ring, which watches the descriptor that reports other work. The next
 * call of channel_poll tells the results. Here the stream still counts as asleep, and a unit that becomes ready would
 * wake it by two more system calls.
 */
static void channel_wait(void *data, int fd, int64_t deadline)
{
    struct channel *channel = data;

    if (channel_is_forgotten(channel)) {
        abtioi_native_wait_fd(fd, time_left(deadline));
        return;
    }
    abtioi_assert(channel == self && fd >= 0);
    abtioi_channel_lock(channel);
    channel->polls++;
    take_cancels(channel);
    watch_for_wakes(channel, fd);
    if (channel->ask_again != 0 && channel->ask_again < deadline)
        deadline = channel->ask_again;
    channel->asleep = !(channel->polled && channel->woken);
    bool sleeps = channel->asleep;
    abtioi_channel_unlock(channel);
    if (!sleeps)
        return;
    abtioi_channel_enter(channel, 1, time_left(deadline));
    abtioi_channel_lock(channel);
    channel->asleep = false;
    abtioi_channel_unlock(channel);
}

static int channel_begin(void *arg, void **data)
{
    struct channel *channel = calloc(1, sizeof(*channel));

    (void)arg;
    abtioi_assert(!self && channels.entries > 0);
    if (!channel)
        return ABT_ERR_MEM;
    channel->wake_fd = -1;
    if (ABT_self_get_xstream(&channel->xstream) != ABT_SUCCESS) {
        free(channel);
        return ABT_ERR_SYS;
    }
    channel->polled = abtioi_channel_wants_poller(channel) && abtioi_channel_poller_begin();
    if (abtioi_channel_ring_create(&channel->ring, channel->polled) < 0) {
        free(channel);
        return ABT_ERR_SYS;
    }
    pthread_mutex_init(&channel->lock, NULL);
    channel->place =
        (struct channel_place){.channel = channel, .in_flight = &channel->in_flight, .enters = &channel->ring.enters};
    abtioi_channel_list_add(&channel->place);
    self = channel;
    *data = channel;
    return ABT_SUCCESS;
}

/* Takes back from the kernel what is under way. It goes on elsewhere, or is cancelled. */
static void channel_drain(struct channel *channel)
{
    enum { MS = 1000000 };

    abtioi_assert(!channel->ending);
    abtioi_channel_lock(channel);
    channel->ending = true;
    abtioi_channel_unlock(channel);
    abtioi_channel_cancel_each(channel);
    /* acquire: pairs with the release in abtioi_channel_ask. relaxed: this thread writes in_flight */
    while (atomic_load_explicit(&channel->in_flight, memory_order_relaxed) ||
           atomic_load_explicit(&channel->cancelling, memory_order_acquire)) {
        take_cancels(channel);
        abtioi_channel_enter(channel, 1, 10 * MS);
        if (!ring_first(&channel->ring) && !channel_is_refused(channel))
            abtioi_channel_cancel_again(channel);
        abtioi_channel_reap(channel);
        if (channel_is_refused(channel) && !channel_is_forgotten(channel))
            give_ring_up(channel);
    }
    abtioi_assert(!channel->all);
    self = NULL;
    abtioi_channel_list_remove(&channel->place);
    if (!channel_is_forgotten(channel)) {
        abtioi_channel_leave_ring(channel, false);
        abtioi_ring_destroy(&channel->ring);
    }
    take_cancels(channel); /* requests, if any: nobody can ask any more */
}

/* The stream ends, or libabtio. */
static void channel_end(void *data)
{
    struct channel *channel = data;

    if (channel_is_refused(channel) ||
        !channel_is_forgotten(channel)) /* otherwise it is one of the parent in a child of fork() */
        channel_drain(channel);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
}

/* ---- For others ------------------------------------------------------------------------------------------------ */

static struct channel *channel_make(void)
{
    ABT_xstream xstream;

    if (ABT_self_get_xstream(&xstream) != ABT_SUCCESS)
        return NULL;
    ABTX_driver_attach(channels.driver, xstream);
    return self;
}

/* Of one in which there is nothing. */
static __attribute__((noinline)) struct channel *channel_self_empty(struct channel *channel)
{
    if (!channel->polled)
        abtioi_channel_reconsider(channel);
    return !channel_is_refused(channel) ? channel : NULL;
}

/* The channel of the calling stream, which is made if there is none. NULL: it cannot be had. Only a ULT asks. */
static struct channel *channel_self(void)
{
    struct channel *channel = self;
    if (__builtin_expect(!channel, 0) && !(channel = channel_make()))
        return NULL;
    /* relaxed: if the channel is polled it need not be of now, and else the stream writes it */
    if (atomic_load_explicit(&channel->in_flight, memory_order_relaxed) == 0)
        return channel_self_empty(channel);
    return !channel_is_refused(channel) ? channel : NULL;
}

struct channel *abtioi_channel_for(enum code code)
{
    abtioi_assert(code < NUM_CODES && abtioi_is_begun());
    return channels.entries > 0 && submit_knows(code) ? channel_self() : NULL;
}

bool abtioi_channel_add_set(struct channel *channel, struct buffer_set *set)
{
    abtioi_assert(abtioi_channel_is_mine(channel) && !channel_is_forgotten(channel));
    return abtioi_group_make(&channel->ring, set);
}

void abtioi_channel_drop_set(struct channel *channel, struct buffer_set *set)
{
    abtioi_assert(abtioi_channel_is_mine(channel) || channel_is_forgotten(channel));
    abtioi_group_end(&channel->ring, set);
}

bool abtioi_channel_is_open(const struct channel *channel)
{
    return !channel->ending && !channel_is_refused(channel);
}

void abtioi_channel_start_locked(abtio_op *op)
{
    abtioi_assert(abtioi_channel_is_mine(op->channel));
    op->channel->idle_soon = false;
    channel_come(op->channel, op);
    abtioi_channel_submit(op->channel, op);
}

/* Whether the caller need not leave. Nothing else is ready on his stream. */
static bool is_done_directly(struct channel *channel, abtio_op *op)
{
    if (!direct_tries(&channel->direct, op))
        return false;
    op->report = REPORT_BY_FLAG;
    abtioi_channel_enter(channel, 0, -1);
    abtioi_channel_reap(channel);
    if (!op->finished)
        direct_fails(&channel->direct, op);
    return op->finished;
}

void abtioi_channel_start(abtio_op *op)
{
    struct channel *channel = op->channel;

    abtioi_assert(op->shared);
    if (__builtin_expect(!channel->has_handles, 0))
        abtioi_channel_note_handles(channel);
    abtioi_channel_lock(channel);
    abtioi_channel_start_locked(op);
    abtioi_channel_unlock(channel);
}

static inline void start_call_locked(struct channel *channel, abtio_op *op, bool alone)
{
    abtioi_channel_start_locked(op);
    if (alone && is_done_directly(channel, op))
        return;
    channel->idle_soon = alone;
    ABT_self_get_thread(&op->waiter);
    op->report = REPORT_BY_RESUME; /* in time: nothing finishes it before the caller has left */
    channel->fresh = op;
}

static __attribute__((noinline)) void start_call_polled(struct channel *channel, abtio_op *op, bool alone)
{
    abtioi_channel_lock(channel);
    start_call_locked(channel, op, alone);
    abtioi_channel_unlock(channel);
}

void abtioi_channel_start_call(struct channel *channel, abtio_op *op)
{
    bool alone = is_alone();

    abtioi_assert(channel == self && !op->shared);
    op->channel = channel;
    if (__builtin_expect(channel->polled, 0))
        start_call_polled(channel, op, alone);
    else
        start_call_locked(channel, op, alone);
}

void abtioi_channel_poll(void)
{
    struct channel *channel = self;

    if (!channel)
        return;
    abtioi_channel_lock(channel);
    channel->polls++;
    channel_poll_own(channel);
    abtioi_channel_unlock(channel);
}

int abtioi_channels_begin(unsigned entries, char *reason, size_t size)
{
    static const ABTX_driver_ops ops = {
        .start = channel_begin, .end = channel_end, .poll = channel_poll, .wait = channel_wait};

    abtioi_assert(entries > 0 && (entries & (entries - 1)) == 0);
    if (channels.driver)
        ABTX_driver_free(&channels.driver); /* left from before a fork() */
    int code = abtioi_ring_try(entries, &channels.single_issuer, reason, size);
    if (code < 0)
        return code;
    atomic_store(&channels.ending, false); /* seq_cst: of no use, but it costs nothing here */
    if (ABTX_driver_create(&ops, NULL, &channels.driver) == ABT_SUCCESS) {
        channels.entries = entries;
        return 0;
    }
    snprintf(reason, size, "no driver can be made");
    return -ENOMEM;
}

void abtioi_channels_end(void)
{
    abtioi_assert(channels.driver);
    atomic_store(&channels.ending, true); /* seq_cst: of no use, but it costs nothing here */
    ABTX_driver_free(&channels.driver);
    channels.entries = 0;
    abtioi_poller_end();
}

struct channel_counts abtioi_channels_count(void)
{
    struct channel_counts counts = abtioi_channel_list_count();
    counts.single_issuer = channels.single_issuer;
    return counts;
}

void abtioi_channels_before_fork(void)
{
    abtioi_channel_list_before_fork();
}

void abtioi_channels_after_fork(void)
{
    abtioi_channel_list_after_fork();
}

static void channel_forget(struct channel *channel)
{
    abtioi_ring_forget(&channel->ring);
    channel->polled = channel->asleep = channel->helped = false;
    pthread_mutex_init(&channel->lock, NULL);
}

void abtioi_channels_forget(void)
{
    abtioi_poller_forget();
    abtioi_channel_list_forget(channel_forget);
    channels.entries = 0;
    self = NULL;
}
