/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/waiter.h"

#include <sched.h>
#include "base/assert.h"
#include "run/sched.h"
#include "run/block.h"
#include "run/cancel.h"
#include "sync/timer.h"
#include "wait/external.h"
#include "wait/native.h"
#include "wait/word.h"

void abti_waiter_init(struct abti_waiter *w, ABT_sync_event_type reason, const void *object)
{
    abti_es *es = abti_es_self;
    w->unit = es && es->parent && !abti_unit_is_tasklet(es->cur) ? es->cur : NULL;
    if (!w->unit)
        abti_external_note();
    /* A migration calls the user's callback, which must not happen later, under the object's lock. */
    if (w->unit && abti_has_requests(w->unit))
        abti_serve_migration(w->unit);
    w->object = object;
    w->reason = reason;
    atomic_init(&w->word, ABTI_AWAKE);
    atomic_init(&w->claim, ABTI_CLAIM_NONE);
}

static void after_park(void *arg)
{
    struct abti_waiter *w = arg;
    struct abti_spin *lock = w->lock; /* the waiter is stored on the stack that was left, and may be freed after the
                                         unlock */
    struct abti_waiter *other = w->other;
    /* release: as in abti_after_suspend */
    abti_store_release(&w->unit->state, ABT_THREAD_STATE_BLOCKED);
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake_list(other);
}

/*
 * Is called when the ULT has left its stack: from now on its waker may resume it. A waker that was faster has left that
 * to us.
 */
static void after_await(void *arg)
{
    struct abti_waiter *w = arg;
    abti_unit *ult = w->ult;
    uint32_t awake = ABTI_AWAKE;
    abti_store_release(&ult->state, ABT_THREAD_STATE_BLOCKED); /* release: as in abti_after_suspend */
    /*
     * release: publishes the saved context to the exchange in abti_waiter_wake. acquire: pairs with the release of that
     * exchange
     */
    if (!abti_cas_acq_rel(&w->word, &awake, ABTI_ASLEEP))
        abti_unblock(ult, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

/*
 * Blocks the ULT until it is woken, by its timer at the latest. It is not cancelled while others know of its frame: the
 * canceller makes the timer fire instead (abti_timers_recheck). seq_cst: `held` and the read of the requests pair with
 * those in ABT_thread_cancel. relaxed: when the ULT runs again, its own stream looks at `held`.
 */
static void block_until(struct abti_waiter *w, uint64_t deadline_ns)
{
    struct abti_timer timer;
    abti_unit *ult = w->ult;
    /* Until it runs again. seq_cst, as the read of the requests: pairs with the canceller, see abti_timers_recheck */
    atomic_store(&ult->held, 1);
    abti_timer_arm(abti_es_self, &timer, w, deadline_ns, NULL);
    if (!(atomic_load(&ult->requests) & ABTI_REQ_CANCEL) || !abti_waiter_give_up(w)) {
        abti_tool_event_suspend(abti_es_self, w->reason, w->object);
        w->deadline_ns = deadline_ns;
        abti_wait_for(ult, w);
        abti_block(abti_es_self, ult, after_await, w);
    }
    abti_store_relaxed(&ult->held, 0); /* relaxed: a canceller that sees it late finds nothing */
    abti_timer_disarm(&timer);
}

static bool has_nobody(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (!abti_pool_is_empty(sched->pools[i]))
            return false;
    }
    return true;
}

/*
 * Returns the unit to run when the ULT leaves; NULL: the one that is picked. `other` would be pushed to the very pool
 * that this one is served from. If no other unit is in the scheduler's pools, so that it would run next, it need
 * not be pushed, nor counted: one of the pool's ULTs is blocked in place of the other. relaxed: queries may see the
 * state late.
 */
ABTI_INLINE abti_unit *take_other(abti_es *es, abti_pool *pool, const struct abti_waiter *other)
{
    abti_unit *unit = other ? other->unit : NULL;
    abti_sched *sched = es->dsched;
    if (!unit || other->next || unit->pool != pool || !sched || sched->front != pool || !has_nobody(sched) ||
        !abti_may_pick(es))
        return NULL;
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY); /* relaxed: it runs here next */
    return unit;
}

/* The wait begins. */
ABTI_INLINE void begin_wait(abti_es *es, struct abti_waiter *w)
{
    if (abti_switch_is_slow(es)) {
        abti_tool_event_suspend(es, w->reason, w->object);
        abti_wait_for(w->unit, w);
    } else {
        abti_unit_wait_for(w->unit, w);
    }
}

/*
 * It is called, not inlined: a resumed ULT then returns by as many returns as there were calls, which the CPU predicts.
 * Inlined, a wait for a condition in a shared pool took 1.3 times as long.
 */
static ABTI_NOINLINE void park_ult(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other)
{
    abti_es *es = abti_es_self;
    abti_assert(w->unit == es->cur);
    begin_wait(es, w);
    abti_unit *next = take_other(es, w->unit->pool, other);
    w->lock = lock;
    w->other = next ? NULL : other;
    /* These are tail calls, so that the ULT goes on in our caller. */
    if (next)
        abti_leave_to(es, w->unit, next, after_park, w);
    else
        abti_block(es, w->unit, after_park, w);
}

