/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/idle.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/self.h"
#include "idle/driver.h"
#include "idle/leader.h"

/* Whether another stream is the leader of the driver, as far as the ES knows. The lock is held. */
static bool idle_follows(const struct abti_callee *c)
{
    return c->driver && c->driver->ops.one_leader && !c->following.leads;
}

/*
 * Of so many sleeps that end at once one goes to the system, which lets other threads have the processor. With all of
 * them an ES with a poller of period 0 called it every 6 us, and 0.6 us with this, measured.
 */
enum { SYSTEM_EVERY = 32 };

/* --- Sleeping, by itself, in the hook or in a driver's wait --- */

static void call_hook(struct abti_idle *idle, uint64_t deadline_ns)
{
    abti_assert(idle->current_hook && idle->has_fd);
    idle->current_hook(idle->current_arg, idle->fd.wait_fd, abti_clock_wtime_at(deadline_ns));
}

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

static void set_called(struct abti_idle *idle, struct abti_callee *c)
{
    abti_spin_lock(&idle->lock);
    idle->called = c;
    abti_spin_unlock(&idle->lock);
}

/* The ES alone ends the driver, so that it stays for as long as the ES is in its wait. */
static void call_wait(struct abti_idle *idle, uint64_t deadline_ns)
{
    struct abti_callee *c = idle->waits;
    abti_assert(c->driver && c->driver->ops.wait && idle->has_fd);
    if (!enter_driver(c))
        return; /* it follows another stream by now */
    int64_t deadline = deadline_ns < INT64_MAX ? (int64_t)deadline_ns : INT64_MAX;
    set_called(idle, c);
    c->driver->ops.wait(c->arg, idle->fd.wait_fd, deadline);
    set_called(idle, NULL);
    leave_driver(c);
}

void abti_idle_prepare(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    idle->current = NULL;
    abti_assert(es == abti_es_self);
    /* relaxed: abti_idle_set_hook asks for a look after it has stored the hook, and this sleep then does not last */
    if (ABTI_LIKELY(!abti_load_relaxed(&idle->hook) && !idle->waits)) {
        abti_sleeper_prepare(&es->sleeper);
        return;
    }
    abti_spin_lock(&idle->lock);
    idle->current_hook = abti_load_relaxed(&idle->hook); /* relaxed: the lock is held, as below */
    idle->current_arg = idle->hook_arg;
    if (idle->current_hook) {
        idle->current = call_hook;
        /* release: pairs with the acquire in abti_idle_set_hook, which may miss the 0 that came before */
        abti_store_release(&idle->in_hook, idle->settings);
    } else if (idle->waits) {
        idle->current = call_wait;
    }
    abti_spin_unlock(&idle->lock);
    if (idle->current)
        abti_sleeper_prepare_fd(&es->sleeper, idle->fd.signal_fd);
    else
        abti_sleeper_prepare(&es->sleeper);
}

/*
 * Ends a sleep in the hook or in a wait. Every wake is one signal, which may come later than the wake, since the waker
 * may be held up in between. The signals are drained when they have come, so that the descriptor is not readable for
 * nothing for longer than one sleep.
 */
static bool end_of_hook(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self && idle->current && idle->has_fd);
    bool woken = abti_sleeper_cancel(&es->sleeper);
    abti_annotate_release(&idle->in_hook);
    idle->owed += woken;
    if (idle->owed > 0) {
        uint64_t drained = abti_wakefd_drain(&idle->fd);
        idle->owed -= drained < idle->owed ? drained : idle->owed;
    }
    /* release: pairs with the acquire in abti_idle_set_hook */
    abti_store_release(&idle->in_hook, 0);
    return woken;
}

bool abti_idle_sleep(abti_es *es, uint64_t deadline_ns)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self);
    if (ABTI_LIKELY(!idle->current) && ABTI_UNLIKELY(deadline_ns == 0) && ++idle->brief_sleeps % SYSTEM_EVERY)
        return abti_sleeper_cancel(&es->sleeper);
    if (ABTI_LIKELY(!idle->current))
        return abti_sleeper_sleep(&es->sleeper, deadline_ns);
    abti_annotate_acquire(idle); /* the thread that has set it has released that */
    if (!abti_sleeper_is_woken(&es->sleeper))
        idle->current(idle, deadline_ns);
    return end_of_hook(es);
}

bool abti_idle_cancel(abti_es *es)
{
    abti_assert(es == abti_es_self);
    return es->idle->current ? end_of_hook(es) : abti_sleeper_cancel(&es->sleeper);
}

bool abti_idle_has_calls(abti_es *es)
{
    /* relaxed: a racy read */
    return abti_load_relaxed(&es->idle->hook) || abti_load_relaxed(&es->idle->sources) || es->idle->waits ||
           abti_load_relaxed(&es->requests) & ABTI_ES_REQ_POLL;
}

