/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that waits: mutexes, conditions, locks, eventuals, futures, barriers. */
#include "errors.h"

static ABT_mutex mutex = ABT_MUTEX_NULL, other_mutex = ABT_MUTEX_NULL;
static ABT_cond cond = ABT_COND_NULL; /* tied to the mutex */
static ABT_rwlock rwlock = ABT_RWLOCK_NULL;
static ABT_eventual eventual = ABT_EVENTUAL_NULL, ready_eventual = ABT_EVENTUAL_NULL;
static ABT_future future = ABT_FUTURE_NULL, full_future = ABT_FUTURE_NULL, empty_future = ABT_FUTURE_NULL;
static ABT_barrier barrier = ABT_BARRIER_NULL;
static struct timespec past = {.tv_sec = 1};

/* They may be used at any time, so they are made before all else. */
static void make_objects(void)
{
    must(ABT_mutex_create(&mutex));
    must(ABT_mutex_create(&other_mutex));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    must(ABT_eventual_create(sizeof(int), &eventual));
    must(ABT_eventual_create(0, &ready_eventual));
    must(ABT_eventual_set(ready_eventual, NULL, 0));
    must(ABT_future_create(2, NULL, &future));
    must(ABT_future_create(1, NULL, &full_future));
    must(ABT_future_set(full_future, NULL));
    must(ABT_future_create(0, NULL, &empty_future));
    must(ABT_barrier_create(1, &barrier));
}

static void free_objects(void)
{
    must(ABT_mutex_free(&mutex));
    must(ABT_mutex_free(&other_mutex));
    must(ABT_cond_free(&cond));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_eventual_free(&eventual));
    must(ABT_eventual_free(&ready_eventual));
    must(ABT_future_free(&future));
    must(ABT_future_free(&full_future));
    must(ABT_future_free(&empty_future));
    must(ABT_barrier_free(&barrier));
}

static void tie_cond(void)
{
    must(ABT_mutex_lock(mutex));
    is_int(ABT_cond_timedwait(cond, mutex, &past), ABT_ERR_COND_TIMEDOUT, "tied to its mutex");
    must(ABT_mutex_unlock(mutex));
}

/* --- Mutex --- */

NULLS(ABT_mutex_free, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, IN_OUT(ABT_mutex, h));
NULLS(ABT_mutex_lock, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_lock_high, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_lock_low, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_trylock, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_spinlock, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_unlock, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_unlock_se, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_unlock_de, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h);
NULLS(ABT_mutex_get_attr, ABT_ERR_INV_MUTEX, ANYTIME, ABT_MUTEX_NULL, h, OUT(ABT_mutex_attr));
NULLS(ABT_mutex_attr_free, ABT_ERR_INV_MUTEX_ATTR, ANYTIME, ABT_MUTEX_ATTR_NULL, IN_OUT(ABT_mutex_attr, h));
NULLS(ABT_mutex_attr_set_recursive, ABT_ERR_INV_MUTEX_ATTR, ANYTIME, ABT_MUTEX_ATTR_NULL, h, ABT_TRUE);
NULLS(ABT_mutex_attr_get_recursive, ABT_ERR_INV_MUTEX_ATTR, ANYTIME, ABT_MUTEX_ATTR_NULL, h, OUT(ABT_bool));

PROVOKE(ABT_mutex_trylock, ABT_ERR_MUTEX_LOCKED, ANYTIME | ALWAYS, "locked by itself, not recursive")
{
    int code;

    (void)a;
    must(ABT_mutex_lock(mutex));
    code = ABT_mutex_trylock(mutex);
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_trylock(mutex));
    must(ABT_mutex_unlock(mutex));
    return code;
}

static void lock_and_suspend(void *recursive)
{
    must(ABT_mutex_lock((ABT_mutex)recursive));
    must(ABT_self_suspend());
    must(ABT_mutex_unlock((ABT_mutex)recursive));
}

PROVOKE(ABT_mutex_trylock, ABT_ERR_MUTEX_LOCKED, INITED | ALWAYS, "recursive, locked by another")
{
    ABT_mutex_memory memory = ABT_RECURSIVE_MUTEX_INITIALIZER;
    ABT_mutex recursive = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    ABT_thread owner = ult_in(world.worker_pool, lock_and_suspend, recursive);
    int code;

    (void)a;
    wait_for(state_of(owner) == ABT_THREAD_STATE_BLOCKED);
    code = ABT_mutex_trylock(recursive);
    resume_and_free(&owner);
    return code;
}

/* --- Condition --- */

NULLS(ABT_cond_free, ABT_ERR_INV_COND, ANYTIME, ABT_COND_NULL, IN_OUT(ABT_cond, h));
NULLS(ABT_cond_signal, ABT_ERR_INV_COND, ANYTIME, ABT_COND_NULL, h);
NULLS(ABT_cond_broadcast, ABT_ERR_INV_COND, ANYTIME, ABT_COND_NULL, h);

