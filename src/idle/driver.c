/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/driver.h"

#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/rt.h"
#include "run/cancel.h"
#include "run/yield.h"
#include "unit/ledger.h"
#include "idle/idle.h"
#include "idle/leader.h"

static ABTX_driver drivers[ABTX_MAX_DRIVERS]; /* rt.lock: by index */

/* Returns NULL if it is not attached. The lock of the ES's callees is held, as in all functions below named *_locked.
 */
static struct abti_callee *callee_of_locked(struct abti_idle *idle, ABTX_driver driver)
{
    struct abti_callee *c = idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock));
    while (c && c->driver != driver)
        c = c->next;
    return c;
}

/* --- What the ES does --- */

static void leave_locked(abti_es *es, struct abti_callee *c)
{
    abti_assert(abti_spin_is_mine(&es->idle->lock) && c->state != CALLEE_ON);
    _Atomic(uint32_t) *gone = c->gone;
    abti_callee_take_out(es->idle, c);
    abti_callees_update(es);
    free(c);
    /* release: pairs with the acquire in await_end. The thread that waits there may free the driver then */
    if (gone)
        abti_store_release(gone, 1);
}

/* The lock is released around the callback. Meanwhile the callee is `called`, so that nobody is called inside of it. */
static struct abti_callee *enter_callback_locked(struct abti_idle *idle, struct abti_callee *c)
{
    abti_assert(abti_spin_is_mine(&idle->lock));
    struct abti_callee *outer = idle->called;
    idle->called = c;
    abti_spin_unlock(&idle->lock);
    abti_annotate_acquire(idle); /* the thread that has attached it has released that */
    return outer;
}

static void leave_callback_locked(struct abti_idle *idle, struct abti_callee *outer)
{
    abti_annotate_release(&idle->called);
    abti_spin_lock(&idle->lock);
    abti_assert(idle->called);
    idle->called = outer;
}

/* Returns what start has returned. When that is an error the driver is not attached any more. */
static int start_driver_locked(abti_es *es, struct abti_callee *c)
{
    struct abti_idle *idle = es->idle;
    ABTX_driver driver = c->driver;
    abti_assert(es == abti_es_self && c->state == CALLEE_COMING);
    c->state = CALLEE_STARTING;
    struct abti_callee *outer = enter_callback_locked(idle, c);
    void *data = driver->arg;
    int code = driver->ops.wait ? abti_idle_need_fd(idle) : ABT_SUCCESS;
    if (code == ABT_SUCCESS && driver->ops.start)
        code = driver->ops.start(driver->arg, &data);
    leave_callback_locked(idle, outer);
    if (code != ABT_SUCCESS) {
        leave_locked(es, c);
        return code;
    }
    c->arg = data;
    c->state = CALLEE_ON;
    idle->data[driver->index] = data;
    abti_callees_update_own(es);
    return ABT_SUCCESS;
}

/* Leaves the driver CALLEE_COMING, as before its start. */
static void end_driver_locked(abti_es *es, struct abti_callee *c)
{
    struct abti_idle *idle = es->idle;
    ABTX_driver driver = c->driver;
    abti_assert(es == abti_es_self && c->state == CALLEE_ON);
    c->state = CALLEE_ENDING;
    abti_leader_resign(es, c);
    abti_callees_update_own(es);
    struct abti_callee *outer = enter_callback_locked(idle, c);
    if (driver->ops.end)
        driver->ops.end(c->arg);
    leave_callback_locked(idle, outer);
    idle->data[driver->index] = NULL;
    c->state = CALLEE_COMING;
}

/* Returns one of which something is asked. */
static struct abti_callee *next_change_locked(abti_es *es)
{
    struct abti_callee *c = es->idle->callees;
    while (c &&
           !(abti_idle_may_call(es, c->driver) && (c->state == CALLEE_COMING || (c->state == CALLEE_ON && c->removed))))
        c = c->next;
    return c;
}

static void driver_serve(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    struct abti_callee *c;
    abti_spin_lock(&idle->lock);
    while (!idle->called && (c = next_change_locked(es)) != NULL) {
        if (c->state == CALLEE_COMING) {
            (void)start_driver_locked(es, c);
        } else {
            end_driver_locked(es, c);
            leave_locked(es, c);
        }
    }
    abti_spin_unlock(&idle->lock);
}

void abti_drivers_serve(abti_es *es)
{
    abti_assert(es == abti_es_self);
    /* relaxed: the thread that asks for a change asks for a check then, after which it is seen */
    if (ABTI_UNLIKELY(abti_load_relaxed(&es->idle->changes)))
        driver_serve(es);
}

