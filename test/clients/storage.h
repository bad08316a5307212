/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A storage engine in the style of DAOS. Each target is a stream with a scheduler of its own over three pools: network,
 * input/output and housekeeping. In every cycle the scheduler resumes the ULTs whose sleep is over, runs what it finds
 * in each pool at its beginning, looks at events, and naps when nothing was done. A device, which is an external
 * thread, completes requests by resuming the ULTs that have submitted them.
 */
#ifndef TEST_CLIENTS_STORAGE_H
#define TEST_CLIENTS_STORAGE_H

#include "client.h"

enum { NET, IO, GC, NUM_POOLS, KEYS = 64, STACK_SIZE = 48 * 1024 };

struct sleeper {
    struct sleeper *next;
    ABT_thread ult;
    double until;
};

struct target {
    ABT_xstream xstream;
    ABT_sched sched;
    ABT_pool pools[NUM_POOLS];
    struct sleeper *sleepers; /* by time; touched on the target's stream only */
    long resumed_early;       /* before their time */
    ABT_rwlock lock;          /* values */
    long values[KEYS];
    atomic_long ran[NUM_POOLS], named, trimmed, polled;
    atomic_bool stops; /* its housekeeping is to end */
};

static struct target targets[MAX_STREAMS];
static atomic_int scheds_inited, scheds_freed;

/* ---- Sleeping: a list that the scheduler looks at ---- */

static inline struct target *own_target(void)
{
    ABT_xstream xstream;
    ABT_sched sched;
    void *target;

    must(ABT_self_get_xstream(&xstream));
    must(ABT_xstream_get_main_sched(xstream, &sched));
    must(ABT_sched_get_data(sched, &target));
    return target;
}

static inline void sleep_until(double time)
{
    struct target *target = own_target();
    struct sleeper self = {.until = time}, **link = &target->sleepers;

    must(ABT_thread_self(&self.ult));
    while (*link && (*link)->until <= self.until)
        link = &(*link)->next;
    self.next = *link;
    *link = &self;
    must(ABT_self_suspend());
    if (ABT_get_wtime() < self.until && !atomic_load(&target->stops))
        target->resumed_early++;
}

/* Those whose time has come; all of them when the target stops. */
static inline int wake_sleepers(struct target *target)
{
    int woken = 0;

    while (target->sleepers && (atomic_load(&target->stops) || target->sleepers->until <= ABT_get_wtime())) {
        struct sleeper *first = target->sleepers;
        target->sleepers = first->next;
        must(ABT_thread_resume(first->ult));
        woken++;
    }
    return woken;
}

/* ---- The scheduler ---- */

/* Keeps account of what is about to run, as a watchdog would. */
static inline void watch(struct target *target, int i, ABT_unit unit)
{
    ABT_thread ult;
    ABT_bool unnamed;
    size_t stack_size;
    void (*func)(void *);

    must(ABT_unit_get_thread(unit, &ult));
    must(ABT_thread_is_unnamed(ult, &unnamed));
    must(ABT_thread_get_thread_func(ult, &func));
    must(ABT_thread_get_stacksize(ult, &stack_size));
    if (!func || (i == IO && stack_size != STACK_SIZE && stack_size != 0))
        fail("a unit with stack size %zu", stack_size);
    atomic_fetch_add(&target->ran[i], 1);
    atomic_fetch_add(&target->named, !unnamed);
}

static inline int run_pool(struct target *target, int i)
{
    int ran = 0;

    for (size_t quota = size_of(target->pools[i]); quota > 0; quota--, ran++) {
        ABT_unit unit;
        must(ABT_pool_pop(target->pools[i], &unit));
        if (unit == ABT_UNIT_NULL)
            break;
        watch(target, i, unit);
        must(ABT_xstream_run_unit(unit, target->pools[i]));
    }
    return ran;
}

static inline void target_run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    while (!stop) {
        struct target *target = data;
        int done = wake_sleepers(target);
        run_pool(target, NET); /* who polls there is always ready */
        done += run_pool(target, IO);
        done += run_pool(target, GC);
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        if (done == 0)
            nap_us(50);
    }
}

