/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined pools, by either definition, whose units are the work units themselves, or memory of their own. Such a
 * pool knows its units, and ends the program when one is freed that it has not made, twice, while it is queued, or
 * while its work unit still needs it; and when one is pushed that is not alive.
 */
#ifndef TEST_HANDLE_POOL_H
#define TEST_HANDLE_POOL_H

#include <pthread.h>

#include "must.h"

/* What the units of the tests have for their argument, if they have one, so that a pool sees when they are in use. */
struct work {
    atomic_int begun, ended;
    atomic_bool is_cut;    /* it need not come to its end, as it is cancelled */
    atomic_bool may_leave; /* for another pool */
};

/* What they run. */
static inline void work_quickly(void *arg)
{
    struct work *work = arg;

    atomic_fetch_add(&work->begun, 1);
    atomic_fetch_add(&work->ended, 1);
}

static inline void work_and_yield(void *arg)
{
    struct work *work = arg;

    atomic_fetch_add(&work->begun, 1);
    for (int i = 0; i < 5; i++)
        ABT_thread_yield();
    atomic_fetch_add(&work->ended, 1);
}

static inline void work_and_exit(void *arg)
{
    struct work *work = arg;

    atomic_fetch_add(&work->begun, 1);
    ABT_thread_yield();
    atomic_fetch_add(&work->ended, 1);
    ABT_self_exit();
}

struct handle {
    struct handle *chain; /* of the bucket */
    struct handle *next;  /* of the queue */
    ABT_thread thread;
    struct work *work;
    bool is_queued;
};

enum { HANDLE_BUCKETS = 256 };

struct handle_pool {
    ABT_pool pool;
    bool old, self; /* the definition; the work unit is its own unit */
    pthread_mutex_t lock;
    struct handle *live[HANDLE_BUCKETS]; /* lock */
    struct handle *head, **tail;         /* lock: the queue */
    atomic_int created, freed, refused;
    atomic_bool refuse;           /* to make units */
    atomic_bool takes_schedulers; /* whose argument is no work */
    /* Are called without the lock, when a unit is to be made, when it is made, and when it is freed and pushed. */
    _Atomic(void (*)(ABT_thread)) on_create, on_made;
    _Atomic(void (*)(ABT_pool)) on_free, on_push;
};

/* The functions of the old definition are not told of the pool. */
static struct handle_pool *handle_pool_old[2];

static inline struct handle_pool *handle_pool_of(ABT_pool pool)
{
    void *data = NULL;

    must(ABT_pool_get_data(pool, &data));
    return data;
}

static inline int handles_alive(struct handle_pool *hp)
{
    return atomic_load(&hp->created) - atomic_load(&hp->freed);
}

/* --- What both definitions do --- */

static inline struct handle **handle_bucket(struct handle_pool *hp, ABT_thread thread)
{
    return &hp->live[((uintptr_t)thread >> 6) % HANDLE_BUCKETS];
}

/* Returns the link to the handle of a work unit. lock. */
static inline struct handle **handle_find(struct handle_pool *hp, ABT_thread thread)
{
    struct handle **link = handle_bucket(hp, thread);

    while (*link && (*link)->thread != thread)
        link = &(*link)->chain;
    return link;
}

static inline ABT_thread handle_thread(struct handle_pool *hp, ABT_unit unit)
{
    return hp->self ? (ABT_thread)unit : ((struct handle *)unit)->thread;
}

static inline ABT_unit handle_make(struct handle_pool *hp, ABT_thread thread)
{
    void (*hook)(ABT_thread) = atomic_load(&hp->on_create);
    void *work = NULL;

    if (hook)
        hook(thread);
    if (atomic_load(&hp->refuse)) {
        atomic_fetch_add(&hp->refused, 1);
        return ABT_UNIT_NULL;
    }
    if (!atomic_load(&hp->takes_schedulers))
        must(ABT_thread_get_arg(thread, &work));
    struct handle *handle = calloc(1, sizeof(*handle));
    if (!handle)
        bail_out("there is no memory");
    *handle = (struct handle){.thread = thread, .work = work};
    pthread_mutex_lock(&hp->lock);
    if (*handle_find(hp, thread))
        bail_out("%d, %d: a second unit for a work unit that has one", hp->old, hp->self);
    handle->chain = *handle_bucket(hp, thread);
    *handle_bucket(hp, thread) = handle;
    pthread_mutex_unlock(&hp->lock);
    atomic_fetch_add(&hp->created, 1);
    hook = atomic_load(&hp->on_made);
    if (hook)
        hook(thread);
    return hp->self ? (ABT_unit)thread : (ABT_unit)handle;
}

