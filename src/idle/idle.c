/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/idle.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "idle/driver.h"
#include "idle/leader.h"

/* Whether another stream is the leader of the driver, as far as the ES knows. The lock is held. */
static bool idle_follows(const struct abti_callee *c)
{
    return c->driver->ops.one_leader && !c->following.leads;
}

/* One in this number of sleeps that end at once goes to the system, which lets other threads have the processor. */
enum { SYSTEM_EVERY = 32 };

/* --- Sleeping, by itself or in a driver's wait --- */

/* Whether the driver may be called now. */
static bool enter_driver(struct abti_callee *c)
{
    return !c->driver->ops.one_leader || abti_leader_enter(abti_es_self, c);
}

static void leave_driver(struct abti_callee *c)
{
    if (c->driver->ops.one_leader)
        abti_leader_leave(abti_es_self, c);
}

bool abti_idle_may_call(const abti_es *es, const struct ABTX_driver_opaque *driver)
{
    return driver->ops.any_thread || !abti_load_relaxed(&es->carried.is_away);
}

/* Returns the driver in whose wait the ES sleeps; NULL: it sleeps by itself. The lock is held. */
static struct abti_callee *sleeps_in(struct abti_idle *idle)
{
    struct abti_callee *c = idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock));
    while (c && !(c->state == CALLEE_ON && c->driver->ops.wait && !idle_follows(c)))
        c = c->next;
    return c;
}

/* The call of a callee has returned. Takes the lock. */
static void end_of_call(struct abti_idle *idle)
{
    abti_annotate_release(&idle->called);
    abti_spin_lock(&idle->lock);
    abti_assert(idle->called);
    idle->called = NULL;
}

/* Whom the ES has announced to sleep in may have been removed since. Then it looks at everything again. */
static void call_wait(struct abti_idle *idle, uint64_t deadline_ns)
{
    abti_spin_lock(&idle->lock);
    struct abti_callee *c = sleeps_in(idle);
    abti_assert(!idle->called && (!c || idle->has_fd));
    idle->called = c;
    abti_spin_unlock(&idle->lock);
    if (!c)
        return;
    abti_annotate_acquire(idle); /* the thread that has added it has released that */
    if (enter_driver(c)) {       /* else it follows another stream by now */
        c->driver->ops.wait(c->arg, idle->fd.wait_fd, abti_clock_deadline_for_user(deadline_ns));
        leave_driver(c);
    }
    end_of_call(idle);
    abti_spin_unlock(&idle->lock);
}

void abti_idle_prepare(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    idle->sleeps_in_wait = false;
    /* relaxed: a thread that adds a wait asks for a check after it has stored this, and this sleep then does not last
     */
    if (ABTI_UNLIKELY(abti_load_relaxed(&idle->has_wait))) {
        abti_spin_lock(&idle->lock);
        struct abti_callee *c = sleeps_in(idle);
        idle->sleeps_in_wait = c && abti_idle_may_call(es, c->driver);
        abti_spin_unlock(&idle->lock);
    }
    if (ABTI_UNLIKELY(idle->sleeps_in_wait))
        abti_sleeper_prepare_fd(&es->sleeper, idle->fd.signal_fd);
    else
        abti_sleeper_prepare(&es->sleeper);
}

/*
 * Ends a sleep in a wait. Every wake is one signal, which may come later than the wake, since the waker
 * may be held up in between. The signals are drained when they have come, so that the descriptor is not readable for
 * nothing for longer than one sleep.
 */
static bool end_of_wait(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self && idle->sleeps_in_wait && idle->has_fd);
    bool woken = abti_sleeper_cancel(&es->sleeper);
    idle->owed += woken;
    if (idle->owed > 0) {
        uint64_t drained = abti_wakefd_drain(&idle->fd);
        idle->owed -= drained < idle->owed ? drained : idle->owed;
    }
    return woken;
}

