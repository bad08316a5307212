/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Condition variables from the inside: the mutex they are tied to, who a signal takes and where it puts it, and that
 * no signal is lost between waiters of all kinds, with deadlines or without.
 */
#include "sync/cond.h"
#include "sync/mutex.h"
#include "sync_test.h"

enum { TOKENS = 1500, COUPLES = 3 };

static struct ABT_mutex_opaque mutex, other_mutex;
static struct ABT_cond_opaque cond;
static atomic_int num_woken;

static void begin(void)
{
    memset(&mutex, 0, sizeof(mutex));
    memset(&cond, 0, sizeof(cond));
    atomic_store(&num_woken, 0);
}

static void wait_once(void *arg)
{
    (void)arg;
    abti_mutex_lock(&mutex);
    must(abti_cond_wait(&cond, &mutex));
    atomic_fetch_add(&num_woken, 1);
    abti_mutex_unlock(&mutex);
}

static void start_waiter(struct actor *actor, enum kind kind, int num)
{
    start(actor, kind, wait_once, NULL);
    await_queued(&cond.lock, &cond.waiters, num);
    abti_mutex_lock(&mutex); /* it has released that */
    abti_mutex_unlock(&mutex);
}

static bool is_waited(void)
{
    return abti_load_relaxed(&cond.waited) != 0;
}

static int num_at_mutex(void)
{
    return num_queued(&mutex.lock, &mutex.near) + num_queued(&mutex.lock, &mutex.waiters) +
           num_queued(&mutex.lock, &mutex.natives);
}

/* Those that a signal wakes queue by themselves. One of the caller's own pool cannot run before the caller leaves. */
static void await_at_mutex(enum kind kind, int num)
{
    while (kind != HOME && num_at_mutex() != num)
        give_way();
}

static void test_tie(void)
{
    begin();
    abti_mutex_lock(&mutex);
    is_int(abti_cond_wait_until(&cond, &mutex, 0), ABT_ERR_COND_TIMEDOUT, "the time is up");
    is_ptr(cond.mutex, &mutex, "the first wait ties it to the mutex");
    ok(abti_load_relaxed(&mutex.word) & ABTI_MUTEX_LOCKED, "which is locked again");
    ok(!is_waited() && !cond.waiters.head, "nobody is left in the queue");
    abti_mutex_unlock(&mutex);
    abti_mutex_lock(&other_mutex);
    is_int(abti_cond_wait(&cond, &other_mutex), ABT_ERR_INV_MUTEX, "another one is refused");
    is_int(abti_cond_wait_until(&cond, &other_mutex, 0), ABT_ERR_INV_MUTEX, "with a deadline, too");
    ok(abti_load_relaxed(&other_mutex.word) & ABTI_MUTEX_LOCKED && !is_held(&cond.lock), "and stays locked");
    abti_mutex_unlock(&other_mutex);
}

/* A waiter that the holder of the mutex signals waits for the mutex. */
static void test_signal(enum kind kind)
{
    struct actor actors[3];

    begin();
    for (int i = 0; i < 3; i++)
        start_waiter(&actors[i], kind, i + 1);
    ok(is_waited(), "%s waits", kind_names[kind]);
    abti_mutex_lock(&mutex);
    struct abti_waiter *second = cond.waiters.head->next;
    abti_cond_signal(&cond);
    ok(cond.waiters.head == second && num_queued(&cond.lock, &cond.waiters) == 2 && is_waited(),
       "a signal takes the first, and leaves two");
    is_int(atomic_load(&num_woken), 0, "it does not come before the mutex is free");
    await_at_mutex(kind, 1); /* where it queues, unless it cannot run before we leave */
    abti_cond_broadcast(&cond);
    ok(!cond.waiters.head && !is_waited(), "a broadcast takes all");
    await_at_mutex(kind, 3);
    is_int(atomic_load(&num_woken), 0, "none has come");
    abti_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++)
        finish(&actors[i]);
    ok(atomic_load(&num_woken) == 3 && num_at_mutex() == 0, "all have come");
}