/* A condition that somebody waits for. */
struct waited {
    ABT_cond cond;
    atomic_bool locked; /* by the waiter, who unlocks it by waiting */
};

static void wait_for_signal(void *arg)
{
    struct waited *waited = arg;

    must(ABT_mutex_lock(other_mutex));
    atomic_store(&waited->locked, true);
    must(ABT_cond_wait(waited->cond, other_mutex));
    must(ABT_mutex_unlock(other_mutex));
}

static void *wait_for_signal_natively(void *arg)
{
    wait_for_signal(arg);
    return NULL;
}

static int free_waited(struct waited *waited, ABT_cond *handle)
{
    int code;

    while (!atomic_load(&waited->locked))
        nap_ms(0.02);
    must(ABT_mutex_spinlock(other_mutex));
    must(ABT_mutex_unlock(other_mutex));
    code = ABT_cond_free(handle);
    must(ABT_cond_signal(waited->cond));
    return code;
}

PROVOKE(ABT_cond_free, ABT_ERR_COND, INITED | API1, "a ULT waits")
{
    struct waited waited = {ABT_COND_NULL, false};
    ABT_thread waiter;
    int code;

    must(ABT_cond_create(&waited.cond));
    waiter = ult_in(world.worker_pool, wait_for_signal, &waited);
    code = free_waited(&waited, IN_OUT(ABT_cond, waited.cond));
    must(ABT_thread_free(&waiter));
    must(ABT_cond_free(&waited.cond));
    return code;
}

PROVOKE(ABT_cond_free, ABT_ERR_COND, ANYTIME | API1, "an external thread waits")
{
    struct waited waited = {ABT_COND_NULL, false};
    pthread_t waiter;
    int code;

    must(ABT_cond_create(&waited.cond));
    must(pthread_create(&waiter, NULL, wait_for_signal_natively, &waited));
    code = free_waited(&waited, IN_OUT(ABT_cond, waited.cond));
    must(pthread_join(waiter, NULL));
    must(ABT_cond_free(&waited.cond));
    return code;
}

NULLS(ABT_cond_wait, ABT_ERR_COND, TASKLETS | API1, ABT_COND_NULL, h, ABT_MUTEX_NULL);
RETURNS(ABT_cond_wait, ABT_ERR_COND, TASKLETS | API1, "by a tasklet", cond, mutex);
NULLS(ABT_cond_wait, ABT_ERR_INV_COND, ULTS | BY_SCHED | BY_EXTERNAL, ABT_COND_NULL, h, ABT_MUTEX_NULL);
NULLS(ABT_cond_wait, ABT_ERR_INV_COND, TASKLETS | API2, ABT_COND_NULL, h, ABT_MUTEX_NULL);
NULLS(ABT_cond_wait, ABT_ERR_INV_MUTEX, ULTS | BY_SCHED | BY_EXTERNAL, ABT_MUTEX_NULL, cond, h);
NULLS(ABT_cond_wait, ABT_ERR_INV_MUTEX, TASKLETS | API2, ABT_MUTEX_NULL, cond, h);
NULLS(ABT_cond_timedwait, ABT_ERR_INV_COND, INITED, ABT_COND_NULL, h, ABT_MUTEX_NULL, &past);
NULLS(ABT_cond_timedwait, ABT_ERR_INV_MUTEX, INITED, ABT_MUTEX_NULL, cond, h, &past);

/* The mutex stays locked by an error. */
static int with_locked(ABT_mutex locked, int (*wait)(ABT_mutex locked))
{
    int code;

    must(ABT_mutex_lock(locked));
    code = wait(locked);
    if (ABT_mutex_trylock(locked) != ABT_ERR_MUTEX_LOCKED)
        code = -1;
    must(ABT_mutex_unlock(locked));
    return code;
}

static int wait_with(ABT_mutex locked)
{
    return ABT_cond_wait(cond, locked);
}

static int timedwait_with(ABT_mutex locked)
{
    return ABT_cond_timedwait(cond, locked, &past);
}

GIVES(ABT_cond_wait, ABT_ERR_INV_MUTEX, ULTS | BY_SCHED | BY_EXTERNAL, "another mutex than the first",
      with_locked(other_mutex, wait_with));
GIVES(ABT_cond_wait, ABT_ERR_INV_MUTEX, TASKLETS | API2, "another mutex than the first",
      with_locked(other_mutex, wait_with));
GIVES(ABT_cond_timedwait, ABT_ERR_INV_MUTEX, INITED, "another mutex than the first",
      with_locked(other_mutex, timedwait_with));
