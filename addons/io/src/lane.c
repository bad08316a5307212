/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: what their streams do with them, what the poller does, and what others get of them. */
#include "lane_own.h"

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
#include "lane_list.h"
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
    atomic_bool ending; /* all lanes end: operations are cancelled, and not handed to the helpers */
} lanes;

/* Of the native thread of a stream: set while it has a lane. Not to be kept over anything that may switch. */
static __thread struct lane *self __attribute__((tls_model("initial-exec")));

/* A counter that only the thread writes that may touch the lane. */
static void lane_count(_Atomic(uint64_t) *counter, int change)
{
    /* relaxed: others want a number of some moment */
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + (uint64_t)change, memory_order_relaxed);
}

/* ---- The lock -------------------------------------------------------------------------------------------------- */

void abtioi_lane_lock(struct lane *lane)
{
    if (lane && lane->polled)
        pthread_mutex_lock(&lane->lock);
}

void abtioi_lane_unlock(struct lane *lane)
{
    if (!lane || !lane->polled)
        return;
    /* relaxed: it changes under the lock */
    if (!lane->asleep && atomic_load_explicit(&lane->in_flight, memory_order_relaxed) > 0)
        poller_need();
    pthread_mutex_unlock(&lane->lock);
}

/* Whether the caller may touch it. */
bool abtioi_lane_is_mine(struct lane *lane)
{
    return lane == self ? !lane->polled || lane->asleep || lane->ending || abtioi_is_held(&lane->lock) : lane->helped;
}

/* ---- Submissions ----------------------------------------------------------------------------------------------- */

void abtioi_lane_enter(struct lane *lane, unsigned completions, int64_t nanoseconds)
{
    abtioi_assert(lane_is_refused(lane) || (abtioi_lane_is_mine(lane) && !lane_is_forgotten(lane)));
    if (lane_is_refused(lane))
        return;
    int code =
        lane->helped ? abtioi_ring_enter_for(&lane->ring) : abtioi_ring_enter(&lane->ring, completions, nanoseconds);
    if (code < 0)
        atomic_store_explicit(&lane->refused, true, memory_order_relaxed); /* relaxed: see lane_is_refused */
}

static __attribute__((noinline)) bool make_room_slow(struct lane *lane, unsigned num)
{
    while (!lane_is_refused(lane) && ring_room(&lane->ring) < num) {
        abtioi_lane_enter(lane, 0, -1);
        if (ring_room(&lane->ring) < num)
            abtioi_lane_reap(lane);
    }
    return !lane_is_refused(lane);
}

/* Room for `num` submissions that belong together. False: the kernel takes none any more. */
static inline bool make_room(struct lane *lane, unsigned num)
{
    return (!lane_is_refused(lane) && ring_room(&lane->ring) >= num) || make_room_slow(lane, num);
}

/* Its call, or a poll of its descriptor if it is polling. */
void abtioi_lane_submit(struct lane *lane, abtio_op *op)
{
    bool linked = op->deadline != ABTIO_FOREVER && op->code != CODE_sleep;

    abtioi_assert(op->lane == lane && !op->over && (!op->polling || op_ready(op) != 0));
    op->kept = !make_room(lane, 2);
    if (op->kept)
        return;
    struct io_uring_sqe *sqe = ring_next(&lane->ring);
    if (op->polling)
        abtioi_submit_poll(sqe, op->args.fd, op_ready(op));
    else
        abtioi_submit_call(sqe, op);
    sqe->user_data = (uintptr_t)op;
    if (linked) {
        struct io_uring_sqe *timeout = ring_next(&lane->ring);
        sqe->flags |= IOSQE_IO_LINK;
        abtioi_submit_deadline(timeout, op);
        timeout->user_data = OF_NOTHING;
    }
    if (fixed_version() != 0)
        abtioi_fixed_use(&lane->ring.fixed, sqe);
    if (ring_unsubmitted(&lane->ring) >= lane->ring.sq_entries / 2 || submit_is_large(sqe))
        abtioi_lane_enter(lane, 0, -1);
}

void abtioi_lane_submit_cancel(struct lane *lane, const abtio_op *op)
{
    if (!make_room(lane, 1))
        return;
    struct io_uring_sqe *sqe = ring_next(&lane->ring);
    abtioi_submit_cancel(sqe, op);
    sqe->user_data = OF_NOTHING;
}

