/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of region_functions.c: synchronisation. What can wait does, for another stream's ULT. */
#ifndef TEST_REGRESS_REGION_SYNC_H
#define TEST_REGRESS_REGION_SYNC_H

#include "region_functions.h"

/* --- Mutexes --- */

struct held {
    ABT_mutex mutex;
    atomic_bool is;
};

static void hold_a_moment(void *arg)
{
    struct held *held = arg;
    must(ABT_mutex_lock(held->mutex));
    atomic_store(&held->is, true);
    nap_ms(1);
    must(ABT_mutex_unlock(held->mutex));
}

/* While another one has it. */
static int lock_held(int (*lock)(ABT_mutex))
{
    struct held held = {.is = false};
    ABT_thread holder;
    must(ABT_mutex_create(&held.mutex));
    holder = ult_in(world.worker_pool, hold_a_moment, &held);
    while (!atomic_load(&held.is))
        nap_ms(0.1);
    int code = lock(held.mutex);
    if (code == ABT_SUCCESS)
        must(ABT_mutex_unlock(held.mutex));
    must(ABT_thread_free(&holder));
    must(ABT_mutex_free(&held.mutex));
    return code;
}

#define MUTEX(call) WITH(ABT_mutex, ABT_mutex_create(&h), call, must(ABT_mutex_free(&h)))
#define UNLOCK(call)                                                                                                   \
    MUTEX(({                                                                                                           \
        must(ABT_mutex_lock(h));                                                                                       \
        call;                                                                                                          \
    }))
#define MUTEX_ATTR(call) WITH(ABT_mutex_attr, ABT_mutex_attr_create(&h), call, must(ABT_mutex_attr_free(&h)))

ROW(ABT_mutex_create, MUTEX(ABT_SUCCESS));
ROW(ABT_mutex_create_with_attr, MUTEX_ATTR(({
        ABT_mutex mutex = ABT_MUTEX_NULL;
        THEN(ABT_mutex_create_with_attr(h, &mutex), must(ABT_mutex_free(&mutex)));
    })));
ROW(ABT_mutex_free, WITH(ABT_mutex, ABT_mutex_create(&h), ABT_mutex_free(&h)));
ROW(ABT_mutex_lock, lock_held(ABT_mutex_lock));
ROW(ABT_mutex_lock_high, lock_held(ABT_mutex_lock_high));
ROW(ABT_mutex_lock_low, lock_held(ABT_mutex_lock_low));
ROW(ABT_mutex_spinlock, lock_held(ABT_mutex_spinlock));
ROW(ABT_mutex_trylock, MUTEX(THEN(ABT_mutex_trylock(h), must(ABT_mutex_unlock(h)))));
ROW(ABT_mutex_unlock, UNLOCK(ABT_mutex_unlock(h)));
ROW(ABT_mutex_unlock_se, UNLOCK(ABT_mutex_unlock_se(h)));
ROW(ABT_mutex_unlock_de, UNLOCK(ABT_mutex_unlock_de(h)));
ROW(ABT_mutex_equal, MUTEX(ABT_mutex_equal(h, h, OUT(ABT_bool))));
ROW(ABT_mutex_get_attr, MUTEX(({
        ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
        THEN(ABT_mutex_get_attr(h, &attr), must(ABT_mutex_attr_free(&attr)));
    })));
ROW(ABT_mutex_attr_create, MUTEX_ATTR(ABT_SUCCESS));
ROW(ABT_mutex_attr_free, WITH(ABT_mutex_attr, ABT_mutex_attr_create(&h), ABT_mutex_attr_free(&h)));
ROW(ABT_mutex_attr_set_recursive, MUTEX_ATTR(ABT_mutex_attr_set_recursive(h, ABT_TRUE)));
ROW(ABT_mutex_attr_get_recursive, MUTEX_ATTR(ABT_mutex_attr_get_recursive(h, OUT(ABT_bool))));

/* --- Condition variables --- */

struct told {
    ABT_mutex mutex;
    ABT_cond cond;
    bool is; /* mutex */
};

static void tell(void *arg)
{
    struct told *told = arg;
    must(ABT_mutex_lock(told->mutex));
    told->is = true;
    must(ABT_cond_signal(told->cond));
    must(ABT_mutex_unlock(told->mutex));
}