bool abti_drivers_are_bound(abti_es *es)
{
    abti_spin_lock(&es->idle->lock);
    struct abti_callee *c = es->idle->callees;
    while (c && c->driver->ops.any_thread)
        c = c->next;
    abti_spin_unlock(&es->idle->lock);
    return c != NULL;
}

bool abti_drivers_have_begun(abti_es *es)
{
    abti_spin_lock(&es->idle->lock);
    struct abti_callee *c = es->idle->callees;
    while (c && c->state == CALLEE_COMING)
        c = c->next;
    abti_spin_unlock(&es->idle->lock);
    return c != NULL;
}

void abti_drivers_end(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    abti_spin_lock(&idle->lock);
    for (;;) {
        struct abti_callee *last = NULL;
        for (struct abti_callee *c = idle->callees; c; c = c->next)
            last = c->state == CALLEE_ON ? c : last;
        if (!last)
            break;
        end_driver_locked(es, last);
        if (last->removed)
            leave_locked(es, last);
    }
    abti_callees_update(es);
    abti_spin_unlock(&idle->lock);
}

/* --- Attaching --- */

static void add_locked(abti_es *es, struct abti_callee *c, ABTX_driver driver)
{
    abti_assert(abti_spin_is_mine(&es->idle->lock) && !c->driver);
    c->driver = driver;
    c->period_ns = abti_load_relaxed(&driver->period_ns); /* relaxed: it is a setting */
    c->state = CALLEE_COMING;
    abti_annotate_release(es->idle);
    abti_callee_add(es->idle, c);
    abti_callees_update(es);
}

/* Adds *new, and takes it; or starts what has been added before and waits for its own ES, the caller. */
static int attach_locked(abti_es *es, ABTX_driver driver, struct abti_callee **new)
{
    abti_assert(abti_spin_is_mine(&es->idle->lock) && *new);
    struct abti_callee *c = callee_of_locked(es->idle, driver);
    bool is_mine = es == abti_es_self;
    if (c && !(is_mine && c->state == CALLEE_COMING))
        return ABT_ERR_INV_ARG;
    if (is_mine && !abti_idle_may_call(es, driver))
        return ABT_ERR_INV_XSTREAM;
    if (!c) {
        c = *new;
        *new = NULL;
        add_locked(es, c, driver);
    }
    return is_mine ? start_driver_locked(es, c) : ABT_SUCCESS;
}

int abti_driver_attach(ABTX_driver driver, abti_es *es)
{
    int code = driver->ops.wait ? abti_idle_need_fd(es->idle) : ABT_SUCCESS;
    if (code != ABT_SUCCESS)
        return code;
    struct abti_callee *new = abti_callee_new();
    if (!new)
        return ABT_ERR_MEM;
    abti_spin_lock(&es->idle->lock);
    code = attach_locked(es, driver, &new);
    abti_spin_unlock(&es->idle->lock);
    free(new);
    if (code == ABT_SUCCESS && es != abti_es_self)
        abti_es_notify(es, ABTI_ES_REQ_CHECK);
    return code;
}

static void set_everywhere(ABTX_driver driver, bool everywhere)
{
    abti_spin_lock(&abti_rt.lock);
    driver->everywhere = everywhere;
    abti_spin_unlock(&abti_rt.lock);
}

/* Adds *new, and takes it, to an ES that has not got the driver. False: there is no such ES. */
static bool add_to_one(ABTX_driver driver, struct abti_callee **new)
{
    bool added = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !added; es = es->next) {
        abti_spin_lock(&es->idle->lock);
        added = !callee_of_locked(es->idle, driver);
        if (added)
            add_locked(es, *new, driver);
        abti_spin_unlock(&es->idle->lock);
        if (added)
            abti_es_notify(es, ABTI_ES_REQ_CHECK);
    }
    abti_spin_unlock(&abti_rt.lock);
    if (added)
        *new = NULL;
    return added;
}

static void detach_all(ABTX_driver driver);

/*
 * A stream enters rt.xstreams first and looks then at which drivers are to be everywhere (abti_drivers_enter); here the
 * driver is first made such a one, and the list is looked at then. So each stream gets it from one of the two.
 */
static int attach_all(ABTX_driver driver)
{
    struct abti_callee *new;
    set_everywhere(driver, true);
    while ((new = abti_callee_new()) != NULL && add_to_one(driver, &new))
        ;
    if (!new) {
        set_everywhere(driver, false);
        detach_all(driver);
        return ABT_ERR_MEM;
    }
    free(new);
    if (abti_es_self)
        abti_drivers_serve(abti_es_self);
    return ABT_SUCCESS;
}