/* ---- Completions ----------------------------------------------------------------------------------------------- */

/* Whether the phase is this one from now on, instead of LANE_UNDER_WAY. No: somebody has asked for its end. */
static bool leave_way(abtio_op *op, int phase)
{
    int under_way = LANE_UNDER_WAY;
    /* acq_rel: pairs with the exchange in abtioi_lane_ask_end, which then touches nothing but the phase */
    return !op->shared || atomic_compare_exchange_strong_explicit(&op->phase, &under_way, phase, memory_order_acq_rel,
                                                                  memory_order_acquire);
}

static void lane_come(struct lane *lane, abtio_op *op)
{
    abtioi_assert(abtioi_lane_is_mine(lane) && op->lane == lane && !lane->ending &&
                  (!lane->all || lane->all->link == &lane->all));
    lane_count(&lane->in_flight, 1);
    op->later = lane->all;
    op->link = &lane->all;
    if (lane->all)
        lane->all->link = &op->later;
    lane->all = op;
}

static void lane_leave(struct lane *lane, abtio_op *op)
{
    abtioi_assert(*op->link == op && (!op->later || op->later->link == &op->later));
    lane_count(&lane->in_flight, -1);
    *op->link = op->later;
    if (op->later)
        op->later->link = op->link;
}

static void lane_deliver(struct lane *lane, abtio_op *op, ssize_t result)
{
    lane_leave(lane, op);
    abtioi_op_deliver(op, result);
}

/* The result is known. One whose end has been asked for is kept until it is found in the list of those. */
void abtioi_lane_settle(struct lane *lane, abtio_op *op, ssize_t result)
{
    abtioi_assert(op->lane == lane && !op->over);
    op->result = result;
    /* relaxed: TAKEN is written by who has the lane */
    if (leave_way(op, LANE_OVER) || atomic_load_explicit(&op->phase, memory_order_relaxed) == LANE_TAKEN)
        lane_deliver(lane, op, result);
    else
        op->over = true;
}

/* Hands an operation to the helpers, if nobody has asked for its end. A multishot does that by itself. */
static void hand_over(struct lane *lane, abtio_op *op)
{
    abtioi_assert(op->lane == lane && !op->over);
    op->polling = false;
    if (op->report == REPORT_TO_MULTISHOT || !leave_way(op, LANE_HELPERS)) {
        abtioi_fifo_drop(op);
        abtioi_lane_settle(lane, op, -ECANCELED);
        return;
    }
    lane_leave(lane, op);
    /* release: pairs with the acquire in abtioi_lane_ask_end; one without a handle has had no exchange */
    atomic_store_explicit(&op->phase, LANE_HELPERS, memory_order_release);
    if (abtioi_helpers_start(op) < 0)
        abtioi_op_deliver(op, -EAGAIN);
}

/* The ring does not make the system call. */
static void go_elsewhere(struct lane *lane, abtio_op *op)
{
    if (!atomic_load_explicit(&lanes.ending, memory_order_relaxed)) /* relaxed: set before all lanes end */
        hand_over(lane, op);
    else
        abtioi_lane_settle(lane, op, -ECANCELED);
}

/* The system call is made again, in the ring or, when that ends, elsewhere; in the next ring if it is changed. */
static void lane_again(struct lane *lane, abtio_op *op)
{
    op->kept = lane->changing;
    if (lane->changing)
        return;
    if (!lane->ending)
        abtioi_lane_submit(lane, op);
    else
        go_elsewhere(lane, op);
}

static void lane_complete(struct lane *lane, abtio_op *op, int answer, unsigned flags)
{
    ssize_t result = submit_result(op, answer);

    abtioi_assert(op->lane == lane && !op->over && *op->link == op);
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
            lane_again(lane, op);
            return;
        }
        result = -ECANCELED;
    }
    op->polling = false;
    if (submit_goes_elsewhere(op, result)) {
        hand_over(lane, op);
        return;
    }
    enum next next = op_next(op, &result);
    op->polling = next == NEXT_POLL;
    if (next == NEXT_DELIVER)
        abtioi_lane_settle(lane, op, result);
    else
        lane_again(lane, op);
}

static void note_wake(struct lane *lane, bool goes_on)
{
    lane->woken = true;
    if (!goes_on)
        lane->wake_fd = -1; /* it is watched no more */
}

