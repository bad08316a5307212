/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine of asynchronous tasks in the style of HDF5's. The application, main and external threads, asks for changes
 * of objects, which background streams make in the order they were asked for. Every task is a ULT; the application
 * learns of its end by waiting for an eventual, by testing it, or by looking at the ULT's state again and again. Locks
 * are taken by trying: whoever fails lets others run first.
 */
#ifndef TEST_CLIENTS_TASKS_H
#define TEST_CLIENTS_TASKS_H

#include "client.h"

enum { OBJECTS = 5 };

struct object {
    struct task *first, **last; /* in the order asked for; the first one has been started */
    long expected;              /* value when all of them are over */
    long value;
    bool is_in_use;
};

struct task {
    struct task *next;
    struct object *object;
    struct task *after; /* a task of another object that has to be over before; or NULL */
    long number;
    ABT_eventual done;
    ABT_thread thread;
    atomic_bool is_started; /* thread is set */
};

static struct {
    ABT_thread app; /* main */
    ABT_pool pool;  /* of the background streams */
    ABT_xstream xstreams[MAX_STREAMS];
    ABT_mutex lock;    /* queues of the objects */
    ABT_mutex library; /* only one at a time may be in there */
    struct object objects[OBJECTS];
    atomic_long over, collisions, retries;
} engine;

static inline bool is_background(void)
{
    ABT_thread self;
    ABT_bool same;

    if (ABT_thread_self(&self) != ABT_SUCCESS)
        return false;
    must(ABT_thread_equal(self, engine.app, &same));
    return !same;
}

static inline void lock_by_trying(ABT_mutex mutex)
{
    for (int code; (code = ABT_mutex_trylock(mutex)) != ABT_SUCCESS;) {
        if (code != ABT_ERR_MUTEX_LOCKED)
            bail_out("trylock gives %d", code);
        atomic_fetch_add(&engine.retries, 1);
        if (is_background())
            must(ABT_thread_yield());
        else
            nap_us(20);
    }
}

/* ---- Tasks ---- */

static inline long append(long value, long number)
{
    return (value * 31 + number) % 1000003;
}

static inline void run_task(void *arg);

/* engine.lock is held. */
static inline void start_first(struct object *object)
{
    struct task *task = object->first;

    must(ABT_thread_create(engine.pool, run_task, task, ABT_THREAD_ATTR_NULL, &task->thread));
    atomic_store(&task->is_started, true);
}

static inline void run_task(void *arg)
{
    struct task *task = arg;
    struct object *object = task->object;

    if (task->after)
        must(ABT_eventual_wait(task->after->done, NULL));
    lock_by_trying(engine.library);
    if (object->is_in_use)
        atomic_fetch_add(&engine.collisions, 1);
    object->is_in_use = true;
    if (task->number % 3 == 0)
        must(ABT_thread_yield());
    object->value = append(object->value, task->number);
    object->is_in_use = false;
    must(ABT_mutex_unlock(engine.library));

    lock_by_trying(engine.lock);
    object->first = task->next;
    if (object->first)
        start_first(object);
    else
        object->last = &object->first;
    must(ABT_mutex_unlock(engine.lock));
    atomic_fetch_add(&engine.over, 1);
    must(ABT_eventual_set(task->done, NULL, 0));
}

static inline void ask(struct task *task, struct object *object, struct task *after, long number)
{
    *task = (struct task){.object = object, .after = after, .number = number};
    must(ABT_eventual_create(0, &task->done));
    lock_by_trying(engine.lock);
    object->expected = append(object->expected, number);
    bool is_first = !object->first;
    *object->last = task;
    object->last = &task->next;
    if (is_first)
        start_first(object);
    must(ABT_mutex_unlock(engine.lock));
}

static inline ABT_thread_state state_of(ABT_thread thread)
{
    ABT_thread_state state;

    must(ABT_thread_get_state(thread, &state));
    return state;
}

static inline void finish(struct task *task, int how)
{
    ABT_bool is_ready = ABT_FALSE;

    while (!atomic_load(&task->is_started))
        client_yield();
    if (how == 0)
        must(ABT_eventual_wait(task->done, NULL));
    while (how == 1 && !is_ready) {
        client_yield();
        must(ABT_eventual_test(task->done, NULL, &is_ready));
    }
    while (how == 2 && state_of(task->thread) != ABT_THREAD_STATE_TERMINATED)
        client_yield();
    must(ABT_thread_free(&task->thread));
}

/* ---- Start and end ---- */

/* Some other part of the program may have initialised the library. */
static inline void start_engine(int num_streams)
{
    if (ABT_initialized() != ABT_SUCCESS)
        setenv("ABT_THREAD_STACKSIZE", "100000", 1);
    must(ABT_init(0, NULL));
    must(ABT_thread_self(&engine.app));
    must(ABT_mutex_create(&engine.lock));
    must(ABT_mutex_create(&engine.library));
    must(ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &engine.pool));
    for (int i = 0; i < num_streams; i++) {
        ABT_sched sched;
        must(ABT_sched_create_basic(ABT_SCHED_BASIC_WAIT, 1, &engine.pool, ABT_SCHED_CONFIG_NULL, &sched));
        must(ABT_xstream_create(sched, &engine.xstreams[i]));
    }
    for (int i = 0; i < OBJECTS; i++)
        engine.objects[i].last = &engine.objects[i].first;
}

static inline void stop_engine(int num_streams)
{
    for (int i = 0; i < num_streams; i++) {
        must(ABT_xstream_join(engine.xstreams[i]));
        must(ABT_xstream_free(&engine.xstreams[i]));
    }
    must(ABT_mutex_free(&engine.library));
    must(ABT_mutex_free(&engine.lock));
    must(ABT_finalize());
}

#endif