static const ABT_sched_config_var var_target = {.idx = 0, .type = ABT_SCHED_CONFIG_PTR};
static const ABT_sched_config_var var_limit = {.idx = 1, .type = ABT_SCHED_CONFIG_INT};

static inline int target_init(ABT_sched sched, ABT_sched_config config)
{
    void *target = NULL;
    int limit = 0, num_pools = 0;

    must(ABT_sched_config_read(config, 2, &target, &limit));
    must(ABT_sched_get_num_pools(sched, &num_pools));
    if (num_pools > limit)
        return ABT_ERR_OTHER;
    atomic_fetch_add(&scheds_inited, 1);
    return ABT_sched_set_data(sched, target);
}

static inline int target_free(ABT_sched sched)
{
    (void)sched;
    atomic_fetch_add(&scheds_freed, 1);
    return ABT_SUCCESS;
}

/* ---- Targets ---- */

/* A target whose stream does not run yet. */
static inline void make_target(struct target *target)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = target_init, .run = target_run, .free = target_free};
    ABT_sched_config config;

    for (int i = 0; i < NUM_POOLS; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPSC, ABT_TRUE, &target->pools[i]));
    must(ABT_sched_config_create(&config, var_target, (void *)target, var_limit, NUM_POOLS, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, NUM_POOLS, target->pools, config, &target->sched));
    must(ABT_sched_config_free(&config));
    must(ABT_rwlock_create(&target->lock));
}

static inline void start_target(struct target *target, int rank)
{
    int cpu;

    must(ABT_xstream_create_with_rank(target->sched, rank, &target->xstream));
    if (ABT_xstream_get_cpubind(target->xstream, &cpu) == ABT_SUCCESS)
        must(ABT_xstream_set_cpubind(target->xstream, cpu));
}

/* Its scheduler is the user's again when the stream is gone, and its pools go with the scheduler. */
static inline void stop_target(struct target *target)
{
    must(ABT_xstream_join(target->xstream));
    must(ABT_xstream_free(&target->xstream));
    must(ABT_sched_free(&target->sched));
    must(ABT_rwlock_free(&target->lock));
}

static inline void create_ult(struct target *target, int i, void (*func)(void *), void *arg)
{
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, STACK_SIZE));
    must(ABT_thread_create(target->pools[i], func, arg, attr, NULL));
    must(ABT_thread_attr_free(&attr));
}

static inline size_t sched_size(struct target *target, bool total)
{
    size_t size;

    must(total ? ABT_sched_get_total_size(target->sched, &size) : ABT_sched_get_size(target->sched, &size));
    return size;
}

/* ---- The device ---- */

static struct {
    pthread_t native;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ABT_thread requests[1024]; /* ULTs that are blocked or about to be */
    int num;
    bool stops;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void *device_main(void *arg)
{
    pthread_mutex_lock(&device.lock);
    while (!device.stops || device.num > 0) {
        if (device.num == 0) {
            pthread_cond_wait(&device.changed, &device.lock);
            continue;
        }
        ABT_thread ult = device.requests[--device.num];
        pthread_mutex_unlock(&device.lock);
        ABT_thread_state state;
        do
            must(ABT_thread_get_state(ult, &state));
        while (state != ABT_THREAD_STATE_BLOCKED);
        must(ABT_thread_resume(ult));
        pthread_mutex_lock(&device.lock);
    }
    pthread_mutex_unlock(&device.lock);
    return arg;
}

/* The calling ULT waits until the device has done its work. */
static inline void submit_and_wait(void)
{
    ABT_thread self;

    must(ABT_thread_self(&self));
    pthread_mutex_lock(&device.lock);
    device.requests[device.num++] = self;
    pthread_cond_signal(&device.changed);
    pthread_mutex_unlock(&device.lock);
    must(ABT_self_suspend());
}

static inline void start_device(void)
{
    must(pthread_create(&device.native, NULL, device_main, NULL));
}

static inline void stop_device(void)
{
    pthread_mutex_lock(&device.lock);
    device.stops = true;
    pthread_cond_signal(&device.changed);
    pthread_mutex_unlock(&device.lock);
    pthread_join(device.native, NULL);
}

#endif
