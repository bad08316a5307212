/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiters from the inside: who claims a wait and who gives it up, waits for several objects, and wakes that come
 * before, during and after the sleep.
 */
#include "sync/waiter.h"
#include "sync_test.h"

enum { ROUNDS = 3000 };

static struct abti_spin lock;

/* A waiter that nobody sleeps by. */
static void init_open(struct abti_waiter *w)
{
    abti_waiter_init(w, ABT_SYNC_EVENT_TYPE_OTHER, &lock);
    w->next = NULL;
    abti_waiter_open(w);
}

static uint32_t claim_of(struct abti_waiter *w)
{
    return abti_load_acquire(&w->claim);
}

static void test_claim(void)
{
    struct abti_waiter w;

    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, &lock);
    ok(w.unit == abti_es_self->cur && w.object == &lock && w.reason == ABT_SYNC_EVENT_TYPE_OTHER, "of a ULT");
    ok(abti_waiter_claim(&w) == &w && abti_waiter_claim(&w) == &w, "one that waits as long as it takes is not claimed");
    init_open(&w);
    ok(!w.unit && w.ult == abti_es_self->cur, "one that may give up is not found as a ULT");
    ok(abti_waiter_claim(&w) == &w && claim_of(&w) == ABTI_CLAIM_TAKEN, "claimed");
    ok(!abti_waiter_claim(&w) && !abti_waiter_give_up(&w), "once, and it cannot give up any more");
    init_open(&w);
    ok(abti_waiter_give_up(&w) && claim_of(&w) == ABTI_CLAIM_OVER, "it gives up");
    ok(!abti_waiter_claim(&w) && claim_of(&w) == ABTI_CLAIM_OVER, "nobody claims it after that");
}

static void test_branches(void)
{
    struct abti_waiter trunk;
    struct abti_branch branches[3];

    init_open(&trunk);
    for (int i = 0; i < 3; i++)
        abti_branch_init(&branches[i], &trunk);
    ok(abti_waiter_claim(&branches[1].base) == &trunk, "the claim of a branch is that of its trunk");
    ok(trunk.prev == &branches[1].base, "which knows the branch");
    ok(!abti_waiter_claim(&branches[0].base) && !abti_waiter_claim(&branches[2].base), "no other is claimed");
    is_ptr(trunk.prev, &branches[1].base, "nor remembered");
    init_open(&trunk);
    abti_branch_init(&branches[0], &trunk);
    ok(abti_waiter_give_up(&trunk) && !abti_waiter_claim(&branches[0].base), "when the trunk has given up, none is");
}

/* --- One sleeps, the primary ULT wakes it --- */

struct sleep {
    struct abti_waitq queue; /* lock */
    uint64_t deadline_ns;    /* 0: as long as it takes, and cannot be claimed */
    bool in_crowd, woken;
    atomic_bool over;
};

static void leave_queue(struct sleep *s, struct abti_waiter *w)
{
    abti_spin_lock(&lock);
    abti_waitq_remove(&s->queue, w);
    abti_spin_unlock(&lock);
}

static void sleep_once(void *arg)
{
    struct sleep *s = arg;
    struct abti_waiter w;

    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, s);
    abti_spin_lock(&lock);
    abti_waitq_push(&s->queue, &w);
    s->woken = true;
    if (s->in_crowd)
        abti_waiter_park_in_crowd(&w, &lock, 0);
    else if (s->deadline_ns == 0)
        abti_waiter_park(&w, &lock, NULL);
    else
        s->woken = abti_waiter_park_until(&w, &lock, NULL, s->deadline_ns);
    if (!s->woken)
        leave_queue(s, &w);
    atomic_store(&s->over, true);
}

static struct abti_waiter *take_first(struct sleep *s)
{
    abti_spin_lock(&lock);
    struct abti_waiter *w = abti_waitq_take(&s->queue);
    abti_spin_unlock(&lock);
    return w;
}

static void test_sleep(enum kind kind, uint64_t deadline_ns, bool in_crowd)
{
    struct sleep s = {.deadline_ns = deadline_ns, .in_crowd = in_crowd};
    struct actor actor;

    start(&actor, kind, sleep_once, &s);
    await_queued(&lock, &s.queue, 1);
    struct abti_waiter *w = take_first(&s);
    nap_us(1000);
    give_way();
    ok(w && !atomic_load(&s.over), "%s sleeps until it is woken", kind_names[kind]);
    abti_waiter_wake(w);
    finish(&actor);
    ok(s.woken, "woken");
}

/* It is claimed in time, and woken when its time has been up for long. */
static void test_late_wake(enum kind kind)
{
    struct sleep s = {.deadline_ns = in_us(20000)};
    struct actor actor;
    struct abti_waiter *w = NULL;

    start(&actor, kind, sleep_once, &s);
    while (!w && !atomic_load(&s.over)) {
        give_way();
        w = take_first(&s);
    }
    if (w) { /* not on a machine so busy that the time was up before */
        while (abti_clock_mono_ns() < s.deadline_ns + 2000000)
            give_way();
        ok(!atomic_load(&s.over), "%s that is claimed waits on after its time", kind_names[kind]);
        abti_waiter_wake(w);
    }
    finish(&actor);
    ok(s.woken == !!w, "and is woken");
}

static void test_time(enum kind kind)
{
    struct sleep s = {.deadline_ns = in_us(1000)};
    struct actor actor;

    start(&actor, kind, sleep_once, &s);
    finish(&actor);
    ok(!s.woken && !s.queue.head, "the time of %s is up", kind_names[kind]);
}

