/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/blocking.h"

#include <errno.h>
#include "base/assert.h"
#include "stream/carrier.h"
#include "stream/native.h"
#include "idle/driver.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "run/block.h"
#include "run/child.h"
#include "run/parent.h"
#include "stream/events.h"
#include "sync/timer.h"
#include "unit/saved.h"
#include "wait/threadword.h"

/* The region of the native thread. */
struct region {
    bool inside;
    abti_es *es;                  /* the stream waits in it; NULL: it does not */
    struct abti_carrier *carrier; /* the thread's, which has handed its stream over; NULL: it has not */
};

/* It is one pointer in the thread's word, and these bits. */
enum { REGION_INSIDE = 1, REGION_CARRIER = 2, REGION_BITS = 3 };

static struct region region_here(void)
{
    uintptr_t word = (uintptr_t)abti_thread_word(ABTI_THREAD_REGION);
    struct region region = {.inside = word & REGION_INSIDE};
    if (word & REGION_CARRIER)
        region.carrier = (struct abti_carrier *)(word & ~(uintptr_t)REGION_BITS);
    else
        region.es = (abti_es *)(word & ~(uintptr_t)REGION_BITS);
    return region;
}

/* False when there is no memory: in the first region of the thread, and in no later one. */
static bool region_set(struct region region)
{
    uintptr_t word = region.carrier ? (uintptr_t)region.carrier | REGION_CARRIER : (uintptr_t)region.es;
    return abti_thread_set_word(ABTI_THREAD_REGION, (void *)(word | (region.inside ? REGION_INSIDE : 0)));
}

/* --- The ULT --- */

/*
 * Drivers may have made what belongs to the native thread. A unit with no parent is a main scheduler, and one in a
 * callee of the stream is called by a scheduler: there is nobody to go on.
 */
static bool may_hand_over(abti_es *es)
{
    return es->parent && !abti_unit_is_tasklet(es->cur) && !abti_is_in_callee(es) && !abti_drivers_are_bound(es);
}

static void hand_over(abti_es *es, struct abti_carrier *to)
{
    abti_unit *self = es->cur;
    struct abti_carrier *from = es->carried.crew->now;
    abti_assert(!es->picked && !from->unit);
    if (es->is_entered && from == &es->carried.crew->own)
        abti_native_measure(&es->native); /* before another thread runs its main scheduler for the first time */
    from->unit = self;
    from->hooks = es->hooks;
    if (from->hooks)
        abti_hooks_leave(es);
    abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_OTHER, NULL);
    abti_pool_count_entered(es, self->pool);
    abti_wait_for(self, NULL);
    self->ctx = NULL; /* it is nowhere for tools to look at */
    /* release: pairs with the acquire in abti_unit_state, after which the context is looked at */
    abti_store_release(&self->state, ABT_THREAD_STATE_BLOCKED);
    es->carried.crew->num_away++;
    es->cur = es->parent;
    (void)region_set((struct region){.inside = true, .carrier = from});
    abti_carrier_give(from, to);
}

int abti_blocking_begin(void)
{
    abti_es *es = abti_es_self;
    if (region_here().inside)
        return ABT_ERR_INV_THREAD;
    if (!region_set((struct region){.inside = true}))
        return ABT_ERR_MEM;
    struct abti_carrier *spare = es && may_hand_over(es) ? abti_carrier_spare(es) : NULL;
    if (spare) {
        hand_over(es, spare);
    } else {
        (void)region_set((struct region){.inside = true, .es = es});
        abti_es_self = NULL;
    }
    return ABT_SUCCESS;
}

static void region_come_back(struct abti_carrier *c)
{
    abti_es *es = c->es;
    struct abti_crew *crew = es->carried.crew;
    abti_tool_event_resume(c->unit);
    abti_spin_lock(&crew->lock);
    c->next = NULL;
    *crew->return_tail = c;
    crew->return_tail = &c->next;
    abti_spin_unlock(&crew->lock);
    abti_es_notify(es, ABTI_ES_REQ_RETURN);
    abti_carrier_return(c);
    abti_assert(es->cur && !c->unit);
    abti_tool_event_run(es, es->cur, NULL);
    if (c->hooks)
        abti_hooks_back(c->hooks);
}