/* Why the unit must not be freed, or NULL. */
static inline const char *handle_in_use(const struct handle *handle)
{
    struct work *work = handle->work;

    if (handle->is_queued)
        return "it is queued";
    if (!work || atomic_load(&work->may_leave) || atomic_load(&work->is_cut))
        return NULL;
    return atomic_load(&work->begun) != atomic_load(&work->ended) ? "its work unit runs"
           : atomic_load(&work->begun) == 0                       ? "its work unit has not run"
                                                                  : NULL;
}

static inline void handle_free(struct handle_pool *hp, ABT_unit unit)
{
    void (*hook)(ABT_pool) = atomic_load(&hp->on_free);

    pthread_mutex_lock(&hp->lock);
    struct handle **link = hp->self ? handle_find(hp, (ABT_thread)unit) : handle_bucket(hp, handle_thread(hp, unit));
    while (!hp->self && *link && *link != (struct handle *)unit)
        link = &(*link)->chain;
    struct handle *handle = *link;
    if (!handle)
        bail_out("%d, %d: a unit is freed that is not alive", hp->old, hp->self);
    const char *why = handle_in_use(handle);
    if (why)
        bail_out("%d, %d: a unit is freed, but %s", hp->old, hp->self, why);
    *link = handle->chain;
    pthread_mutex_unlock(&hp->lock);
    free(handle);
    atomic_fetch_add(&hp->freed, 1);
    if (hook)
        hook(hp->pool);
}

static inline void handle_push(struct handle_pool *hp, ABT_unit unit)
{
    void (*hook)(ABT_pool) = atomic_load(&hp->on_push);

    if (hook)
        hook(hp->pool);
    if (!unit || (uintptr_t)unit % 4 != 0)
        bail_out("%d, %d: %p is pushed", hp->old, hp->self, (void *)unit);
    pthread_mutex_lock(&hp->lock);
    struct handle *handle = *handle_find(hp, handle_thread(hp, unit));
    if (!handle || (!hp->self && (ABT_unit)handle != unit))
        bail_out("%d, %d: a unit is pushed that is not alive", hp->old, hp->self);
    if (handle->is_queued)
        bail_out("%d, %d: a unit is pushed twice", hp->old, hp->self);
    handle->is_queued = true;
    handle->next = NULL;
    *hp->tail = handle;
    hp->tail = &handle->next;
    pthread_mutex_unlock(&hp->lock);
}

static inline ABT_thread handle_pop(struct handle_pool *hp, ABT_unit *unit)
{
    pthread_mutex_lock(&hp->lock);
    struct handle *handle = hp->head;
    ABT_thread thread = handle ? handle->thread : ABT_THREAD_NULL;
    if (handle) {
        handle->is_queued = false;
        hp->head = handle->next;
        if (!hp->head)
            hp->tail = &hp->head;
    }
    if (unit)
        *unit = !handle ? ABT_UNIT_NULL : hp->self ? (ABT_unit)thread : (ABT_unit)handle;
    pthread_mutex_unlock(&hp->lock);
    return thread;
}

static inline size_t handle_count(struct handle_pool *hp)
{
    size_t num = 0;

    pthread_mutex_lock(&hp->lock);
    for (struct handle *handle = hp->head; handle; handle = handle->next)
        num++;
    pthread_mutex_unlock(&hp->lock);
    return num;
}

/* --- The new definition --- */

static inline ABT_unit handle_new_create(ABT_pool pool, ABT_thread thread)
{
    return handle_make(handle_pool_of(pool), thread);
}

static inline void handle_new_free(ABT_pool pool, ABT_unit unit)
{
    handle_free(handle_pool_of(pool), unit);
}

static inline ABT_bool handle_new_is_empty(ABT_pool pool)
{
    return handle_count(handle_pool_of(pool)) ? ABT_FALSE : ABT_TRUE;
}