GIVES(ABT_cond_timedwait, ABT_ERR_COND_TIMEDOUT, INITED | ALWAYS, "nobody signals", with_locked(mutex, timedwait_with));

/* Tasklets wait in 2.0: what they wait for is done elsewhere. */
static void signal_until(void *woken)
{
    while (!atomic_load((atomic_bool *)woken)) {
        must(ABT_cond_signal(cond));
        must(ABT_thread_yield());
    }
}

PROVOKE(ABT_cond_wait, ABT_SUCCESS, TASKLETS | API2 | ALWAYS, "by a tasklet")
{
    atomic_bool woken = false;
    ABT_thread signaller;
    int code;

    must(ABT_mutex_lock(mutex));
    signaller = ult_in(world.worker_pool, signal_until, &woken);
    code = ABT_cond_wait(cond, mutex);
    atomic_store(&woken, true);
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&signaller));
    return code;
}

/* --- Readers-writer lock --- */

NULLS(ABT_rwlock_free, ABT_ERR_INV_RWLOCK, ANYTIME, ABT_RWLOCK_NULL, IN_OUT(ABT_rwlock, h));
NULLS(ABT_rwlock_rdlock, ABT_ERR_INV_RWLOCK, INITED, ABT_RWLOCK_NULL, h);
NULLS(ABT_rwlock_wrlock, ABT_ERR_INV_RWLOCK, INITED, ABT_RWLOCK_NULL, h);
NULLS(ABT_rwlock_unlock, ABT_ERR_INV_RWLOCK, INITED, ABT_RWLOCK_NULL, h);
RETURNS(ABT_rwlock_rdlock, ABT_ERR_RWLOCK, TASKLETS | API1, "by a tasklet", rwlock);
RETURNS(ABT_rwlock_wrlock, ABT_ERR_RWLOCK, TASKLETS | API1, "by a tasklet", rwlock);

static int then_unlock(int code)
{
    must(ABT_rwlock_unlock(rwlock));
    return code;
}

GIVES(ABT_rwlock_rdlock, ABT_SUCCESS, TASKLETS | API2, "by a tasklet", then_unlock(ABT_rwlock_rdlock(rwlock)));
GIVES(ABT_rwlock_wrlock, ABT_SUCCESS, TASKLETS | API2, "by a tasklet", then_unlock(ABT_rwlock_wrlock(rwlock)));

/* --- Eventual --- */

RETURNS(ABT_eventual_create, ABT_ERR_INV_ARG, ANYTIME, "less than no bytes", -1, OUT(ABT_eventual));
NULLS(ABT_eventual_free, ABT_ERR_INV_EVENTUAL, ANYTIME, ABT_EVENTUAL_NULL, IN_OUT(ABT_eventual, h));
NULLS(ABT_eventual_wait, ABT_ERR_INV_EVENTUAL, INITED, ABT_EVENTUAL_NULL, h, OUT(void *));
RETURNS(ABT_eventual_wait, ABT_ERR_EVENTUAL, TASKLETS | API1, "by a tasklet", eventual, OUT(void *));
RETURNS(ABT_eventual_wait, ABT_ERR_EVENTUAL, TASKLETS | API1, "by a tasklet, ready", ready_eventual, OUT(void *));
RETURNS(ABT_eventual_wait, ABT_SUCCESS, TASKLETS | API2, "by a tasklet, ready", ready_eventual, OUT_GETS(void *, NULL));
NULLS(ABT_eventual_timedwait, ABT_ERR_INV_EVENTUAL, INITED, ABT_EVENTUAL_NULL, h, OUT(void *), &past);
RETURNS(ABT_eventual_timedwait, ABT_ERR_EVENTUAL, TASKLETS | API1, "by a tasklet", ready_eventual, OUT(void *), &past);
RETURNS(ABT_eventual_timedwait, ABT_SUCCESS, TASKLETS | API2, "by a tasklet, ready", ready_eventual,
        OUT_GETS(void *, NULL), &past);
RETURNS(ABT_eventual_timedwait, ABT_ERR_COND_TIMEDOUT, ULTS | BY_SCHED | BY_EXTERNAL | ALWAYS, "not ready", eventual,
        OUT(void *), &past);
RETURNS(ABT_eventual_timedwait, ABT_ERR_COND_TIMEDOUT, TASKLETS | API2 | ALWAYS, "not ready", eventual, OUT(void *),
        &past);
