/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/source.h"

#include <errno.h>
#include <stdlib.h>
#include "backend.h"
#include "caller.h"
#include "helpers.h"
#include "lane.h"
#include "native.h"

/* ---- The two queues; the lock is held -------------------------------------------------------------------------- */

static void push_waiter(struct source *source, abtio_op *waiter)
{
    abtioi_assert(abtioi_is_held(source->lock) && !*source->last && source->num == 0);
    waiter->next = NULL;
    *source->last = waiter;
    source->last = &waiter->next;
}

static abtio_op *pop_waiter(struct source *source)
{
    abtio_op *waiter = source->first;

    abtioi_assert(abtioi_is_held(source->lock) && (!waiter || waiter->code == CODE_waiter));
    if (waiter) {
        source->first = waiter->next;
        if (!source->first)
            source->last = &source->first;
    }
    return waiter;
}

static abtio_op *pop_all_waiters(struct source *source)
{
    abtio_op *all = source->first;

    abtioi_assert(abtioi_is_held(source->lock));
    source->first = NULL;
    source->last = &source->first;
    return all;
}

/* False: it is not there any more. */
static bool take_waiter_out(struct source *source, abtio_op *waiter)
{
    abtioi_assert(abtioi_is_held(source->lock) && !*source->last);
    for (abtio_op **at = &source->first; *at; at = &(*at)->next) {
        if (*at != waiter)
            continue;
        *at = waiter->next;
        if (source->last == &waiter->next)
            source->last = at;
        return true;
    }
    return false;
}

static struct result *pop_result(struct source *source)
{
    struct result *result = source->first_result;

    abtioi_assert(result && source->num > 0);
    source->first_result = result->next;
    if (!source->first_result)
        source->last_result = &source->first_result;
    source->num--;
    return result;
}

static void push_result(struct source *source, struct result *result)
{
    abtioi_assert(abtioi_is_held(source->lock) && !source->first && !*source->last_result);
    result->next = NULL;
    *source->last_result = result;
    source->last_result = &result->next;
    source->num++;
}

static void give_buffer(const abtio_op *waiter, void *buf)
{
    if (waiter->args.out)
        *(void **)waiter->args.out = buf;
}

/* Gives a result to the first waiter, which is returned and to be woken, or keeps it. */
static abtio_op *put_result(struct source *source, int value, void *buf)
{
    abtio_op *waiter = pop_waiter(source);

    if (waiter) {
        give_buffer(waiter, buf);
        return waiter;
    }
    struct result *result = source->kind->keep(source, value, buf);
    if (result)
        push_result(source, result);
    return NULL;
}

/* ---- The operation --------------------------------------------------------------------------------------------- */

/* Sets it up for a lane, or for the helpers with NULL. False: it is put off. The lock is held. */
static bool source_arm(struct source *source, struct lane *lane)
{
    abtio_op *op = &source->op;

    abtioi_assert(abtioi_is_held(source->lock) && source->first && !source->armed && !source->freeing);
    source->put_off = source->kind->prepare && !source->kind->prepare(source, &lane);
    if (source->put_off)
        return false;
    op_init(op, lane ? source->kind->many : source->kind->one, ABTIO_FOREVER);
    abtioi_op_use_eventual(op);
    op->report = REPORT_TO_SOURCE;
    op->shared = true;
    op->args = source->args;
    op->source = source;
    op->lane = lane;
    /* relaxed: the lock hands it over */
    atomic_store_explicit(&op->phase, lane ? LANE_UNDER_WAY : LANE_HELPERS, memory_order_relaxed);
    source->armed = true;
    return true;
}

