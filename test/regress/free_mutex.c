/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mutex that nobody holds was reserved for a ULT that had been woken to take it, and could not be locked before that
 * ULT ran. But its stream may be busy, even waiting for the one who wants the mutex, or be no more; or a unit that
 * yields may keep the ULT from running. Whoever runs takes a mutex that is free, and whoever has queued before comes to
 * see that it is: waiters that were queued slept until the one that was woken had come.
 *
 * An argument runs the case of that number only.
 */
#include "regress.h"

static ABT_mutex mutex;
static atomic_bool is_held_up, may_go_on, has_locked, signalled;
static ABT_cond cond;
static ABT_rwlock rwlock;

/* --- Helpers --- */

static ABT_xstream make_sched_es(ABT_sched_predef kind, int num, ABT_pool *pools)
{
    ABT_xstream es;

    must(ABT_xstream_create_basic(kind, num, pools, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

static ABT_thread make_ult(ABT_pool pool, void (*func)(void *))
{
    ABT_thread ult = ult_in(pool, func, NULL);
    return ult;
}

static void wait_until_blocked(ABT_thread ult)
{
    for (ABT_thread_state state = ABT_THREAD_STATE_READY; state != ABT_THREAD_STATE_BLOCKED; ABT_thread_yield())
        must(ABT_thread_get_state(ult, &state));
}

/* Keeps its stream from everything else until somebody has had the mutex. */
static void hold_up(void *arg)
{
    atomic_store(&is_held_up, true);
    while (!atomic_load(&may_go_on))
        nap_ms(0.1);
}

static void hold_up_by_yields(void *arg)
{
    atomic_store(&is_held_up, true);
    while (!atomic_load(&may_go_on))
        ABT_thread_yield();
}

static void lock_once(void *arg)
{
    must(ABT_mutex_lock(mutex));
    atomic_store(&has_locked, true);
    must(ABT_mutex_unlock(mutex));
}

static void lock_and_go_on(void *arg)
{
    lock_once(arg);
    atomic_store(&may_go_on, true);
}

static void *lock_natively(void *arg)
{
    lock_and_go_on(arg);
    return NULL;
}

static void begin(void)
{
    atomic_store(&is_held_up, false);
    atomic_store(&may_go_on, false);
    atomic_store(&has_locked, false);
    atomic_store(&signalled, false);
    must(ABT_mutex_create(&mutex));
}

/* --- A ULT waits on a stream that is then held up, and the mutex is unlocked --- */

struct waiting {
    ABT_pool pools[2]; /* the ULT is in the last one */
    ABT_xstream es;
    ABT_thread ult;
};

static void start_waiting(struct waiting *w, ABT_sched_predef kind, void (*func)(void *))
{
    for (int i = 0; i < 2; i++)
        w->pools[i] = make_pool(ABT_POOL_ACCESS_MPMC);
    w->es = make_sched_es(kind, 2, w->pools);
    w->ult = make_ult(w->pools[1], func);
    wait_until_blocked(w->ult);
}

static void stop_stream(struct waiting *w, bool by_yields)
{
    void (*func)(void *) = by_yields ? hold_up_by_yields : hold_up;

    must(ABT_thread_create(w->pools[0], func, NULL, ABT_THREAD_ATTR_NULL, NULL));
    while (!atomic_load(&is_held_up))
        ABT_thread_yield();
}

static void end_waiting(struct waiting *w)
{
    atomic_store(&may_go_on, true);
    must(ABT_thread_free(&w->ult));
    must(ABT_xstream_free(&w->es));
    must(ABT_mutex_free(&mutex));
}

/* A ULT is woken for the mutex, and does not run. */
static void begin_free(struct waiting *w, ABT_sched_predef kind, bool by_yields)
{
    begin();
    must(ABT_mutex_lock(mutex));
    start_waiting(w, kind, lock_once);
    stop_stream(w, by_yields);
    must(ABT_mutex_unlock(mutex));
}

static void test_ult(void)
{
    struct waiting w;

    begin_free(&w, ABT_SCHED_BASIC, false);
    lock_and_go_on(NULL);
    end_waiting(&w);
    pass("a ULT of another stream locks it");
}

static void test_native_thread(void)
{
    struct waiting w;
    pthread_t native;

    begin_free(&w, ABT_SCHED_BASIC, false);
    must(pthread_create(&native, NULL, lock_natively, NULL));
    pthread_join(native, NULL);
    end_waiting(&w);
    pass("a native thread locks it");
}

/* A tasklet waits natively: the stream is held up until the gate is open. */
static void pass_gate(void *gate)
{
    atomic_store(&is_held_up, true);
    must(ABT_mutex_lock(gate));
    must(ABT_mutex_unlock(gate));
}

static void test_tasklet(void)
{
    struct waiting w;
    ABT_mutex gate;

    begin();
    must(ABT_mutex_create(&gate));
    must(ABT_mutex_lock(gate));
    must(ABT_mutex_lock(mutex));
    start_waiting(&w, ABT_SCHED_BASIC, lock_once);
    must(ABT_task_create(w.pools[0], pass_gate, gate, NULL));
    while (!atomic_load(&is_held_up))
        ABT_thread_yield();
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(gate));
    must(ABT_mutex_unlock(mutex));
    end_waiting(&w);
    must(ABT_mutex_free(&gate));
    pass("the one whom a tasklet waits for locks it");
}

static void test_low_pool(ABT_sched_predef kind)
{
    struct waiting w;

    begin_free(&w, kind, true);
    lock_and_go_on(NULL);
    end_waiting(&w);
    pass("it is locked while a unit yields before the ULT (scheduler %d)", (int)kind);
}

static void test_try_and_spin(void)
{
    struct waiting w;

    begin_free(&w, ABT_SCHED_BASIC, false);
    is_int(ABT_mutex_trylock(mutex), ABT_SUCCESS, "trylock takes it");
    must(ABT_mutex_unlock(mutex));
    end_waiting(&w);
    begin_free(&w, ABT_SCHED_BASIC, false);
    is_int(ABT_mutex_spinlock(mutex), ABT_SUCCESS, "spinlock takes it");
    must(ABT_mutex_unlock(mutex));
    end_waiting(&w);
}

static void test_recursive(void)
{
    struct waiting w;
    ABT_mutex_attr attr;

    begin();
    must(ABT_mutex_free(&mutex));
    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    must(ABT_mutex_create_with_attr(attr, &mutex));
    must(ABT_mutex_attr_free(&attr));
    must(ABT_mutex_lock(mutex));
    start_waiting(&w, ABT_SCHED_BASIC, lock_once);
    stop_stream(&w, false);
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_unlock(mutex));
    end_waiting(&w);
    pass("a recursive one is locked twice");
}

/* --- Waiters of a cond --- */

static void wait_for_signal(void *arg)
{
    must(ABT_mutex_lock(mutex));
    while (!atomic_load(&signalled))
        must(ABT_cond_wait(cond, mutex));
    must(ABT_mutex_unlock(mutex));
}

/* Its stream is held up until all is produced. */
static void test_producer(void)
{
    enum { ROUNDS = 100 };
    struct waiting w;

    begin();
    must(ABT_cond_create(&cond));
    start_waiting(&w, ABT_SCHED_BASIC, wait_for_signal);
    stop_stream(&w, false);
    for (int i = 0; i < ROUNDS; i++) {
        must(ABT_mutex_lock(mutex));
        atomic_store(&signalled, true);
        must(ABT_cond_signal(cond));
        must(ABT_mutex_unlock(mutex));
    }
    end_waiting(&w);
    must(ABT_cond_free(&cond));
    pass("who signals goes on, though the consumer does not run");
}

static void wait_for_signal_and_go_on(void *arg)
{
    wait_for_signal(arg);
    atomic_store(&may_go_on, true);
}

/* A waiter that is signalled, by one who does not hold the mutex, does not queue behind the one who does not run. */
static void test_signalled(bool all)
{
    struct waiting w, other;

    begin();
    must(ABT_cond_create(&cond));
    start_waiting(&other, ABT_SCHED_BASIC, wait_for_signal_and_go_on);
    must(ABT_mutex_lock(mutex));
    start_waiting(&w, ABT_SCHED_BASIC, lock_once);
    stop_stream(&w, false);
    atomic_store(&signalled, true);
    must(ABT_mutex_unlock(mutex));
    must(all ? ABT_cond_broadcast(cond) : ABT_cond_signal(cond));
    must(ABT_thread_free(&other.ult));
    must(ABT_xstream_free(&other.es));
    end_waiting(&w);
    must(ABT_cond_free(&cond));
    pass("who is signalled%s goes on", all ? " with all others" : "");
}

static void read_once(void *arg)
{
    must(ABT_rwlock_rdlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
}

static void test_rwlock(void)
{
    struct waiting w;

    begin();
    must(ABT_rwlock_create(&rwlock));
    must(ABT_rwlock_wrlock(rwlock));
    start_waiting(&w, ABT_SCHED_BASIC, read_once);
    stop_stream(&w, false);
    for (int i = 0; i < 10; i++) {
        must(ABT_rwlock_unlock(rwlock));
        must(i % 2 ? ABT_rwlock_wrlock(rwlock) : ABT_rwlock_rdlock(rwlock));
    }
    must(ABT_rwlock_unlock(rwlock));
    end_waiting(&w);
    must(ABT_rwlock_free(&rwlock));
    pass("a rwlock is locked");
}

/* --- The ULT's stream is no more --- */

/* A ULT that waits for the mutex, and its stream, which is about to be no more. */
struct left_behind {
    ABT_pool pool;
    ABT_xstream es;
    ABT_thread ult;
};

static void begin_left_behind(struct left_behind *l)
{
    begin();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &l->pool));
    l->es = make_es(1, &l->pool);
    must(ABT_mutex_lock(mutex));
    l->ult = make_ult(l->pool, lock_once);
    wait_until_blocked(l->ult);
}

