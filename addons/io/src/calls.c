/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls: two forms of each, from the table. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include "backend.h"
#include "caller.h"
#include "fifo.h"
#include "helpers.h"
#include "native.h"

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

static int is_done(void *op)
{
    ABT_bool done = ABT_FALSE;
    ABT_eventual_test(op_eventual(op), NULL, &done);
    return done == ABT_TRUE;
}

/* A tasklet keeps its stream from polling. */
static int poll_once(void *op)
{
    if (!is_done(op))
        abtioi_poll(op);
    return is_done(op);
}

static void wait_for_end(abtio_op *op)
{
    if (may_wait())
        ABT_eventual_wait(op_eventual(op), NULL);
    else
        abtioi_native_wait(poll_once, op);
}

/*
 * Of one whose deadline its side does not keep. A cancel of the ULT that waits ends such a wait, too: then an operation
 * that is on the ULT's stack has to be over before the ULT ends, and one with a handle goes on without it.
 */
static void wait_until_late(abtio_op *op)
{
    ABT_bool before = put_off_cancel();
    bool ends = false;
    while (abtio_op_wait_any(1, &op, op->deadline) == -ETIMEDOUT) {
        bool late = abtioi_op_is_late(op);
        if (late || !op->shared) {
            abtioi_leave(op, late ? -ETIMEDOUT : -ECANCELED);
            ends = !late && !before;
            break;
        }
        allow_cancel(before);
        before = put_off_cancel();
    }
    wait_for_end(op);
    if (ends)
        abtioi_drop_result(op);
    allow_cancel(before);
}

static ssize_t wait_for(abtio_op *op)
{
    /* The thread that looks names up cannot keep its deadline, nor does a multishot. */
    if ((op->code == CODE_getaddrinfo || op->code == CODE_waiter) && op->deadline != ABTIO_FOREVER)
        wait_until_late(op);
    else
        wait_for_end(op);
    return op->result;
}

/*
 * Of a ULT whose operation its channel does, just after the start. The thread that finishes it, or hands it to the
 * helpers, does so when the caller has left (channel.c); so the flag cannot change between a poll and the suspension.
 * Others may resume the caller by mistake.
 */
static ssize_t wait_suspended(const abtio_op *op)
{
    abtioi_assert(op->channel && !op->shared);
    while (!op->finished)
        ABT_self_suspend();
    return op->result;
}

/* ---- How much was moved ---------------------------------------------------------------------------------------- */

/* Of the operation whose result a function has returned last on this native thread. */
static __thread size_t moved_last __attribute__((tls_model("initial-exec")));

/* Not inlined: the caller may have been on another native thread before, whose variable it would set. */
static __attribute__((noinline)) void note_moved(const abtio_op *op)
{
    abtioi_assert(op_is_all(op));
    moved_last = op->moved;
}

static void note_moved_if_all(const abtio_op *op)
{
    if (op_is_all(op))
        note_moved(op);
}

size_t abtio_moved(void)
{
    return moved_last;
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

/* Of one that no channel does. Not inlined: the frame would be on the stacks of all waiters. */
static __attribute__((noinline)) ssize_t call_elsewhere(abtio_op *op, bool ult)
{
    abtioi_assert(!op->channel && !op->shared);
    if (!ult && op->deadline == ABTIO_FOREVER)
        return abtioi_helpers_run(op);
    int code = abtioi_start(op, false);
    return code < 0 ? code : wait_for(op);
}

static ssize_t calls_call(abtio_op *op)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    bool ult = is_ult();
    if (ult && abtioi_start_call(op))
        return wait_suspended(op);
    return call_elsewhere(op, ult);
}

static ssize_t call_open(abtio_op *op)
{
    ssize_t result = calls_call(op);

    if (!op->channel || !abtioi_fifo_waits(op, result))
        return result;
    int code = abtioi_start(op, false);
    return code < 0 ? code : wait_for(op);
}

static int call_nb(enum code code, abtio_deadline deadline, const struct args *args, abtio_op **op)
{
    abtioi_assert(code < CODE_accept_many);
    if (!abtioi_is_begun())
        return -ENOTCONN;
    abtio_op *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;
    op_init(made, code, deadline);
    made->args = *args;
    made->shared = true;
    /* The operation may be over, and looked for by others, before this returns. */
    *op = made;
    int error = abtioi_start(made, is_ult());
    if (error < 0) {
        *op = NULL;
        free(made);
    }
    return error;
}

/* What comes again each time would fill the buffer with copies. */
static inline bool is_refused(enum code code, const struct args *args)
{
    return code == CODE_recv_all && args->flags & MSG_PEEK;
}