/* Starts it. The lock is not held, but its lane's is. */
static void source_start(abtio_op *op)
{
    if (op->lane)
        abtioi_lane_start_locked(op);
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

void abtioi_source_bring(abtio_op *op, int result, int place)
{
    struct source *source = op->source;

    abtioi_assert(op == &source->op && op->lane);
    pthread_mutex_lock(source->lock);
    abtioi_assert(source->armed);
    void *buf = place < 0 ? NULL : source->kind->take(source, (unsigned)place, result);
    abtio_op *waiter = place < 0 || buf ? put_result(source, result, buf) : NULL;
    bool stops = source->num >= source->enough && !source->stopping;
    source->stopping |= stops;
    pthread_mutex_unlock(source->lock);
    if (waiter)
        abtioi_op_deliver(waiter, result);
    /* Its end is reported by this thread, so that the source is still there. */
    if (stops)
        abtioi_cancel(op);
}

/* Whether one waiter gets the result. That there is no native thread is an error for all waiters. */
static bool is_result(const struct source *source, ssize_t result)
{
    return result != -ECANCELED && result != -EAGAIN && !(result == -ENOBUFS && source->kind->prepare);
}

/*
 * A cancel's end tells nobody anything: it was the source's own, or that of a lane that ends, and the operation goes on
 * elsewhere for those who wait. When there is no native thread for it, none of them can be served; nor can they when
 * the library comes to its end.
 */
void abtioi_source_end(abtio_op *op, ssize_t result)
{
    struct source *source = op->source;
    struct lane *lane = op->lane && abtioi_lane_is_open(op->lane) ? op->lane : NULL;
    abtio_op *waiter = NULL, *refused = NULL;
    void *buf = result > 0 ? op->args.out : NULL;

    pthread_mutex_lock(source->lock);
    abtioi_assert(op == &source->op && source->armed);
    if (result == -EAGAIN || !abtioi_is_begun())
        refused = pop_all_waiters(source);
    if (is_result(source, result))
        waiter = put_result(source, (int)result, buf);
    source->armed = source->stopping = false;
    bool freeing = source->freeing, again = source->first && !freeing && source_arm(source, lane);
    pthread_mutex_unlock(source->lock);
    if (waiter)
        abtioi_op_deliver(waiter, result);
    tell_all(refused, result == -EAGAIN ? -EAGAIN : -ECANCELED);
    if (again)
        source_start(op);
    if (freeing) {
        ABT_eventual_set(op_eventual(op), NULL, 0);
        abtioi_native_wake();
    }
}

/* Those to start are linked by what only their side uses, since each may be cancelled at once. */
void abtioi_source_try_again(pthread_mutex_t *lock, struct source *list, struct lane *lane)
{
    abtio_op *first = NULL, **last = &first, *refused = NULL;

    abtioi_assert(abtioi_is_held(lock));
    while (list) {
        struct source *source = list;
        list = source->later;
        abtioi_assert(source->lock == lock && source->put_off && !source->armed);
        source->put_off = false;
        if (!abtioi_is_begun()) {
            *source->last = refused;
            refused = pop_all_waiters(source);
        } else if (source->first && source_arm(source, lane)) {
            source->op.later = NULL;
            *last = &source->op;
            last = &source->op.later;
        }
    }
    pthread_mutex_unlock(lock);
    tell_all(refused, -ECANCELED);
    while (first) {
        abtio_op *op = first;
        first = op->later;
        source_start(op);
    }
}

/* ---- Waiters --------------------------------------------------------------------------------------------------- */

/* `shared`: it has a handle. */
static void init_waiter(abtio_op *waiter, struct source *source, void **buf, abtio_deadline deadline, bool shared)
{
    op_init(waiter, CODE_waiter, deadline);
    waiter->args.out = buf;
    abtioi_op_use_eventual(waiter);
    waiter->source = source;
    waiter->shared = shared;
    /* relaxed: nobody else knows it yet */
    atomic_store_explicit(&waiter->phase, LANE_SOURCE, memory_order_relaxed);
}

static int take_result(struct source *source, const abtio_op *waiter)
{
    struct result *result = pop_result(source);
    int value = result->value;

    abtioi_assert(abtioi_is_held(source->lock));
    give_buffer(waiter, result->buf);
    if (source->kind->release)
        source->kind->release(result);
    return value;
}

/* Whether there is a result, *result. Else the waiter is queued, and something is under way. */
static bool take_or_wait(struct source *source, abtio_op *waiter, ssize_t *result)
{
    struct lane *lane = NULL;

    /* Before the lock, since a stream's first operation makes its ring. Nothing from here on leaves the stream. */
    if (is_ult())
        lane = abtioi_lane_for(source->kind->many);
    abtioi_lane_lock(lane);
    pthread_mutex_lock(source->lock);
    bool found = source->num > 0, starts = !found && !source->armed && !source->put_off;
    if (found)
        *result = take_result(source, waiter);
    else
        push_waiter(source, waiter);
    starts = starts && source_arm(source, lane);
    pthread_mutex_unlock(source->lock);
    if (starts)
        source_start(&source->op);
    abtioi_lane_unlock(lane);
    return found;
}

ssize_t abtioi_source_get(struct source *source, void **buf, abtio_deadline deadline)
{
    abtio_op waiter;
    ssize_t result;

    if (!abtioi_is_begun())
        return -ENOTCONN;
    init_waiter(&waiter, source, buf, deadline, false);
    return take_or_wait(source, &waiter, &result) ? result : abtio_op_wait(&waiter);
}

int abtioi_source_get_nb(struct source *source, void **buf, abtio_deadline deadline, abtio_op **op)
{
    ssize_t result;

    if (!abtioi_is_begun())
        return -ENOTCONN;
    abtio_op *waiter = malloc(sizeof(*waiter));
    if (!waiter)
        return -ENOMEM;
    init_waiter(waiter, source, buf, deadline, true);
    *op = waiter;
    if (take_or_wait(source, waiter, &result))
        abtioi_op_deliver(waiter, result);
    return 0;
}

void abtioi_source_leave(abtio_op *waiter, int why)
{
    struct source *source = waiter->source;

    abtioi_assert(waiter->code == CODE_waiter && why < 0);
    pthread_mutex_lock(source->lock);
    bool left = take_waiter_out(source, waiter);
    pthread_mutex_unlock(source->lock);
    if (left)
        abtioi_op_deliver(waiter, why);
}

/* ---- Begin and end --------------------------------------------------------------------------------------------- */

void abtioi_source_init(struct source *source)
{
    abtioi_assert(source->kind && source->lock && source->enough > 0);
    source->armed = source->put_off = source->stopping = source->freeing = false;
    source->last = &source->first;
    source->first = NULL;
    source->last_result = &source->first_result;
    source->first_result = NULL;
    source->num = 0;
}

int abtioi_source_fini(struct source *source)
{
    pthread_mutex_lock(source->lock);
    bool busy = source->first, armed = source->armed;
    source->freeing = !busy;
    if (!busy && source->put_off)
        source->kind->forget(source);
    pthread_mutex_unlock(source->lock);
    if (busy)
        return -EBUSY;
    if (armed) {
        abtioi_cancel(&source->op);
        abtio_op_wait(&source->op);
    }
    abtioi_assert(!source->first && !source->armed);
    while (source->num > 0)
        source->kind->discard(source, pop_result(source));
    return 0;
}