NULLS(ABT_eventual_test, ABT_ERR_INV_EVENTUAL, ANYTIME, ABT_EVENTUAL_NULL, h, OUT(void *), OUT(ABT_bool));
NULLS(ABT_eventual_set, ABT_ERR_INV_EVENTUAL, ANYTIME, ABT_EVENTUAL_NULL, h, &past, -1);
RETURNS(ABT_eventual_set, ABT_ERR_INV_ARG, ANYTIME, "less than no bytes", eventual, &past, -1);
RETURNS(ABT_eventual_set, ABT_ERR_INV_EVENTUAL, ANYTIME | API1, "more than it holds", eventual, &past, sizeof(int) + 1);
RETURNS(ABT_eventual_set, ABT_ERR_INV_EVENTUAL, ANYTIME | API1, "something, where it holds nothing and is ready",
        ready_eventual, &past, 1);
RETURNS(ABT_eventual_set, ABT_ERR_INV_ARG, ANYTIME | API2, "more than it holds", eventual, &past, sizeof(int) + 1);
RETURNS(ABT_eventual_set, ABT_ERR_EVENTUAL, ANYTIME | ALWAYS, "ready already", ready_eventual, NULL, 0);
NULLS(ABT_eventual_reset, ABT_ERR_INV_EVENTUAL, ANYTIME, ABT_EVENTUAL_NULL, h);

/* --- Future --- */

NULLS(ABT_future_free, ABT_ERR_INV_FUTURE, ANYTIME, ABT_FUTURE_NULL, IN_OUT(ABT_future, h));
NULLS(ABT_future_wait, ABT_ERR_INV_FUTURE, INITED, ABT_FUTURE_NULL, h);
RETURNS(ABT_future_wait, ABT_ERR_FUTURE, TASKLETS | API1, "by a tasklet", future);
RETURNS(ABT_future_wait, ABT_ERR_FUTURE, TASKLETS | API1, "by a tasklet, full", full_future);
RETURNS(ABT_future_wait, ABT_SUCCESS, TASKLETS | API2, "by a tasklet, full", full_future);
NULLS(ABT_future_test, ABT_ERR_INV_FUTURE, ANYTIME, ABT_FUTURE_NULL, h, OUT(ABT_bool));
NULLS(ABT_future_set, ABT_ERR_INV_FUTURE, ANYTIME, ABT_FUTURE_NULL, h, &past);
RETURNS(ABT_future_set, ABT_ERR_FUTURE, ANYTIME | ALWAYS, "full already", full_future, &past);
RETURNS(ABT_future_set, ABT_ERR_FUTURE, ANYTIME | ALWAYS, "it has no compartment", empty_future, &past);
NULLS(ABT_future_reset, ABT_ERR_INV_FUTURE, ANYTIME, ABT_FUTURE_NULL, h);

/* --- Barriers --- */

RETURNS(ABT_barrier_create, ABT_ERR_INV_ARG, ANYTIME, "for nobody", 0, OUT_PRESET(ABT_barrier, ABT_BARRIER_NULL));
NULLS(ABT_barrier_reinit, ABT_ERR_INV_BARRIER, ANYTIME, ABT_BARRIER_NULL, h, 0);
NULLS(ABT_barrier_free, ABT_ERR_INV_BARRIER, ANYTIME, ABT_BARRIER_NULL, IN_OUT(ABT_barrier, h));
NULLS(ABT_barrier_wait, ABT_ERR_INV_BARRIER, INITED, ABT_BARRIER_NULL, h);
RETURNS(ABT_barrier_wait, ABT_ERR_BARRIER, TASKLETS | API1, "by a tasklet", barrier);
RETURNS(ABT_barrier_wait, ABT_SUCCESS, TASKLETS | API2, "by a tasklet", barrier);
NULLS(ABT_barrier_get_num_waiters, ABT_ERR_INV_BARRIER, ANYTIME, ABT_BARRIER_NULL, h, OUT(uint32_t));

PROVOKE(ABT_barrier_reinit, ABT_ERR_INV_ARG, ANYTIME, "for nobody")
{
    int code = ABT_barrier_reinit(barrier, 0);

    must(ABT_barrier_get_num_waiters(barrier, OUT_GETS(uint32_t, 1)));
    return code;
}

RETURNS(ABT_xstream_barrier_create, ABT_ERR_INV_ARG, ANYTIME, "for nobody", 0,
        OUT_PRESET(ABT_xstream_barrier, ABT_XSTREAM_BARRIER_NULL));
NULLS(ABT_xstream_barrier_free, ABT_ERR_INV_XSTREAM_BARRIER, ANYTIME, ABT_XSTREAM_BARRIER_NULL,
      IN_OUT(ABT_xstream_barrier, h));
NULLS(ABT_xstream_barrier_wait, ABT_ERR_INV_XSTREAM_BARRIER, ANYTIME, ABT_XSTREAM_BARRIER_NULL, h);

int main(void)
{
    int code;

    make_objects();
    code = try_all(tie_cond, nothing_to_set_up);
    free_objects();
    return code;
}