bool abti_idle_sleep(abti_es *es, uint64_t deadline_ns)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    if (ABTI_LIKELY(!idle->sleeps_in_wait) && ABTI_UNLIKELY(deadline_ns == 0) && ++idle->brief_sleeps % SYSTEM_EVERY)
        return abti_sleeper_cancel(&es->sleeper);
    if (ABTI_LIKELY(!idle->sleeps_in_wait))
        return abti_sleeper_sleep(&es->sleeper, deadline_ns);
    if (!abti_sleeper_is_woken(&es->sleeper))
        call_wait(idle, deadline_ns);
    return end_of_wait(es);
}

bool abti_idle_cancel(abti_es *es)
{
    abti_assert(es == abti_es_self);
    return es->idle->sleeps_in_wait ? end_of_wait(es) : abti_sleeper_cancel(&es->sleeper);
}

bool abti_idle_has_calls(abti_es *es)
{
    return abti_load_relaxed(&es->idle->has_wait) || abti_load_relaxed(&es->idle->sources) ||
           abti_load_relaxed(&es->requests) & ABTI_ES_REQ_POLL;
}

/* --- How long the ES spins before it sleeps --- */

bool abti_idle_spins_on(abti_es *es, bool first)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    int64_t spin_ns = abti_load_relaxed(&idle->spin_ns); /* relaxed: it is a setting */
    uint64_t now = abti_clock_mono_ns();
    if (first || idle->idle_since_ns == 0)
        idle->idle_since_ns = now;
    bool spins = now - idle->idle_since_ns < (uint64_t)(spin_ns > 0 ? spin_ns : 0);
    if (!spins)
        idle->idle_since_ns = 0;
    return spins;
}

void abti_idle_set_spin(abti_es *es, int64_t spin_ns)
{
    abti_store_relaxed(&es->idle->spin_ns, spin_ns); /* relaxed: the ES is asked for a check */
    abti_es_notify(es, ABTI_ES_REQ_CHECK);
}

/* --- Calling the callees --- */

int abti_idle_need_fd(struct abti_idle *idle)
{
    abti_spin_lock(&idle->lock);
    bool has_fd = idle->has_fd;
    abti_spin_unlock(&idle->lock);
    if (has_fd)
        return ABT_SUCCESS;
    struct abti_wakefd fd;
    int err = abti_wakefd_open(&fd);
    if (err)
        return err == -ENOMEM ? ABT_ERR_MEM : ABT_ERR_SYS;
    abti_spin_lock(&idle->lock);
    bool taken = !idle->has_fd;
    if (taken) {
        idle->fd = fd;
        idle->has_fd = true;
    }
    abti_spin_unlock(&idle->lock);
    if (!taken)
        abti_wakefd_close(&fd);
    return ABT_SUCCESS;
}

static bool idle_polls(const struct abti_callee *c)
{
    return c->state == CALLEE_ON && c->driver->ops.poll;
}

/* Whether it has found something. */
static bool poll_driver(struct abti_idle *idle, struct abti_callee *c, ABT_bool about_to_sleep)
{
    abti_assert(idle->called == c && c->driver->ops.poll);
    if (!enter_driver(c))
        return false;
    idle->polled = true;
    ABT_bool found = c->driver->ops.poll(c->arg, about_to_sleep);
    leave_driver(c);
    return found != ABT_FALSE;
}

/* Calls one, with the lock held, which is released meanwhile. */
static void call_callee(struct abti_idle *idle, struct abti_callee *c, ABT_bool about_to_sleep)
{
    abti_assert(abti_spin_is_mine(&idle->lock) && !idle->called && c->state == CALLEE_ON);
    idle->called = c;
    abti_spin_unlock(&idle->lock);
    abti_annotate_acquire(idle);
    if (poll_driver(idle, c, about_to_sleep))
        idle->busy = true;
    end_of_call(idle);
}

