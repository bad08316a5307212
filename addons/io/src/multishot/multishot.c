/* SPDX-License-Identifier: BSD-3-Clause */
#include "multishot/multishot.h"

#include <errno.h>
#include <stdlib.h>
#include "caller.h"
#include "helpers.h"
#include "channel.h"
#include "native.h"

/* ---- The two queues; the lock is held -------------------------------------------------------------------------- */

static void push_waiter(struct multishot *multishot, abtio_op *waiter)
{
    abtioi_assert(abtioi_is_held(multishot->lock) && !*multishot->last && multishot->num == 0);
    waiter->next = NULL;
    *multishot->last = waiter;
    multishot->last = &waiter->next;
}

static abtio_op *pop_waiter(struct multishot *multishot)
{
    abtio_op *waiter = multishot->first;

    abtioi_assert(abtioi_is_held(multishot->lock) && (!waiter || waiter->code == CODE_waiter));
    if (waiter) {
        multishot->first = waiter->next;
        if (!multishot->first)
            multishot->last = &multishot->first;
    }
    return waiter;
}

static abtio_op *pop_all_waiters(struct multishot *multishot)
{
    abtio_op *all = multishot->first;

    abtioi_assert(abtioi_is_held(multishot->lock));
    multishot->first = NULL;
    multishot->last = &multishot->first;
    return all;
}

/* False: it is not there any more. */
static bool take_waiter_out(struct multishot *multishot, abtio_op *waiter)
{
    abtioi_assert(abtioi_is_held(multishot->lock) && !*multishot->last);
    for (abtio_op **at = &multishot->first; *at; at = &(*at)->next) {
        if (*at != waiter)
            continue;
        *at = waiter->next;
        if (multishot->last == &waiter->next)
            multishot->last = at;
        return true;
    }
    return false;
}

static struct result *pop_result(struct multishot *multishot)
{
    struct result *result = multishot->first_result;

    abtioi_assert(result && multishot->num > 0);
    multishot->first_result = result->next;
    if (!multishot->first_result)
        multishot->last_result = &multishot->first_result;
    multishot->num--;
    return result;
}

static void push_result(struct multishot *multishot, struct result *result)
{
    abtioi_assert(abtioi_is_held(multishot->lock) && !multishot->first && !*multishot->last_result);
    result->next = NULL;
    *multishot->last_result = result;
    multishot->last_result = &result->next;
    multishot->num++;
}

/* Behind no other: it has come before those that are kept. */
static void push_result_first(struct multishot *multishot, struct result *result)
{
    abtioi_assert(abtioi_is_held(multishot->lock) && !multishot->first);
    result->next = multishot->first_result;
    if (!multishot->first_result)
        multishot->last_result = &result->next;
    multishot->first_result = result;
    multishot->num++;
}

static void give_buffer(const abtio_op *waiter, void *buf)
{
    if (waiter->args.out)
        *(void **)waiter->args.out = buf;
}

/* Gives a result to the first waiter, which is returned and to be woken, or keeps it. */
static abtio_op *put_result(struct multishot *multishot, int value, void *buf)
{
    abtio_op *waiter = pop_waiter(multishot);

    if (waiter) {
        give_buffer(waiter, buf);
        return waiter;
    }
    struct result *result = multishot->kind->keep(multishot, value, buf);
    if (result)
        push_result(multishot, result);
    return NULL;
}

/* ---- The operation --------------------------------------------------------------------------------------------- */

/* Sets it up for a channel, or for the helpers with NULL. False: it is put off. The lock is held. */
static bool multishot_arm(struct multishot *multishot, struct channel *channel)
{
    abtio_op *op = &multishot->op;

    abtioi_assert(abtioi_is_held(multishot->lock) && multishot->first && !multishot->armed && !multishot->freeing);
    multishot->put_off = multishot->kind->prepare && !multishot->kind->prepare(multishot, &channel);
    if (multishot->put_off)
        return false;
    op_init(op, channel ? multishot->kind->many : multishot->kind->one, ABTIO_FOREVER);
    abtioi_op_use_eventual(op);
    op->report = REPORT_TO_MULTISHOT;
    op->shared = true;
    op->args = multishot->args;
    op->multishot = multishot;
    op->channel = channel;
    /* relaxed: the lock hands it over */
    atomic_store_explicit(&op->phase, channel ? CHANNEL_UNDER_WAY : CHANNEL_HELPERS, memory_order_relaxed);
    multishot->armed = true;
    return true;
}

