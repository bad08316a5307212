/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers from the inside: what fires and when, who wins between timer and waker, and how timers go from one stream to
 * another. The waiters are no ULTs but words to look at.
 */
#include <abt.h>
#include <pthread.h>

#include "run/sched.h"
#include "sync/timer.h"
#include "tap.h"

enum { MANY = 1000 };

struct fake {
    struct abti_waiter waiter;
    struct abti_timer timer;
    abti_unit unit; /* whose pool says who may take over the timer */
};

static struct fake fakes[MANY];
static abti_es *self;

static void fake_init(struct fake *f, abti_pool *pool)
{
    memset(f, 0, sizeof(*f));
    abti_waiter_init(&f->waiter, ABT_SYNC_EVENT_TYPE_OTHER, NULL);
    f->waiter.unit = NULL;
    abti_waiter_open(&f->waiter);
    f->unit.pool = pool;
}

static void arm(struct fake *f, uint64_t deadline_ns)
{
    fake_init(f, NULL);
    abti_timer_arm(self, &f->timer, &f->waiter, deadline_ns, NULL);
}

static bool is_woken(struct fake *f)
{
    return abti_load_acquire(&f->waiter.word) == ABTI_WOKEN;
}

static bool is_armed(struct fake *f)
{
    return abti_load_acquire(&f->timer.timers) != NULL;
}

static bool is_over(struct fake *f)
{
    return is_woken(f) && !is_armed(f) && abti_load_relaxed(&f->waiter.claim) == ABTI_CLAIM_OVER;
}

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

static void nap_ms(unsigned ms)
{
    struct timespec ts = {.tv_nsec = (long)ms * 1000000};

    nanosleep(&ts, NULL);
}

/* --- One stream --- */

static void test_next(void)
{
    uint64_t soon = in_ms(100000);

    ok(abti_timer_next(self) == ABTI_CLOCK_NEVER, "no timer, no deadline");
    arm(&fakes[0], soon + 2);
    ok(abti_timer_next(self) == soon + 2, "the only one");
    arm(&fakes[1], soon);
    ok(abti_timer_next(self) == soon, "an earlier one");
    arm(&fakes[2], soon + 1);
    arm(&fakes[3], ABTI_CLOCK_NEVER);
    ok(abti_timer_next(self) == soon, "later ones do not count");
    abti_timers_fire(self);
    ok(is_armed(&fakes[0]) && is_armed(&fakes[1]) && is_armed(&fakes[2]) && is_armed(&fakes[3]), "nothing is due");
    abti_timer_disarm(&fakes[1].timer);
    ok(abti_timer_next(self) != soon, "taken out");
    ok(abti_timer_next(self) == soon + 1, "the second is the next");
    abti_timer_disarm(&fakes[0].timer);
    abti_timer_disarm(&fakes[2].timer);
    ok(abti_timer_next(self) == ABTI_CLOCK_NEVER, "one without a deadline is left");
    abti_timer_disarm(&fakes[3].timer);
    ok(!abti_heap_some(&self->timers->heap), "no more");
}

static void test_fire(void)
{
    uint64_t later = in_ms(100000);

    arm(&fakes[0], 0);
    arm(&fakes[1], abti_clock_mono_ns());
    arm(&fakes[2], later);
    arm(&fakes[3], in_ms(20));
    abti_timers_fire(self);
    ok(is_over(&fakes[0]) && is_over(&fakes[1]), "those whose time has come are woken");
    bool waits = is_armed(&fakes[3]) || abti_clock_mono_ns() >= fakes[3].timer.node.key; /* a busy machine */
    ok(is_armed(&fakes[2]) && waits, "the others are not");
    while (abti_clock_mono_ns() < fakes[3].timer.node.key)
        ;
    abti_timers_poll(self);
    ok(is_over(&fakes[3]), "a look finds it");
    ok(abti_timer_next(self) == later, "one is left");
    abti_timer_disarm(&fakes[3].timer);
    ok(is_over(&fakes[3]), "there is nothing to disarm in one that has fired");
    abti_timer_disarm(&fakes[2].timer);
    ok(!is_woken(&fakes[2]), "the last one has not fired");
}

/* Somebody has claimed the waiter: the timer leaves it alone. */
static void test_claimed(void)
{
    arm(&fakes[0], 0);
    is_ptr(abti_waiter_claim(&fakes[0].waiter), &fakes[0].waiter, "claimed by a waker");
    ok(!abti_waiter_give_up(&fakes[0].waiter), "it cannot give up any more");
    is_ptr(abti_waiter_claim(&fakes[0].waiter), NULL, "nor be claimed again");
    abti_timers_fire(self);
    ok(!is_woken(&fakes[0]) && !is_armed(&fakes[0]), "the timer goes, the wake is the waker's");
    arm(&fakes[0], 0);
    abti_timers_fire(self);
    is_ptr(abti_waiter_claim(&fakes[0].waiter), NULL, "after the timer no waker claims it");
}

