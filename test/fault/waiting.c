/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting and waking need no memory: every synchronisation object, from its first use on, and every kind of caller. */
#include "cases.h"

enum { NUM_ULTS = 6, NUM_NATIVE = 3, NUM = NUM_ULTS + NUM_NATIVE, ROUNDS = 50 };

/* Objects that have never been used, some of them made by an initialiser. */
static ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER, recursive_memory = ABT_RECURSIVE_MUTEX_INITIALIZER;
static ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
static ABT_eventual_memory eventual_memory = ABT_EVENTUAL_INITIALIZER;
static ABT_rwlock rwlock;
static ABT_barrier barrier;
static ABT_future future;
static ABT_eventual never;

static ABT_xstream es;
static ABT_thread ults[NUM_ULTS], tasklet;
static atomic_int ready, finished;
static atomic_bool go, leave;
static int inside_mutex, inside_rwlock, turn;

static bool is_native(void)
{
    ABT_unit_type type;

    ABT_self_get_type(&type);
    return type == ABT_UNIT_TYPE_EXT;
}

static struct timespec in_a_while(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 200000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_nsec -= 1000000000;
        ts.tv_sec++;
    }
    return ts;
}

static void wait_for_flag(atomic_bool *flag)
{
    while (!*flag) {
        if (is_native())
            nap_ms(0.1);
        else
            ABT_self_yield();
    }
}

static void use_mutexes(void)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    ABT_mutex recursive = ABT_MUTEX_MEMORY_GET_HANDLE(&recursive_memory);

    must(ABT_mutex_lock(mutex));
    expect(inside_mutex++ == 0, "one at a time holds the mutex");
    if (!is_native())
        ABT_self_yield(); /* the others come and wait */
    inside_mutex--;
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_lock(recursive));
    must(ABT_mutex_lock(recursive));
    must(ABT_mutex_unlock(recursive));
    must(ABT_mutex_unlock(recursive));
}

/* Each waits for its turn, with and without a deadline. */
static void use_cond(int who)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    ABT_cond cond = ABT_COND_MEMORY_GET_HANDLE(&cond_memory);
    struct timespec deadline = in_a_while();

    must(ABT_mutex_lock(mutex));
    while (turn % NUM != who) {
        if (turn % 2)
            must(ABT_cond_wait(cond, mutex));
        else
            ABT_cond_timedwait(cond, mutex, &deadline);
    }
    turn++;
    must(ABT_cond_broadcast(cond));
    must(ABT_mutex_unlock(mutex));
}

static void use_rwlock(int who)
{
    must(ABT_rwlock_rdlock(rwlock));
    expect(inside_rwlock == 0, "readers are not with a writer");
    must(ABT_rwlock_unlock(rwlock));
    if (who % 3 == 0) {
        must(ABT_rwlock_wrlock(rwlock));
        inside_rwlock++;
        if (!is_native())
            ABT_self_yield();
        inside_rwlock--;
        must(ABT_rwlock_unlock(rwlock));
    }
}

/* Once: one of them opens what all others wait for. */
static void use_once(int who)
{
    ABT_eventual eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&eventual_memory);
    struct timespec deadline = in_a_while();

    if (who == NUM - 1)
        must(ABT_eventual_set(eventual, NULL, 0));
    else
        must(ABT_eventual_wait(eventual, NULL));
    must(ABT_future_set(future, NULL));
    must(ABT_future_wait(future));
    expect(ABT_eventual_timedwait(never, NULL, &deadline) == ABT_ERR_COND_TIMEDOUT, "nobody sets it");
}

static void take_part(int who)
{
    atomic_fetch_add(&ready, 1);
    wait_for_flag(&go);
    for (int i = 0; i < ROUNDS; i++) {
        use_mutexes();
        use_cond(who);
        use_rwlock(who);
        must(ABT_barrier_wait(barrier));
    }
    use_once(who);
    atomic_fetch_add(&finished, 1);
    wait_for_flag(&leave);
}

static void ult_main(void *arg)
{
    take_part((int)(intptr_t)arg);
}

static void *native_main(void *arg)
{
    take_part((int)(intptr_t)arg);
    return NULL;
}

/* Suspends; is resumed by the next; the last one is resumed by main. */
static ABT_thread sleepers[NUM_ULTS];

