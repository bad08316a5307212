/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse, one row for each kind: the object, and what is done to it that users do by mistake. Each row runs in a child
 * process with ABT_CHECK=1. What it says has to name the call, the object with its kind, and who created it; and the
 * calls return the error codes of wrong arguments. test/api/misuse looks at the words of some of them in full. Of what
 * is right, but close to a mistake, nothing is said.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "child.h"
#include "common.h"

/* How an object is named: by its address, and how its creator is. */
#define P "0x[0-9a-f]+"
#define OF " of [a-z_]+(\\+" P ")?"
#define ULT "ULT " P OF
#define PRIMARY " \\(created by the primary ULT\\)"
#define THE(function, object) "^libabt: " function ": " object " " P PRIMARY " "
#define THE_ULT(function) "^libabt: " function ": " ULT PRIMARY " "
#define NO(function, kind) "^libabt: " function ": handle " P " is not of the kind " kind ": "

static ABT_pool pool;
static ABT_mutex mutex;
static ABT_eventual eventual;
static ABT_future future;
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_barrier barrier;
static ABT_xstream_barrier xbarrier;

static ABT_thread create(void (*func)(void *))
{
    ABT_thread thread = ult_in(pool, func, NULL);
    return thread;
}

/* A ULT that has run until it waits, or to its end. */
static ABT_thread begun(void (*func)(void *))
{
    ABT_thread thread = create(func);

    must(ABT_self_yield());
    return thread;
}

static ABT_thread ended(void)
{
    ABT_thread thread = create(do_nothing);

    must(ABT_thread_join(thread));
    return thread;
}

/* A function that does what is given, one after the other, and returns what the last one gives. */
#define MISUSE(name, ...)                                                                                              \
    static int name(void)                                                                                              \
    {                                                                                                                  \
        return (__VA_ARGS__);                                                                                          \
    }

/* --- Freed, or made as new, while units wait --- */

static void waits_eventual(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void waits_future(void *arg)
{
    must(ABT_future_wait(future));
}

static void waits_cond(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_cond_wait(cond, mutex));
    must(ABT_mutex_unlock(mutex));
}

static void waits_barrier(void *arg)
{
    must(ABT_barrier_wait(barrier));
}

static atomic_bool comes_to_xbarrier;

static void *waits_xbarrier(void *arg)
{
    atomic_store(&comes_to_xbarrier, true);
    must(ABT_xstream_barrier_wait(xbarrier));
    return NULL;
}

static void locks(void *arg)
{
    must(ABT_mutex_lock(mutex));
}

static void read_locks(void *arg)
{
    must(ABT_rwlock_rdlock(rwlock));
}

static void write_locks(void *arg)
{
    must(ABT_rwlock_wrlock(rwlock));
}

MISUSE(free_eventual, begun(waits_eventual), ABT_eventual_free(&eventual))
MISUSE(free_eventual_of_two, begun(waits_eventual), begun(waits_eventual), ABT_eventual_free(&eventual))
MISUSE(reset_eventual, begun(waits_eventual), ABT_eventual_reset(eventual))
MISUSE(free_future, begun(waits_future), ABT_future_free(&future))
MISUSE(reset_future, begun(waits_future), ABT_future_reset(future))
MISUSE(free_cond, begun(waits_cond), ABT_cond_free(&cond))
MISUSE(free_barrier, begun(waits_barrier), ABT_barrier_free(&barrier))
MISUSE(reinit_barrier, begun(waits_barrier), ABT_barrier_reinit(barrier, 3))

static int free_xbarrier(void)
{
    pthread_t thread;
    int code;

    must(pthread_create(&thread, NULL, waits_xbarrier, NULL));
    /* It takes the thread some time to come; the barrier is another one when it is freed too early. */
    while (!atomic_load(&comes_to_xbarrier))
        must(usleep(1000));
    for (;;) {
        ABT_xstream_barrier copy = xbarrier;
        must(usleep(50000));
        code = ABT_xstream_barrier_free(&copy);
        if (code != ABT_SUCCESS)
            return code;
        must(ABT_xstream_barrier_create(2, &xbarrier));
    }
}

/* --- Locks --- */