static size_t count_woken(void)
{
    size_t n = 0;

    for (size_t i = 0; i < MANY; i++)
        n += is_woken(&fakes[i]);
    return n;
}

static void test_many(void)
{
    size_t woken, times = 0;
    bool in_order = true;

    for (size_t i = 0; i < MANY; i++)
        arm(&fakes[i], 1 + i * 7919 % MANY);
    abti_timers_fire(self);
    woken = count_woken();
    ok(woken > 0 && woken < MANY, "others may run between the %zu and the rest of %d", woken, MANY);
    ok(abti_timer_next(self) <= abti_clock_mono_ns(), "the rest is due");
    for (size_t i = 0; i < MANY; i++)
        in_order = in_order && is_woken(&fakes[i]) == (fakes[i].timer.node.key < abti_timer_next(self));
    ok(in_order, "the first were the first");
    for (; count_woken() < MANY && times < MANY; times++)
        abti_timers_fire(self);
    ok(times < 10, "in %zu more rounds", times);
    ok(abti_timer_next(self) == ABTI_CLOCK_NEVER, "none is left");
}

/* --- Several streams --- */

static abti_pool *new_pool(void)
{
    abti_pool *pool;

    if (ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool))
        bail_out("no pool");
    return pool;
}

static abti_es *new_es(abti_pool *pool)
{
    abti_es *es;

    if (ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es))
        bail_out("no stream");
    return es;
}

static void arm_for(struct fake *f, abti_pool *pool, uint64_t deadline_ns)
{
    fake_init(f, pool);
    f->waiter.ult = &f->unit;
    abti_timer_arm(self, &f->timer, &f->waiter, deadline_ns, NULL);
}

static struct abti_timers *place_of(struct fake *f)
{
    return abti_load_acquire(&f->timer.timers);
}

/* It is marked as one that ends, too, which it does not. */
static bool leave_by_force(void)
{
    bool left = abti_timers_leave(self, true);

    atomic_fetch_and(&self->requests, ~(uint32_t)ABTI_ES_REQ_CANCEL);
    return left;
}

/* The primary stream pretends that it has been told to end. */
static void test_leave(void)
{
    abti_pool *shared = new_pool(), *nobodys = new_pool(), *own = atomic_load(&self->main_sched)->pools[0];
    abti_es *es = new_es(shared);
    uint64_t later = in_ms(100000);

    arm_for(&fakes[0], shared, later);
    ok(abti_timers_leave(self, false), "all could be passed on");
    is_ptr(place_of(&fakes[0]), es->timers, "to the stream that serves the pool");
    ok(abti_timer_next(es) == later && abti_timer_next(self) == ABTI_CLOCK_NEVER, "both know about it");
    abti_timer_disarm(&fakes[0].timer);
    ok(!is_armed(&fakes[0]) && abti_timer_next(es) == ABTI_CLOCK_NEVER, "disarmed where it is");

    arm_for(&fakes[0], own, later);
    ok(!abti_timers_leave(self, false), "nobody else serves the own pool");
    is_ptr(place_of(&fakes[0]), self->timers, "so it stays");
    arm_for(&fakes[1], own, ABTI_CLOCK_NEVER);
    abti_timer_disarm(&fakes[0].timer);
    ok(abti_timers_leave(self, false), "who waits without a deadline keeps nobody");
    ok(!is_armed(&fakes[1]), "the primary stream has nobody to leave it to");
    arm_for(&fakes[2], nobodys, later);
    ok(abti_timers_leave(self, false), "a pool that nobody serves keeps nobody");
    ok(!is_armed(&fakes[2]) && !is_woken(&fakes[2]), "at the very end such a timer is dropped");

    /* To a stream that sleeps, shortly before the time. */
    nap_ms(5);
    arm_for(&fakes[3], shared, in_ms(20));
    ok(abti_timers_leave(self, false), "passed on to one that sleeps");
    for (int i = 0; i < 20000 && !is_over(&fakes[3]); i++)
        nap_ms(1);
    ok(is_over(&fakes[3]), "where it fires");

    ABT_xstream_free(&es);
    ABT_pool_free(&shared);
    ABT_pool_free(&nobodys);
}

