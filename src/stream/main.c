/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/main.h"

#include "base/assert.h"
#include "stream/blocking.h"
#include "stream/native.h"
#include "idle/driver.h"
#include "idle/idle.h"
#include "os/annotate.h"
#include "run/budget.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "pool/member.h"
#include "run/block.h"
#include "run/child.h"
#include "stream/events.h"
#include "stream/park.h"
#include "stream/xstream.h"
#include "sync/timer.h"

/*
 * Resumes a ULT that waited for a new scheduler. It does not count as blocked: in a pool of the old scheduler it would
 * keep that from ending. It is resumed on the ES where it asked.
 */
static void resume_waiter(abti_unit *waiter)
{
    abti_tool_event_resume(waiter);
    abti_assert(abti_unit_is_blocked(waiter));
    abti_store_relaxed(&waiter->state, ABT_THREAD_STATE_READY); /* relaxed: the push publishes it */
    abti_pool_push(waiter->pool, waiter, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

/*
 * `next` is the main scheduler in place of `old`, which is released. The pools of the old one may get another keeper.
 * The caller is the ES, or the ES is TERMINATED.
 */
static void install_main(abti_es *es, abti_sched *old, abti_sched *next)
{
    abti_unit_cold_get(es->main_unit)->sched = next;
    abti_es_set_served(es, next);
    for (int i = 0; i < old->num_pools; i++)
        abti_pool_drop_keeper(old->pools[i], es);
    abti_sched_release(old);
}

/*
 * Installs the scheduler that was asked for, if any, and lets the ULT that asked go on. seq_cst: the new scheduler is
 * complete before other threads find it by es->main_sched (request_join), and next->es is set before
 * abti_sched_request looks at it.
 */
static bool install_replacement(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->replace.lock);
    abti_sched *old = atomic_load(&es->main_sched), *next = es->replace.sched;
    abti_unit *waiter = es->replace.waiter;
    abti_assert(next || !waiter);
    es->replace.sched = NULL;
    es->replace.waiter = NULL;
    if (next) {
        atomic_store(&next->es, es);
        atomic_store(&es->main_sched, next);
    }
    abti_spin_unlock(&es->replace.lock);
    if (!next)
        return false;
    /*
     * A join that came before asked the old scheduler to finish; from now on a join asks the new one. seq_cst: pairs
     * with abti_es_notify and abti_sched_request.
     */
    if (atomic_load(&old->requests) & ABTI_SCHED_REQ_FINISH || atomic_load(&es->requests) & ABTI_ES_REQ_JOIN)
        abti_sched_request(next, ABTI_SCHED_REQ_FINISH);
    abti_sched_leave_pools(es, old); /* they may get another host */
    install_main(es, old, next);
    if (waiter)
        resume_waiter(waiter);
    return true;
}

/*
 * Whether the ES may end. One that was entered ends when the ULT of its native thread waits for that, as in
 * ABT_finalize. If it ended for another join, that ULT would have no stream.
 */
static bool may_finish(abti_es *es)
{
    /* acquire: pairs with the registration in abti_join_uncounted */
    return !es->is_entered || abti_load_acquire(&es->main_unit->join) != 0;
}

/* False: no unit is in a blocking region. */
static bool await_region(abti_es *es, abti_sched *sched)
{
    if (!abti_blocking_sleep(es, sched))
        return false;
    abti_es_check_events(es, sched);
    return true;
}

/* The ES does not end while units of its are in blocking regions, and it ends on its own native thread. */
static void await_regions(abti_es *es)
{
    /* seq_cst: of no use; the ES itself stores es->main_sched */
    while (await_region(es, atomic_load(&es->main_sched)))
        ;
    abti_assert(!abti_load_relaxed(&es->carried.is_away));
}

static void run_main_scheds(abti_es *es)
{
    abti_assert(es == abti_es_self && es->cur == es->main_unit && !es->parent);
    /*
     * The primary ULT may have handed a unit over when its scheduler had not run yet. seq_cst, below: es->main_sched
     * pairs with its store in abti_es_set_main_sched, es->requests with abti_es_notify.
     */
    if (es->picked)
        (void)abti_run_child(es, es->picked, NULL);
    for (;;) {
        abti_sched *sched = atomic_load(&es->main_sched);
        abti_budget_fill(es, sched->event_freq);
        abti_sched_enter_pools(es, sched);
        sched->ops->run(sched);
        for (int i = 0; i < sched->num_pools; i++)
            abti_parking_replace_lookout(sched->pools[i]);
        abti_assert(es == abti_es_self && es->cur == es->main_unit);
        if (install_replacement(es))
            continue;
        bool cancelled = (atomic_load(&es->requests) & ABTI_ES_REQ_CANCEL) != 0;
        /*
         * acquire: pairs with the read-modify-write in abti_sched_request. Its stores before are seen
         */
        bool finished = abti_load_acquire(&sched->requests) & ABTI_SCHED_REQ_FINISH && may_finish(es) &&
                        !abti_sched_has_work(sched);
        if (cancelled)
            await_regions(es);
        else if (finished && await_region(es, sched))
            continue;
        if ((cancelled || finished) && abti_timers_leave(es, cancelled))
            break;
    }
}

void abti_main_run(abti_es *es)
{
    jmp_buf exit;
    abti_assert(es == abti_es_self);
    es->parent = NULL;
    es->cur = NULL; /* nobody has run here before, as tools see it */
    es->tool.depth = 0;
    es->dsched = NULL;
    abti_observe_look(es);
    abti_set_running(es, es->main_unit);
    /* That of an ES that was entered counts as running since then. */
    if (!es->is_entered)
        abti_tool_event_run(es, es->main_unit, NULL);
    es->main_exit = &exit;
    if (setjmp(exit) == 0) {
        abti_drivers_serve(es);
        run_main_scheds(es);
    } else {
        /*
         * The scheduler was left from a callback of a driver. seq_cst: of no use; the ES itself stores es->main_sched.
         */
        abti_es_pass_wake(es, atomic_load(&es->main_sched));
        install_replacement(es); /* the new scheduler runs when the ES is revived, but nobody waits for that */
        abti_idle_leave_callee(es);
        await_regions(es);
        (void)abti_timers_leave(es, true);
    }
    abti_drivers_end(es);
    abti_sched_leave_pools(es, atomic_load(&es->main_sched)); /* seq_cst: of no use, as above */
    if (!es->is_entered)                                      /* there its ULT goes on first, see abti_es_end_entered */
        abti_tool_event_finish(es, es->main_unit);
}

void abti_main_leave(abti_es *es)
{
    abti_assert(es == abti_es_self && !es->is_entered && es->main_exit && es->cur == es->main_unit);
    abti_es_leave_park(es); /* as long as the frames are there in which it sleeps */
    es->seeking = NULL;     /* likewise: it is in the frame of the loop */
    abti_saved_drop(es);
    longjmp(*es->main_exit, 1);
}

void abti_main_run_entered(void)
{
    abti_es *es = abti_es_self;
    abti_assert(es && es->is_entered);
    es->has_begun = true;
    abti_annotate_arrival();
    /*
     * The ULT of the native thread waits for the first time. Nothing has run in place before, and if it waits for the
     * end, nothing will.
     */
    if (!may_finish(es))
        abti_native_measure(&es->native);
    abti_main_run(es);
    /* release: pairs with the acquire in abti_halt_is_still */
    abti_store_release(&es->state, ABT_XSTREAM_STATE_TERMINATED);
    abti_exit_to_entered(es);
}

/* --- Replacing the main scheduler --- */

/*
 * The ULT had asked for a scheduler whose place another one takes before it was installed. It goes along: the first
 * one's pools may be freed with it, and nobody would serve them. Where a user-defined pool refuses it, it stays.
 */
static void take_along(abti_unit *waiter, abti_sched *dropped, abti_sched *sched)
{
    if (abti_sched_uses(dropped, waiter->pool))
        (void)!abti_unit_associate(waiter, sched->pools[0]);
}

/* A second request before the first was served takes its place. */
static void request_replacement(abti_es *es, abti_sched *sched, abti_unit *waiter)
{
    abti_assert(sched && (!waiter || waiter->pool));
    abti_spin_lock(&es->replace.lock);
    abti_sched *dropped = es->replace.sched;
    abti_unit *dropped_waiter = es->replace.waiter;
    es->replace.sched = sched;
    es->replace.waiter = waiter;
    abti_spin_unlock(&es->replace.lock);
    if (dropped_waiter)
        take_along(dropped_waiter, dropped, sched);
    if (dropped)
        abti_sched_release(dropped);
    if (dropped_waiter)
        resume_waiter(dropped_waiter);
    /* seq_cst: pairs with the store of es->main_sched in install_replacement */
    abti_sched_request(atomic_load(&es->main_sched), ABTI_SCHED_REQ_REPLACE);
}

struct replace_arg {
    abti_es *es;
    abti_sched *sched;
    abti_unit *self;
};

static void after_replace(void *arg)
{
    struct replace_arg replace = *(struct replace_arg *)arg;
    /*
     * release: pairs with the acquires of the state, as in abti_after_suspend: a thread that sees BLOCKED sees the
     * saved context. The ULT is resumed by way of replace.lock only
     */
    abti_store_release(&replace.self->state, ABT_THREAD_STATE_BLOCKED);
    request_replacement(replace.es, replace.sched, replace.self);
}

int abti_es_set_main_sched(abti_es *es, abti_sched *sched)
{
    abti_assert(sched && abti_load_relaxed(&sched->use) == ABTI_SCHED_MAIN);
    abti_annotate_release(sched);
    /*
     * acquire: pairs with the release in es_thread (stream/xstream.c). seq_cst: the scheduler is complete before other
     * threads find it by es->main_sched (request_join); its `es` pairs with abti_sched_request
     */
    if (abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED) {
        abti_sched *old = atomic_load(&es->main_sched);
        atomic_store(&sched->es, es);
        abti_spin_lock(&es->replace.lock); /* the holder of the lock may look into the present one */
        atomic_store(&es->main_sched, sched);
        abti_spin_unlock(&es->replace.lock);
        install_main(es, old, sched);
        return ABT_SUCCESS;
    }
    abti_assert(es == abti_es_self);
    abti_unit *self = es->cur;
    /*
     * The ULT that waits is not counted as blocked. A stacked scheduler below it has to end, and its pools may go with
     * it, before the main one can. seq_cst: of no use; the ES itself stores es->main_sched
     */
    bool is_stacked = es->parent && es->parent->flags & ABTI_UNIT_SCHED;
    if (is_stacked || abti_sched_uses(atomic_load(&es->main_sched), self->pool)) {
        abti_assert(sched->num_pools > 0);
        int code = abti_unit_associate(self, sched->pools[0]);
        if (code != ABT_SUCCESS)
            return code;
    }
    if (!es->parent) {
        /* The main scheduler's own ULT asks. It cannot wait for itself to return. */
        request_replacement(es, sched, NULL);
        return ABT_SUCCESS;
    }
    struct replace_arg arg = {es, sched, self};
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_OTHER, NULL);
    abti_wait_for(self, NULL);
    return abti_leave_to(es, self, abti_pick_next(es, NULL), after_replace, &arg);
}