/* Starts it. The lock is not held, but its channel's is. */
static void multishot_start(abtio_op *op)
{
    if (op->channel)
        abtioi_channel_start_locked(op);
    else if (abtioi_helpers_start(op) < 0)
        abtioi_op_deliver(op, -EAGAIN);
}

static void tell_all(abtio_op *waiters, int result)
{
    while (waiters) {
        abtio_op *waiter = waiters;
        waiters = waiter->next;
        abtioi_op_deliver(waiter, result);
    }
}

void abtioi_multishot_bring(abtio_op *op, int result, int place)
{
    struct multishot *multishot = op->multishot;

    abtioi_assert(op == &multishot->op && op->channel);
    pthread_mutex_lock(multishot->lock);
    abtioi_assert(multishot->armed);
    void *buf = place < 0 ? NULL : multishot->kind->take(multishot, (unsigned)place, result);
    abtio_op *waiter = place < 0 || buf ? put_result(multishot, result, buf) : NULL;
    bool stops = multishot->num >= multishot->enough && !multishot->stopping;
    multishot->stopping |= stops;
    pthread_mutex_unlock(multishot->lock);
    if (waiter)
        abtioi_op_deliver(waiter, result);
    /* Its end is reported by this thread, so that the multishot is still there. */
    if (stops)
        (void)abtioi_channel_ask_end(op);
}

/* Whether one waiter gets the result. That there is no native thread is an error for all waiters. */
static bool is_result(const struct multishot *multishot, ssize_t result)
{
    return result != -ECANCELED && result != -EAGAIN && !(result == -ENOBUFS && multishot->kind->prepare);
}

/*
 * A cancel's end tells nobody anything: it was the multishot's own, or that of a channel that ends, and the operation
 * goes on elsewhere for its waiters. When there is no native thread for it, none of them can be served; nor can they
 * when the library comes to its end.
 */
static void multishot_end(abtio_op *op, ssize_t result)
{
    struct multishot *multishot = op->multishot;
    struct channel *channel = op->channel && abtioi_channel_is_open(op->channel) ? op->channel : NULL;
    abtio_op *waiter = NULL, *refused = NULL;
    void *buf = result > 0 ? op->args.out : NULL;

    pthread_mutex_lock(multishot->lock);
    abtioi_assert(op == &multishot->op && multishot->armed);
    if (result == -EAGAIN || !abtioi_is_begun())
        refused = pop_all_waiters(multishot);
    if (is_result(multishot, result))
        waiter = put_result(multishot, (int)result, buf);
    multishot->armed = multishot->stopping = false;
    bool freeing = multishot->freeing, again = multishot->first && !freeing && multishot_arm(multishot, channel);
    pthread_mutex_unlock(multishot->lock);
    if (waiter)
        abtioi_op_deliver(waiter, result);
    tell_all(refused, result == -EAGAIN ? -EAGAIN : -ECANCELED);
    if (again)
        multishot_start(op);
    if (freeing) {
        ABT_eventual_set(op_eventual(op), NULL, 0);
        abtioi_native_wake();
    }
}

/* Those to start are linked by what only their side uses, since each may be cancelled at once. */
void abtioi_multishot_try_again(pthread_mutex_t *lock, struct multishot *list, struct channel *channel)
{
    abtio_op *first = NULL, **last = &first, *refused = NULL;

    abtioi_assert(abtioi_is_held(lock));
    while (list) {
        struct multishot *multishot = list;
        list = multishot->later;
        abtioi_assert(multishot->lock == lock && multishot->put_off && !multishot->armed);
        multishot->put_off = false;
        if (!abtioi_is_begun()) {
            *multishot->last = refused;
            refused = pop_all_waiters(multishot);
        } else if (multishot->first && multishot_arm(multishot, channel)) {
            multishot->op.later = NULL;
            *last = &multishot->op;
            last = &multishot->op.later;
        }
    }
    pthread_mutex_unlock(lock);
    tell_all(refused, -ECANCELED);
    while (first) {
        abtio_op *op = first;
        first = op->later;
        multishot_start(op);
    }
}

/* ---- Waiters --------------------------------------------------------------------------------------------------- */

/* `shared`: it has a handle. */
static void init_waiter(abtio_op *waiter, struct multishot *multishot, void **buf, abtio_deadline deadline, bool shared)
{
    op_init(waiter, CODE_waiter, deadline);
    waiter->args.out = buf;
    abtioi_op_use_eventual(waiter);
    waiter->multishot = multishot;
    waiter->shared = shared;
    /* relaxed: nobody else knows it yet */
    atomic_store_explicit(&waiter->phase, CHANNEL_MULTISHOT, memory_order_relaxed);
}

