/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers and the idle hook: simple drivers, of one ES. A poller is one with poll, the hook one with wait, the first of
 * its ES. They have no start and no end, so that any thread adds and removes them, and any native thread calls them.
 */
#include <stdlib.h>
#include "base/assert.h"
#include "idle/driver.h"
#include "idle/idle.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/self.h"

/* One block with its callee, which is first in it, so that they are freed together. */
struct simple {
    struct abti_callee callee;
    struct ABTX_driver_opaque driver;
    union {
        ABTX_poll_fn poll;
        ABTX_wait_fn wait;
    } fn;
    void *arg;
};

static ABT_bool simple_poll(void *data, ABT_bool about_to_sleep)
{
    struct simple *s = data;
    return !about_to_sleep && s->fn.poll(s->arg) != 0;
}

static void simple_wait(void *data, int fd, int64_t deadline)
{
    struct simple *s = data;
    s->fn.wait(s->arg, fd, deadline);
}

/* Returns NULL if there is no memory. */
static struct simple *make_simple(const ABTX_driver_ops *ops, void *arg, uint64_t period_ns)
{
    struct simple *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->driver.ops = *ops;
    s->driver.is_simple = true;
    s->driver.ops.any_thread = ABT_TRUE;
    s->callee = (struct abti_callee){.driver = &s->driver, .arg = s, .period_ns = period_ns, .state = CALLEE_ON};
    s->arg = arg;
    return s;
}

static bool is_poller(const struct abti_callee *c, ABTX_poll_fn poll)
{
    return c->driver->is_simple && c->driver->ops.poll && ((const struct simple *)c)->fn.poll == poll;
}

/* Returns NULL if there is none. The lock is held. */
static struct abti_callee *find_poller(struct abti_idle *idle, ABTX_poll_fn poll, void *arg)
{
    struct abti_callee *c = idle->callees;
    abti_assert(abti_spin_is_mine(&idle->lock));
    while (c && !(is_poller(c, poll) && ((struct simple *)c)->arg == arg))
        c = c->next;
    return c;
}

/*
 * Removes it, and releases the lock, which is held. On return it is not running any more, unless the caller is in a
 * callback of this ES.
 */
static void remove_simple(abti_es *es, struct abti_callee *c)
{
    struct abti_idle *idle = es->idle;
    abti_callee_take_out(idle, c);
    abti_callees_update(es);
    bool is_running = idle->called == c;
    c->removed = is_running;
    uint32_t polls = abti_load_relaxed(&idle->polls); /* relaxed: under the lock the present call is not over */
    abti_spin_unlock(&idle->lock);
    if (!is_running) {
        free(c);
        return;
    }
    abti_es_notify(es, ABTI_ES_REQ_LOOK); /* a wait ends then */
    /* acquire: pairs with the release in end_of_call */
    abti_spin_until(es == abti_es_self || abti_load_acquire(&idle->polls) != polls);
    abti_annotate_acquire(&idle->polls);
}

int abti_idle_add_poller(abti_es *es, ABTX_poll_fn poll, void *arg, uint64_t period_ns)
{
    struct abti_idle *idle = es->idle;
    struct simple *new = make_simple(&(ABTX_driver_ops){.poll = simple_poll}, arg, period_ns);
    if (!new)
        return ABT_ERR_MEM;
    new->fn.poll = poll;
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    bool is_new = !find_poller(idle, poll, arg);
    if (is_new) {
        abti_callee_add(idle, &new->callee);
        abti_callees_update(es);
    }
    abti_spin_unlock(&idle->lock);
    if (!is_new) {
        free(new);
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
    if (c)
        remove_simple(es, c);
    else
        abti_spin_unlock(&idle->lock);
    return c ? ABT_SUCCESS : ABT_ERR_INV_ARG;
}

bool abti_idle_has_other_calls(abti_es *es, ABTX_poll_fn poll)
{
    struct abti_idle *idle = es->idle;
    abti_spin_lock(&idle->lock);
    bool has = abti_load_relaxed(&idle->sources) != NULL; /* relaxed: a racy read */
    for (struct abti_callee *c = idle->callees; c && !has; c = c->next)
        has = (c->driver->ops.poll || c->driver->ops.wait) && !is_poller(c, poll);
    abti_spin_unlock(&idle->lock);
    return has;
}

/* --- The hook --- */

/* Puts the hook, unless it is NULL, before all others, and removes the one that was there before. */
static void replace_hook(abti_es *es, struct simple *new)
{
    struct abti_idle *idle = es->idle;
    abti_annotate_release(idle);
    abti_spin_lock(&idle->lock);
    struct abti_callee *before = idle->callees;
    if (before && !(before->driver->is_simple && before->driver->ops.wait))
        before = NULL;
    if (new) {
        new->callee.next = idle->callees;
        idle->callees = &new->callee;
        abti_callees_update(es);
    }
    if (before)
        remove_simple(es, before);
    else
        abti_spin_unlock(&idle->lock);
    abti_es_notify(es, ABTI_ES_REQ_LOOK);
}

static int make_and_set(abti_es *es, const struct simple *like, ABTX_driver_ops *ops)
{
    int code = abti_idle_need_fd(es->idle);
    if (code != ABT_SUCCESS)
        return code;
    struct simple *new = make_simple(ops, like->arg, ABTI_CLOCK_NEVER);
    if (!new)
        return ABT_ERR_MEM;
    new->fn = like->fn;
    replace_hook(es, new);
    return ABT_SUCCESS;
}

int abti_idle_set_hook(abti_es *es, ABTX_wait_fn wait, void *arg)
{
    if (wait)
        return make_and_set(es, &(struct simple){.fn.wait = wait, .arg = arg}, &(ABTX_driver_ops){.wait = simple_wait});
    replace_hook(es, NULL);
    return ABT_SUCCESS;
}