static int wait_until_told(bool timed)
{
    struct told told = {.is = false};
    struct timespec until = a_minute_on();
    int code = ABT_SUCCESS;
    must(ABT_mutex_create(&told.mutex));
    must(ABT_cond_create(&told.cond));
    must(ABT_mutex_lock(told.mutex));
    ABT_thread teller = ult_in(world.worker_pool, tell, &told);
    while (code == ABT_SUCCESS && !told.is)
        code = timed ? ABT_cond_timedwait(told.cond, told.mutex, &until) : ABT_cond_wait(told.cond, told.mutex);
    must(ABT_mutex_unlock(told.mutex));
    must(ABT_thread_free(&teller));
    must(ABT_cond_free(&told.cond));
    must(ABT_mutex_free(&told.mutex));
    return code;
}

#define COND(call) WITH(ABT_cond, ABT_cond_create(&h), call, must(ABT_cond_free(&h)))
ROW(ABT_cond_create, COND(ABT_SUCCESS));
ROW(ABT_cond_free, WITH(ABT_cond, ABT_cond_create(&h), ABT_cond_free(&h)));
ROW(ABT_cond_wait, wait_until_told(false));
ROW(ABT_cond_timedwait, wait_until_told(true));
ROW(ABT_cond_signal, COND(ABT_cond_signal(h)));
ROW(ABT_cond_broadcast, COND(ABT_cond_broadcast(h)));

/* --- Locks of readers and writers --- */

struct written {
    ABT_rwlock lock;
    atomic_bool is;
};

static void write_a_moment(void *arg)
{
    struct written *written = arg;
    must(ABT_rwlock_wrlock(written->lock));
    atomic_store(&written->is, true);
    nap_ms(1);
    must(ABT_rwlock_unlock(written->lock));
}

static int lock_written(int (*lock)(ABT_rwlock))
{
    struct written written = {.is = false};
    must(ABT_rwlock_create(&written.lock));
    ABT_thread writer = ult_in(world.worker_pool, write_a_moment, &written);
    while (!atomic_load(&written.is))
        nap_ms(0.1);
    int code = lock(written.lock);
    if (code == ABT_SUCCESS)
        must(ABT_rwlock_unlock(written.lock));
    must(ABT_thread_free(&writer));
    must(ABT_rwlock_free(&written.lock));
    return code;
}

#define RWLOCK(call) WITH(ABT_rwlock, ABT_rwlock_create(&h), call, must(ABT_rwlock_free(&h)))
ROW(ABT_rwlock_create, RWLOCK(ABT_SUCCESS));
ROW(ABT_rwlock_free, WITH(ABT_rwlock, ABT_rwlock_create(&h), ABT_rwlock_free(&h)));
ROW(ABT_rwlock_rdlock, lock_written(ABT_rwlock_rdlock));
ROW(ABT_rwlock_wrlock, lock_written(ABT_rwlock_wrlock));
ROW(ABT_rwlock_unlock, RWLOCK(({
        must(ABT_rwlock_rdlock(h));
        ABT_rwlock_unlock(h);
    })));

/* --- Eventuals and futures --- */