bool abti_idle_poll_locked(abti_es *es, struct abti_callee *c)
{
    struct abti_idle *idle = es->idle;
    bool found = false;
    abti_assert(es == abti_es_self && idle_polls(c) && abti_idle_may_call(es, c->driver) && !idle->called);
    idle->called = c;
    abti_spin_unlock(&idle->lock);
    abti_annotate_acquire(idle);
    if (!c->driver->ops.one_leader || abti_leader_enter_at_once(es, c)) {
        found = c->driver->ops.poll(c->arg, ABT_FALSE) != ABT_FALSE;
        leave_driver(c);
    }
    end_of_call(idle);
    return found;
}

/*
 * Calls them all at an event check; or, when the ES is about to sleep, those drivers that do not learn that by a call
 * of their wait.
 */
static void call_callees(abti_es *es, ABT_bool about_to_sleep)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self && abti_spin_is_mine(&idle->lock));
    for (struct abti_callee *c = idle->callees; c; c = idle->cursor) {
        idle->cursor = c->next;
        if (idle_polls(c) && abti_idle_may_call(es, c->driver) && (!about_to_sleep || sleeps_in(idle) != c))
            call_callee(idle, c, about_to_sleep);
    }
}

void abti_idle_poll(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_drivers_serve(es);
    abti_spin_lock(&idle->lock);
    if (!idle->called) { /* otherwise the caller is a callee that checks events: once is enough */
        idle->busy = idle->polled = false;
        call_callees(es, ABT_FALSE);
    }
    abti_spin_unlock(&idle->lock);
    abti_drivers_serve(es);
}

void abti_idle_call_for_sleep(abti_es *es)
{
    abti_spin_lock(&es->idle->lock);
    if (!es->idle->called)
        call_callees(es, ABT_TRUE);
    abti_spin_unlock(&es->idle->lock);
}

bool abti_idle_has_other_calls(abti_es *es, ABT_bool (*poll)(void *data, ABT_bool about_to_sleep))
{
    struct abti_idle *idle = es->idle;
    abti_spin_lock(&idle->lock);
    bool has = abti_load_relaxed(&idle->sources) != NULL; /* relaxed: a racy read */
    for (struct abti_callee *c = idle->callees; c && !has; c = c->next)
        has = (c->driver->ops.poll || c->driver->ops.wait) && c->driver->ops.poll != poll;
    abti_spin_unlock(&idle->lock);
    return has;
}

void abti_idle_leave_callee(abti_es *es)
{
    abti_assert(es == abti_es_self);
    struct abti_callee *c = es->idle->called; /* the ES alone stores it */
    if (!c)
        return;
    if (c->driver->ops.one_leader && abti_leader_is_calling(es, c))
        leave_driver(c);
    end_of_call(es->idle);
    abti_spin_unlock(&es->idle->lock);
}

/*
 * Stores the shortest period, with the lock held. A driver with a wait that the ES does not sleep in is asked often: it
 * may know of nothing else that would wake the ES. relaxed: see abti_idle_poll_limit.
 */
static void update_period(struct abti_idle *idle)
{
    uint64_t shortest = ABTI_CLOCK_NEVER;
    bool any_adjusts = false;
    struct abti_callee *waits = sleeps_in(idle);
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        bool adjusts = abti_load_relaxed(&c->driver->adjusts); /* relaxed: it is a setting, as is the time */
        uint64_t period = adjusts ? abti_load_relaxed(&c->driver->max_sleep_ns) : c->period_ns;
        any_adjusts |= adjusts;
        if (idle_follows(c) && (period != ABTI_CLOCK_NEVER || c->driver->ops.wait))
            period = ABTI_LEADER_POLL_NS;
        else if (c->driver->ops.wait && c != waits && period > ABTI_REPOLL_NS)
            period = ABTI_REPOLL_NS;
        if (idle_polls(c) && period < shortest)
            shortest = period;
    }
    abti_store_relaxed(&idle->period_ns, shortest);
    abti_store_relaxed(&idle->adjusts, any_adjusts);
}