MISUSE(free_mutex, must(ABT_mutex_lock(mutex)), ABT_mutex_free(&mutex))
MISUSE(free_mutex_of_ult, begun(locks), ABT_mutex_free(&mutex))
MISUSE(free_rwlock_read, begun(read_locks), ABT_rwlock_free(&rwlock))
MISUSE(free_rwlock_written, begun(write_locks), ABT_rwlock_free(&rwlock))
MISUSE(unlock_free_mutex, ABT_mutex_unlock(mutex))
MISUSE(unlock_twice, must(ABT_mutex_lock(mutex)), must(ABT_mutex_unlock(mutex)), ABT_mutex_unlock(mutex))
MISUSE(unlock_free_rwlock, ABT_rwlock_unlock(rwlock))
MISUSE(unlock_rwlock_twice, must(ABT_rwlock_rdlock(rwlock)), must(ABT_rwlock_unlock(rwlock)), ABT_rwlock_unlock(rwlock))
MISUSE(unlock_rwlock_of_writer, begun(write_locks), ABT_rwlock_unlock(rwlock))

static void locks_rwlock_twice(void *arg)
{
    must(ABT_rwlock_wrlock(rwlock));
    must(ABT_rwlock_rdlock(rwlock));
}

MISUSE(lock_rwlock_twice, begun(locks_rwlock_twice), ABT_SUCCESS)

static int lock_of_ended_ult(void)
{
    begun(locks); /* nobody joins it */
    begun(locks);
    return ABT_SUCCESS;
}

MISUSE(unlock_of_ended_ult, begun(locks), ABT_mutex_unlock(mutex))

static int free_own_mutex(void)
{
    static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
    ABT_mutex own = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);

    must(ABT_mutex_lock(own));
    must(ABT_mutex_unlock(own));
    return ABT_mutex_free(&own);
}

static int cond_of_another_mutex(void)
{
    ABT_mutex other;
    struct timespec past = {0, 0};

    must(ABT_mutex_lock(mutex));
    if (ABT_cond_timedwait(cond, mutex, &past) != ABT_ERR_COND_TIMEDOUT) /* it belongs to this one from now on */
        return ABT_SUCCESS;
    must(ABT_mutex_create(&other));
    must(ABT_mutex_lock(other));
    return ABT_cond_wait(cond, other);
}

MISUSE(cond_without_lock, ABT_cond_wait(cond, mutex))

/* --- Attributes, configurations, definitions and timers that have been freed --- */

static int freed_attr(void)
{
    ABT_thread_attr attr, copy;

    must(ABT_thread_attr_create(&attr));
    copy = attr;
    must(ABT_thread_attr_free(&attr));
    return ABT_thread_attr_set_stacksize(copy, 100000);
}

static int create_with_freed_attr(void)
{
    ABT_thread_attr attr, copy;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    copy = attr;
    must(ABT_thread_attr_free(&attr));
    return ABT_thread_create(pool, do_nothing, NULL, copy, &thread);
}

static int freed_mutex_attr(void)
{
    ABT_mutex_attr attr, copy;

    must(ABT_mutex_attr_create(&attr));
    copy = attr;
    must(ABT_mutex_attr_free(&attr));
    return ABT_mutex_create_with_attr(copy, &mutex);
}

static int freed_sched_config(void)
{
    ABT_sched_config config, copy;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_var_end));
    copy = config;
    must(ABT_sched_config_free(&config));
    return ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, copy, &sched);
}

static int freed_pool_config(void)
{
    ABT_pool_config config, copy;
    int zero = 0;

    must(ABT_pool_config_create(&config));
    copy = config;
    must(ABT_pool_config_free(&config));
    return ABT_pool_config_set(copy, 0, ABT_POOL_CONFIG_INT, &zero);
}

static int freed_pool_def(void)
{
    ABT_pool_user_def def, copy;
    ABT_pool made;

    must(ABT_pool_user_def_create(NULL, NULL, NULL, NULL, NULL, &def));
    copy = def;
    must(ABT_pool_user_def_free(&def));
    return ABT_pool_create(copy, ABT_POOL_CONFIG_NULL, &made);
}

static int freed_timer(void)
{
    ABT_timer timer, copy;

    must(ABT_timer_create(&timer));
    copy = timer;
    must(ABT_timer_free(&timer));
    return ABT_timer_start(copy);
}

static int freed_xbarrier(void)
{
    ABT_xstream_barrier copy = xbarrier;

    must(ABT_xstream_barrier_free(&xbarrier));
    return ABT_xstream_barrier_free(&copy);
}

static int freed_driver(void)
{
    const ABTX_driver_ops ops = {.poll = NULL};
    ABTX_driver driver, copy;

    must(ABTX_driver_create(&ops, NULL, &driver));
    copy = driver;
    must(ABTX_driver_free(&driver));
    return ABTX_driver_attach_all(copy);
}