/* Tells the results that there are. */
void abtioi_lane_reap(struct lane *lane)
{
    struct io_uring_cqe *cqe;

    abtioi_assert(abtioi_lane_is_mine(lane) || lane_is_forgotten(lane));
    lane->num_reaps++;
    lane->fresh = NULL;
    while ((cqe = ring_first(&lane->ring))) {
        uint64_t of = cqe->user_data;
        int answer = cqe->res;
        unsigned flags = cqe->flags;
        ring_pop(&lane->ring);
        if (of > OF_WAKE)
            lane_complete(lane, (abtio_op *)(uintptr_t)of, answer, flags);
        else if (of == OF_WAKE)
            note_wake(lane, flags & IORING_CQE_F_MORE);
        else if ((answer == -ENOENT || answer == -EALREADY) && lane->ask_again == 0)
            lane->ask_again = abtio_after(ASK_AGAIN_NS);
    }
}

/* ---- Cancels --------------------------------------------------------------------------------------------------- */

/*
 * Somebody's end of an operation, or a request. The list's push releases and its taking acquires, so that the lane sees
 * `ended`. The lane ends only when `cancelling` is zero, which is the last that a canceller touches. A request comes
 * under the lock of a pool of buffers that the lane has a set of, which it takes before it ends.
 */
void abtioi_lane_ask(struct lane *lane, abtio_op *op)
{
    atomic_fetch_add(&lane->cancelling,
                     1); /* seq_cst: of no use beyond the push, before which it comes: after that the lane may end */
    op->next = atomic_load_explicit(&lane->to_cancel, memory_order_relaxed); /* relaxed: the exchange checks it */
    /*
     * seq_cst: pairs with the acquire in take_cancels; and the poller finds it in lane_attend, or it is found asleep
     * below. relaxed: when it has failed it is done again
     */
    while (!atomic_compare_exchange_weak_explicit(&lane->to_cancel, &op->next, op, memory_order_seq_cst,
                                                  memory_order_relaxed))
        ;
    if (lane != self)
        ABTX_xstream_wake(lane->xstream);
    poller_need();
    /* release: pairs with the acquire in lane_drain; the lane and its stream are not touched any more */
    atomic_fetch_sub_explicit(&lane->cancelling, 1, memory_order_release);
}

/*
 * `ended` is set first, so that a thread that finds the phase changed sees it. When the phase is another than UNDER_WAY
 * the operation has ended, or somebody else has asked for its end, or it is the helpers', or waits for a multishot.
 */
int abtioi_lane_ask_end(abtio_op *op)
{
    int phase = LANE_UNDER_WAY, none = 0;

    abtioi_assert(op->shared || op->code == CODE_waiter);
    /* relaxed: the exchange of the phase hands it over */
    atomic_compare_exchange_strong_explicit(&op->ended, &none, -ECANCELED, memory_order_relaxed, memory_order_relaxed);
    /* acq_rel: pairs with leave_way */
    if (atomic_compare_exchange_strong_explicit(&op->phase, &phase, LANE_ASKED, memory_order_acq_rel,
                                                memory_order_acquire))
        abtioi_lane_ask(op->lane, op);
    return phase;
}

/* Whether it would be over, had the kernel found it when its end was asked for. */
static bool has_missed_its_end(const abtio_op *op)
{
    if (op->over)
        return false;
    /* relaxed: TAKEN is written by who has the lane */
    if (op->shared && atomic_load_explicit(&op->phase, memory_order_relaxed) == LANE_TAKEN)
        return true;
    return op->code != CODE_sleep && abtioi_op_is_late(op);
}

/*
 * The kernel does not find an operation that it is just trying again. Then neither its deadline nor a cancel ends it,
 * and it may block a thread of the kernel for ever after.
 */
static void ask_again(struct lane *lane)
{
    abtioi_assert(lane->ask_again != 0);
    lane->ask_again = 0;
    for (abtio_op *op = lane->all; op && !lane_is_refused(lane); op = op->later) {
        if (ring_room(&lane->ring) == 0)
            lane->ask_again = abtio_after(ASK_AGAIN_NS);
        else if (has_missed_its_end(op))
            abtioi_lane_submit_cancel(lane, op);
    }
}