/* A stream is told to end: nobody leaves timers to it. */
static void test_ending(void)
{
    abti_pool *shared = new_pool();
    abti_es *es[2] = {new_es(shared), new_es(shared)};
    uint64_t later = in_ms(100000);

    ABT_xstream_join(es[0]);
    arm_for(&fakes[0], shared, later);
    ok(abti_timers_leave(self, false), "one of two has ended");
    is_ptr(place_of(&fakes[0]), es[1]->timers, "the other one gets it");
    abti_timer_disarm(&fakes[0].timer);
    ABT_xstream_join(es[1]);
    arm_for(&fakes[0], shared, later);
    ok(leave_by_force(), "both have ended");
    ok(!is_armed(&fakes[0]), "none gets it");
    ABT_xstream_revive(es[0]);
    arm_for(&fakes[0], shared, later);
    ok(abti_timers_leave(self, false), "the first one is back");
    is_ptr(place_of(&fakes[0]), es[0]->timers, "and gets it");
    abti_timer_disarm(&fakes[0].timer);
    ABT_xstream_free(&es[0]);
    ABT_xstream_free(&es[1]);
    ABT_pool_free(&shared);
}

static void test_recheck(void)
{
    arm_for(&fakes[0], NULL, in_ms(100000));
    arm_for(&fakes[1], NULL, in_ms(100000));
    arm_for(&fakes[2], NULL, ABTI_CLOCK_NEVER);
    abti_store_relaxed(&fakes[1].unit.requests, ABTI_REQ_CANCEL);
    abti_store_relaxed(&fakes[2].unit.requests, ABTI_REQ_CANCEL);
    abti_timers_fire(self);
    ok(is_armed(&fakes[1]), "nobody has told the stream");
    abti_timers_recheck(self->cur->pool);
    is_int(abti_timer_next(self), 0, "now it looks at once");
    abti_timers_fire(self);
    ok(is_armed(&fakes[0]) && is_over(&fakes[1]) && is_over(&fakes[2]), "the cancelled ones are over");
    ok(abti_timer_next(self) == fakes[0].timer.node.key, "and the other one is the next");
    abti_timer_disarm(&fakes[0].timer);
}

/* A ULT whose wait has ended may have run to its end meanwhile, and its pool may have been freed. */
static void test_recheck_freed(void)
{
    static abti_pool freed; /* as one that is in no list any more */

    abti_spin_init(&freed.lock.spin, ABTI_RANK_POOL);
    abti_lookout_init(&freed.lookout);
    abti_timers_recheck(&freed);
    ok(abti_load_relaxed(&freed.lookout.next_ns) == ABTI_CLOCK_NEVER, "a pool that has been freed is left alone");
}

/* --- At the same time: the timer fires or moves, a waker claims and wakes, the waiter disarms --- */

/*
 * The two who take turns may have one CPU between them: where streams are bound, the thread runs where its maker does.
 * If others want that CPU, too, a turn takes many milliseconds: there are fewer rounds then.
 */

enum { ROUNDS = 20000, SECONDS = 10 };

static struct fake race;
static _Atomic(int) round_begun, round_done;
static atomic_bool races;

static void *wake_it(void *arg)
{
    for (int i = 1;; i++) {
        for (unsigned step = 0; atomic_load(&round_begun) < i; step++)
            abti_backoff(step);
        if (!atomic_load(&races))
            break;
        struct abti_waiter *w = abti_waiter_claim(&race.waiter);
        if (w)
            abti_waiter_wake(w);
        atomic_store(&round_done, i);
    }
    return arg;
}

static void test_race(void)
{
    pthread_t thread;
    abti_pool *shared = new_pool();
    abti_es *es = new_es(shared);
    int taken = 0, over = 0, i;
    uint64_t end = in_ms(SECONDS * 1000);

    atomic_store(&races, true);
    pthread_create(&thread, NULL, wake_it, NULL);
    for (i = 1; i <= ROUNDS && abti_clock_mono_ns() < end; i++) {
        arm_for(&race, shared, abti_clock_mono_ns() + (uint64_t)(i % 64) * 50);
        atomic_store(&round_begun, i);
        if (i % 4 == 0)
            (void)leave_by_force();
        while (!is_woken(&race) && abti_load_relaxed(&race.waiter.claim) == ABTI_CLAIM_OPEN)
            abti_timers_fire(self);
        abti_timer_disarm(&race.timer);
        for (unsigned step = 0; atomic_load(&round_done) < i || !is_woken(&race); step++)
            abti_backoff(step);
        taken += abti_load_relaxed(&race.waiter.claim) == ABTI_CLAIM_TAKEN;
        over += abti_load_relaxed(&race.waiter.claim) == ABTI_CLAIM_OVER;
    }
    atomic_store(&races, false);
    atomic_store(&round_begun, i);
    pthread_join(thread, NULL);
    is_int(taken + over, i - 1, "%d times woken by others, %d times by the timer", taken, over);
    ABT_xstream_free(&es);
    ABT_pool_free(&shared);
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    ABT_xstream_self(&self);
    test_next();
    test_fire();
    test_claimed();
    test_many();
    test_leave();
    test_ending();
    test_recheck();
    test_recheck_freed();
    test_race();
    ABT_finalize();
    return done_testing();
}