static inline ABT_thread handle_new_pop(ABT_pool pool, ABT_pool_context context)
{
    static atomic_uint calls;
    ABT_thread thread = handle_pop(handle_pool_of(pool), NULL);

    if (thread != ABT_THREAD_NULL)
        return thread;
    /* All of these mean that there is none. */
    switch (atomic_fetch_add(&calls, 1) % 3) {
    case 0: return ABT_THREAD_NULL;
    case 1: return ABT_TASK_NULL;
    default: return NULL;
    }
}

static inline void handle_new_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    handle_push(handle_pool_of(pool), unit);
}

static inline size_t handle_get_size(ABT_pool pool)
{
    return handle_count(handle_pool_of(pool));
}

/* --- The old one --- */

static inline ABT_unit handle_old_create(ABT_thread thread)
{
    return handle_make(handle_pool_old[0], thread);
}

static inline ABT_unit handle_old_create_self(ABT_thread thread)
{
    return handle_make(handle_pool_old[1], thread);
}

static inline void handle_old_free(ABT_unit *unit)
{
    handle_free(handle_pool_old[0], *unit);
    *unit = ABT_UNIT_NULL;
}

static inline void handle_old_free_self(ABT_unit *unit)
{
    handle_free(handle_pool_old[1], *unit);
    *unit = ABT_UNIT_NULL;
}

static inline void handle_old_push(ABT_pool pool, ABT_unit unit)
{
    handle_push(handle_pool_of(pool), unit);
}

static inline ABT_unit handle_old_pop(ABT_pool pool)
{
    ABT_unit unit;

    handle_pop(handle_pool_of(pool), &unit);
    return unit;
}

/* --- Both --- */

/* Makes a pool. There may be one of the old definition at a time with `self`, and one without. */
static inline void handle_pool_begin(struct handle_pool *hp, bool old, bool self)
{
    ABT_pool_user_def new_def;
    ABT_pool_def def = {.access = ABT_POOL_ACCESS_MPMC,
                        .u_create_from_thread = self ? handle_old_create_self : handle_old_create,
                        .u_free = self ? handle_old_free_self : handle_old_free,
                        .p_get_size = handle_get_size,
                        .p_push = handle_old_push,
                        .p_pop = handle_old_pop};

    memset(hp, 0, sizeof(*hp));
    hp->old = old;
    hp->self = self;
    hp->tail = &hp->head;
    pthread_mutex_init(&hp->lock, NULL);
    if (old) {
        handle_pool_old[self] = hp;
        must(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &hp->pool));
    } else {
        must(ABT_pool_user_def_create(handle_new_create, handle_new_free, handle_new_is_empty, handle_new_pop,
                                      handle_new_push, &new_def));
        must(ABT_pool_user_def_set_get_size(new_def, handle_get_size));
        must(ABT_pool_create(new_def, ABT_POOL_CONFIG_NULL, &hp->pool));
        must(ABT_pool_user_def_free(&new_def));
    }
    must(ABT_pool_set_data(hp->pool, hp));
}

static inline void handle_pool_end(struct handle_pool *hp)
{
    must(ABT_pool_free(&hp->pool));
    pthread_mutex_destroy(&hp->lock);
}

/* --- A scheduler of the user's with a loop of its own over all its pools --- */

static inline void handle_sched_run(ABT_sched sched)
{
    enum { MOST_POOLS = 8, EVENTS_EVERY = 8 };
    ABT_pool pools[MOST_POOLS];
    ABT_bool stop = ABT_FALSE;
    int num = 0;

    must(ABT_sched_get_num_pools(sched, &num));
    must(ABT_sched_get_pools(sched, num, 0, pools));
    for (unsigned i = 0; !stop; i++) {
        ABT_thread thread = ABT_THREAD_NULL;
        must(ABT_pool_pop_thread(pools[i % (unsigned)num], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        if (thread != ABT_THREAD_NULL && i % EVENTS_EVERY)
            continue;
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        if (thread == ABT_THREAD_NULL)
            nap_ms(0.02); /* on a busy machine who yields the CPU waits for all others, and who sleeps does not */
    }
}

static inline ABT_sched handle_sched(int num, ABT_pool *pools)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_is_ready, .run = handle_sched_run};

    return automatic_sched(&def, num, pools);
}

static inline ABT_xstream handle_xstream(int num, ABT_pool *pools)
{
    ABT_xstream xstream = ABT_XSTREAM_NULL;

    must(ABT_xstream_create(handle_sched(num, pools), &xstream));
    return xstream;
}

#endif