bool abti_idle_has_other_calls(abti_es *es, ABTX_poll_fn poll)
{
    struct abti_idle *idle = es->idle;
    /* relaxed: a racy read, and the lock is held below */
    abti_spin_lock(&idle->lock);
    bool has = abti_load_relaxed(&idle->hook) || abti_load_relaxed(&idle->sources);
    for (struct abti_callee *c = idle->callees; c && !has; c = c->next)
        has = c->driver ? c->driver->ops.poll != NULL : c->poll != poll;
    abti_spin_unlock(&idle->lock);
    return has;
}

/* --- How long the ES looks before it sleeps --- */

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
    abti_store_relaxed(&es->idle->spin_ns, spin_ns); /* relaxed: the ES is asked for a look */
    abti_es_notify(es, ABTI_ES_REQ_LOOK);
}

/* --- Setting the hook --- */

static void update_period(struct abti_idle *idle);

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

int abti_idle_set_hook(abti_es *es, ABTX_idle_hook_fn hook, void *arg)
{
    struct abti_idle *idle = es->idle;
    int code = hook ? abti_idle_need_fd(idle) : ABT_SUCCESS;
    if (code != ABT_SUCCESS)
        return code;
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    abti_store_relaxed(&idle->hook, hook); /* relaxed, as below: the lock is held */
    idle->hook_arg = arg;
    if (++idle->settings == 0)
        idle->settings = 1;
    update_period(idle);
    uint32_t before = abti_load_relaxed(&idle->in_hook);
    abti_spin_unlock(&idle->lock);
    abti_es_notify(es, ABTI_ES_REQ_LOOK);
    /* acquire: pairs with the release in end_of_hook. The call that was seen is over when another number stands here.
     */
    abti_spin_until(es == abti_es_self || before == 0 || abti_load_acquire(&idle->in_hook) != before);
    abti_annotate_acquire(&idle->in_hook);
    return ABT_SUCCESS;
}

/* --- Calling the callees --- */

/* Whether the ES sleeps in the wait of this one, if that is a driver, when it sleeps. The lock is held. */
static bool sleeps_in(struct abti_idle *idle, const struct abti_callee *c)
{
    abti_assert(abti_spin_is_mine(&idle->lock));
    return idle->waits == c && !abti_load_relaxed(&idle->hook); /* relaxed: the lock is held */
}

static bool idle_polls(const struct abti_callee *c)
{
    return c->state == CALLEE_ON && (!c->driver || c->driver->ops.poll);
}

/* The call of a callee is over. The lock is held. Frees a poller that has been removed meanwhile. */
static void end_of_call(struct abti_idle *idle)
{
    struct abti_callee *c = idle->called;
    abti_assert(abti_spin_is_mine(&idle->lock) && c);
    idle->called = NULL;
    if (c->removed && c->poll)
        free(c);
    /* release: pairs with the acquire in abti_idle_remove_poller. relaxed: only this thread stores it */
    abti_store_release(&idle->polls, abti_load_relaxed(&idle->polls) + 1);
}

static bool poll_poller(struct abti_idle *idle, struct abti_callee *c)
{
    idle->polled = true;
    return c->poll(c->arg) != 0;
}

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
    if (c->poll ? poll_poller(idle, c) : poll_driver(idle, c, about_to_sleep))
        idle->busy = true;
    abti_annotate_release(&idle->in_hook);
    abti_spin_lock(&idle->lock);
    end_of_call(idle);
}

/*
 * Calls them all at an event check; or, when the ES is about to sleep, those drivers that are not told so by a call of
 * their wait.
 */
static void call_callees(abti_es *es, ABT_bool about_to_sleep)
{
    struct abti_idle *idle = es->idle;
    abti_assert(es == abti_es_self && abti_spin_is_mine(&idle->lock));
    for (struct abti_callee *c = idle->callees; c; c = idle->cursor) {
        idle->cursor = c->next;
        if (idle_polls(c) && (!about_to_sleep || (c->driver && !sleeps_in(idle, c))))
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

void abti_idle_tell_sleep_slow(abti_es *es)
{
    abti_spin_lock(&es->idle->lock);
    if (!es->idle->called)
        call_callees(es, ABT_TRUE);
    abti_spin_unlock(&es->idle->lock);
}

void abti_idle_leave_callee(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->lock);
    if (es->idle->called)
        end_of_call(es->idle);
    abti_spin_unlock(&es->idle->lock);
}

uint64_t abti_idle_poll_limit(abti_es *es, uint64_t deadline_ns)
{
    /* relaxed: abti_idle_add_poller asks for a look after it has changed it; a removal only makes a sleep longer */
    uint64_t period = abti_load_relaxed(&es->idle->period_ns);
    if (period == ABTI_CLOCK_NEVER)
        return deadline_ns;
    uint64_t limit = period > 0 ? abti_clock_mono_ns() + period : 0;
    return limit < deadline_ns ? limit : deadline_ns;
}

/* --- The list of callees --- */

/*
 * Stores the shortest period, with the lock held. A driver with a wait that the ES does not sleep in is asked often: it
 * may know of nothing else that would wake the ES. relaxed: see abti_idle_poll_limit.
 */
static void update_period(struct abti_idle *idle)
{
    uint64_t shortest = ABTI_CLOCK_NEVER;
    abti_assert(abti_spin_is_mine(&idle->lock));
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        uint64_t period = c->period_ns;
        if (idle_follows(c) && (period != ABTI_CLOCK_NEVER || c->driver->ops.wait))
            period = ABTI_LEADER_LOOK_NS;
        else if (c->driver && c->driver->ops.wait && !sleeps_in(idle, c) && period > ABTI_RELOOK_NS)
            period = ABTI_RELOOK_NS;
        if (idle_polls(c) && period < shortest)
            shortest = period;
    }
    abti_store_relaxed(&idle->period_ns, shortest);
}