int abti_driver_attach_all(ABTX_driver driver)
{
    bool before = abti_cancel_put_off();
    int code = attach_all(driver);
    abti_cancel_allow(before);
    return code;
}

/*
 * Returns a driver that is to be everywhere, and that the ES has not got; NULL: none. Adds *new for it and takes that,
 * unless `new` is NULL.
 */
static ABTX_driver add_missing(abti_es *es, struct abti_callee **new)
{
    ABTX_driver missing = NULL;
    abti_spin_lock(&abti_rt.lock);
    abti_spin_lock(&es->idle->lock);
    for (int i = 0; i < ABTX_MAX_DRIVERS && !missing; i++) {
        if (drivers[i] && drivers[i]->everywhere && !callee_of_locked(es->idle, drivers[i]))
            missing = drivers[i];
    }
    if (missing && new) {
        add_locked(es, *new, missing);
        *new = NULL;
    }
    abti_spin_unlock(&es->idle->lock);
    abti_spin_unlock(&abti_rt.lock);
    return missing;
}

int abti_drivers_enter(abti_es *es)
{
    while (add_missing(es, NULL)) {
        struct abti_callee *new = abti_callee_new();
        if (!new)
            return ABT_ERR_MEM;
        add_missing(es, &new);
        free(new);
    }
    return ABT_SUCCESS;
}

/* --- Detaching --- */

bool abti_is_in_callee(abti_es *es)
{
    return es && es->idle->called;
}

/*
 * Waits until the driver's end has returned on another ES. A ULT lets others of its ES run meanwhile; in any case what
 * is asked of the drivers here is done, so that two streams may detach something from each other at the same time. The
 * ULT does not end before: `gone` is stored on its stack.
 */
static void await_end(_Atomic(uint32_t) *gone)
{
    bool before = abti_cancel_put_off();
    /* acquire: pairs with the release in leave_locked */
    for (unsigned step = 0; !abti_load_acquire(gone); step++) {
        abti_es *self = abti_es_self;
        if (self && self->parent && !abti_unit_is_tasklet(self->cur))
            abti_yield_slow(self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
        else if (self)
            abti_drivers_serve(self);
        abti_backoff(step);
    }
    abti_cancel_allow(before);
}

/* What is not the caller's to end is only asked to be ended. True: *gone will tell when that is done. */
static bool detach_locked(abti_es *es, struct abti_callee *c, _Atomic(uint32_t) *gone)
{
    struct abti_idle *idle = es->idle;
    bool is_mine = es == abti_es_self;
    abti_assert(abti_spin_is_mine(&idle->lock) && !c->removed);
    if (c->state == CALLEE_COMING) { /* also when the ES has ended */
        leave_locked(es, c);
        return false;
    }
    if (is_mine && c->state == CALLEE_ON && !idle->called && abti_idle_may_call(es, c->driver)) {
        end_driver_locked(es, c);
        leave_locked(es, c);
        return false;
    }
    c->removed = true;
    c->gone = is_mine ? NULL : gone; /* the ES itself ends it after the callback, or when it is back */
    abti_callees_update(es);
    return !is_mine;
}

int abti_driver_detach(ABTX_driver driver, abti_es *es)
{
    _Atomic(uint32_t) gone = 0;
    bool waits = false;
    abti_spin_lock(&es->idle->lock);
    struct abti_callee *c = callee_of_locked(es->idle, driver);
    bool is_there = c && !c->removed;
    if (is_there)
        waits = detach_locked(es, c, &gone);
    abti_spin_unlock(&es->idle->lock);
    if (waits) {
        abti_es_notify(es, ABTI_ES_REQ_CHECK);
        await_end(&gone);
        abti_annotate_acquire(&es->idle->called);
    }
    return is_there ? ABT_SUCCESS : ABT_ERR_INV_ARG;
}

/*
 * Detaches it from an ES that is not the caller, or does nothing if somebody else is about to. Returns an ES that has
 * had it; NULL: none has. *waits: *gone will tell when it is done.
 */
static abti_es *detach_from_one(ABTX_driver driver, _Atomic(uint32_t) *gone, bool *waits)
{
    struct abti_callee *c = NULL;
    abti_spin_lock(&abti_rt.lock);
    abti_es *es = abti_rt.xstreams;
    for (; es; es = es->next) {
        abti_spin_lock(&es->idle->lock);
        c = callee_of_locked(es->idle, driver);
        *waits = c && !c->removed && es != abti_es_self && detach_locked(es, c, gone);
        abti_spin_unlock(&es->idle->lock);
        if (c)
            break;
    }
    if (*waits)
        abti_es_notify(es, ABTI_ES_REQ_CHECK);
    abti_spin_unlock(&abti_rt.lock);
    return es;
}

static void detach_all(ABTX_driver driver)
{
    for (unsigned step = 0;; step++) {
        _Atomic(uint32_t) gone = 0;
        bool waits = false;
        abti_es *es = detach_from_one(driver, &gone, &waits);
        if (!es)
            return;
        if (waits) {
            await_end(&gone);
        } else if (es == abti_es_self) {
            if (abti_driver_detach(driver, es) != ABT_SUCCESS)
                abti_drivers_serve(es); /* somebody else wants it to be detached here */
        } else {
            abti_backoff(step);
        }
    }
}

void abti_drivers_forget(void)
{
    for (int i = 0; i < ABTX_MAX_DRIVERS; i++) {
        if (drivers[i])
            abti_store_relaxed(&drivers[i]->leader, 0);
    }
}

/* --- What libraries ask for --- */

/*
 * The ES that calls finds the new time when it next sleeps. Others that sleep are woken if theirs has become shorter,
 * or if it has not counted so far.
 */
void abti_driver_set_max_sleep(ABTX_driver driver, uint64_t ns)
{
    bool adjusts = abti_load_relaxed(&driver->adjusts);         /* relaxed: they are settings */
    uint64_t before = abti_load_relaxed(&driver->max_sleep_ns); /* relaxed: likewise */
    abti_store_relaxed(&driver->max_sleep_ns, ns);              /* relaxed: the lock or the request publishes it */
    if (adjusts && ns >= before)
        return;
    abti_store_relaxed(&driver->adjusts, true); /* relaxed: as above */
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        abti_spin_lock(&es->idle->lock);
        bool has = callee_of_locked(es->idle, driver) != NULL;
        if (has)
            abti_callees_update(es);
        abti_spin_unlock(&es->idle->lock);
        if (has && es != abti_es_self)
            abti_es_notify(es, ABTI_ES_REQ_CHECK);
    }
    abti_spin_unlock(&abti_rt.lock);
}

