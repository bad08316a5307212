/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thousand ULTs, nine hundred of which wait for objects of all kinds: what a dump has to show. Number `i` of a role
 * is units[role * EACH + i]; those behind BLOCKED are ready.
 */
#ifndef TEST_THOUSAND_H
#define TEST_THOUSAND_H

#include <abt.h>
#include <time.h>
#include "tap.h"

enum { EACH = 65, ROLES = 14, BLOCKED = EACH * ROLES, READY = 1000 - BLOCKED, ALL = BLOCKED + READY };

static ABT_mutex mutex, recursive, condmutex;
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_eventual eventual, several[2];
static ABT_future future;
static ABT_barrier barrier;
static ABT_thread units[ALL];
static ABT_thread to_join[2 * EACH];
static ABT_pool busy_pool, idle_pool; /* of the blocked ones, and of the ready ones, which nobody serves */

static void thousand_idle(void *arg)
{
}

static void suspend(void *arg)
{
    ABT_self_suspend();
}

static void on_mutex(void *arg)
{
    ABT_mutex_lock(*(ABT_mutex *)arg);
    ABT_mutex_unlock(*(ABT_mutex *)arg);
}

static void on_cond(void *arg)
{
    ABT_mutex_lock(condmutex);
    ABT_cond_wait(cond, condmutex);
    ABT_mutex_unlock(condmutex);
}

static void on_cond_timed(void *arg)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += 1000;
    ABT_mutex_lock(condmutex);
    ABT_cond_timedwait(cond, condmutex, &ts);
    ABT_mutex_unlock(condmutex);
}

static void on_rwlock(void *arg)
{
    ABT_rwlock_rdlock(rwlock);
    ABT_rwlock_unlock(rwlock);
}

static void on_eventual(void *arg)
{
    ABT_eventual_wait(eventual, NULL);
}

static void on_any(void *arg)
{
    int index;
    ABTX_eventual_wait_any_until(2, several, &index, ABTX_FOREVER);
}

static void on_future(void *arg)
{
    ABT_future_wait(future);
}

static void on_barrier(void *arg)
{
    ABT_barrier_wait(barrier);
}

static void join(void *arg)
{
    ABT_thread_join(*(ABT_thread *)arg);
}

static void join_and_free(void *arg)
{
    ABT_thread_free(arg);
}

static void sleep_long(void *arg)
{
    ABTX_self_sleep(3600 * INT64_C(1000000000));
}

/* In the order of `units`. */
static const struct role {
    const char *name;
    void (*func)(void *);
    const char *wait; /* how a dump says what it waits for */
    bool has_deadline;
} roles[ROLES] = {
    {"suspended", suspend, "being resumed", false},
    {"suspended too", suspend, "being resumed", false},
    {"mutex", on_mutex, "mutex", false},
    {"recursive mutex", on_mutex, "mutex", false},
    {"cond", on_cond, "cond", false},
    {"cond with a deadline", on_cond_timed, "cond", true},
    {"rwlock", on_rwlock, "rwlock", false},
    {"eventual", on_eventual, "eventual", false},
    {"any eventual", on_any, "any of several eventuals", false},
    {"future", on_future, "future", false},
    {"barrier", on_barrier, "barrier", false},
    {"join", join, "the end of unit", false},
    {"join and free", join_and_free, "the end and free of unit", false},
    {"sleep", sleep_long, "a time", true},
};

static const void *object_of(int role, int i)
{
    const void *const objects[ROLES] = {NULL,   NULL,     mutex, recursive, cond,   cond,
                                        rwlock, eventual, NULL,  future,    barrier};
    return role == 11 ? units[i] : role == 12 ? units[EACH + i] : objects[role];
}

static void *arg_of(int role, int i)
{
    return role == 2                  ? (void *)&mutex
           : role == 3                ? (void *)&recursive
           : role == 11 || role == 12 ? (void *)&to_join[(role - 11) * EACH + i]
                                      : NULL;
}