static int freed_sched(void)
{
    ABT_sched sched, copy;
    ABT_xstream es;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched));
    copy = sched;
    must(ABT_sched_free(&sched));
    return ABT_xstream_create(copy, &es);
}

static int freed_pool_for_sched(void)
{
    ABT_pool made, copy;
    ABT_sched sched;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &made));
    copy = made;
    must(ABT_pool_free(&made));
    return ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &copy, ABT_SCHED_CONFIG_NULL, &sched);
}

static int wait_any_for_freed(void)
{
    ABT_eventual copy = eventual;
    int index;

    must(ABT_eventual_free(&eventual));
    return ABTX_eventual_wait_any_until(1, &copy, &index, ABTX_FOREVER);
}

/* --- Units where they may not be --- */

static int one_stack_for_two(void)
{
    enum { SIZE = 65536 };
    ABT_thread_attr attr;
    ABT_thread thread;
    char *stack = malloc(SIZE);

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, stack, SIZE));
    must(ABT_thread_create(pool, waits_eventual, NULL, attr, &thread));
    must(ABT_thread_attr_set_stack(attr, stack + SIZE / 2, SIZE / 2)); /* a part of it */
    return ABT_thread_create(pool, do_nothing, NULL, attr, &thread);
}

MISUSE(push_ready, ABT_pool_push_thread(pool, create(do_nothing)))

static int push_popped_twice(void)
{
    ABT_thread thread = create(do_nothing), popped;
    ABT_pool other;

    (void)thread;
    must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &other));
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_pool_push_thread(other, popped));
    return ABT_pool_push_thread(pool, popped);
}

static int push_unit_twice(void)
{
    ABT_unit unit;

    must(ABT_thread_get_unit(create(do_nothing), &unit));
    return ABT_pool_push(pool, unit);
}

MISUSE(push_ended, ABT_pool_push_thread(pool, ended()))

static int push_many_ended(void)
{
    ABT_thread threads[] = {ABT_THREAD_NULL, ended()};
    return ABT_pool_push_threads(pool, threads, 2);
}

MISUSE(push_blocked, ABT_pool_push_thread(pool, begun(waits_eventual)))

static int push_itself(void)
{
    ABT_thread self;

    must(ABT_self_get_thread(&self));
    return ABT_pool_push_thread(pool, self);
}

MISUSE(yield_to_blocked, ABT_self_yield_to(begun(waits_eventual)))
MISUSE(yield_to_ended, ABT_self_yield_to(ended()))
MISUSE(yield_to_pooled, ABT_self_yield_to(create(do_nothing)))
MISUSE(suspend_to_ended, ABT_self_suspend_to(ended()))
MISUSE(resume_yield_to_ready, ABT_self_resume_yield_to(create(do_nothing)))
MISUSE(schedule_blocked, ABT_self_schedule(begun(waits_eventual), ABT_POOL_NULL))
MISUSE(revive_unended, ABT_thread_revive(pool, do_nothing, NULL, &(ABT_thread){begun(waits_eventual)}))
MISUSE(revive_to_unended, ABT_thread_revive_to(pool, do_nothing, NULL, &(ABT_thread){create(do_nothing)}))
MISUSE(schedule_ended, ABT_self_schedule(ended(), ABT_POOL_NULL))

/* --- Handles that are none, or of something else --- */

#define GARBAGE(type) ((type)(uintptr_t)0xdeadbee0)

static char noise[256];

static void *some_noise(void)
{
    memset(noise, 0xa5, sizeof(noise));
    return noise;
}

MISUSE(garbage_thread, ABT_thread_join(GARBAGE(ABT_thread)))
MISUSE(garbage_thread_free, ABT_thread_free(&(ABT_thread){GARBAGE(ABT_thread)}))
MISUSE(garbage_task, ABT_task_free(&(ABT_task){some_noise()}))

static int garbage_many(void)
{
    ABT_thread threads[] = {GARBAGE(ABT_thread)};
    must(ABT_thread_free_many(1, threads));
    return ABT_ERR_INV_THREAD; /* it does not say what has become of each */
}

