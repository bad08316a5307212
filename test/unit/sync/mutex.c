/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutexes from the inside: what the word says, who queues where, and waiters that look for themselves while others lock
 * and unlock.
 */
#include "pick/sched.h"
#include "sync/cond.h"
#include "sync/mutex.h"
#include "sync/timer.h"
#include "sync_test.h"

enum { STREAMS = 2, ULTS = 4, NATIVES = 2, ROUNDS = 3000, SECONDS = 8 };

static struct ABT_mutex_opaque mutex;
static struct ABT_cond_opaque cond;
static ABT_pool pools[STREAMS];
static ABT_xstream streams[STREAMS];
static atomic_bool goes_on;
static atomic_int num_ended;
static int num_locked; /* mutex */
static atomic_int num_entered;

static uint32_t word(void)
{
    return abti_load_acquire(&mutex.word);
}

static void begin(void)
{
    memset(&mutex, 0, sizeof(mutex));
    memset(&cond, 0, sizeof(cond));
}

static bool has(struct abti_waitq *q)
{
    return num_queued(&mutex.lock, q) > 0;
}

static bool is_empty(void)
{
    return !has(&mutex.natives) && !has(&mutex.near) && !has(&mutex.waiters);
}

static ABT_thread make_ult(int stream, void (*func)(void *))
{
    ABT_thread ult;

    must(ABT_thread_create(pools[stream], func, NULL, ABT_THREAD_ATTR_NULL, &ult));
    return ult;
}

static void lock_once(void *arg)
{
    (void)arg;
    abti_mutex_lock(&mutex);
    num_locked++;
    abti_mutex_unlock(&mutex);
}

static void wait_until_blocked(ABT_thread ult)
{
    for (ABT_thread_state state = ABT_THREAD_STATE_READY; state != ABT_THREAD_STATE_BLOCKED; ABT_thread_yield())
        must(ABT_thread_get_state(ult, &state));
}

static void test_word(void)
{
    begin();
    is_int(word(), 0, "zeroed memory is a free mutex");
    abti_mutex_lock(&mutex);
    is_int(word(), ABTI_MUTEX_LOCKED, "locked");
    ok(!abti_mutex_trylock(&mutex), "it cannot be taken again");
    abti_mutex_unlock(&mutex);
    is_int(word(), 0, "free again");
    ok(abti_mutex_trylock(&mutex), "tried and taken");
    abti_mutex_unlock(&mutex);
}

/* A ULT of another stream queues, is woken, and takes the mutex; the next one of its pool then is near. */
static void test_queues(void)
{
    begin();
    abti_mutex_lock(&mutex);
    ABT_thread ults[2] = {make_ult(0, lock_once)};
    wait_until_blocked(ults[0]);
    is_int(word(), ABTI_MUTEX_LOCKED | ABTI_MUTEX_WAITERS, "somebody waits");
    ok(has(&mutex.waiters) && !has(&mutex.near), "among the others");
    abti_mutex_unlock(&mutex);
    must(ABT_thread_free(&ults[0]));
    is_int(word(), 0, "nobody waits");
    is_ptr(mutex.home, pools[0], "the mutex has been with that pool");
    abti_mutex_lock(&mutex);
    ults[0] = make_ult(0, lock_once);
    ults[1] = make_ult(1, lock_once);
    wait_until_blocked(ults[0]);
    wait_until_blocked(ults[1]);
    ok(has(&mutex.near) && has(&mutex.waiters), "one is near, one is not");
    abti_mutex_unlock(&mutex);
    must(ABT_thread_free_many(2, ults));
    ok(word() == 0 && is_empty(), "nobody is left");
}

static size_t num_armed(abti_es *es)
{
    size_t num = 0;

    abti_spin_lock(&es->timers->lock);
    for (struct abti_heap_node *node = abti_heap_drain(&es->timers->heap), *next; node; node = next, num++) {
        next = node->next;
        abti_heap_insert(&es->timers->heap, node);
    }
    abti_spin_unlock(&es->timers->lock);
    return num;
}

static void wait_once(void *arg)
{
    (void)arg;
    abti_mutex_lock(&mutex);
    must(abti_cond_wait(&cond, &mutex));
    num_locked++;
    abti_mutex_unlock(&mutex);
}