static void take_cancels(struct lane *lane)
{
    if (lane->ask_again != 0 && abtio_after(0) >= lane->ask_again)
        ask_again(lane);
    if (!atomic_load_explicit(&lane->to_cancel, memory_order_relaxed)) /* relaxed: a hint */
        return;
    /* acquire: pairs with the release in abtioi_lane_ask */
    abtio_op *op = atomic_exchange_explicit(&lane->to_cancel, NULL, memory_order_acquire);
    while (op) {
        abtio_op *next = op->next;
        if (op->code == CODE_serve) {
            abtioi_set_serve(op, abtioi_lane_is_open(lane) ? lane : NULL);
            op = next;
            continue;
        }
        /* relaxed: as below, and the list orders what came before */
        abtioi_assert(op->shared && op->lane == lane &&
                      atomic_load_explicit(&op->phase, memory_order_relaxed) == LANE_ASKED);
        atomic_store_explicit(&op->phase, LANE_TAKEN, memory_order_relaxed); /* relaxed: for the holder of the lane */
        if (op->over)
            lane_deliver(lane, op, op->result);
        else
            abtioi_lane_submit_cancel(lane, op);
        op = next;
    }
}

/* ---- A ring that goes ------------------------------------------------------------------------------------------ */

void abtioi_lane_leave_ring(struct lane *lane, bool lost)
{
    abtioi_sets_leave(&lane->ring.sets, lost);
    abtioi_fixed_leave(&lane->ring.fixed);
}

/* ---- A ring that may not be entered any more ------------------------------------------------------------------- */

/*
 * What the kernel has not been informed of goes on elsewhere. What it has taken ends with its ring, and how far that
 * was done is not known. Not inside of a call that still looks at op->finished: helpers would tell it in another
 * thread.
 */
static void give_ring_up(struct lane *lane)
{
    abtioi_assert(lane_is_refused(lane) && !lane_is_forgotten(lane));
    abtioi_lane_reap(lane);
    for (unsigned at = lane->ring.submitted; at != lane->ring.tail; at++) {
        uint64_t of = lane->ring.sqes[at & lane->ring.sq_mask].user_data;
        if (of > OF_WAKE)
            ((abtio_op *)(uintptr_t)of)->kept = true;
    }
    abtioi_lane_leave_ring(lane, true);
    abtioi_ring_abandon(&lane->ring);
    for (abtio_op *op = lane->all, *next; op; op = next) {
        next = op->later;
        if (op->over)
            continue;
        if (op->kept)
            go_elsewhere(lane, op);
        else
            abtioi_lane_settle(lane, op, -EIO);
    }
}

/* ---- A lane that others look at -------------------------------------------------------------------------------- */

/* Hands over what is gathered. The kernel does not make the poller, which holds locks, wait for any of it. */
static void hand_in(struct lane *lane)
{
    for (unsigned at = lane->ring.submitted; at != lane->ring.tail; at++) {
        struct io_uring_sqe *sqe = &lane->ring.sqes[at & lane->ring.sq_mask];
        if (submit_may_block(sqe))
            sqe->flags |= IOSQE_ASYNC;
    }
    if (ring_unsubmitted(&lane->ring) || ring_wants_enter(&lane->ring))
        abtioi_lane_enter(lane, 0, -1);
}

/* Does what the stream would do at a look, which it has not made for some time. */
static void lane_help(struct lane *lane)
{
    lane->helped = true;
    take_cancels(lane);
    hand_in(lane);
    abtioi_lane_reap(lane);
    hand_in(lane);
    lane->helped = false;
}

/* Whether nobody who waits for a result is still on his way. */
static bool all_have_left(const struct lane *lane)
{
    ABT_thread_state state = ABT_THREAD_STATE_RUNNING;

    if (!lane->fresh)
        return true;
    abtioi_assert(lane->fresh->report == REPORT_BY_RESUME && !lane->fresh->finished);
    return ABT_thread_get_state(lane->fresh->waiter, &state) == ABT_SUCCESS && state == ABT_THREAD_STATE_BLOCKED;
}

/* By the poller: whether it is to come again soon. */
static bool lane_attend(struct lane *lane)
{
    if (!lane->polled)
        return false;
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return true; /* its stream is in it */
    bool may = !lane->asleep && !lane->ending;
    /* seq_cst: see abtioi_lane_ask. relaxed: it changes under the lock */
    bool needed =
        may && (atomic_load_explicit(&lane->in_flight, memory_order_relaxed) > 0 || atomic_load(&lane->to_cancel));
    if (needed && lane->looks == lane->looks_seen && !lane_is_refused(lane) && all_have_left(lane))
        lane_help(lane);
    lane->looks_seen = lane->looks;
    pthread_mutex_unlock(&lane->lock);
    return needed;
}

