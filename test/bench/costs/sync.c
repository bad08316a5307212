/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that waits: mutexes, conditions, locks, eventuals, futures, barriers. */
#include "costs.h"

#include <time.h>

static ABT_mutex mutexes[TIMES];
static ABT_mutex_attr mutex_attr, mutex_attrs[TIMES];
static ABT_cond conds[TIMES];
static ABT_rwlock rwlocks[TIMES];
static ABT_eventual eventuals[TIMES];
static ABT_future futures[TIMES];
static ABT_barrier barriers[TIMES], pair;
static ABT_xstream_barrier es_barriers[TIMES];
static _Atomic(uint32_t) word;
static const struct timespec far = {.tv_sec = 1L << 40};

/* For each kind of object: all of them made, and freed. */
#define OBJECTS(kind, objects, create)                                                                                 \
    static void make_##objects(void)                                                                                   \
    {                                                                                                                  \
        for (int i = 0; i < TIMES; i++)                                                                                \
            must(create);                                                                                              \
    }                                                                                                                  \
    static void free_##objects(void)                                                                                   \
    {                                                                                                                  \
        for (int i = 0; i < TIMES; i++)                                                                                \
            must(kind##_free(&(objects)[i]));                                                                          \
    }                                                                                                                  \
    struct cost

/* --- Mutexes --- */

OBJECTS(ABT_mutex, mutexes, ABT_mutex_create(&mutexes[i]));
OBJECTS(ABT_mutex_attr, mutex_attrs, ABT_mutex_attr_create(&mutex_attrs[i]));

static void make_locked(void)
{
    make_mutexes();
    for (int i = 0; i < TIMES; i++)
        must(ABT_mutex_lock(mutexes[i]));
}

static void free_locked(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_mutex_unlock(mutexes[i]));
    free_mutexes();
}

static void make_mutex_attr(void)
{
    must(ABT_mutex_attr_create(&mutex_attr));
}

static void free_mutex_attr(void)
{
    must(ABT_mutex_attr_free(&mutex_attr));
}

static void free_mutexes_and_attr(void)
{
    free_mutexes();
    free_mutex_attr();
}

COST(ABT_mutex_create, "a mutex", NULL, free_mutexes, ABT_mutex_create(&mutexes[i]));
COST(ABT_mutex_create_with_attr, "a mutex", make_mutex_attr, free_mutexes_and_attr,
     ABT_mutex_create_with_attr(mutex_attr, &mutexes[i]));
COST(ABT_mutex_free, "a free mutex", make_mutexes, NULL, ABT_mutex_free(&mutexes[i]));
COST(ABT_mutex_lock, "a free mutex", make_mutexes, free_locked, ABT_mutex_lock(mutexes[i]));
COST(ABT_mutex_lock_high, "a free mutex", make_mutexes, free_locked, ABT_mutex_lock_high(mutexes[i]));
COST(ABT_mutex_lock_low, "a free mutex", make_mutexes, free_locked, ABT_mutex_lock_low(mutexes[i]));
COST(ABT_mutex_trylock, "a free mutex", make_mutexes, free_locked, ABT_mutex_trylock(mutexes[i]));
COST(ABT_mutex_spinlock, "a free mutex", make_mutexes, free_locked, ABT_mutex_spinlock(mutexes[i]));
COST(ABT_mutex_unlock, "nobody waits for it", make_locked, free_mutexes, ABT_mutex_unlock(mutexes[i]));
COST(ABT_mutex_unlock_se, "nobody waits for it", make_locked, free_mutexes, ABT_mutex_unlock_se(mutexes[i]));
COST(ABT_mutex_unlock_de, "nobody waits for it", make_locked, free_mutexes, ABT_mutex_unlock_de(mutexes[i]));
COST(ABT_mutex_equal, "two mutexes", make_mutexes, free_mutexes, ABT_mutex_equal(mutexes[i], mutexes[0], &out.yes));
COST(ABT_mutex_get_attr, "new attributes", make_mutexes, free_mutex_attrs,
     ABT_mutex_get_attr(mutexes[i], &mutex_attrs[i]));
COST(ABT_mutex_attr_create, "new attributes", NULL, free_mutex_attrs, ABT_mutex_attr_create(&mutex_attrs[i]));
COST(ABT_mutex_attr_free, "attributes", make_mutex_attrs, NULL, ABT_mutex_attr_free(&mutex_attrs[i]));
COST(ABT_mutex_attr_set_recursive, "attributes", make_mutex_attr, free_mutex_attr,
     ABT_mutex_attr_set_recursive(mutex_attr, ABT_TRUE));
COST(ABT_mutex_attr_get_recursive, "attributes", make_mutex_attr, free_mutex_attr,
     ABT_mutex_attr_get_recursive(mutex_attr, &out.yes));

/* --- Condition variables --- */

OBJECTS(ABT_cond, conds, ABT_cond_create(&conds[i]));