/* --- Making and waking them --- */

static void make_objects(void)
{
    ABT_mutex_attr attr;
    ABT_mutex_create(&mutex);
    ABT_mutex_create(&condmutex);
    ABT_mutex_attr_create(&attr);
    ABT_mutex_attr_set_recursive(attr, ABT_TRUE);
    ABT_mutex_create_with_attr(attr, &recursive);
    ABT_mutex_attr_free(&attr);
    ABT_cond_create(&cond);
    ABT_rwlock_create(&rwlock);
    ABT_eventual_create(0, &eventual);
    ABT_eventual_create(0, &several[0]);
    ABT_eventual_create(0, &several[1]);
    ABT_future_create(1, NULL, &future);
    ABT_barrier_create(EACH + 1, &barrier);
    ABT_mutex_lock(mutex);
    ABT_mutex_lock(recursive);
    ABT_rwlock_wrlock(rwlock);
}

static void free_objects(void)
{
    ABT_mutex_free(&mutex);
    ABT_mutex_free(&recursive);
    ABT_mutex_free(&condmutex);
    ABT_cond_free(&cond);
    ABT_rwlock_free(&rwlock);
    ABT_eventual_free(&eventual);
    ABT_eventual_free(&several[0]);
    ABT_eventual_free(&several[1]);
    ABT_future_free(&future);
    ABT_barrier_free(&barrier);
}

static void await_blocked(int from, int to)
{
    for (int i = from; i < to; i++) {
        ABT_thread_state state;
        while (ABT_thread_get_state(units[i], &state), state != ABT_THREAD_STATE_BLOCKED)
            ABT_thread_yield();
    }
}

static void make_units(ABT_pool pool)
{
    for (int role = 0; role < ROLES; role++) {
        for (int i = 0; i < EACH; i++)
            ABT_thread_create(pool, roles[role].func, arg_of(role, i), ABT_THREAD_ATTR_NULL, &units[role * EACH + i]);
        for (int i = 0; role == 1 && i < 2 * EACH; i++)
            to_join[i] = units[i];
    }
    await_blocked(0, BLOCKED);
}

static void wake_all(void)
{
    ABT_mutex_unlock(mutex);
    ABT_mutex_unlock(recursive);
    ABT_mutex_lock(condmutex);
    ABT_cond_broadcast(cond);
    ABT_mutex_unlock(condmutex);
    ABT_rwlock_unlock(rwlock);
    ABT_eventual_set(eventual, NULL, 0);
    ABT_eventual_set(several[1], NULL, 0);
    ABT_future_set(future, NULL);
    ABT_barrier_wait(barrier);
    for (int i = 0; i < EACH; i++)
        ABT_thread_cancel(units[13 * EACH + i]); /* ends its sleep */
    for (int i = 0; i < 2 * EACH; i++)
        ABT_thread_resume(units[i]);
}

/* Those that others have freed have no handle any more. */
static void free_units(void)
{
    for (int i = 2 * EACH; i < ALL; i++)
        ABT_thread_free(&units[i]);
    for (int i = 0; i < EACH; i++)
        ABT_thread_free(&units[i]);
}

/* The blocked ones have blocked on return. The pools are two, the second nobody's. */
static void make_thousand(ABT_pool busy, ABT_pool idle)
{
    busy_pool = busy;
    idle_pool = idle;
    make_objects();
    make_units(busy);
    for (int i = BLOCKED; i < ALL; i++)
        ABT_thread_create(idle, thousand_idle, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
}

static void free_thousand(void)
{
    for (int i = BLOCKED; i < ALL; i++) {
        ABT_thread thread;
        ABT_pool_pop_thread(idle_pool, &thread);
        ABT_pool_push_thread(busy_pool, thread);
    }
    wake_all();
    free_units();
    free_objects();
}

#endif