static bool lanes_attend(void)
{
    return abtioi_lane_list_ask(lane_attend);
}

bool abtioi_lane_poller_begin(void)
{
    return abtioi_poller_begin(lanes_attend);
}

int abtioi_lane_ring_create(struct ring *ring, bool polled)
{
    return abtioi_ring_create(ring, lanes.entries, polled);
}

/* ---- What a stream does with its lane -------------------------------------------------------------------------- */

static ABT_bool lane_look(struct lane *lane)
{
    bool gives_up = lane_is_refused(lane) && !lane_is_forgotten(lane);

    abtioi_assert(abtioi_lane_is_mine(lane) || lane_is_forgotten(lane));
    if (gives_up)
        give_ring_up(lane);
    lane->direct.in_a_row = 0;
    lane->idle_soon = lane->woken = false;
    take_cancels(lane);
    if (ring_unsubmitted(&lane->ring) || ring_wants_enter(&lane->ring))
        abtioi_lane_enter(lane, 0, -1);
    if (fixed_is_old(&lane->ring.fixed) && !lane_is_refused(lane))
        abtioi_fixed_renew(&lane->ring, lane->xstream);
    if (!ring_first(&lane->ring))
        return gives_up ? ABT_TRUE : ABT_FALSE;
    abtioi_lane_reap(lane);
    return ABT_TRUE;
}

/*
 * When the stream is likely to come to lane_wait now, one system call there hands over what there is and waits. If it
 * does not come there, because something is ready after all or it goes on looking, the next poll does not leave it.
 */
static ABT_bool poll_once(struct lane *lane, ABT_bool about_to_sleep)
{
    lane->looks++;
    if (lane->idle_soon && !about_to_sleep && !ring_wants_enter(&lane->ring) && !ring_first(&lane->ring) &&
        !fixed_is_old(&lane->ring.fixed)) {
        lane->idle_soon = false;
        return ABT_FALSE;
    }
    return lane_look(lane);
}

static ABT_bool lane_poll(void *data, ABT_bool about_to_sleep)
{
    struct lane *lane = data;

    if (abtioi_lane_is_due(lane))
        abtioi_lane_reconsider(lane);
    abtioi_lane_lock(lane);
    ABT_bool found = poll_once(lane, about_to_sleep);
    abtioi_lane_unlock(lane);
    return found;
}