/* The time of the first waiter is up when the signal comes: it goes to the next one. */
static void test_skip(void)
{
    struct abti_waiter w;
    struct actor actor;

    begin();
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_COND, &cond);
    abti_spin_lock(&cond.lock);
    abti_waitq_push(&cond.waiters, &w);
    abti_waiter_open(&w);
    abti_spin_unlock(&cond.lock);
    start_waiter(&actor, AWAY, 2);
    ok(abti_waiter_give_up(&w), "the first one gives up");
    abti_cond_signal(&cond);
    finish(&actor);
    is_int(atomic_load(&num_woken), 1, "the second one is woken");
    ok(!is_waited() && !cond.waiters.head, "nobody is left");
}

/* One that gives up leaves the others, and what says that there are any. */
static void test_timeout_beside(void)
{
    struct actor actor;

    begin();
    start_waiter(&actor, NATIVE, 1);
    abti_mutex_lock(&mutex);
    is_int(abti_cond_wait_until(&cond, &mutex, in_us(500)), ABT_ERR_COND_TIMEDOUT, "the time of one of two is up");
    abti_mutex_unlock(&mutex);
    ok(is_waited() && num_queued(&cond.lock, &cond.waiters) == 1, "the other one waits on");
    abti_cond_signal(&cond);
    finish(&actor);
    is_int(atomic_load(&num_woken), 1, "and is woken");
}

/* --- As many tokens are taken as given, with one signal for each. Sleeps for ever when a signal is lost --- */

static int num_tokens, num_taken, num_given; /* mutex */
static int still_to_give;                    /* mutex: how many givers */

static void take_tokens(bool with_deadline)
{
    for (bool more = true; more;) {
        abti_mutex_lock(&mutex);
        while (num_tokens == 0 && still_to_give > 0) {
            int code = with_deadline ? abti_cond_wait_until(&cond, &mutex, in_us(50)) : abti_cond_wait(&cond, &mutex);
            atomic_fetch_add(&num_woken, code == ABT_SUCCESS);
        }
        more = num_tokens > 0;
        num_tokens -= more;
        num_taken += more;
        abti_mutex_unlock(&mutex);
    }
}

static void give_tokens(int number)
{
    for (int i = 0; i < TOKENS && race_goes_on(); i++) {
        abti_mutex_lock(&mutex);
        num_tokens++;
        num_given++;
        if (i % 2)
            abti_cond_signal(&cond);
        abti_mutex_unlock(&mutex);
        if (i % 2 == 0)
            abti_cond_signal(&cond);
        if (i % 8 == number)
            give_way();
        /* Each has its token taken before it gives the next ones: a lost signal is not made up for by another. */
        for (bool taken = i % 4 != 0; !taken;) {
            abti_mutex_lock(&mutex);
            taken = num_tokens == 0;
            abti_mutex_unlock(&mutex);
            if (!taken)
                give_way();
        }
    }
    abti_mutex_lock(&mutex);
    if (--still_to_give == 0)
        abti_cond_broadcast(&cond);
    abti_mutex_unlock(&mutex);
}

static void give_or_take(void *arg)
{
    int number = (int)(intptr_t)arg;

    if (number < COUPLES)
        give_tokens(number);
    else
        take_tokens(number >= 2 * COUPLES);
}

static void test_race(int num_actors)
{
    begin();
    num_tokens = num_taken = num_given = 0;
    still_to_give = COUPLES;
    race(num_actors, give_or_take);
    is_int(num_taken, num_given, "all tokens are taken, by %d", num_actors - COUPLES);
    ok(!is_waited() && !cond.waiters.head && num_at_mutex() == 0, "nobody is left");
}

int main(void)
{
    sync_begin();
    test_tie();
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++)
        test_signal(kind);
    test_skip();
    test_timeout_beside();
    test_race(2 * COUPLES);
    test_race(3 * COUPLES);
    return sync_end();
}