static void free_stream(struct left_behind *l)
{
    must(ABT_xstream_cancel(l->es));
    must(ABT_xstream_free(&l->es));
}

/* The ULT gets another stream. */
static void end_left_behind(struct left_behind *l)
{
    l->es = make_es(1, &l->pool);
    must(ABT_thread_free(&l->ult));
    must(ABT_xstream_free(&l->es));
    must(ABT_pool_free(&l->pool));
    must(ABT_mutex_free(&mutex));
}

static void test_freed_stream(void)
{
    struct left_behind l;

    begin_left_behind(&l);
    free_stream(&l);
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
    end_left_behind(&l);
    pass("it is locked while the ULT has no stream");
}

/* --- Both are of one pool, but the ULT is not what runs next there --- */

static ABT_pool own_pools[2];
static ABT_thread popped;

static void lock_with_ult_in_hand(void *arg)
{
    must(ABT_mutex_lock(mutex));
    ABT_thread ult = make_ult(own_pools[1], lock_once);
    wait_until_blocked(ult);
    must(ABT_mutex_unlock(mutex));
    must(ABT_pool_pop_thread(own_pools[1], &popped));
    is_ptr(popped, ult, "the ULT was made ready");
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
    must(ABT_pool_push_thread(own_pools[1], popped));
    must(ABT_thread_free(&ult));
}

