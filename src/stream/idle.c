#include "stream/idle.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/self.h"
#include "stream/events.h"

/* --- Sleeping, by itself or in the hook --- */

void abti_idle_prepare(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    idle->current = NULL;
    abti_assert(es == abti_es_self);
    /* relaxed: abti_idle_set_hook asks for a look after it has stored the hook, and this sleep then does not last */
    if (ABTI_LIKELY(!abti_load_relaxed(&idle->hook))) {
        abti_sleeper_prepare(&es->sleeper);
        return;
    }
    abti_spin_lock(&idle->lock);
    idle->current = abti_load_relaxed(&idle->hook); /* relaxed: the lock is held, as below */
    idle->current_arg = idle->hook_arg;
    if (idle->current)
        /* release: pairs with the acquire in abti_idle_set_hook, which may miss the 0 that came before */
        abti_store_release(&idle->in_hook, idle->settings);
    abti_spin_unlock(&idle->lock);
    if (idle->current)
        abti_sleeper_prepare_fd(&es->sleeper, idle->fd.signal_fd);
    else
        abti_sleeper_prepare(&es->sleeper);
}

/*
 * Ends a sleep in the hook. Every wake is one signal, which may come later than the wake, since the waker may be held
 * up in between. The signals are drained when they have come, so that the descriptor is not readable for nothing for
 * longer than one sleep.
 */
static bool end_of_hook(abti_es *es)
{
    struct abti_idle *idle = es->idle;
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
    if (ABTI_LIKELY(!idle->current))
        return abti_sleeper_sleep(&es->sleeper, deadline_ns);
    abti_annotate_acquire(idle); /* the thread that has set it has released that */
    if (!abti_sleeper_is_woken(&es->sleeper))
        idle->current(idle->current_arg, idle->fd.wait_fd, abti_clock_wtime_at(deadline_ns));
    return end_of_hook(es);
}

bool abti_idle_cancel(abti_es *es)
{
    return es->idle->current ? end_of_hook(es) : abti_sleeper_cancel(&es->sleeper);
}

bool abti_idle_has_calls(abti_es *es)
{
    /* relaxed: it is a glance */
    return abti_load_relaxed(&es->idle->hook) || abti_load_relaxed(&es->idle->sources) ||
           abti_load_relaxed(&es->requests) & ABTI_ES_REQ_POLL;
}

bool abti_idle_has_other_calls(abti_es *es, ABTX_poll_fn poll)
{
    struct abti_idle *idle = es->idle;
    if (!abti_idle_has_calls(es))
        return false;
    abti_spin_lock(&idle->lock);
    bool has = abti_load_relaxed(&idle->hook) != NULL; /* relaxed: the lock is held */
    for (struct abti_poller *p = idle->pollers; p && !has; p = p->next)
        has = p->poll != poll;
    abti_spin_unlock(&idle->lock);
    return has;
}

/* --- Setting the hook --- */