#define PARAMETERS(...) __VA_ARGS__
#define CALL(type, name, ready, nowait, parameters, ...)                                                               \
    type abtio_##name(PARAMETERS parameters, abtio_deadline deadline)                                                  \
    {                                                                                                                  \
        abtio_op op;                                                                                                   \
        op_init(&op, CODE_##name, deadline);                                                                           \
        op.args = (struct args){__VA_ARGS__};                                                                          \
        ssize_t answer = is_refused(CODE_##name, &op.args) ? -EINVAL                                                   \
                         : CODE_##name == CODE_openat      ? call_open(&op)                                            \
                                                           : calls_call(&op);                                               \
        if (code_is_all(CODE_##name))                                                                                  \
            note_moved(&op);                                                                                           \
        return (type)answer;                                                                                           \
    }                                                                                                                  \
    int abtio_##name##_nb(PARAMETERS parameters, abtio_deadline deadline, abtio_op **op)                               \
    {                                                                                                                  \
        const struct args args = {__VA_ARGS__};                                                                        \
        return is_refused(CODE_##name, &args) ? -EINVAL : call_nb(CODE_##name, deadline, &args, op);                   \
    }

ABTIO_ALL_CALLS(CALL)
#undef CALL

/* ---- Operations ------------------------------------------------------------------------------------------------ */

/* From now on the result is its user's. relaxed: the caller that frees the handle comes after all other calls on it */
static void note_reported(abtio_op *op)
{
    atomic_store_explicit(&op->reported, true, memory_order_relaxed);
}

ssize_t abtio_op_wait(abtio_op *op)
{
    ssize_t result = wait_for(op);
    note_reported(op);
    note_moved_if_all(op);
    return result;
}

int abtio_op_test(abtio_op *op, ssize_t *result)
{
    if (!poll_once(op))
        return 0;
    if (result)
        *result = op->result;
    note_reported(op);
    note_moved_if_all(op);
    return 1;
}

int abtio_cancel(abtio_op *op)
{
    bool comes_late = is_done(op);
    if (!comes_late) {
        abtioi_cancel(op);
        comes_late = wait_for(op) != -ECANCELED;
    }
    note_reported(op);
    return comes_late ? -EALREADY : 0;
}

/* A result that nobody has been told of is dropped: whether it came before this call or in it is the same to users. */
void abtio_op_free(abtio_op **op)
{
    if (!*op)
        return;
    /* relaxed: the caller comes after all other calls on the handle */
    bool unseen = !atomic_load_explicit(&(*op)->reported, memory_order_relaxed);
    ABT_bool before = unseen ? put_off_cancel() : ABT_TRUE;
    if (unseen && abtio_cancel(*op) == -EALREADY)
        abtioi_drop_result(*op);
    free(*op);
    *op = NULL;
    allow_cancel(before);
}

/* ---- Waiting for one of several -------------------------------------------------------------------------------- */

struct list {
    int num;
    abtio_op *const *ops;
    abtio_deadline deadline;
};

/* The lowest that is done, or -1. */
static int find_done(const struct list *list)
{
    for (int i = 0; i < list->num; i++) {
        if (list->ops[i] && is_done(list->ops[i]))
            return i;
    }
    return -1;
}

static int done_or_late(void *arg)
{
    const struct list *list = arg;

    for (int i = 0; i < list->num; i++) {
        if (list->ops[i])
            poll_once(list->ops[i]);
    }
    return find_done(list) >= 0 || (list->deadline != ABTIO_FOREVER && abtio_after(0) >= list->deadline);
}

static int wait_any_by_eventuals(const struct list *list)
{
    enum { FEW = 16 };
    ABT_eventual few[FEW], *eventuals = few;
    int index = -1;

    abtioi_assert(list->num > 0 && list->deadline > 0);
    if (list->num > FEW)
        eventuals = malloc((size_t)list->num * sizeof(*eventuals));
    if (!eventuals)
        return -ENOMEM;
    for (int i = 0; i < list->num; i++)
        eventuals[i] = list->ops[i] ? op_eventual(list->ops[i]) : ABT_EVENTUAL_NULL;
    ABT_bool before = eventuals != few ? put_off_cancel() : ABT_TRUE;
    int code = ABTX_eventual_wait_any_until(list->num, eventuals, &index, list->deadline);
    if (eventuals != few)
        free(eventuals);
    abtioi_assert(code != ABT_SUCCESS || (index >= 0 && index < list->num && list->ops[index]));
    allow_cancel(before);
    if (code == ABT_SUCCESS)
        return index;
    return code == ABT_ERR_COND_TIMEDOUT ? -ETIMEDOUT : code == ABT_ERR_MEM ? -ENOMEM : -EINVAL;
}

/* Of several; at least one is not NULL. */
static int wait_for_any(struct list *list)
{
    int index = find_done(list);
    if (index >= 0)
        return index;
    if (may_wait())
        return wait_any_by_eventuals(list);
    abtioi_native_wait(done_or_late, list);
    index = find_done(list);
    return index >= 0 ? index : -ETIMEDOUT;
}

int abtio_op_wait_any(int num, abtio_op *const *ops, abtio_deadline deadline)
{
    struct list list = {num, ops, op_deadline(deadline)};
    int some = 0;

    for (int i = 0; i < num; i++)
        some += ops[i] != NULL;
    if (!some)
        return -EINVAL;
    int index = wait_for_any(&list);
    if (index >= 0)
        note_reported(ops[index]);
    return index;
}