/* Several that are linked are woken at once, of all kinds, also those that sleep in a crowd. */
static void test_all(bool in_crowd)
{
    struct sleep s = {.in_crowd = in_crowd};
    struct actor actors[2 * NUM_KINDS];

    for (int i = 0; i < 2 * NUM_KINDS; i++)
        start(&actors[i], (enum kind)(i % NUM_KINDS), sleep_once, &s);
    await_queued(&lock, &s.queue, 2 * NUM_KINDS);
    nap_us(1000);
    abti_spin_lock(&lock);
    struct abti_waiter *all = abti_waitq_take_all(&s.queue);
    abti_spin_unlock(&lock);
    abti_waiter_wake_all(all);
    for (int i = 0; i < 2 * NUM_KINDS; i++)
        finish(&actors[i]);
    pass("all are woken %s", in_crowd ? "in a crowd" : "each by itself");
}

/* --- One gives up one object for another --- */

struct handover {
    struct sleep first;
    struct abti_spin lock;
    struct abti_waitq second; /* lock */
};

static void sleep_instead(void *arg)
{
    struct handover *h = arg;
    struct abti_waiter w, *to_wake = take_first(&h->first);

    to_wake->next = NULL;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, h);
    abti_spin_lock(&h->lock);
    abti_waitq_push(&h->second, &w);
    abti_waiter_park(&w, &h->lock, to_wake);
}

static void test_other(enum kind kind)
{
    struct handover h = {.first = {.in_crowd = false}};
    struct actor first, second;

    start(&first, kind, sleep_once, &h.first);
    await_queued(&lock, &h.first.queue, 1);
    start(&second, kind, sleep_instead, &h);
    finish(&first);
    pass("%s that goes to sleep wakes another one", kind_names[kind]);
    await_queued(&h.lock, &h.second, 1);
    abti_spin_lock(&h.lock);
    struct abti_waiter *w = abti_waitq_take(&h.second);
    abti_spin_unlock(&h.lock);
    abti_waiter_wake(w);
    finish(&second);
}

/* --- A ULT that waits is cancelled --- */

static void sleep_till_cancelled(void *arg)
{
    struct sleep *s = arg;
    struct abti_waiter w;

    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, s);
    abti_spin_lock(&lock);
    abti_waitq_push(&s->queue, &w);
    if (s->deadline_ns == 0) {
        abti_waiter_hold(&w);
        abti_waiter_park(&w, &lock, NULL);
    } else {
        s->woken = abti_waiter_park_until(&w, &lock, NULL, s->deadline_ns);
        if (!s->woken)
            leave_queue(s, &w);
        abti_waiter_finish(&w);
    }
    atomic_store(&s->over, true);
}

static void test_cancel(enum kind kind)
{
    struct sleep s = {.deadline_ns = ABTI_CLOCK_NEVER}, held = {.deadline_ns = 0};
    struct actor actor;

    start(&actor, kind, sleep_till_cancelled, &s);
    await_queued(&lock, &s.queue, 1);
    if (ABT_thread_cancel(actor.ult) != ABT_SUCCESS) {
        skip(2, "built without cancellation");
        abti_waiter_wake(take_first(&s));
        finish(&actor);
        return;
    }
    finish(&actor);
    ok(!s.queue.head && !s.woken && !atomic_load(&s.over), "%s is cancelled, and leaves the queue before it ends",
       kind_names[kind]);
    start(&actor, kind, sleep_till_cancelled, &held);
    await_queued(&lock, &held.queue, 1);
    must(ABT_thread_cancel(actor.ult));
    abti_waiter_wake(take_first(&held));
    finish(&actor);
    ok(atomic_load(&held.over), "one that has something to do for others does it first");
}

/* --- Many give up while others claim and wake them --- */

enum { SLEEPERS = 2 * NUM_KINDS };

static struct abti_waitq queues[SLEEPERS]; /* lock */
static atomic_int num_woken, num_claimed, num_over, num_ended;

static void sleep_often(int number)
{
    for (int i = 0; i < ROUNDS && race_goes_on(); i++) {
        struct abti_waiter w;
        abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, &queues[number]);
        abti_spin_lock(&lock);
        abti_waitq_push(&queues[number], &w);
        bool woken = abti_waiter_park_until(&w, &lock, NULL, in_us(i % 16 * 5));
        atomic_fetch_add(woken ? &num_woken : &num_over, 1);
        if (!woken) {
            abti_spin_lock(&lock);
            abti_waitq_remove(&queues[number], &w);
            abti_spin_unlock(&lock);
        }
    }
    atomic_fetch_add(&num_ended, 1);
}

static void wake_often(void)
{
    for (int i = 0; atomic_load(&num_ended) < SLEEPERS; i++) {
        abti_spin_lock(&lock);
        struct abti_waiter *w = abti_waitq_take(&queues[i % SLEEPERS]);
        abti_spin_unlock(&lock);
        if (w)
            abti_waiter_wake(w);
        atomic_fetch_add(&num_claimed, w != NULL);
        if (!w && i % SLEEPERS == 0)
            give_way();
    }
}

static void sleep_or_wake(void *arg)
{
    if ((intptr_t)arg < SLEEPERS)
        sleep_often((int)(intptr_t)arg);
    else
        wake_often();
}

int main(void)
{
    sync_begin();
    test_claim();
    test_branches();
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++) {
        test_sleep(kind, 0, false);
        test_sleep(kind, 0, true);
        test_sleep(kind, ABTI_CLOCK_NEVER, false);
        test_late_wake(kind);
        test_time(kind);
        test_other(kind);
    }
    test_all(false);
    test_all(true);
    test_cancel(HOME);
    test_cancel(AWAY);
    race(SLEEPERS + 2, sleep_or_wake);
    is_int(atomic_load(&num_woken), atomic_load(&num_claimed), "those that are claimed are woken; %d gave up",
           atomic_load(&num_over));
    return sync_end();
}
