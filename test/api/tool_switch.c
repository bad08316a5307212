/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: units that yield, block, are resumed, cancelled and migrated. */
#include "tool.h"

/* Makes a ULT in the own pool and lets it run until it gives its turn away. */
static ABT_thread started(void (*func)(void *), void *arg)
{
    ABT_thread thread = ult_in(own_pool(), func, arg);

    must(ABT_thread_yield());
    return thread;
}

/* --- Yield, suspend, resume --- */

static void test_yield(void)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;

    log_all();
    copy = thread = ult_in(pool, unit_yields, NULL);
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRYRNJF", "a ULT that yields");
    is_event(copy, 'Y', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(copy, 'R', 1, .xstream = primary_es, .depth = 1, .caller = main_ult);
}

static void yield_as_tasklet(void *arg)
{
    if (!ver20)
        must(ABT_thread_yield());
}

static void test_tasklet_yield(void)
{
    ABT_task task, copy;

    log_all();
    must(ABT_task_create(own_pool(), yield_as_tasklet, NULL, &task));
    copy = task;
    must(ABT_task_free(&task));
    log_stop();
    is_story(copy, "CRNJF", "the vain yield of a tasklet is none");
}

static void *resume_native(void *thread)
{
    must(ABT_thread_resume(thread));
    return NULL;
}