static void lock_before_who_yields(void *arg)
{
    must(ABT_mutex_lock(mutex));
    ABT_thread ult = make_ult(own_pools[1], lock_once);
    wait_until_blocked(ult);
    must(ABT_mutex_unlock(mutex));
    ABT_thread yields = make_ult(own_pools[0], hold_up_by_yields);
    lock_and_go_on(NULL);
    must(ABT_thread_free(&yields));
    must(ABT_thread_free(&ult));
}

static void test_own_pool(ABT_pool_access access, void (*func)(void *), const char *what)
{
    begin();
    for (int i = 0; i < 2; i++)
        own_pools[i] = make_pool(access);
    ABT_thread ult = make_ult(own_pools[1], func);
    ABT_xstream es = make_sched_es(ABT_SCHED_PRIO, 2, own_pools);
    must(ABT_thread_free(&ult));
    must(ABT_xstream_free(&es));
    must(ABT_mutex_free(&mutex));
    pass("%s", what);
}

/* --- Others are queued behind the ULT when the mutex is unlocked --- */

static void *wait_for_signal_natively(void *arg)
{
    wait_for_signal_and_go_on(arg);
    return NULL;
}

/* The ULT queues first, and the mutex is held. */
static void begin_queue(struct waiting *w)
{
    begin();
    must(ABT_mutex_lock(mutex));
    start_waiting(w, ABT_SCHED_BASIC, lock_once);
}

/* The ULT is woken and does not run before the others have had the mutex. */
static void unlock_for_ult(struct waiting *w)
{
    stop_stream(w, false);
    must(ABT_mutex_unlock(mutex));
}

static void test_queued_native(void)
{
    struct waiting w;
    pthread_t native;

    begin_queue(&w);
    must(pthread_create(&native, NULL, lock_natively, NULL));
    nap_ms(30); /* nothing tells that it has queued */
    unlock_for_ult(&w);
    pthread_join(native, NULL);
    end_waiting(&w);
    pass("a native thread that was queued locks it");
}

static void test_queued_tasklet(void)
{
    struct waiting w;
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_xstream es = make_es(1, &pool);
    ABT_task task;

    begin_queue(&w);
    must(ABT_task_create(pool, lock_and_go_on, NULL, &task));
    nap_ms(30); /* nor of this one */
    unlock_for_ult(&w);
    must(ABT_task_free(&task));
    end_waiting(&w);
    must(ABT_xstream_free(&es));
    pass("a tasklet that was queued locks it");
}