static int take_result(struct multishot *multishot, const abtio_op *waiter)
{
    struct result *result = pop_result(multishot);
    int value = result->value;

    abtioi_assert(abtioi_is_held(multishot->lock));
    give_buffer(waiter, result->buf);
    if (multishot->kind->release)
        multishot->kind->release(result);
    return value;
}

/* Whether there is a result, *result. Else the waiter is queued, and something is under way. */
static bool take_or_wait(struct multishot *multishot, abtio_op *waiter, ssize_t *result)
{
    struct channel *channel = NULL;

    /* Before the lock, since a stream's first operation makes its ring. Nothing from here on leaves the stream. */
    if (is_ult())
        channel = abtioi_channel_for(multishot->kind->many);
    abtioi_channel_lock(channel);
    pthread_mutex_lock(multishot->lock);
    bool found = multishot->num > 0, starts = !found && !multishot->armed && !multishot->put_off;
    if (found)
        *result = take_result(multishot, waiter);
    else
        push_waiter(multishot, waiter);
    starts = starts && multishot_arm(multishot, channel);
    pthread_mutex_unlock(multishot->lock);
    if (starts)
        multishot_start(&multishot->op);
    abtioi_channel_unlock(channel);
    return found;
}

bool abtioi_multishot_ask(struct multishot *multishot, abtio_op *waiter, void **buf, abtio_deadline deadline,
                          ssize_t *result)
{
    *result = -ENOTCONN;
    if (!abtioi_is_begun())
        return true;
    init_waiter(waiter, multishot, buf, deadline, false);
    return take_or_wait(multishot, waiter, result);
}

int abtioi_multishot_get_nb(struct multishot *multishot, void **buf, abtio_deadline deadline, abtio_op **op)
{
    ssize_t result;

    if (!abtioi_is_begun())
        return -ENOTCONN;
    abtio_op *waiter = malloc(sizeof(*waiter));
    if (!waiter)
        return -ENOMEM;
    init_waiter(waiter, multishot, buf, deadline, true);
    *op = waiter;
    if (take_or_wait(multishot, waiter, &result))
        abtioi_op_deliver(waiter, result);
    return 0;
}

void abtioi_multishot_leave(abtio_op *waiter, int why)
{
    struct multishot *multishot = waiter->multishot;

    abtioi_assert(waiter->code == CODE_waiter && why < 0);
    pthread_mutex_lock(multishot->lock);
    bool left = take_waiter_out(multishot, waiter);
    pthread_mutex_unlock(multishot->lock);
    if (left)
        abtioi_op_deliver(waiter, why);
}

void abtioi_multishot_put_back(const abtio_op *waiter)
{
    struct multishot *multishot = waiter->multishot;
    int value = (int)waiter->result;
    void *buf = waiter->args.out ? *(void **)waiter->args.out : NULL;

    abtioi_assert(waiter->code == CODE_waiter);
    if (value < 0 || (waiter->args.out && !buf))
        return; /* the socket says it again */
    pthread_mutex_lock(multishot->lock);
    abtio_op *next = pop_waiter(multishot);
    struct result *kept = next ? NULL : multishot->kind->keep(multishot, value, buf);
    if (next)
        give_buffer(next, buf);
    else if (kept)
        push_result_first(multishot, kept);
    pthread_mutex_unlock(multishot->lock);
    if (next)
        abtioi_op_deliver(next, value);
}

/* ---- Begin and end --------------------------------------------------------------------------------------------- */

void abtioi_multishot_init(struct multishot *multishot, const struct multishot_kind *kind, pthread_mutex_t *lock,
                           unsigned enough)
{
    abtioi_assert(kind && lock && enough > 0);
    multishot->kind = kind;
    multishot->end = multishot_end;
    multishot->lock = lock;
    multishot->enough = enough;
    multishot->armed = multishot->put_off = multishot->stopping = multishot->freeing = false;
    multishot->last = &multishot->first;
    multishot->first = NULL;
    multishot->last_result = &multishot->first_result;
    multishot->first_result = NULL;
    multishot->num = 0;
}

int abtioi_multishot_close(struct multishot *multishot)
{
    pthread_mutex_lock(multishot->lock);
    bool busy = multishot->first, armed = multishot->armed;
    multishot->freeing = !busy;
    if (!busy && multishot->put_off)
        multishot->kind->forget(multishot);
    pthread_mutex_unlock(multishot->lock);
    return busy ? -EBUSY : armed;
}

void abtioi_multishot_discard(struct multishot *multishot)
{
    abtioi_assert(!multishot->first && !multishot->armed);
    while (multishot->num > 0)
        multishot->kind->discard(multishot, pop_result(multishot));
}