MISUSE(garbage_push, ABT_pool_push(pool, GARBAGE(ABT_unit)))
MISUSE(garbage_revive, ABT_thread_revive(pool, do_nothing, NULL, &(ABT_thread){GARBAGE(ABT_thread)}))
MISUSE(garbage_pool, ABT_thread_create(GARBAGE(ABT_pool), do_nothing, NULL, ABT_THREAD_ATTR_NULL, &(ABT_thread){0}))
MISUSE(garbage_pool_noise, ABT_task_create(some_noise(), do_nothing, NULL, &(ABT_task){0}))
MISUSE(garbage_pool_pop, ABT_pool_pop_thread(some_noise(), &(ABT_thread){0}))
MISUSE(garbage_xstream, ABT_xstream_join(some_noise()))
MISUSE(garbage_sched, ABT_sched_free(&(ABT_sched){some_noise()}))
MISUSE(garbage_mutex, ABT_mutex_lock(GARBAGE(ABT_mutex)))
MISUSE(garbage_mutex_noise, ABT_mutex_unlock(some_noise()))
MISUSE(garbage_cond, ABT_cond_signal(some_noise()))
MISUSE(garbage_eventual, ABT_eventual_wait(some_noise(), NULL))
MISUSE(garbage_future, ABT_future_wait(some_noise()))
MISUSE(garbage_barrier, ABT_barrier_wait(some_noise()))
MISUSE(garbage_rwlock, ABT_rwlock_rdlock(some_noise()))
MISUSE(garbage_key, ABT_self_set_specific(some_noise(), NULL))
MISUSE(garbage_attr, ABT_thread_create(pool, do_nothing, NULL, some_noise(), &(ABT_thread){0}))
MISUSE(garbage_timer, ABT_timer_stop(GARBAGE(ABT_timer)))
MISUSE(pool_for_thread, ABT_thread_join((ABT_thread)pool))
MISUSE(thread_for_mutex, ABT_mutex_lock((ABT_mutex)create(do_nothing)))
MISUSE(mutex_for_eventual, ABT_eventual_set((ABT_eventual)mutex, NULL, 0))
MISUSE(mutex_for_attr, ABT_thread_attr_set_stacksize((ABT_thread_attr)mutex, 65536))

static int xstream_for_mutex(void)
{
    ABT_xstream es;

    must(ABT_self_get_xstream(&es));
    return ABT_mutex_lock((ABT_mutex)es);
}

/* More have been freed since than are kept back. */
static int freed_long_ago(void)
{
    ABT_thread thread = ended(), copy = thread;

    must(ABT_thread_free(&thread));
    for (int i = 0; i < 2000; i++) {
        ABT_mutex other;
        must(ABT_mutex_create(&other));
        must(ABT_mutex_free(&other));
    }
    return ABT_thread_join(copy);
}

/* --- The table --- */