static void *wait_once_natively(void *arg)
{
    wait_once(arg);
    return NULL;
}

/* A signal moves waiters of one pool, which come after the unlock. Others it wakes, and they queue with a look. */
static void test_admission(void)
{
    pthread_t native;

    begin();
    num_locked = 0;
    must(pthread_create(&native, NULL, wait_once_natively, NULL));
    await_queued(&cond.lock, &cond.waiters, 1);
    ABT_thread ults[2] = {make_ult(0, wait_once), make_ult(1, wait_once)};
    await_queued(&cond.lock, &cond.waiters, 3);
    abti_mutex_lock(&mutex);
    abti_cond_broadcast(&cond);
    await_queued(&mutex.lock, &mutex.near, 1);
    await_queued(&mutex.lock, &mutex.waiters, 2);
    is_int(num_locked, 0, "all wait for the mutex");
    is_int((long)(num_armed(streams[0]) + num_armed(streams[1])), 1, "the one of another pool with a look");
    abti_waiter_wake_list(abti_mutex_release(&mutex));
    pthread_join(native, NULL);
    must(ABT_thread_free_many(2, ults));
    is_int(num_locked, 3, "all have had it");
    ok(!(word() & ~(uint32_t)ABTI_MUTEX_HEIR) && is_empty(), "nobody is left");
}

/* Makes the looks of an ES due at once. */
static void hurry(abti_es *es)
{
    struct abti_timers *timers = es->timers;

    abti_spin_lock(&timers->lock);
    for (struct abti_heap_node *node = abti_heap_drain(&timers->heap), *next; node; node = next) {
        next = node->next;
        node->key = 1;
        abti_heap_insert(&timers->heap, node);
        abti_store_seq_cst(&timers->next, 1);
    }
    abti_spin_unlock(&timers->lock);
    abti_es_wake(es);
}

static bool is_due_later(abti_es *es)
{
    uint64_t next = abti_timer_next(es);

    return next > 1 && next != ABTI_CLOCK_NEVER;
}

/* It looks, and waits on while the mutex is held; when that is free without an unlock that wakes, it comes. */
static void test_look(void)
{
    begin();
    num_locked = 0;
    abti_mutex_lock(&mutex);
    ABT_thread ult = make_ult(0, lock_once);
    wait_until_blocked(ult);
    is_int((long)num_armed(streams[0]), 1, "one who is not near looks");
    for (int i = 0; i < 100; i++) {
        hurry(streams[0]);
        while (!is_due_later(streams[0]))
            ABT_thread_yield();
    }
    ok(has(&mutex.waiters) && word() == (ABTI_MUTEX_LOCKED | ABTI_MUTEX_WAITERS), "it has looked and waits on");
    abti_fetch_and_acq_rel(&mutex.word, ~(uint32_t)ABTI_MUTEX_LOCKED);
    must(ABT_thread_free(&ult));
    is_int(num_locked, 1, "it has come by itself");
    ok(word() == 0 && is_empty() && num_armed(streams[0]) == 0, "nothing is left of it");
}

static atomic_int num_held_up;
static atomic_bool lets_go;

/* Keeps its stream from all else. */
static void hold_up(void *arg)
{
    (void)arg;
    atomic_fetch_add(&num_held_up, 1);
    while (!atomic_load(&lets_go))
        nap_us(50);
}

static void lock_and_unlock(void)
{
    abti_mutex_lock(&mutex);
    abti_mutex_unlock(&mutex);
}