/* Watches the descriptor that reports other work. */
static void watch_for_wakes(struct lane *lane, int fd)
{
    if (lane->wake_fd == fd || !make_room(lane, 1))
        return;
    struct io_uring_sqe *sqe = ring_next(&lane->ring);
    abtioi_submit_poll(sqe, fd, POLLIN);
    sqe->len = IORING_POLL_ADD_MULTI;
    sqe->user_data = OF_WAKE;
    lane->wake_fd = fd;
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
 * call of lane_poll tells the results. Here the stream still counts as asleep, and a unit that becomes ready would wake
 * it by two more system calls.
 */
static void lane_wait(void *data, int fd, int64_t deadline)
{
    struct lane *lane = data;

    if (lane_is_forgotten(lane)) {
        abtioi_native_wait_fd(fd, time_left(deadline));
        return;
    }
    abtioi_assert(lane == self && fd >= 0);
    abtioi_lane_lock(lane);
    lane->looks++;
    take_cancels(lane);
    watch_for_wakes(lane, fd);
    if (lane->ask_again != 0 && lane->ask_again < deadline)
        deadline = lane->ask_again;
    lane->asleep = !(lane->polled && lane->woken);
    bool sleeps = lane->asleep;
    abtioi_lane_unlock(lane);
    if (!sleeps)
        return;
    abtioi_lane_enter(lane, 1, time_left(deadline));
    abtioi_lane_lock(lane);
    lane->asleep = false;
    abtioi_lane_unlock(lane);
}

static int lane_begin(void *arg, void **data)
{
    struct lane *lane = calloc(1, sizeof(*lane));

    (void)arg;
    abtioi_assert(!self && lanes.entries > 0);
    if (!lane)
        return ABT_ERR_MEM;
    lane->wake_fd = -1;
    if (ABT_self_get_xstream(&lane->xstream) != ABT_SUCCESS) {
        free(lane);
        return ABT_ERR_SYS;
    }
    lane->polled = abtioi_lane_wants_poller(lane) && abtioi_lane_poller_begin();
    if (abtioi_lane_ring_create(&lane->ring, lane->polled) < 0) {
        free(lane);
        return ABT_ERR_SYS;
    }
    pthread_mutex_init(&lane->lock, NULL);
    lane->place = (struct lane_place){.lane = lane, .in_flight = &lane->in_flight, .enters = &lane->ring.enters};
    abtioi_lane_list_add(&lane->place);
    self = lane;
    *data = lane;
    return ABT_SUCCESS;
}

/* Takes back from the kernel what is under way. It goes on elsewhere, or is cancelled. */
static void lane_drain(struct lane *lane)
{
    enum { MS = 1000000 };

    abtioi_assert(!lane->ending);
    abtioi_lane_lock(lane);
    lane->ending = true;
    abtioi_lane_unlock(lane);
    abtioi_lane_cancel_each(lane);
    /* acquire: pairs with the release in abtioi_lane_ask. relaxed: this thread writes in_flight */
    while (atomic_load_explicit(&lane->in_flight, memory_order_relaxed) ||
           atomic_load_explicit(&lane->cancelling, memory_order_acquire)) {
        take_cancels(lane);
        abtioi_lane_enter(lane, 1, 10 * MS);
        if (!ring_first(&lane->ring) && !lane_is_refused(lane))
            abtioi_lane_cancel_again(lane);
        abtioi_lane_reap(lane);
        if (lane_is_refused(lane) && !lane_is_forgotten(lane))
            give_ring_up(lane);
    }
    abtioi_assert(!lane->all);
    self = NULL;
    abtioi_lane_list_remove(&lane->place);
    if (!lane_is_forgotten(lane)) {
        abtioi_lane_leave_ring(lane, false);
        abtioi_ring_destroy(&lane->ring);
    }
    take_cancels(lane); /* requests, if any: nobody can ask any more */
}

/* The stream ends, or libabtio. */
static void lane_end(void *data)
{
    struct lane *lane = data;

    if (lane_is_refused(lane) || !lane_is_forgotten(lane)) /* otherwise it is one of the parent in a child of fork() */
        lane_drain(lane);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}

/* ---- For others ------------------------------------------------------------------------------------------------ */

static struct lane *lane_make(void)
{
    ABT_xstream xstream;

    if (ABT_self_get_xstream(&xstream) != ABT_SUCCESS)
        return NULL;
    ABTX_driver_attach(lanes.driver, xstream);
    return self;
}

/* Of one in which there is nothing. */
static __attribute__((noinline)) struct lane *lane_self_empty(struct lane *lane)
{
    if (!lane->polled)
        abtioi_lane_reconsider(lane);
    return !lane_is_refused(lane) ? lane : NULL;
}

/* The lane of the calling stream, which is made if there is none. NULL: it cannot be had. Only a ULT asks. */
static struct lane *lane_self(void)
{
    struct lane *lane = self;
    if (__builtin_expect(!lane, 0) && !(lane = lane_make()))
        return NULL;
    /* relaxed: if the lane is polled it need not be of now, and else the stream writes it */
    if (atomic_load_explicit(&lane->in_flight, memory_order_relaxed) == 0)
        return lane_self_empty(lane);
    return !lane_is_refused(lane) ? lane : NULL;
}

struct lane *abtioi_lane_for(enum code code)
{
    abtioi_assert(code < NUM_CODES && abtioi_is_begun());
    return lanes.entries > 0 && submit_knows(code) ? lane_self() : NULL;
}

bool abtioi_lane_add_set(struct lane *lane, struct buffer_set *set)
{
    abtioi_assert(abtioi_lane_is_mine(lane) && !lane_is_forgotten(lane));
    return abtioi_group_make(&lane->ring, set);
}

void abtioi_lane_drop_set(struct lane *lane, struct buffer_set *set)
{
    abtioi_assert(abtioi_lane_is_mine(lane) || lane_is_forgotten(lane));
    abtioi_group_end(&lane->ring, set);
}

bool abtioi_lane_is_open(const struct lane *lane)
{
    return !lane->ending && !lane_is_refused(lane);
}

void abtioi_lane_start_locked(abtio_op *op)
{
    abtioi_assert(abtioi_lane_is_mine(op->lane));
    op->lane->idle_soon = false;
    lane_come(op->lane, op);
    abtioi_lane_submit(op->lane, op);
}

/* Whether the caller need not leave. Nothing else is ready on his stream. */
static bool is_done_directly(struct lane *lane, abtio_op *op)
{
    if (!direct_tries(&lane->direct, op))
        return false;
    op->report = REPORT_BY_FLAG;
    abtioi_lane_enter(lane, 0, -1);
    abtioi_lane_reap(lane);
    if (!op->finished)
        direct_fails(&lane->direct, op);
    return op->finished;
}

void abtioi_lane_start(abtio_op *op)
{
    struct lane *lane = op->lane;

    abtioi_assert(op->shared);
    if (__builtin_expect(!lane->has_handles, 0))
        abtioi_lane_note_handles(lane);
    abtioi_lane_lock(lane);
    abtioi_lane_start_locked(op);
    abtioi_lane_unlock(lane);
}

static inline void start_call_locked(struct lane *lane, abtio_op *op, bool alone)
{
    abtioi_lane_start_locked(op);
    if (alone && is_done_directly(lane, op))
        return;
    lane->idle_soon = alone;
    ABT_self_get_thread(&op->waiter);
    op->report = REPORT_BY_RESUME; /* in time: nothing finishes it before the caller has left */
    lane->fresh = op;
}

static __attribute__((noinline)) void start_call_polled(struct lane *lane, abtio_op *op, bool alone)
{
    abtioi_lane_lock(lane);
    start_call_locked(lane, op, alone);
    abtioi_lane_unlock(lane);
}

void abtioi_lane_start_call(struct lane *lane, abtio_op *op)
{
    bool alone = is_alone();

    abtioi_assert(lane == self && !op->shared);
    op->lane = lane;
    if (__builtin_expect(lane->polled, 0))
        start_call_polled(lane, op, alone);
    else
        start_call_locked(lane, op, alone);
}

void abtioi_lane_look(void)
{
    struct lane *lane = self;

    if (!lane)
        return;
    abtioi_lane_lock(lane);
    lane->looks++;
    lane_look(lane);
    abtioi_lane_unlock(lane);
}

int abtioi_lanes_begin(unsigned entries, char *reason, size_t size)
{
    static const ABTX_driver_ops ops = {.start = lane_begin, .end = lane_end, .poll = lane_poll, .wait = lane_wait};

    abtioi_assert(entries > 0 && (entries & (entries - 1)) == 0);
    if (lanes.driver)
        ABTX_driver_free(&lanes.driver); /* left from before a fork() */
    int code = abtioi_ring_try(entries, &lanes.single_issuer, reason, size);
    if (code < 0)
        return code;
    atomic_store(&lanes.ending, false); /* seq_cst: of no use, but it costs nothing here */
    if (ABTX_driver_create(&ops, NULL, &lanes.driver) == ABT_SUCCESS) {
        lanes.entries = entries;
        return 0;
    }
    snprintf(reason, size, "no driver can be made");
    return -ENOMEM;
}

void abtioi_lanes_end(void)
{
    abtioi_assert(lanes.driver);
    atomic_store(&lanes.ending, true); /* seq_cst: of no use, but it costs nothing here */
    ABTX_driver_free(&lanes.driver);
    lanes.entries = 0;
    abtioi_poller_end();
}

struct lane_counts abtioi_lanes_count(void)
{
    struct lane_counts counts = abtioi_lane_list_count();
    counts.single_issuer = lanes.single_issuer;
    return counts;
}

void abtioi_lanes_before_fork(void)
{
    abtioi_lane_list_before_fork();
}

void abtioi_lanes_after_fork(void)
{
    abtioi_lane_list_after_fork();
}

static void lane_forget(struct lane *lane)
{
    abtioi_ring_forget(&lane->ring);
    lane->polled = lane->asleep = lane->helped = false;
    pthread_mutex_init(&lane->lock, NULL);
}

void abtioi_lanes_forget(void)
{
    abtioi_poller_forget();
    abtioi_lane_list_forget(lane_forget);
    lanes.entries = 0;
    self = NULL;
}