static const struct row {
    const char *name;
    int (*act)(void);
    int code;         /* that it returns */
    const char *says; /* its first line */
} rows[] = {
#define ROW(act, code, says)                                                                                           \
    {                                                                                                                  \
#act, act, code, says                                                                                          \
    }
    ROW(free_eventual, ABT_ERR_INV_EVENTUAL, THE("ABT_eventual_free", "eventual") "is waited for by " ULT "$"),
    ROW(free_eventual_of_two, ABT_ERR_INV_EVENTUAL, THE("ABT_eventual_free", "eventual") ".* and others$"),
    ROW(reset_eventual, ABT_ERR_INV_EVENTUAL, THE("ABT_eventual_reset", "eventual") "is waited for by " ULT "$"),
    ROW(free_future, ABT_ERR_INV_FUTURE, THE("ABT_future_free", "future") "is waited for by " ULT "$"),
    ROW(reset_future, ABT_ERR_INV_FUTURE, THE("ABT_future_reset", "future") "is waited for by " ULT "$"),
    ROW(free_cond, ABT_ERR_COND, THE("ABT_cond_free", "condition variable") "is waited for by " ULT "$"),
    ROW(free_barrier, ABT_ERR_INV_BARRIER, THE("ABT_barrier_free", "barrier") "is waited at by 1 of 2$"),
    ROW(reinit_barrier, ABT_ERR_INV_BARRIER, THE("ABT_barrier_reinit", "barrier") "is waited at by 1 of 2$"),
    ROW(free_xbarrier, ABT_ERR_INV_XSTREAM_BARRIER,
        THE("ABT_xstream_barrier_free", "barrier of execution streams") "is waited at by 1 of 2$"),

    ROW(free_mutex, ABT_ERR_INV_MUTEX, THE("ABT_mutex_free", "mutex") "is locked by the primary ULT$"),
    ROW(free_mutex_of_ult, ABT_ERR_INV_MUTEX, THE("ABT_mutex_free", "mutex") "is locked by " ULT "$"),
    ROW(free_rwlock_read, ABT_ERR_INV_RWLOCK, THE("ABT_rwlock_free", "rwlock") "is locked by 1 reader$"),
    ROW(free_rwlock_written, ABT_ERR_INV_RWLOCK, THE("ABT_rwlock_free", "rwlock") "is locked by " ULT "$"),
    ROW(unlock_free_mutex, ABT_ERR_INV_MUTEX, THE("ABT_mutex_unlock", "mutex") "is not locked$"),
    ROW(unlock_twice, ABT_ERR_INV_MUTEX, THE("ABT_mutex_unlock", "mutex") "is not locked$"),
    ROW(unlock_free_rwlock, ABT_ERR_INV_RWLOCK, THE("ABT_rwlock_unlock", "rwlock") "is not locked$"),
    ROW(unlock_rwlock_twice, ABT_ERR_INV_RWLOCK, THE("ABT_rwlock_unlock", "rwlock") "is not locked$"),
    ROW(unlock_rwlock_of_writer, ABT_SUCCESS, THE("ABT_rwlock_unlock", "rwlock") ".* " ULT ", not by the caller$"),
    ROW(lock_rwlock_twice, ABT_SUCCESS, THE("ABT_rwlock_rdlock", "rwlock") "is locked by the caller$"),
    ROW(lock_of_ended_ult, ABT_SUCCESS, THE("ABT_mutex_lock", "mutex") "is locked by " ULT ", which has ended$"),
    ROW(unlock_of_ended_ult, ABT_SUCCESS, THE("ABT_mutex_unlock", "mutex") "is locked by " ULT ", not by the caller$"),
    ROW(cond_of_another_mutex, ABT_ERR_INV_MUTEX,
        THE("ABT_cond_wait", "condition variable") "belongs to mutex " P ", not to mutex " P "$"),
    ROW(cond_without_lock, ABT_ERR_INV_MUTEX, THE("ABT_cond_wait", "mutex") "is not locked$"),
    ROW(free_own_mutex, ABT_ERR_INV_MUTEX, "^libabt: ABT_mutex_free: mutex " P " is in the program's own memory"),

    ROW(freed_attr, ABT_ERR_INV_THREAD_ATTR, THE("ABT_thread_attr_set_stacksize", "ULT attribute") "has been freed"),
    ROW(create_with_freed_attr, ABT_ERR_INV_THREAD_ATTR, THE("ABT_thread_create", "ULT attribute") "has been freed"),
    ROW(freed_mutex_attr, ABT_ERR_INV_MUTEX_ATTR,
        THE("ABT_mutex_create_with_attr", "mutex attribute") "has been freed by the primary ULT$"),
    ROW(freed_sched_config, ABT_ERR_INV_SCHED_CONFIG,
        THE("ABT_sched_create_basic", "scheduler configuration") "has been freed"),
    ROW(freed_pool_config, ABT_ERR_INV_POOL_CONFIG, THE("ABT_pool_config_set", "pool configuration") "has been freed"),
    ROW(freed_pool_def, ABT_ERR_INV_POOL_USER_DEF, THE("ABT_pool_create", "pool definition") "has been freed"),
    ROW(freed_timer, ABT_ERR_INV_TIMER, THE("ABT_timer_start", "timer") "has been freed"),
    ROW(freed_xbarrier, ABT_ERR_INV_XSTREAM_BARRIER,
        THE("ABT_xstream_barrier_free", "barrier of execution streams") "has been freed"),
    ROW(freed_driver, ABT_ERR_INV_ARG, THE("ABTX_driver_attach_all", "driver") "has been freed"),
    ROW(freed_sched, ABT_ERR_INV_SCHED, THE("ABT_xstream_create", "scheduler") "has been freed"),
    ROW(freed_pool_for_sched, ABT_ERR_INV_POOL, THE("ABT_sched_create_basic", "pool") "has been freed"),
    ROW(wait_any_for_freed, ABT_ERR_INV_EVENTUAL, THE("ABTX_eventual_wait_any_until", "eventual") "has been freed"),

    ROW(one_stack_for_two, ABT_ERR_INV_THREAD_ATTR,
        THE("ABT_thread_create", "ULT attribute") "has the stack " P ", which " ULT " has$"),
    ROW(push_ready, ABT_ERR_INV_THREAD, THE_ULT("ABT_pool_push_thread") "is queued in pool " P),
    ROW(push_popped_twice, ABT_ERR_INV_THREAD, THE_ULT("ABT_pool_push_thread") "is queued in pool " P),
    ROW(push_unit_twice, ABT_ERR_INV_UNIT, THE_ULT("ABT_pool_push") "is queued in pool " P),
    ROW(push_ended, ABT_ERR_INV_THREAD, THE_ULT("ABT_pool_push_thread") "has ended$"),
    ROW(push_many_ended, ABT_ERR_INV_THREAD, THE_ULT("ABT_pool_push_threads") "has ended$"),
    ROW(push_blocked, ABT_ERR_INV_THREAD, THE_ULT("ABT_pool_push_thread") "is blocked$"),
    ROW(push_itself, ABT_ERR_INV_THREAD, "^libabt: ABT_pool_push_thread: ULT " P " runs$"),
    ROW(yield_to_blocked, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_yield_to") "is blocked$"),
    ROW(yield_to_ended, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_yield_to") "has ended$"),
    ROW(yield_to_pooled, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_yield_to") "is queued in pool " P),
    ROW(suspend_to_ended, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_suspend_to") "has ended$"),
    ROW(resume_yield_to_ready, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_resume_yield_to") "is not blocked$"),
    ROW(revive_unended, ABT_ERR_INV_THREAD, THE_ULT("ABT_thread_revive") "has not ended$"),
    ROW(revive_to_unended, ABT_ERR_INV_THREAD, THE_ULT("ABT_thread_revive_to") "has not ended$"),
    ROW(schedule_blocked, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_schedule") "is blocked$"),
    ROW(schedule_ended, ABT_ERR_INV_THREAD, THE_ULT("ABT_self_schedule") "has ended$"),

    ROW(garbage_thread, ABT_ERR_INV_THREAD, NO("ABT_thread_join", "ULT")),
    ROW(garbage_thread_free, ABT_ERR_INV_THREAD, NO("ABT_thread_free", "ULT")),
    ROW(garbage_task, ABT_ERR_INV_TASK, NO("ABT_task_free", "ULT")),
    ROW(garbage_many, ABT_ERR_INV_THREAD, NO("ABT_thread_free", "ULT")),
    ROW(garbage_push, ABT_ERR_INV_UNIT, NO("ABT_pool_push", "ULT")),
    ROW(garbage_revive, ABT_ERR_INV_THREAD, NO("ABT_thread_revive", "ULT")),
    ROW(garbage_pool, ABT_ERR_INV_POOL, NO("ABT_thread_create", "pool") "there is no memory$"),
    ROW(garbage_pool_noise, ABT_ERR_INV_POOL, NO("ABT_task_create", "pool") "none has been created there$"),
    ROW(garbage_pool_pop, ABT_ERR_INV_POOL, NO("ABT_pool_pop_thread_ex", "pool")),
    ROW(garbage_xstream, ABT_ERR_INV_XSTREAM, NO("ABT_xstream_join", "execution stream")),
    ROW(garbage_sched, ABT_ERR_INV_SCHED, NO("ABT_sched_free", "scheduler")),
    ROW(garbage_mutex, ABT_ERR_INV_MUTEX, NO("ABT_mutex_lock", "mutex") "there is no memory$"),
    ROW(garbage_mutex_noise, ABT_ERR_INV_MUTEX, NO("ABT_mutex_unlock", "mutex") "the memory is not like one$"),
    ROW(garbage_cond, ABT_ERR_INV_COND, NO("ABT_cond_signal", "condition variable")),
    ROW(garbage_eventual, ABT_ERR_INV_EVENTUAL, NO("ABT_eventual_wait", "eventual")),
    ROW(garbage_future, ABT_ERR_INV_FUTURE, NO("ABT_future_wait", "future")),
    ROW(garbage_barrier, ABT_ERR_INV_BARRIER, NO("ABT_barrier_wait", "barrier")),
    ROW(garbage_rwlock, ABT_ERR_INV_RWLOCK, NO("ABT_rwlock_rdlock", "rwlock")),
    ROW(garbage_key, ABT_ERR_INV_KEY, NO("ABT_self_set_specific", "key")),
    ROW(garbage_attr, ABT_ERR_INV_THREAD_ATTR, NO("ABT_thread_create", "ULT attribute")),
    ROW(garbage_timer, ABT_ERR_INV_TIMER, NO("ABT_timer_stop", "timer")),
    ROW(pool_for_thread, ABT_ERR_INV_THREAD, "^libabt: ABT_thread_join: pool " P " .*is not of the kind ULT$"),
    ROW(thread_for_mutex, ABT_ERR_INV_MUTEX, THE_ULT("ABT_mutex_lock") "is not of the kind mutex$"),
    ROW(mutex_for_eventual, ABT_ERR_INV_EVENTUAL, THE("ABT_eventual_set", "mutex") "is not of the kind eventual$"),
    ROW(mutex_for_attr, ABT_ERR_INV_THREAD_ATTR,
        THE("ABT_thread_attr_set_stacksize", "mutex") "is not of the kind ULT attribute$"),
    ROW(xstream_for_mutex, ABT_ERR_INV_MUTEX, "^libabt: ABT_mutex_lock: execution stream .* the kind mutex$"),
    ROW(freed_long_ago, ABT_ERR_INV_THREAD, NO("ABT_thread_join", "ULT") "it has been freed$"),
};

/* With one object of each kind. */
static void begin(void)
{

    must(ABT_init(0, NULL));
    pool = main_pool();
    must(ABT_mutex_create(&mutex));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_future_create(1, NULL, &future));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    must(ABT_barrier_create(2, &barrier));
    must(ABT_xstream_barrier_create(2, &xbarrier));
}

static int run_row(void *arg)
{
    const struct row *row = arg;

    must(setenv("ABT_USE_LOG", "0", 1)); /* a log goes the same way */
    must(setenv("ABT_CHECK", "1", 1));
    begin();
    int code = row->act();
    if (code != row->code)
        fprintf(stderr, "it returns %d\n", code);
    return code == row->code ? 0 : 1; /* what waits there is left so */
}

static void test_row(const struct row *row)
{
    static char words[8192];
    regex_t regex;
    int status = child_run(run_row, (void *)(uintptr_t)row, words, sizeof(words));

    must(regcomp(&regex, row->says, REG_EXTENDED | REG_NOSUB | REG_NEWLINE));
    size_t first = strcspn(words, "\n");
    if (words[first])
        words[first] = '\0'; /* the first line says it */
    bool told = regexec(&regex, words, 0, NULL, 0) == 0;
    regfree(&regex);
    if (!ok(told && status == 0, "%s", row->name))
        diag("status %d; it says: %s; and %s", status, words, words + first + 1);
}

/* --- What is right, and close to a mistake: nothing is said of it --- */

static void right_waits(void)
{
    ABT_thread threads[2] = {begun(waits_eventual), begun(waits_future)};
    struct timespec past = {0, 0};
    ABT_eventual other;
    int index;

    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_future_set(future, NULL));
    must(ABT_thread_free_many(2, threads));
    must(ABT_eventual_reset(eventual));
    must(ABT_future_reset(future));
    must(ABT_eventual_create(0, &other));
    must(ABTX_eventual_wait_any_until(2, (ABT_eventual[]){eventual, other}, &index, 0) != ABT_ERR_COND_TIMEDOUT);
    must(ABT_eventual_timedwait(other, NULL, &past) != ABT_ERR_COND_TIMEDOUT);
    must(ABT_eventual_free(&other));
    must(ABT_eventual_free(&eventual));
    must(ABT_future_free(&future));
    threads[0] = begun(waits_barrier);
    must(ABT_barrier_wait(barrier));
    must(ABT_barrier_reinit(barrier, 3));
    must(ABT_barrier_free(&barrier));
    threads[1] = begun(waits_cond);
    must(ABT_mutex_lock(mutex));
    must(ABT_cond_broadcast(cond));
    must(ABT_mutex_unlock(mutex));
    must(ABT_thread_free_many(2, threads));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
}

static void reads_twice(void *arg)
{
    must(ABT_rwlock_rdlock(rwlock));
    must(ABT_rwlock_rdlock(rwlock));
    must(ABT_self_yield());
    must(ABT_rwlock_unlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
    must(ABT_rwlock_wrlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
}

static void right_locks(void)
{
    ABT_thread threads[2] = {create(reads_twice), create(reads_twice)};
    ABT_mutex_attr attr;

    must(ABT_thread_free_many(2, threads));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_mutex_trylock(mutex));
    must(ABT_mutex_trylock(mutex) != ABT_ERR_MUTEX_LOCKED);
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_spinlock(mutex));
    must(ABT_mutex_get_attr(mutex, &attr));
    must(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_free(&mutex));
    must(ABT_mutex_create_with_attr(attr, &mutex));
    must(ABT_mutex_attr_free(&attr));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_free(&mutex));
}

/* Memory of the program's own, which is first one object and then another. */
static void right_memory(void)
{
    static union {
        ABT_mutex_memory mutex;
        ABT_cond_memory cond;
        ABT_eventual_memory eventual;
    } own;

    for (int i = 0; i < 3; i++) {
        memset(&own, 0, sizeof(own));
        must(ABT_mutex_lock(ABT_MUTEX_MEMORY_GET_HANDLE(&own.mutex)));
        must(ABT_mutex_unlock(ABT_MUTEX_MEMORY_GET_HANDLE(&own.mutex)));
        memset(&own, 0, sizeof(own));
        must(ABT_cond_signal(ABT_COND_MEMORY_GET_HANDLE(&own.cond)));
        memset(&own, 0, sizeof(own));
        must(ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&own.eventual), NULL, 0));
    }
}

static void gives_back(void *arg)
{
    must(ABT_self_resume_suspend_to(arg));
}

static void right_units(void)
{
    ABT_thread thread = create(do_nothing), popped, self;
    ABT_unit unit;
    ABT_pool other;

    must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &other));
    for (int i = 0; i < 3; i++) { /* from one to the other, and back */
        must(ABT_pool_pop_thread(pool, &popped));
        must(ABT_pool_push_thread(other, popped));
        must(ABT_pool_pop(other, &unit));
        must(ABT_pool_push(pool, unit));
    }
    must(ABT_thread_yield_to(thread));
    must(ABT_thread_revive(pool, do_nothing, NULL, &thread));
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_yield_to(popped));
    must(ABT_thread_revive(other, do_nothing, NULL, &thread));
    must(ABT_pool_pop_thread(other, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&other));
    must(ABT_self_get_thread(&self));
    must(ABT_thread_create(pool, gives_back, self, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_self_suspend());
    must(ABT_thread_resume(thread));
    must(ABT_thread_free(&thread));
}