/* A ULT for each condition, which waits. */
static void wait_for_cond(void *arg)
{
    ABT_cond *cond = arg;

    must(ABT_mutex_lock(mutexes[0]));
    must(ABT_cond_wait(*cond, mutexes[0]));
    must(ABT_mutex_unlock(mutexes[0]));
}

static void make_waiters(void)
{
    make_mutexes();
    make_conds();
    for (int i = 0; i < TIMES; i++)
        must(ABT_thread_create(world.pool, wait_for_cond, &conds[i], ABT_THREAD_ATTR_NULL, &world.units[i]));
    must(ABT_self_yield());
}

static void free_waiters(void)
{
    free_units();
    free_conds();
    free_mutexes();
}

/* A ULT that wakes the caller, again and again. */
static void signal_always(void *arg)
{
    (void)arg;
    while (partner_goes_on()) {
        must(ABT_mutex_lock(mutexes[0]));
        must(ABT_cond_signal(conds[0]));
        must(ABT_mutex_unlock(mutexes[0]));
        must(ABT_self_yield());
    }
}

static void make_signaller(void)
{
    make_mutexes();
    make_conds();
    make_partner(signal_always);
    must(ABT_mutex_lock(mutexes[0]));
}

static void free_signaller(void)
{
    must(ABT_mutex_unlock(mutexes[0]));
    end_partner();
    free_conds();
    free_mutexes();
}

COST(ABT_cond_create, "a condition variable", NULL, free_conds, ABT_cond_create(&conds[i]));
COST(ABT_cond_free, "nobody waits for it", make_conds, NULL, ABT_cond_free(&conds[i]));
COST(ABT_cond_wait, "a ULT of the same stream signals: its lock, signal, unlock and yield included", make_signaller,
     free_signaller, ABT_cond_wait(conds[0], mutexes[0]));
COST(ABT_cond_timedwait, "a ULT of the same stream signals in time: its lock, signal, unlock and yield included",
     make_signaller, free_signaller, ABT_cond_timedwait(conds[0], mutexes[0], &far));
COST(ABT_cond_signal, "one ULT of the same stream waits", make_waiters, free_waiters, ABT_cond_signal(conds[i]));
COST(ABT_cond_broadcast, "one ULT of the same stream waits", make_waiters, free_waiters, ABT_cond_broadcast(conds[i]));

/* --- Readers-writer locks --- */

OBJECTS(ABT_rwlock, rwlocks, ABT_rwlock_create(&rwlocks[i]));

static void make_read_locked(void)
{
    make_rwlocks();
    for (int i = 0; i < TIMES; i++)
        must(ABT_rwlock_rdlock(rwlocks[i]));
}

static void free_rwlocked(void)
{
    for (int i = 0; i < TIMES; i++)
        must(ABT_rwlock_unlock(rwlocks[i]));
    free_rwlocks();
}

COST(ABT_rwlock_create, "a lock", NULL, free_rwlocks, ABT_rwlock_create(&rwlocks[i]));
COST(ABT_rwlock_free, "a free lock", make_rwlocks, NULL, ABT_rwlock_free(&rwlocks[i]));
COST(ABT_rwlock_rdlock, "a free lock", make_rwlocks, free_rwlocked, ABT_rwlock_rdlock(rwlocks[i]));
COST(ABT_rwlock_wrlock, "a free lock", make_rwlocks, free_rwlocked, ABT_rwlock_wrlock(rwlocks[i]));
COST(ABT_rwlock_unlock, "its only reader, nobody waits", make_read_locked, free_rwlocks, ABT_rwlock_unlock(rwlocks[i]));

/* --- Eventuals and futures --- */

OBJECTS(ABT_eventual, eventuals, ABT_eventual_create(0, &eventuals[i]));
OBJECTS(ABT_future, futures, ABT_future_create(1, NULL, &futures[i]));

static void make_set(void)
{
    make_eventuals();
    make_futures();
    for (int i = 0; i < TIMES; i++) {
        must(ABT_eventual_set(eventuals[i], NULL, 0));
        must(ABT_future_set(futures[i], NULL));
    }
}

static void make_unset(void)
{
    make_eventuals();
    make_futures();
}

static void free_set(void)
{
    free_eventuals();
    free_futures();
}

static void set_always(void *arg)
{
    (void)arg;
    while (partner_goes_on()) {
        must(ABT_eventual_set(eventuals[0], NULL, 0));
        must(ABT_self_yield());
    }
}

static void fill_always(void *arg)
{
    (void)arg;
    while (partner_goes_on()) {
        must(ABT_future_set(futures[0], NULL));
        must(ABT_self_yield());
    }
}

static void make_setter(void)
{
    make_unset();
    make_partner(set_always);
    must(ABT_eventual_reset(eventuals[0]));
}

static void make_filler(void)
{
    make_unset();
    make_partner(fill_always);
    must(ABT_future_reset(futures[0]));
}