static void test_queued_ult(void)
{
    struct waiting w, other;

    begin_queue(&w);
    start_waiting(&other, ABT_SCHED_BASIC, lock_and_go_on);
    unlock_for_ult(&w);
    must(ABT_thread_free(&other.ult));
    must(ABT_xstream_free(&other.es));
    end_waiting(&w);
    pass("a ULT of a third stream that was queued locks it");
}

static void test_queued_and_freed_stream(void)
{
    struct waiting other;
    struct left_behind l;

    begin_left_behind(&l);
    start_waiting(&other, ABT_SCHED_BASIC, lock_once);
    free_stream(&l);
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&other.ult));
    must(ABT_xstream_free(&other.es));
    end_left_behind(&l);
    pass("a ULT that was queued locks it while the first one has no stream");
}

/* A waiter that is signalled while somebody holds the mutex, and the ULT is queued for it. */
static void test_queued_signalled(bool all, bool external)
{
    struct waiting w, other;
    pthread_t native;

    begin();
    must(ABT_cond_create(&cond));
    if (external)
        must(pthread_create(&native, NULL, wait_for_signal_natively, NULL));
    else
        start_waiting(&other, ABT_SCHED_BASIC, wait_for_signal_and_go_on);
    nap_ms(external ? 30 : 0);
    must(ABT_mutex_lock(mutex));
    start_waiting(&w, ABT_SCHED_BASIC, lock_once);
    atomic_store(&signalled, true);
    must(all ? ABT_cond_broadcast(cond) : ABT_cond_signal(cond));
    unlock_for_ult(&w);
    if (external) {
        pthread_join(native, NULL);
    } else {
        must(ABT_thread_free(&other.ult));
        must(ABT_xstream_free(&other.es));
    }
    end_waiting(&w);
    must(ABT_cond_free(&cond));
    pass("a %s that was signalled%s before the unlock locks it", external ? "native thread" : "ULT",
         all ? " with all others" : "");
}

/*
 * ULTs of one pool, which come before the ULT of another until they have passed over it often enough. What is left of
 * them then goes on without it.
 */
static void test_queued_group(void)
{
    enum { GROUP = 200 };
    struct waiting w;
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_xstream es = make_es(1, &pool);
    ABT_thread group[GROUP];

    begin();
    must(ABT_mutex_lock(mutex));
    ABT_thread first = make_ult(pool, lock_once);
    wait_until_blocked(first);
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free(&first));
    must(ABT_mutex_lock(mutex));
    start_waiting(&w, ABT_SCHED_BASIC, lock_once);
    for (int i = 0; i < GROUP; i++)
        group[i] = make_ult(pool, lock_once);
    for (int i = 0; i < GROUP; i++)
        wait_until_blocked(group[i]);
    unlock_for_ult(&w);
    must(ABT_thread_free_many(GROUP, group));
    must(ABT_xstream_free(&es));
    end_waiting(&w);
    pass("all ULTs of the pool that has had it lock it");
}

static void run_queued_case(int number)
{
    switch (number) {
    case 14: test_queued_native(); break;
    case 15: test_queued_tasklet(); break;
    case 16: test_queued_ult(); break;
    case 17: test_queued_and_freed_stream(); break;
    case 18: test_queued_signalled(false, false); break;
    case 19: test_queued_signalled(true, false); break;
    case 20: test_queued_signalled(false, true); break;
    case 21: test_queued_signalled(true, true); break;
    case 22: test_queued_group(); break;
    default: break;
    }
}

static void run_case(int number)
{
    switch (number) {
    case 0: test_ult(); break;
    case 1: test_native_thread(); break;
    case 2: test_tasklet(); break;
    case 3: test_low_pool(ABT_SCHED_BASIC); break;
    case 4: test_low_pool(ABT_SCHED_PRIO); break;
    case 5: test_try_and_spin(); break;
    case 6: test_recursive(); break;
    case 7: test_producer(); break;
    case 8: test_signalled(false); break;
    case 9: test_signalled(true); break;
    case 10: test_rwlock(); break;
    case 11: test_freed_stream(); break;
    case 12:
        test_own_pool(ABT_POOL_ACCESS_MPMC, lock_with_ult_in_hand, "it is locked by one who has popped the ULT");
        break;
    case 13: test_own_pool(ABT_POOL_ACCESS_MPMC, lock_before_who_yields, "a unit that yields comes before both"); break;
    default: run_queued_case(number); break;
    }
}

int main(int argc, char **argv)
{
    enum { CASES = 23 };

    regress_begin();
    must(ABT_init(0, NULL));
    for (int i = 0; i < CASES; i++) {
        if (argc < 2 || atoi(argv[1]) == i)
            run_case(i);
    }
    must(ABT_finalize());
    return done_testing();
}