/* A stack is used again when its ULT has ended, whether it has been freed or not; and by another size. */
static void right_stacks(void)
{
    enum { SIZE = 65536 };
    char *stack = malloc(SIZE);
    ABT_thread_attr attr, same;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    for (int i = 0; i < 3; i++) {
        must(ABT_thread_attr_set_stack(attr, stack, (size_t)(i == 1 ? SIZE / 2 : SIZE)));
        must(ABT_thread_create(pool, do_nothing, NULL, attr, &thread));
        must(ABT_thread_get_attr(thread, &same));
        must(ABT_thread_join(thread));
        must(ABT_thread_revive(pool, do_nothing, NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABT_thread_attr_free(&same));
    }
    must(ABT_thread_attr_free(&attr));
    free(stack);
}

static void nothing(void)
{
}

static ABT_mutex early_mutex;
static ABT_timer early_timer;
static ABT_key early_key;
static ABT_rwlock early_rwlock;

static void make_early(void)
{
    must(ABT_mutex_create(&early_mutex));
    must(ABT_timer_create(&early_timer));
    must(ABT_key_create(NULL, &early_key));
    must(ABT_rwlock_create(&early_rwlock));
}

/* Made before ABT_init, or before the last one. */
static void right_early(void)
{
    void *value;

    must(ABT_mutex_lock(early_mutex));
    must(ABT_mutex_unlock(early_mutex));
    must(ABT_timer_start(early_timer));
    must(ABT_self_set_specific(early_key, NULL));
    must(ABT_self_get_specific(early_key, &value));
    must(ABT_rwlock_wrlock(early_rwlock));
    must(ABT_rwlock_unlock(early_rwlock));
    must(ABT_mutex_free(&early_mutex));
    must(ABT_timer_free(&early_timer));
    must(ABT_key_free(&early_key));
    must(ABT_rwlock_free(&early_rwlock));
}

static void right_later(void)
{
    make_early();
    must(ABT_finalize());
    must(ABT_init(0, NULL));
    right_early();
}

static const struct right {
    const char *name;
    void (*before)(void), (*act)(void); /* before and after ABT_init */
} rights[] = {
    {"waits", nothing, right_waits},
    {"locks", nothing, right_locks},
    {"own memory", nothing, right_memory},
    {"units", nothing, right_units},
    {"stacks", nothing, right_stacks},
    {"objects from before ABT_init", make_early, right_early},
    {"objects from before the last ABT_init", nothing, right_later},
};

static int run_right(void *arg)
{
    const struct right *right = arg;

    must(setenv("ABT_USE_LOG", "0", 1));
    must(setenv("ABT_CHECK", "1", 1));
    right->before();
    begin();
    right->act();
    return ABT_finalize();
}

static void test_right(const struct right *right)
{
    static char words[8192];
    int status = child_run(run_right, (void *)(uintptr_t)right, words, sizeof(words));

    if (!ok(status == 0 && !*words, "right: %s", right->name))
        diag("status %d; it says: %s", status, words);
}

int main(void)
{
    watchdog_begin(0);
    need_checks();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        test_row(&rows[i]);
    for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
        test_right(&rights[i]);
    return done_testing();
}