void abti_callees_update(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    bool calls = false, changes = false;
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        calls |= idle_polls(c);
        changes |= c->state == CALLEE_COMING || c->removed;
    }
    update_period(idle);
    abti_store_relaxed(&idle->changes,
                       changes); /* relaxed: who wants them asks for a look, after which they are seen */
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
    idle->waits = NULL;
    idle->tells_sleep = false;
    idle->leads = false;
    for (struct abti_callee *c = idle->callees; c; c = c->next) {
        if (!c->driver || c->state != CALLEE_ON)
            continue;
        idle->tells_sleep |= c->driver->ops.poll != NULL;
        idle->leads |= c->following.leads;
        if (c->driver->ops.wait && !idle->waits && !idle_follows(c))
            idle->waits = c;
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

/* --- Pollers --- */

/* Returns NULL if there is none. The lock is held. */
static struct abti_callee *find_poller(struct abti_idle *idle, ABTX_poll_fn poll, void *arg)
{
    struct abti_callee *c = idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock));
    while (c && (c->poll != poll || c->arg != arg))
        c = c->next;
    return c;
}

int abti_idle_add_poller(abti_es *es, ABTX_poll_fn poll, void *arg, uint64_t period_ns)
{
    struct abti_idle *idle = es->idle;
    struct abti_callee *c = abti_callee_new();
    if (!c)
        return ABT_ERR_MEM;
    *c = (struct abti_callee){.poll = poll, .arg = arg, .period_ns = period_ns};
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    bool is_new = !find_poller(idle, poll, arg);
    if (is_new) {
        abti_callee_add(idle, c);
        abti_callees_update(es);
    }
    abti_spin_unlock(&idle->lock);
    if (!is_new) {
        free(c);
        return ABT_ERR_INV_ARG;
    }
    abti_es_notify(es, ABTI_ES_REQ_LOOK);
    return ABT_SUCCESS;
}

int abti_idle_remove_poller(abti_es *es, ABTX_poll_fn poll, void *arg)
{
    struct abti_idle *idle = es->idle;
    abti_spin_lock(&idle->lock);
    struct abti_callee *c = find_poller(idle, poll, arg);
    if (!c) {
        abti_spin_unlock(&idle->lock);
        return ABT_ERR_INV_ARG;
    }
    abti_callee_take_out(idle, c);
    abti_callees_update(es);
    bool is_running = idle->called == c;
    c->removed = is_running;
    uint32_t polls = abti_load_relaxed(&idle->polls); /* relaxed: under the lock the present call is not over */
    abti_spin_unlock(&idle->lock);
    if (!is_running)
        free(c);
    /* acquire: pairs with the release in end_of_call */
    abti_spin_until(!(is_running && es != abti_es_self && abti_load_acquire(&idle->polls) == polls));
    return ABT_SUCCESS;
}

/* --- The beginning and the end --- */

void abti_idle_init(struct abti_idle *idle)
{
    abti_spin_init(&idle->lock, ABTI_RANK_IDLE);
    abti_spin_init(&idle->sources_lock, ABTI_RANK_ASK);
    /* relaxed: nobody knows the ES yet */
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
     * opened anew as something else. The wait has an end, since the hook may have read signals that were not its own.
     */
    enum { WAIT_MS = 10, WAITS = 100 };
    for (int i = 0; idle->owed > 0 && i < WAITS; i++) {
        abti_wakefd_wait(&idle->fd, WAIT_MS);
        uint64_t drained = abti_wakefd_drain(&idle->fd);
        idle->owed -= drained < idle->owed ? drained : idle->owed;
    }
    abti_wakefd_close(&idle->fd);
}