int abti_driver_poll_now(abti_es *es, ABTX_driver driver, ABT_bool *found)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    abti_spin_lock(&idle->lock);
    struct abti_callee *c = callee_of_locked(idle, driver);
    bool may = c && c->state == CALLEE_ON && driver->ops.poll;
    *found =
        may && !idle->called && abti_idle_may_call(es, driver) && abti_idle_poll_locked(es, c) ? ABT_TRUE : ABT_FALSE;
    abti_spin_unlock(&idle->lock);
    return may ? ABT_SUCCESS : ABT_ERR_INV_ARG;
}

int abti_driver_lead(abti_es *es, ABTX_driver driver)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->lock);
    struct abti_callee *c = callee_of_locked(es->idle, driver);
    bool may = c && c->state == CALLEE_ON && driver->ops.one_leader;
    uint32_t calling = may ? abti_leader_claim(es, c) : 0;
    abti_spin_unlock(&es->idle->lock);
    if (!may)
        return ABT_ERR_INV_ARG;
    if (calling == 0)
        return ABT_SUCCESS;
    abti_spin_lock(&abti_rt.lock);
    abti_es *leader = abti_load_relaxed(&abti_rt.by_index[calling]); /* relaxed: the lock is held */
    if (leader)
        abti_es_notify(leader, ABTI_ES_REQ_CHECK);
    abti_spin_unlock(&abti_rt.lock);
    return ABT_SUCCESS;
}

/* --- Making --- */

int abti_driver_create(const ABTX_driver_ops *ops, void *arg, ABTX_driver *driver)
{
    ABTX_driver new = malloc(sizeof(*new));
    if (!new)
        return ABT_ERR_MEM;
    *new = (struct ABTX_driver_opaque){.ops = *ops, .arg = arg};
    abti_store_relaxed(&new->period_ns, ABTI_CLOCK_NEVER); /* relaxed: nobody knows the driver yet */
    abti_spin_lock(&abti_rt.lock);
    while (new->index < ABTX_MAX_DRIVERS && drivers[new->index])
        new->index++;
    bool has_place = new->index < ABTX_MAX_DRIVERS;
    if (has_place)
        drivers[new->index] = new;
    abti_spin_unlock(&abti_rt.lock);
    if (!has_place) {
        free(new);
        return ABT_ERR_MEM;
    }
    *driver = new;
    return ABT_SUCCESS;
}

void abti_driver_free(ABTX_driver driver)
{
    set_everywhere(driver, false);
    detach_all(driver);
    abti_spin_lock(&abti_rt.lock);
    abti_assert(drivers[driver->index] == driver);
    drivers[driver->index] = NULL;
    abti_spin_unlock(&abti_rt.lock);
    abti_ledger_free(driver);
}