static void sleep_and_pass_on(void *arg)
{
    int i = (int)(intptr_t)arg;

    atomic_fetch_add(&ready, 1);
    must(ABT_self_suspend());
    if (i + 1 < NUM_ULTS)
        must(ABT_thread_resume(sleepers[i + 1]));
}

static void make_objects(void)
{
    must(ABT_rwlock_create(&rwlock));
    must(ABT_barrier_create(NUM, &barrier));
    must(ABT_future_create(NUM, NULL, &future));
    must(ABT_eventual_create(0, &never));
}

static void free_objects(void)
{
    must(ABT_rwlock_free(&rwlock));
    must(ABT_barrier_free(&barrier));
    must(ABT_future_free(&future));
    must(ABT_eventual_free(&never));
}

static void test_objects(void)
{
    pthread_t native[NUM_NATIVE];

    make_objects();
    for (int i = 0; i < NUM_ULTS; i++)
        ults[i] = ult_in(i % 2 ? own_pool() : pool_of(es), ult_main, (void *)(intptr_t)i);
    for (int i = 0; i < NUM_NATIVE; i++)
        must(pthread_create(&native[i], NULL, native_main, (void *)(intptr_t)(NUM_ULTS + i)));
    wait_for(ready == NUM);
    fault_arm(1, FAULT_FROM);
    go = true;
    wait_for(finished == NUM);
    fault_disarm();
    is_int(fault_requests(), 0, "waiting for objects needs no memory");
    is_int(turn, NUM * ROUNDS, "everybody has had its turns");
    leave = true;
    for (int i = 0; i < NUM_NATIVE; i++)
        must(pthread_join(native[i], NULL));
    must(ABT_thread_free_many(NUM_ULTS, ults));
    free_objects();
}

static void *join_native(void *thread)
{
    atomic_fetch_add(&ready, 1);
    wait_for_flag(&go);
    must(ABT_thread_join(thread));
    return NULL;
}

/* Suspending and joining, by ULTs and by an external thread. */
static void test_units(void)
{
    pthread_t native;

    ready = 0;
    go = false;
    for (int i = 0; i < NUM_ULTS; i++)
        sleepers[i] = ult_in(i % 2 ? own_pool() : pool_of(es), sleep_and_pass_on, (void *)(intptr_t)i);
    for (int i = 0; i < NUM_ULTS; i++)
        wait_for(state_of(sleepers[i]) == ABT_THREAD_STATE_BLOCKED);
    must(pthread_create(&native, NULL, join_native, sleepers[NUM_ULTS - 1]));
    wait_for(ready == NUM_ULTS + 1);
    fault_arm(1, FAULT_FROM);
    go = true;
    nap_ms(5);
    must(ABT_thread_resume(sleepers[0]));
    must(ABT_thread_join_many(NUM_ULTS - 1, sleepers));
    /* The last one may be of this stream, which must not wait natively before it has run. */
    wait_for(state_of(sleepers[NUM_ULTS - 1]) == ABT_THREAD_STATE_TERMINATED);
    must(pthread_join(native, NULL));
    must(ABT_thread_free_many(NUM_ULTS, sleepers));
    fault_disarm();
    is_int(fault_requests(), 0, "neither do suspending, resuming and joining");
}

static atomic_int tasklet_runs;

/* A tasklet may wait for a mutex: it blocks its stream. */
static void lock_in_tasklet(void *arg)
{
    must(ABT_mutex_lock(arg));
    count_up(&tasklet_runs);
    must(ABT_mutex_unlock(arg));
}

static void test_tasklet(void)
{
    ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);

    must(ABT_mutex_lock(mutex));
    must(ABT_task_create(pool_of(es), lock_in_tasklet, mutex, &tasklet));
    fault_arm(1, FAULT_FROM);
    nap_ms(5);
    is_int(tasklet_runs, 0, "a tasklet waits");
    must(ABT_mutex_unlock(mutex));
    must(ABT_task_join(tasklet));
    fault_disarm();
    is_int(tasklet_runs, 1, "and goes on");
    is_int(fault_requests(), 0, "without memory");
    must(ABT_task_free(&tasklet));
}

int main(void)
{
    fault_begin();
    must(ABT_init(0, NULL));
    es = new_xstream();
    test_objects();
    test_units();
    test_tasklet();
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
    return done_testing();
}