static void set_eventual(void *eventual)
{
    nap_ms(1);
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void set_future(void *future)
{
    nap_ms(1);
    must(ABT_future_set(future, NULL));
}

#define EVENTUAL(call) WITH(ABT_eventual, ABT_eventual_create(0, &h), call, must(ABT_eventual_free(&h)))
/* That another one sets meanwhile. */
#define SET_EVENTUAL(call)                                                                                             \
    EVENTUAL(({                                                                                                        \
        struct timespec until = a_minute_on();                                                                         \
        ABT_thread setter = ult_in(world.worker_pool, set_eventual, h);                                                \
        (void)until;                                                                                                   \
        THEN(call, must(ABT_thread_free(&setter)));                                                                    \
    }))
ROW(ABT_eventual_create, EVENTUAL(ABT_SUCCESS));
ROW(ABT_eventual_free, WITH(ABT_eventual, ABT_eventual_create(0, &h), ABT_eventual_free(&h)));
ROW(ABT_eventual_wait, SET_EVENTUAL(ABT_eventual_wait(h, NULL)));
ROW(ABT_eventual_timedwait, SET_EVENTUAL(ABT_eventual_timedwait(h, NULL, &until)));
ROW(ABTX_eventual_wait_any_until,
    SET_EVENTUAL(ABTX_eventual_wait_any_until(1, &h, OUT(int), ABTX_after(INT64_C(60000000000)))));
ROW(ABT_eventual_test, EVENTUAL(ABT_eventual_test(h, NULL, OUT(ABT_bool))));
ROW(ABT_eventual_set, EVENTUAL(ABT_eventual_set(h, NULL, 0)));
ROW(ABT_eventual_reset, EVENTUAL(ABT_eventual_reset(h)));

#define FUTURE(call) WITH(ABT_future, ABT_future_create(1, NULL, &h), call, must(ABT_future_free(&h)))
ROW(ABT_future_create, FUTURE(ABT_SUCCESS));
ROW(ABT_future_free, WITH(ABT_future, ABT_future_create(1, NULL, &h), ABT_future_free(&h)));
ROW(ABT_future_wait, FUTURE(({
        ABT_thread setter = ult_in(world.worker_pool, set_future, h);
        THEN(ABT_future_wait(h), must(ABT_thread_free(&setter)));
    })));
ROW(ABT_future_test, FUTURE(ABT_future_test(h, OUT(ABT_bool))));
ROW(ABT_future_set, FUTURE(ABT_future_set(h, NULL)));
ROW(ABT_future_reset, FUTURE(ABT_future_reset(h)));

/* --- Words --- */

static void change_word(void *arg)
{
    _Atomic(uint32_t) *word = arg;
    atomic_store(word, 1);
    must(ABTX_word_wake(word, 1));
}

ROW(ABTX_word_wait, ({
        _Atomic(uint32_t) word = 0;
        ABT_thread changer = ult_in(world.worker_pool, change_word, &word);
        THEN(ABTX_word_wait(&word, 0, 0, ABT_FALSE, NULL, NULL), must(ABT_thread_free(&changer)));
    }));
ROW(ABTX_word_wake, ABTX_word_wake(&world, 1));

/* --- Barriers and timers --- */

static void meet(void *barrier)
{
    must(ABT_barrier_wait(barrier));
}

#define BARRIER(num, call) WITH(ABT_barrier, ABT_barrier_create(num, &h), call, must(ABT_barrier_free(&h)))
ROW(ABT_barrier_create, BARRIER(1, ABT_SUCCESS));
ROW(ABT_barrier_reinit, BARRIER(1, ABT_barrier_reinit(h, 2)));
ROW(ABT_barrier_free, WITH(ABT_barrier, ABT_barrier_create(1, &h), ABT_barrier_free(&h)));
ROW(ABT_barrier_wait, BARRIER(2, ({
                                  ABT_thread other = ult_in(world.worker_pool, meet, h);
                                  THEN(ABT_barrier_wait(h), must(ABT_thread_free(&other)));
                              })));
ROW(ABT_barrier_get_num_waiters, BARRIER(1, ABT_barrier_get_num_waiters(h, OUT(uint32_t))));

#define TIMER(call) WITH(ABT_timer, ABT_timer_create(&h), call, must(ABT_timer_free(&h)))
ROW(ABT_timer_create, TIMER(ABT_SUCCESS));
ROW(ABT_timer_dup, TIMER(({
        ABT_timer timer = ABT_TIMER_NULL;
        THEN(ABT_timer_dup(h, &timer), must(ABT_timer_free(&timer)));
    })));
ROW(ABT_timer_free, WITH(ABT_timer, ABT_timer_create(&h), ABT_timer_free(&h)));
ROW(ABT_timer_start, TIMER(ABT_timer_start(h)));
ROW(ABT_timer_stop, TIMER(ABT_timer_stop(h)));
ROW(ABT_timer_read, TIMER(ABT_timer_read(h, OUT(double))));
ROW(ABT_timer_stop_and_read, TIMER(ABT_timer_stop_and_read(h, OUT(double))));
ROW(ABT_timer_stop_and_add, TIMER(ABT_timer_stop_and_add(h, OUT(double))));
ROW(ABT_timer_get_overhead, ABT_timer_get_overhead(OUT(double)));

#endif
