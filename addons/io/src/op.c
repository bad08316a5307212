/* SPDX-License-Identifier: BSD-3-Clause */
#include "op.h"

#include <errno.h>
#include <poll.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <time.h>
#include "native.h"
#include "multishot/multishot.h"

#define CALL(type, name, ready, nowait, ...) [CODE_##name] = {ready, nowait},
const struct call_kind abtioi_call_kinds[NUM_CODES] = {
    ABTIO_ALL_CALLS(CALL)[CODE_accept_many] = {POLLIN, 0},
    [CODE_recv_many] = {POLLIN, 0},
    [CODE_recv_one] = {POLLIN, 0},
};
#undef CALL

atomic_uint abtioi_begins;

abtio_deadline abtio_after(int64_t nanoseconds)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t time = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    if (nanoseconds <= 0)
        return time;
    return nanoseconds < ABTIO_FOREVER - 1 - time ? time + nanoseconds : ABTIO_FOREVER - 1;
}

bool abtioi_op_is_late(const abtio_op *op)
{
    abtioi_assert(op->deadline > 0);
    return op->deadline != ABTIO_FOREVER && abtio_after(0) >= op->deadline;
}

/* Some bytes have been moved. Whether there are more. */
static bool op_advance(abtio_op *op, size_t size)
{
    size_t left = op->args.size;

    abtioi_assert(op_is_all(op));
    op->moved += size;
    if (size == 0 || size >= left) /* more: of a datagram that is cut off, with MSG_TRUNC */
        return false;
    op->args.out = (char *)op->args.out + size;
    op->args.size = left - size;
    if (op->args.offset != -1)
        op->args.offset += (int64_t)size;
    return true;
}

enum next abtioi_op_next_slow(abtio_op *op, ssize_t *result)
{
    struct call_kind kind = abtioi_call_kinds[op->code];

    /* relaxed: the thread that set it does not hand over anything else by it */
    int ended = atomic_load_explicit(&op->ended, memory_order_relaxed);
    abtioi_assert(op->code < NUM_CODES && (ended == 0 || ended == -ECANCELED));
    if (*result == -EINTR || *result == -ECANCELED) {
        if (!ended && abtioi_op_is_late(op))
            ended = -ETIMEDOUT;
        *result = ended;
        return ended ? NEXT_DELIVER : NEXT_CALL;
    }
    if (*result == -EAGAIN && kind.ready && !(op->args.flags & kind.nowait)) {
        *result = ended;
        return ended ? NEXT_DELIVER : NEXT_POLL;
    }
    if (*result < 0 || !op_is_all(op))
        return NEXT_DELIVER;
    if (op_advance(op, (size_t)*result)) {
        *result = ended;
        return ended ? NEXT_DELIVER : NEXT_CALL;
    }
    *result = (ssize_t)op->moved;
    return NEXT_DELIVER;
}

void abtioi_op_use_eventual(abtio_op *op)
{
    abtioi_assert(!op->helper);
    op->report = REPORT_BY_EVENTUAL;
    memset(&op->done, 0, sizeof(op->done)); /* as the static initialiser does */
}

void abtioi_op_deliver(abtio_op *op, ssize_t result)
{
    abtioi_assert(op->report == REPORT_BY_EVENTUAL || !op->finished);
    abtioi_assert(op->report != REPORT_BY_RESUME || op->waiter != ABT_THREAD_NULL);
    op->result = result;
    if (op->report == REPORT_BY_EVENTUAL) {
        ABT_eventual_set(op_eventual(op), NULL, 0);
        abtioi_native_wake();
        return;
    }
    op->finished = true;
    if (op->report == REPORT_BY_RESUME)
        ABT_thread_resume(op->waiter);
    else if (op->report == REPORT_TO_MULTISHOT)
        op->multishot->end(op, result);
}