/* As long as one that was woken from afar does not come, so many unlocks wake nobody else, and then one does. */
static void test_quiet(void)
{
    ABT_thread ults[2 * STREAMS];

    begin();
    num_locked = 0;
    atomic_store(&num_held_up, 0);
    atomic_store(&lets_go, false);
    abti_mutex_lock(&mutex);
    for (int i = 0; i < STREAMS; i++) {
        ults[i] = make_ult(i, lock_once);
        wait_until_blocked(ults[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        ults[STREAMS + i] = make_ult(i, hold_up);
    while (atomic_load(&num_held_up) < STREAMS)
        ABT_thread_yield();
    abti_mutex_unlock(&mutex);
    ok(word() & ABTI_MUTEX_COMING && word() & ABTI_MUTEX_WAITERS, "one of two is woken, and does not come");
    for (int i = 0; i < ABTI_MUTEX_QUIET_UNLOCKS; i++)
        lock_and_unlock();
    ok(!(word() & ABTI_MUTEX_QUIET) && word() & ABTI_MUTEX_WAITERS, "so many unlocks wake nobody");
    lock_and_unlock();
    ok(!(word() & ABTI_MUTEX_WAITERS), "the next one wakes the other");
    atomic_store(&lets_go, true);
    must(ABT_thread_free_many(2 * STREAMS, ults));
    is_int(num_locked, STREAMS, "both come");
    ok(word() == 0 && is_empty(), "nobody is left");
}

/* --- Many lock and unlock, and all the time all of those that are queued look --- */

static void lock_often(bool yields)
{
    for (int i = 0; i < ROUNDS && atomic_load(&goes_on); i++) {
        abti_mutex_lock(&mutex);
        num_locked++;
        if (i % 32 == 5 && atomic_load(&goes_on))
            must(abti_cond_wait(&cond, &mutex));
        else if (i % 8 == 1)
            abti_cond_signal(&cond);
        else if (i % 64 == 2)
            abti_cond_broadcast(&cond);
        if (yields && i % 4 == 0)
            ABT_thread_yield();
        abti_mutex_unlock(&mutex);
        atomic_fetch_add(&num_entered, 1);
        if (yields && i % 16 == 0)
            ABT_thread_yield();
    }
    atomic_fetch_add(&num_ended, 1);
}

static void lock_often_as_ult(void *arg)
{
    (void)arg;
    lock_often(true);
}

static void *lock_often_natively(void *arg)
{
    lock_often(false);
    return arg;
}

static void test_race(ABT_pool_kind kind)
{
    ABT_thread ults[STREAMS * ULTS];
    pthread_t natives[NATIVES];
    uint64_t end = abti_clock_mono_ns() + (uint64_t)SECONDS * 1000000000;

    begin();
    num_locked = 0;
    atomic_store(&num_entered, 0);
    atomic_store(&num_ended, 0);
    atomic_store(&goes_on, true);
    for (int i = 0; i < STREAMS * ULTS; i++)
        ults[i] = make_ult(i % STREAMS, lock_often_as_ult);
    for (int i = 0; i < NATIVES; i++)
        must(pthread_create(&natives[i], NULL, lock_often_natively, NULL));
    while (atomic_load(&num_ended) < STREAMS * ULTS + NATIVES) {
        for (int i = 0; i < STREAMS; i++)
            hurry(streams[i]);
        abti_cond_broadcast(&cond); /* the last ones have nobody else to wake them */
        nap_us(50);
        if (abti_clock_mono_ns() > end)
            atomic_store(&goes_on, false); /* a slow machine: fewer rounds will do */
    }
    for (int i = 0; i < NATIVES; i++)
        pthread_join(natives[i], NULL);
    must(ABT_thread_free_many(STREAMS * ULTS, ults));
    is_int(num_locked, atomic_load(&num_entered), "one at a time (pools of kind %d)", (int)kind);
    ok(!(word() & ~(uint32_t)ABTI_MUTEX_HEIR) && is_empty(), "nobody is left");
    ok(num_armed(streams[0]) == 0 && num_armed(streams[1]) == 0, "nobody looks any more");
}

static void begin_streams(ABT_pool_kind kind)
{
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pools[i], ABT_SCHED_CONFIG_NULL, &streams[i]));
    }
}

static void end_streams(void)
{
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
}

int main(void)
{
    watchdog_begin(0);
    must(ABT_init(0, NULL));
    begin_streams(ABT_POOL_FIFO);
    test_word();
    test_queues();
    test_look();
    test_admission();
    test_quiet();
    test_race(ABT_POOL_FIFO);
    end_streams();
    begin_streams(ABT_POOL_RANDWS);
    test_race(ABT_POOL_RANDWS);
    end_streams();
    must(ABT_finalize());
    return done_testing();
}