void abti_waiter_park(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other)
{
    abti_assert(abti_load_relaxed(&lock->word) == 1); /* it is held */
    if (ABTI_LIKELY(w->unit != NULL)) {
        park_ult(w, lock, other);
        return;
    }
    w->ult = NULL;
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake_list(other);
    abti_native_wait(&w->word, ABTI_CLOCK_NEVER);
}

void abti_waiter_park_to(struct abti_waiter *w, struct abti_spin *lock, abti_unit *next)
{
    abti_es *es = abti_es_self;
    abti_assert(w->unit == es->cur && next);
    abti_assert(abti_load_relaxed(&lock->word) == 1); /* it is held */
    begin_wait(es, w);
    w->lock = lock;
    w->other = NULL;
    abti_block_to(es, w->unit, next, after_park, w);
}

void abti_waiter_open(struct abti_waiter *w)
{
    w->ult = w->unit;
    w->unit = NULL;
    /* relaxed: the lock, under which the waiter or a branch of it is queued and found, orders it */
    abti_store_relaxed(&w->claim, ABTI_CLAIM_OPEN);
}

void abti_branch_init(struct abti_branch *branch, struct abti_waiter *trunk)
{
    branch->base.next = NULL;
    branch->base.unit = NULL;
    atomic_init(&branch->base.claim, ABTI_CLAIM_BRANCH);
    branch->trunk = trunk;
}

bool abti_waiter_give_up(struct abti_waiter *w)
{
    /* It is open, or was: a waker was faster, or a cancelled ULT itself and the stream that looks at its timer meet. */
    abti_assert(abti_load_relaxed(&w->claim) != ABTI_CLAIM_NONE && abti_load_relaxed(&w->claim) != ABTI_CLAIM_BRANCH);
    uint32_t open = ABTI_CLAIM_OPEN;
    /*
     * acquire and release: of no use, as the word decides only which thread ends the wait, this one or that in
     * abti_waiter_claim_trunk; `word` orders the rest
     */
    return abti_cas_acq_rel(&w->claim, &open, ABTI_CLAIM_OVER);
}

struct abti_waiter *abti_waiter_claim_trunk(struct abti_waiter *w)
{
    /* relaxed: it is a branch from the beginning, or never */
    bool branch = abti_load_relaxed(&w->claim) == ABTI_CLAIM_BRANCH;
    struct abti_waiter *trunk = branch ? ABTI_CONTAINER_OF(w, struct abti_branch, base)->trunk : w;
    uint32_t open = ABTI_CLAIM_OPEN;
    /* acquire and release: of no use, as in abti_waiter_give_up; another branch may claim the trunk, too */
    if (!abti_cas_acq_rel(&trunk->claim, &open, ABTI_CLAIM_TAKEN))
        return NULL;
    trunk->prev = w;
    return trunk;
}

bool abti_waiter_await(struct abti_waiter *w, uint64_t deadline_ns)
{
    if (deadline_ns == 0 && abti_waiter_give_up(w))
        return false;
    if (w->ult)
        block_until(w, deadline_ns);
    else if (!abti_native_wait(&w->word, deadline_ns) && !abti_waiter_give_up(w))
        abti_native_wait(&w->word,
                         ABTI_CLOCK_NEVER); /* a waker was faster, and is on its way from the claim to the wake */
    /* relaxed: the claim is ours, or the wake came after it */
    return abti_load_relaxed(&w->claim) == ABTI_CLAIM_TAKEN;
}

bool abti_waiter_park_until(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other,
                            uint64_t deadline_ns)
{
    abti_assert(abti_load_relaxed(&lock->word) == 1); /* it is held */
    abti_waiter_open(w);
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake_list(other);
    return abti_waiter_await(w, deadline_ns);
}

void abti_waiter_finish(struct abti_waiter *w)
{
    if (w->ult && abti_has_requests(w->ult))
        abti_cancel_serve(w->ult);
}

void abti_waiter_wake(struct abti_waiter *w)
{
    if (ABTI_LIKELY(w->unit != NULL)) {
        abti_unblock(w->unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
        return;
    }
    abti_external_note();
    abti_unit *ult = w->ult; /* a native thread may go on with the exchange, and the waiter with it */
    /*
     * release: pairs with the acquires in abti_native_is_woken and after_await. acquire: pairs with the release in
     * after_await, whose saved context is resumed
     */
    if (abti_exchange_acq_rel(&w->word, ABTI_WOKEN) != ABTI_ASLEEP)
        return;
    if (ult)
        abti_unblock(ult, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    else
        abti_word_wake(&w->word);
}

void abti_waiter_wake_all(struct abti_waiter *first)
{
    if (first && !first->next) { /* most often */
        abti_waiter_wake(first);
        return;
    }
    struct abti_queue units;
    abti_queue_init(&units);
    for (struct abti_waiter *w = first, *next; w; w = next) {
        next = w->next;
        if (ABTI_LIKELY(w->unit != NULL))
            abti_unblock_later(w->unit, &units);
        else
            abti_waiter_wake(w);
    }
    if (!abti_queue_is_empty(&units))
        abti_pool_push_all_unblocked(&units);
}
