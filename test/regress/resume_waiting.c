/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT that waits for something else than a resumption is not resumed by its handle, by none of the functions that do
 * that: they give ABT_ERR_THREAD, and what it waits for wakes it later. One that has suspended itself, in any way, is.
 */
#include "regress.h"

static ABT_mutex mutex, tied; /* tied to the condition variable */
static ABT_cond cond;
static ABT_eventual eventual;
static ABT_future future;
static ABT_barrier barrier;
static ABT_rwlock rwlock;
static ABT_thread joined;
static atomic_bool woken, let_go;

static void wait_mutex(void)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
}

static void wake_mutex(void)
{
    must(ABT_mutex_unlock(mutex));
}

static void wait_cond(void)
{
    must(ABT_mutex_lock(tied));
    must(ABT_cond_wait(cond, tied));
    must(ABT_mutex_unlock(tied));
}

static void wake_cond(void)
{
    must(ABT_cond_signal(cond));
}

static void wait_eventual(void)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void wake_eventual(void)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void wait_future(void)
{
    must(ABT_future_wait(future));
}

static void wake_future(void)
{
    must(ABT_future_set(future, NULL));
}

static void wait_barrier(void)
{
    must(ABT_barrier_wait(barrier));
}

static void wait_rwlock(void)
{
    must(ABT_rwlock_rdlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
}

static void wake_rwlock(void)
{
    must(ABT_rwlock_unlock(rwlock));
}

static void wait_join(void)
{
    must(ABT_thread_join(joined));
}

static void wake_join(void)
{
    must(ABT_thread_resume(joined));
}

static void wait_region(void)
{
    must(ABTX_blocking_begin());
    while (!atomic_load(&let_go))
        nap_ms(1);
    must(ABTX_blocking_end());
}

static void wake_region(void)
{
    atomic_store(&let_go, true);
}

static void wait_sleep(void)
{
    while (!atomic_load(&let_go))
        must(ABTX_self_sleep(50000000));
}

static void wait_suspension(void)
{
    must(ABT_self_suspend());
}

static const struct way {
    const char *name;
    void (*wait)(void);
    void (*wake)(void);
} ways[] = {
    {"a mutex", wait_mutex, wake_mutex},
    {"a condition variable", wait_cond, wake_cond},
    {"an eventual", wait_eventual, wake_eventual},
    {"a future", wait_future, wake_future},
    {"a barrier", wait_barrier, wait_barrier},
    {"an rwlock", wait_rwlock, wake_rwlock},
    {"a join", wait_join, wake_join},
    {"a blocking region", wait_region, wake_region},
    {"a sleep", wait_sleep, wake_region},
};
enum { NUM_WAYS = sizeof(ways) / sizeof(ways[0]) };

static void waits(void *way)
{
    ((const struct way *)way)->wait();
    atomic_store(&woken, true);
}

static ABT_thread create(ABT_pool pool, void (*func)(void *), const void *arg)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;

    ABT_thread thread = ult_in(pool, func, (void *)(uintptr_t)arg);
    while (state != ABT_THREAD_STATE_BLOCKED) {
        must(ABT_self_yield());
        must(ABT_thread_get_state(thread, &state));
    }
    return thread;
}

static void *resume_natively(void *thread)
{
    ok_err(ABT_thread_resume(thread), ABT_ERR_THREAD);
    return NULL;
}

/* Ends the caller where it is wrongly resumed, which the creator sees. */
static void exits(void *thread)
{
    if (ABT_self_resume_exit_to(thread) == ABT_ERR_THREAD)
        atomic_store(&let_go, true);
}

static void refuse(ABT_pool pool, const struct way *way)
{
    ABT_thread_state state;
    pthread_t native;

    atomic_store(&woken, false);
    atomic_store(&let_go, false);
    ABT_thread thread = create(pool, waits, way);
    diag("a ULT waits for %s", way->name);
    ok_err(ABT_thread_resume(thread), ABT_ERR_THREAD);
    ok_err(ABT_self_resume_yield_to(thread), ABT_ERR_THREAD);
    ok_err(ABT_self_resume_suspend_to(thread), ABT_ERR_THREAD);
    must(pthread_create(&native, NULL, resume_natively, thread));
    must(pthread_join(native, NULL));
    for (int i = 0; i < 10; i++)
        must(ABT_self_yield());
    must(ABT_thread_get_state(thread, &state));
    ok(!atomic_load(&woken), "it waits on");
    way->wake();
    must(ABT_thread_free(&thread));
    ok(atomic_load(&woken), "it is woken by what it has waited for");
}

static void refuse_at_exit(ABT_pool pool)
{
    atomic_store(&let_go, false);
    ABT_thread thread = create(pool, waits, &ways[0]), exiting;
    must(ABT_thread_create(pool, exits, thread, ABT_THREAD_ATTR_NULL, &exiting));
    must(ABT_thread_free(&exiting));
    ok(atomic_load(&let_go), "self_resume_exit_to gives ABT_ERR_THREAD, and the caller goes on");
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&thread));
}

static void suspends_to(void *other)
{
    must(ABT_self_suspend_to(other));
}

static void resume_suspended(ABT_pool pool)
{
    ABT_unit unit;
    static const struct way way = {"nothing", wait_suspension, NULL};

    ABT_thread thread = create(pool, waits, &way);
    must(ABT_thread_resume(thread));
    ok_err(ABT_thread_resume(thread), ABT_ERR_THREAD);
    must(ABT_thread_free(&thread));
    ABT_thread other = ult_in(pool, unit_suspends, NULL);
    must(ABT_thread_get_unit(other, &unit));
    must(ABT_pool_remove(pool, unit));
    thread = create(pool, suspends_to, other);
    ok_abt(ABT_self_resume_yield_to(other));
    ok_abt(ABT_thread_resume(thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&other));
}

static void play(ABT_pool_access access)
{
    ABT_xstream self;
    ABT_pool pool = make_pool(access);

    must(ABT_self_get_xstream(&self));
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    must(ABT_mutex_lock(mutex));
    must(ABT_rwlock_wrlock(rwlock));
    for (int i = 0; i < NUM_WAYS; i++) {
        if (ways[i].wait == wait_join)
            joined = create(pool, unit_suspends, NULL);
        refuse(pool, &ways[i]);
        if (ways[i].wait == wait_join)
            must(ABT_thread_free(&joined));
        if (ways[i].wait == wait_mutex) {
            must(ABT_mutex_lock(mutex));
            refuse_at_exit(pool);
        }
    }
    must(ABT_eventual_reset(eventual));
    must(ABT_future_reset(future));
    resume_suspended(pool);
}

int main(void)
{
    need_checks();
    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    must(ABT_mutex_create(&tied));
    must(ABT_cond_create(&cond));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_future_create(1, NULL, &future));
    must(ABT_barrier_create(2, &barrier));
    must(ABT_rwlock_create(&rwlock));
    play(ABT_POOL_ACCESS_PRIV);
    play(ABT_POOL_ACCESS_MPMC);
    must(ABT_mutex_free(&mutex));
    must(ABT_mutex_free(&tied));
    must(ABT_cond_free(&cond));
    must(ABT_eventual_free(&eventual));
    must(ABT_future_free(&future));
    must(ABT_barrier_free(&barrier));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_finalize());
    return done_testing();
}