static void test_suspend(bool external)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;
    pthread_t native;

    log_all();
    copy = thread = started(suspend_once, NULL);
    if (external) {
        must(pthread_create(&native, NULL, resume_native, thread));
        pthread_join(native, NULL);
    } else {
        must(ABT_thread_resume(thread));
    }
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRSWRNJF", "a ULT that suspends itself");
    is_event(copy, 'S', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    if (external)
        is_event(copy, 'W', 0, .pool = pool);
    else
        is_event(copy, 'W', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
    is_event(copy, 'R', 1, .xstream = primary_es, .depth = 1, .caller = main_ult);
}

/* --- To a certain unit --- */

/* From `from`, which told of it with `letter`, control went to `to`. */
static void is_handed(ABT_thread from, char letter, ABT_thread to, int run)
{
    ABT_pool pool = own_pool();

    if (letter == 'N')
        is_event(from, 'N', 0, .xstream = primary_es, .depth = 1);
    else
        is_event(from, letter, 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(to, 'R', run, .xstream = primary_es, .depth = 1, .caller = from);
}

static void test_create_to(void)
{
    ABT_thread thread, copy;

    log_all();
    must(ABT_thread_create_to(own_pool(), do_nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
    copy = thread;
    is_story(copy, "CRN", "create_to");
    is_event(copy, 'C', 0, .xstream = primary_es, .pool = own_pool(), .caller = primary_ult);
    is_handed(primary_ult, 'Y', copy, 0);
    log_all();
    must(ABT_thread_revive_to(own_pool(), do_nothing, NULL, &thread));
    is_story(copy, "VRN", "revive_to");
    is_event(copy, 'V', 0, .xstream = primary_es, .pool = own_pool(), .caller = primary_ult);
    is_handed(primary_ult, 'Y', copy, 0);
    log_stop();
    must(ABT_thread_free(&thread));
}

static void test_yield_to(void)
{
    ABT_thread thread, copy;

    log_all();
    copy = thread = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_thread_yield_to(thread));
    is_story(copy, "CRN", "thread_yield_to");
    is_handed(primary_ult, 'Y', copy, 0);
    must(ABT_thread_free(&thread));

    log_all();
    copy = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_pool_pop_thread(own_pool(), &thread));
    must(ABT_self_yield_to(thread));
    is_story(copy, "CRN", "self_yield_to");
    is_handed(primary_ult, 'Y', copy, 0);
    must(ABT_thread_free(&thread));

    copy = thread = started(suspend_once, NULL);
    log_all();
    must(ABT_self_resume_yield_to(thread));
    is_story(copy, "WRN", "resume_yield_to");
    is_event(copy, 'W', 0, .xstream = primary_es, .pool = own_pool(), .caller = primary_ult);
    is_handed(primary_ult, 'Y', copy, 0);
    log_stop();
    must(ABT_thread_free(&thread));
}

static void suspend_to(void *thread)
{
    must(ABT_self_suspend_to(thread));
}

static void resume_suspend_to(void *thread)
{
    must(ABT_self_resume_suspend_to(thread));
}

static void exit_to(void *thread)
{
    must(ABT_self_exit_to(thread));
}

static void resume_exit_to(void *thread)
{
    must(ABT_self_resume_exit_to(thread));
}

/* A ULT gives way for good, or until it is resumed, to another one. */
static void test_leave_to(const char *what, void (*func)(void *), bool resumes, char letter)
{
    ABT_thread target, thread;

    if (resumes) {
        target = started(suspend_once, NULL);
    } else {
        target = ult_in(own_pool(), do_nothing, NULL);
        must(ABT_pool_pop_thread(own_pool(), &target));
    }
    log_all();
    thread = started(func, target);
    is_story(thread, letter == 'N' ? "CRN" : "CRS", "%s", what);
    is_story(target, resumes ? "WRN" : "RN", "its target");
    if (resumes)
        is_event(target, 'W', 0, .xstream = primary_es, .pool = own_pool(), .caller = thread);
    is_handed(thread, letter, target, 0);
    log_stop();
    if (letter == 'S')
        must(ABT_thread_resume(thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&target));
}

/* --- Cancelling --- */

static void test_cancel_new(bool tasklet)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;

    log_all();
    if (tasklet)
        must(ABT_task_create(pool, do_nothing, NULL, &thread));
    else
        thread = ult_in(pool, do_nothing, NULL);
    copy = thread;
    must(ABT_thread_cancel(thread));
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CXJF", "cancelled before it ran");
    is_event(copy, 'X', 0, .xstream = NULL);
    is_story(primary_ult, "SWR", "its joiner");
    is_event(primary_ult, 'W', 0, .pool = pool);
    is_event(primary_ult, 'R', 0, .xstream = primary_es, .depth = 1, .caller = main_ult);
}

static void cancel_self(void *arg)
{
    if (arg)
        *(ABT_thread *)arg = self();
    must(ABT_thread_cancel(self()));
    must(ABT_thread_yield());
    fail("cancelled ULTs do not go on");
}

static void test_cancel_running(void)
{
    ABT_thread thread, copy;

    log_all();
    copy = thread = ult_in(own_pool(), cancel_self, NULL);
    must(ABT_thread_free(&thread));
    is_story(copy, "CRYXJF", "cancelled when it yields");
    is_event(copy, 'X', 0, .xstream = primary_es);
    is_event(primary_ult, 'W', 0, .xstream = primary_es, .pool = own_pool(), .caller = copy);

    log_all();
    must(ABT_thread_create(own_pool(), cancel_self, &copy, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_yield());
    is_story(copy, "CRYXF", "the same unnamed");
    is_event(copy, 'F', 0, .xstream = primary_es, .caller = main_ult);

    log_all();
    copy = thread = started(unit_yields, NULL);
    must(ABT_thread_cancel(thread));
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRYXJF", "cancelled in its pool");
    is_event(copy, 'X', 0, .xstream = primary_es);
    is_event(primary_ult, 'W', 0, .xstream = primary_es, .pool = own_pool(), .caller = main_ult);
}

/* --- Migrating --- */

static void yield_twice(void *arg)
{
    unit_yields(arg);
    unit_yields(arg);
}

static void test_migrate(ABT_xstream other)
{
    ABT_pool pool = own_pool(), other_pool = pool_of(other);
    ABT_thread thread, copy;

    log_all();
    copy = thread = ult_in(pool, unit_yields, NULL);
    must(ABT_thread_migrate_to_pool(thread, other_pool));
    must(ABT_thread_free(&thread));
    is_story(copy, "CRYRNJF", "migration is no event");
    is_event(copy, 'C', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
    is_event(copy, 'Y', 0, .xstream = other, .pool = other_pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);

    log_all();
    copy = thread = started(yield_twice, NULL);
    must(ABT_thread_migrate_to_pool(thread, other_pool));
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRYRYRNJF", "migrated after its start");
    is_event(copy, 'Y', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
    is_event(copy, 'Y', 1, .xstream = other, .pool = other_pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_USER);
}

/* --- Synchronisation objects --- */

static ABT_mutex mutex;
static ABT_cond cond;
static ABT_eventual eventual;
static ABT_future future;
static ABT_barrier barrier;
static ABT_rwlock rwlock;

static void wait_mutex(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
}

static void wait_cond(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_cond_wait(cond, mutex));
    must(ABT_mutex_unlock(mutex));
}

static void wait_eventual(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void wait_future(void *arg)
{
    must(ABT_future_wait(future));
}

static void wait_barrier(void *arg)
{
    must(ABT_barrier_wait(barrier));
}

static void wait_rwlock(void *arg)
{
    must(ABT_rwlock_rdlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
}

static void join_other(void *thread)
{
    must(ABT_thread_join(thread));
}

/* A ULT waits for the object, until `release` sets it free. */
static void test_wait(const char *what, void (*func)(void *), void *arg, void (*release)(void *),
                      ABT_sync_event_type reason, void *object)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;

    log_all();
    copy = thread = started(func, arg);
    release(arg);
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRSWRNJF", "waits for a %s", what);
    if (reason == ABT_SYNC_EVENT_TYPE_RWLOCK) {
        /* What they wait for in it is told. */
        reason = ABT_SYNC_EVENT_TYPE_COND;
        object = nth(copy, 'S', 0).object;
    }
    is_event(copy, 'S', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = reason, .object = object);
    if (reason != ABT_SYNC_EVENT_TYPE_THREAD_JOIN)
        is_event(copy, 'W', 0, .xstream = primary_es, .pool = pool, .caller = primary_ult);
}

static void release_mutex(void *arg)
{
    must(ABT_mutex_unlock(mutex));
}

static void release_cond(void *arg)
{
    must(ABT_cond_signal(cond));
}

static void release_eventual(void *arg)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void release_future(void *arg)
{
    must(ABT_future_set(future, NULL));
}

static void release_rwlock(void *arg)
{
    must(ABT_rwlock_unlock(rwlock));
}

static void release_thread(void *thread)
{
    must(ABT_thread_resume(thread));
}

static void test_waits(void)
{
    ABT_thread thread = started(suspend_once, NULL);

    must(ABT_mutex_lock(mutex));
    test_wait("mutex", wait_mutex, NULL, release_mutex, ABT_SYNC_EVENT_TYPE_MUTEX, mutex);
    test_wait("cond", wait_cond, NULL, release_cond, ABT_SYNC_EVENT_TYPE_COND, cond);
    test_wait("eventual", wait_eventual, NULL, release_eventual, ABT_SYNC_EVENT_TYPE_EVENTUAL, eventual);
    test_wait("future", wait_future, NULL, release_future, ABT_SYNC_EVENT_TYPE_FUTURE, future);
    test_wait("barrier", wait_barrier, NULL, wait_barrier, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    must(ABT_rwlock_wrlock(rwlock));
    test_wait("rwlock", wait_rwlock, NULL, release_rwlock, ABT_SYNC_EVENT_TYPE_RWLOCK, rwlock);
    test_wait("unit", join_other, thread, release_thread, ABT_SYNC_EVENT_TYPE_THREAD_JOIN, thread);
    must(ABT_thread_free(&thread));
}

/* Who has waited for a cond, and comes in vain when it is signalled, waits for the mutex then. */
static void test_stolen_mutex(void)
{
    ABT_pool pool = own_pool();
    ABT_thread thread, copy;

    log_all();
    copy = thread = started(wait_cond, NULL);
    must(ABT_mutex_lock(mutex));
    must(ABT_cond_signal(cond));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_trylock(mutex));
    must(ABT_thread_yield());
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&thread));
    log_stop();
    is_story(copy, "CRSWRSWRNJF", "waits twice");
    is_event(copy, 'S', 0, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_COND,
             .object = cond);
    is_event(copy, 'S', 1, .xstream = primary_es, .pool = pool, .depth = 1, .reason = ABT_SYNC_EVENT_TYPE_MUTEX,
             .object = mutex);
}

/* --- Waits that end by themselves, or look again and again --- */

static const struct timespec *in_ms(double ms)
{
    static struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += (long)(ms * 1e6);
    ts.tv_sec += ts.tv_nsec / 1000000000L;
    ts.tv_nsec %= 1000000000L;
    return &ts;
}

/* Long enough that it is not over before the wait has begun. */
enum { WAIT_MS = 300 };

static void timedwait_cond(void *arg)
{
    must(ABT_mutex_lock(mutex));
    if (ABT_cond_timedwait(cond, mutex, in_ms(WAIT_MS)) != ABT_ERR_COND_TIMEDOUT)
        fail("timed out");
    must(ABT_mutex_unlock(mutex));
}

static void timedwait_eventual(void *arg)
{
    if (ABT_eventual_timedwait(eventual, NULL, in_ms(WAIT_MS)) != ABT_ERR_COND_TIMEDOUT)
        fail("timed out");
}

static void sleep_ms(void *arg)
{
    must(ABTX_self_sleep(1000000));
}

/* They give their stream away for the object, by yielding or by blocking. */
static void test_timedwait(const char *what, void (*func)(void *), ABT_sync_event_type reason, void *object)
{
    ABT_thread thread, copy;
    char letter;

    log_all();
    copy = thread = ult_in(own_pool(), func, NULL);
    must(ABT_thread_free(&thread));
    log_stop();
    letter = nth(copy, 'Y', 0).kind ? 'Y' : 'S';
    diag("waits for a while for a %s: %.20s", what, story_of(copy));
    is_event(copy, letter, 0, .xstream = primary_es, .pool = own_pool(), .depth = 1, .reason = reason,
             .object = object);
}

static void test_second_joiner(void)
{
    ABT_thread thread = started(suspend_once, NULL), joiners[2];

    log_all();
    joiners[0] = started(join_other, thread);
    joiners[1] = started(join_other, thread);
    must(ABT_thread_resume(thread));
    must(ABT_thread_join_many(2, joiners));
    log_stop();
    is_story(joiners[0], "CRSWRNJ", "one joiner sleeps");
    is_event(joiners[1], 'Y', 0, .xstream = primary_es, .pool = own_pool(), .depth = 1,
             .reason = ABT_SYNC_EVENT_TYPE_THREAD_JOIN, .object = thread);
    is_int(nth(thread, 'J', 1).kind, ABT_TOOL_EVENT_THREAD_JOIN, "joined twice");
    must(ABT_thread_free_many(2, joiners));
    must(ABT_thread_free(&thread));
}

static void *wait_native(void *arg)
{
    wait_eventual(arg);
    return NULL;
}

/* External threads are no units. */
static void test_external_waiter(void)
{
    pthread_t native;

    must(ABT_eventual_reset(eventual));
    log_all();
    must(pthread_create(&native, NULL, wait_native, NULL));
    nap_ms(5);
    release_eventual(NULL);
    pthread_join(native, NULL);
    log_stop();
    is_int(log_length(), 0, "waits of external threads are no events");
}

static bool has(ABT_info_query_kind feature)
{
    ABT_bool enabled;

    must(ABT_info_query_config(feature, &enabled));
    return enabled == ABT_TRUE;
}

int main(void)
{
    ABT_xstream other;

    if (!tool_is_built())
        skip_all("built without the tool interface");
    tool_init();
    other = new_xstream();
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_future_create(1, NULL, &future));
    must(ABT_barrier_create(2, &barrier));
    must(ABT_rwlock_create(&rwlock));

    test_yield();
    test_tasklet_yield();
    test_suspend(false);
    test_suspend(true);
    test_create_to();
    test_yield_to();
    test_leave_to("suspend_to", suspend_to, false, 'S');
    test_leave_to("resume_suspend_to", resume_suspend_to, true, 'S');
    test_leave_to("exit_to", exit_to, false, 'N');
    test_leave_to("resume_exit_to", resume_exit_to, true, 'N');
    if (has(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL)) {
        test_cancel_new(false);
        test_cancel_new(true);
        test_cancel_running();
    }
    if (has(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION))
        test_migrate(other);
    test_waits();
    test_stolen_mutex();
    test_external_waiter();
    must(ABT_eventual_reset(eventual));
    test_timedwait("cond", timedwait_cond, ABT_SYNC_EVENT_TYPE_COND, cond);
    test_timedwait("eventual", timedwait_eventual, ABT_SYNC_EVENT_TYPE_EVENTUAL, eventual);
    test_timedwait("time", sleep_ms, ABT_SYNC_EVENT_TYPE_USER, NULL);
    test_second_joiner();

    must(ABT_mutex_free(&mutex));
    must(ABT_cond_free(&cond));
    must(ABT_eventual_free(&eventual));
    must(ABT_future_free(&future));
    must(ABT_barrier_free(&barrier));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_xstream_free(&other));
    must(ABT_finalize());
    return done_testing();
}