static void free_setter(void)
{
    end_partner();
    free_set();
}

static void wait_and_reset_eventual(int i)
{
    (void)i;
    must(ABT_eventual_wait(eventuals[0], NULL));
    must(ABT_eventual_reset(eventuals[0]));
}

static void wait_and_reset_future(int i)
{
    (void)i;
    must(ABT_future_wait(futures[0]));
    must(ABT_future_reset(futures[0]));
}

COST(ABT_eventual_create, "without a value", NULL, free_eventuals, ABT_eventual_create(0, &eventuals[i]));
COST(ABT_eventual_free, "nobody waits for it", make_eventuals, NULL, ABT_eventual_free(&eventuals[i]));
COST(ABT_eventual_wait, "it is ready", make_set, free_set, ABT_eventual_wait(eventuals[i], NULL));
COST_ROW(eventual_waits, "ABT_eventual_wait",
         "a ULT of the same stream sets it meanwhile: the set, its yield and a reset included", make_setter,
         wait_and_reset_eventual, free_setter, 1, IN_ULT, NULL);
COST(ABT_eventual_timedwait, "it is ready", make_set, free_set, ABT_eventual_timedwait(eventuals[i], NULL, &far));
COST(ABT_eventual_test, "it is ready", make_set, free_set, ABT_eventual_test(eventuals[i], NULL, &out.yes));
COST(ABT_eventual_set, "without a value, nobody waits", make_unset, free_set, ABT_eventual_set(eventuals[i], NULL, 0));
COST(ABT_eventual_reset, "it is ready", make_set, free_set, ABT_eventual_reset(eventuals[i]));
COST(ABTX_eventual_wait_any_until, "the first of 2 is ready", make_set, free_set,
     ABTX_eventual_wait_any_until(2, eventuals, &out.number, ABTX_FOREVER));
COST(ABT_future_create, "of 1 value", NULL, free_futures, ABT_future_create(1, NULL, &futures[i]));
COST(ABT_future_free, "nobody waits for it", make_futures, NULL, ABT_future_free(&futures[i]));
COST(ABT_future_wait, "it is ready", make_set, free_set, ABT_future_wait(futures[i]));
COST_ROW(future_waits, "ABT_future_wait",
         "a ULT of the same stream sets it meanwhile: the set, its yield and a reset included", make_filler,
         wait_and_reset_future, free_setter, 1, IN_ULT, NULL);
COST(ABT_future_test, "it is ready", make_set, free_set, ABT_future_test(futures[i], &out.yes));
COST(ABT_future_set, "the last value, nobody waits", make_unset, free_set, ABT_future_set(futures[i], NULL));
COST(ABT_future_reset, "it is ready", make_set, free_set, ABT_future_reset(futures[i]));

/* --- Barriers --- */

OBJECTS(ABT_barrier, barriers, ABT_barrier_create(1, &barriers[i]));
OBJECTS(ABT_xstream_barrier, es_barriers, ABT_xstream_barrier_create(1, &es_barriers[i]));

static void meet(void *arg)
{
    (void)arg;
    for (int i = 0; i < TIMES; i++)
        must(ABT_barrier_wait(pair));
}

static void make_pair(void)
{
    must(ABT_barrier_create(2, &pair));
    make_partner(meet);
}

static void free_pair(void)
{
    end_partner();
    must(ABT_barrier_free(&pair));
}

static void wait_in_pair(int i)
{
    (void)i;
    must(ABT_barrier_wait(pair));
}

COST(ABTX_word_wake, "nobody waits", NULL, NULL, ABTX_word_wake(&word, 1));
COST(ABT_barrier_create, "a barrier", NULL, free_barriers, ABT_barrier_create(2, &barriers[i]));
COST(ABT_barrier_reinit, "a barrier", make_barriers, free_barriers, ABT_barrier_reinit(barriers[i], 2));
COST(ABT_barrier_free, "nobody waits for it", make_barriers, NULL, ABT_barrier_free(&barriers[i]));
COST_ROW(barrier_wait, "ABT_barrier_wait", "each wait of 2 ULTs of a stream, one of which is suspended", make_pair,
         wait_in_pair, free_pair, 2, IN_ULT, NULL);
COST(ABT_barrier_get_num_waiters, "a barrier", make_barriers, free_barriers,
     ABT_barrier_get_num_waiters(barriers[i], (uint32_t *)&out.number));
COST(ABT_xstream_barrier_create, "a barrier", NULL, free_es_barriers, ABT_xstream_barrier_create(1, &es_barriers[i]));
COST(ABT_xstream_barrier_free, "a barrier", make_es_barriers, NULL, ABT_xstream_barrier_free(&es_barriers[i]));
COST(ABT_xstream_barrier_wait, "of 1 thread, which does not wait", make_es_barriers, free_es_barriers,
     ABT_xstream_barrier_wait(es_barriers[i]));