int abti_blocking_end(void)
{
    int saved_errno = errno; /* of the call for which the region was */
    struct region region = region_here();
    if (!region.inside)
        return ABT_ERR_INV_THREAD;
    (void)region_set((struct region){.inside = false});
    if (region.carrier)
        region_come_back(region.carrier);
    else if (region.es)
        abti_es_self = region.es;
    errno = saved_errno;
    return ABT_SUCCESS;
}

abti_unit *abti_blocking_unit(abti_es **es)
{
    struct region region = region_here();
    if (!region.inside)
        return NULL;
    *es = region.carrier ? region.carrier->es : region.es;
    return region.carrier ? region.carrier->unit : region.es ? region.es->cur : NULL;
}

void abti_blocking_remove_hooks(ABTX_switch_link *link)
{
    struct region region = region_here();
    abti_assert(region.inside && (region.carrier || region.es));
    if (region.carrier) {
        (void)abti_hooks_remove(&region.carrier->hooks, link);
        return;
    }
    abti_es_self = region.es; /* for a moment: the stream waits here */
    abti_hooks_take(region.es, link);
    abti_es_self = NULL;
}

/* --- The stream --- */

static struct abti_carrier *take_returning(abti_es *es)
{
    struct abti_crew *crew = es->carried.crew;
    /* seq_cst: pairs with abti_es_notify; the read of the list comes after this */
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_RETURN);
    abti_spin_lock(&crew->lock);
    struct abti_carrier *first = crew->returning;
    crew->returning = NULL;
    crew->return_tail = &crew->returning;
    abti_spin_unlock(&crew->lock);
    return first;
}

/*
 * Runs the unit of a carrier as a child of the calling ULT, on the carrier's thread, until the unit leaves the stream.
 * If no scheduler of its pool runs here, the unit stays counted as blocked until then, see abti_is_served_below.
 */
static void run_returned(abti_es *es, struct abti_carrier *c)
{
    abti_unit *self = es->cur, *unit = c->unit;
    abti_pool *pool = unit->pool;
    bool is_served = abti_is_served_below(es, self, pool);
    struct abti_dispatch_scope scope;
    c->unit = NULL;
    es->carried.crew->num_away--;
    if (is_served)
        abti_pool_count_left(es, pool, 1);
    abti_dispatch_enter(&scope, es, NULL);
    abti_budget_count_left(es);
    abti_set_running(es, unit);
    abti_carrier_switch(es, self, c);
    es->cur = self;
    abti_dispatch_leave(&scope);
    if (!is_served)
        abti_pool_count_left(es, pool, 1);
    if (es->picked)
        (void)abti_run_child(es, es->picked, NULL);
}

void abti_blocking_serve(abti_es *es)
{
    abti_assert(es == abti_es_self);
    if (abti_unit_is_tasklet(es->cur) || abti_is_in_callee(es))
        return; /* it cannot give the stream away, and will be asked again */
    struct abti_crew *crew = es->carried.crew;
    es->seeking = NULL;
    abti_carrier_follow(es);
    for (struct abti_carrier *c = take_returning(es), *next; c; c = next) {
        next = c->next; /* the unit may soon return from another region */
        run_returned(es, c);
    }
    if (crew->now != &crew->own && !crew->own.unit)
        abti_carrier_switch(es, es->cur, &crew->own);
}

bool abti_blocking_sleep(abti_es *es, abti_sched *sched)
{
    if (!es->carried.crew || es->carried.crew->num_away == 0)
        return false;
    abti_sleeper_prepare(&es->sleeper);
    if (abti_es_is_asked(es, sched))
        (void)abti_sleeper_cancel(&es->sleeper);
    else
        (void)abti_sleeper_sleep(&es->sleeper, abti_timer_next(es));
    return true;
}

/* --- The child of a fork --- */

bool abti_blocking_is_inside(void)
{
    return region_here().inside;
}

bool abti_blocking_is_used(abti_es *es)
{
    return es->carried.crew && (es->carried.crew->num_away > 0 || es->carried.crew->now != &es->carried.crew->own);
}

abti_unit *abti_blocking_forget(void)
{
    abti_es *es;
    abti_unit *unit = abti_blocking_unit(&es);
    (void)region_set((struct region){.inside = region_here().inside});
    return unit;
}