uint64_t abti_idle_poll_limit(abti_es *es, uint64_t deadline_ns)
{
    /* relaxed: abti_driver_attach asks for a check after it has changed it; a removal only makes a sleep longer */
    if (ABTI_UNLIKELY(abti_load_relaxed(&es->idle->adjusts))) {
        abti_spin_lock(&es->idle->lock);
        update_period(es->idle);
        abti_spin_unlock(&es->idle->lock);
    }
    uint64_t period = abti_load_relaxed(&es->idle->period_ns);
    if (period == ABTI_CLOCK_NEVER)
        return deadline_ns;
    uint64_t limit = period > 0 ? abti_clock_mono_ns() + period : 0;
    return limit < deadline_ns ? limit : deadline_ns;
}

/* --- The list of callees --- */

void abti_callees_update(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    bool calls = false, changes = false, waits = false;
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        calls |= idle_polls(c);
        changes |= c->state == CALLEE_COMING || c->removed;
        waits |= c->driver->ops.wait != NULL;
    }
    update_period(idle);
    /* relaxed: a thread that wants changes, or adds a wait, asks for a check, after which they are seen */
    abti_store_relaxed(&idle->changes, changes);
    abti_store_relaxed(&idle->has_wait, waits);
    /*
     * seq_cst: pairs with the loads of es->requests, as in abti_es_notify, which follows where the ES is to notice.
     * The ES that sees the bit too long finds nobody to call.
     */
    if (calls || changes)
        atomic_fetch_or(&es->requests, ABTI_ES_REQ_POLL);
    else
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_POLL);
}

void abti_callees_update_own(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self && abti_spin_is_mine(&idle->lock));
    idle->tells_sleep = false;
    idle->leads = false;
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        if (c->state != CALLEE_ON)
            continue;
        idle->tells_sleep |= c->driver->ops.poll != NULL;
        idle->leads |= c->following.leads;
    }
    abti_callees_update(es);
}

struct abti_callee *abti_callee_new(void)
{
    return calloc(1, sizeof(struct abti_callee));
}

void abti_callee_add(struct abti_idle *idle, struct abti_callee *c)
{
    struct abti_callee **link = &idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock) && !c->next && !c->removed);
    while (*link)
        link = &(*link)->next;
    *link = c;
}

void abti_callee_take_out(struct abti_idle *idle, struct abti_callee *c)
{
    struct abti_callee **link = &idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock));
    while (*link != c) {
        abti_assert(*link);
        link = &(*link)->next;
    }
    *link = c->next;
    if (idle->cursor == c)
        idle->cursor = c->next;
}

/* --- The beginning and the end --- */

void abti_idle_init(struct abti_idle *idle)
{
    abti_spin_init(&idle->lock, ABTI_RANK_IDLE);
    abti_spin_init(&idle->sources_lock, ABTI_RANK_ASK);
    abti_store_relaxed(&idle->spin_ns, -1);
    abti_store_relaxed(&idle->period_ns, ABTI_CLOCK_NEVER);
}

void abti_idle_fini(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(!idle->called);
    while (idle->callees) {
        struct abti_callee *c = idle->callees;
        idle->callees = c->next;
        free(c);
    }
    if (!idle->has_fd)
        return;
    /*
     * A waker may still be on its way from the wake to the signal, and must not find the descriptor closed, or worse,
     * opened anew as something else. The wait has an end, since a wait may have read signals that were not its own.
     */
    enum { WAIT_MS = 10, WAITS = 100 };
    for (int i = 0; idle->owed > 0 && i < WAITS; i++) {
        abti_wakefd_wait(&idle->fd, WAIT_MS);
        uint64_t drained = abti_wakefd_drain(&idle->fd);
        idle->owed -= drained < idle->owed ? drained : idle->owed;
    }
    abti_wakefd_close(&idle->fd);
}