static int make_fd(struct abti_idle *idle)
{
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

static bool needs_fd(struct abti_idle *idle)
{
    abti_spin_lock(&idle->lock);
    bool needs = !idle->has_fd;
    abti_spin_unlock(&idle->lock);
    return needs;
}

int abti_idle_set_hook(abti_es *es, ABTX_idle_hook_fn hook, void *arg)
{
    struct abti_idle *idle = es->idle;
    if (hook && needs_fd(idle)) {
        int code = make_fd(idle);
        if (code != ABT_SUCCESS)
            return code;
    }
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    abti_store_relaxed(&idle->hook, hook); /* relaxed, as below: the lock is held */
    idle->hook_arg = arg;
    if (++idle->settings == 0)
        idle->settings = 1;
    uint32_t before = abti_load_relaxed(&idle->in_hook);
    abti_spin_unlock(&idle->lock);
    abti_es_request(es, ABTI_ES_REQ_LOOK);
    /* acquire: pairs with the release in end_of_hook. The call that was seen is over when another number stands here.
     */
    abti_spin_until(es == abti_es_self || before == 0 || abti_load_acquire(&idle->in_hook) != before);
    abti_annotate_acquire(&idle->in_hook);
    return ABT_SUCCESS;
}

/* --- Pollers --- */

void abti_idle_poll(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    abti_spin_lock(&idle->lock);
    abti_assert(es == abti_es_self);
    if (idle->polling) { /* the caller is a poller that checks events: once is enough */
        abti_spin_unlock(&idle->lock);
        return;
    }
    idle->busy = false;
    for (struct abti_poller *p = idle->pollers; p; p = idle->cursor) {
        idle->cursor = p->next;
        idle->polling = p;
        abti_spin_unlock(&idle->lock);
        abti_annotate_acquire(idle);
        if (p->poll(p->arg))
            idle->busy = true;
        abti_annotate_release(&idle->in_hook);
        abti_spin_lock(&idle->lock);
        idle->polling = NULL;
        if (p->removed)
            free(p);
        /* release: pairs with the acquire in abti_idle_remove_poller. relaxed: only this thread stores it */
        abti_store_release(&idle->polls, abti_load_relaxed(&idle->polls) + 1);
    }
    abti_spin_unlock(&idle->lock);
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

/* Stores the shortest period, with the lock held. relaxed: see abti_idle_poll_limit. */
static void update_period(struct abti_idle *idle)
{
    uint64_t period = ABTI_CLOCK_NEVER;
    for (struct abti_poller *p = idle->pollers; p; p = p->next)
        period = p->period_ns < period ? p->period_ns : period;
    abti_store_relaxed(&idle->period_ns, period);
}

/* Returns the link to the poller, or where a new one would hang, with the lock held. */
static struct abti_poller **find_poller(struct abti_idle *idle, ABTX_poll_fn poll, void *arg)
{
    struct abti_poller **link = &idle->pollers;
    while (*link && ((*link)->poll != poll || (*link)->arg != arg))
        link = &(*link)->next;
    return link;
}

int abti_idle_add_poller(abti_es *es, ABTX_poll_fn poll, void *arg, uint64_t period_ns)
{
    struct abti_idle *idle = es->idle;
    struct abti_poller *p = malloc(sizeof(*p));
    if (!p)
        return ABT_ERR_MEM;
    *p = (struct abti_poller){.poll = poll, .arg = arg, .period_ns = period_ns};
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    struct abti_poller **link = find_poller(idle, poll, arg);
    bool is_new = !*link;
    if (is_new) {
        *link = p;
        update_period(idle);
        /* seq_cst: pairs with the loads of es->requests, as in abti_es_request, which follows */
        atomic_fetch_or(&es->requests, ABTI_ES_REQ_POLL);
    }
    abti_spin_unlock(&idle->lock);
    if (!is_new) {
        free(p);
        return ABT_ERR_INV_ARG;
    }
    abti_es_request(es, ABTI_ES_REQ_LOOK);
    return ABT_SUCCESS;
}

int abti_idle_remove_poller(abti_es *es, ABTX_poll_fn poll, void *arg)
{
    struct abti_idle *idle = es->idle;
    abti_spin_lock(&idle->lock);
    struct abti_poller **link = find_poller(idle, poll, arg), *p = *link;
    if (!p) {
        abti_spin_unlock(&idle->lock);
        return ABT_ERR_INV_ARG;
    }
    *link = p->next;
    if (idle->cursor == p)
        idle->cursor = p->next;
    update_period(idle);
    /* seq_cst: of no use; the ES that sees the bit too long finds no poller */
    if (!idle->pollers)
        atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_POLL);
    bool is_running = idle->polling == p;
    p->removed = is_running;
    uint32_t polls = abti_load_relaxed(&idle->polls); /* relaxed: under the lock the present call is not over */
    abti_spin_unlock(&idle->lock);
    if (!is_running)
        free(p);
    /* acquire: pairs with the release in abti_idle_poll */
    abti_spin_until(!(is_running && es != abti_es_self && abti_load_acquire(&idle->polls) == polls));
    return ABT_SUCCESS;
}

/* --- The end --- */

void abti_idle_fini(abti_es *es)
{
    struct abti_idle *idle = es->idle;
    while (idle->pollers) {
        struct abti_poller *p = idle->pollers;
        idle->pollers = p->next;
        free(p);
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
