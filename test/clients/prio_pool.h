/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool in the old interface, as an RPC server brings its own: a lock and a condition variable of pthreads, units from
 * malloc, and two queues: units that have run before go ahead of new ones three times out of four. Who waits for a unit
 * sleeps.
 */
#ifndef TEST_CLIENTS_PRIO_POOL_H
#define TEST_CLIENTS_PRIO_POOL_H

#include "client.h"

struct prio_unit {
    ABT_thread thread;
    struct prio_unit *next;
    bool has_run;
    atomic_bool in_pool; /* looked at without the lock */
};

struct prio_queue {
    struct prio_unit *head, **tail;
};

struct prio_pool {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct prio_queue queues[2]; /* has run, new */
    size_t size;
    unsigned pops;
};

static atomic_int prio_units, prio_pools; /* alive */

static inline struct prio_pool *prio_of(ABT_pool pool)
{
    void *data;

    must(ABT_pool_get_data(pool, &data));
    return data;
}

static inline ABT_unit prio_create_unit(ABT_thread thread)
{
    struct prio_unit *unit = calloc(1, sizeof(*unit));

    unit->thread = thread;
    atomic_fetch_add(&prio_units, 1);
    return (ABT_unit)unit;
}

static inline void prio_free_unit(ABT_unit *unit)
{
    free(*unit);
    *unit = ABT_UNIT_NULL;
    atomic_fetch_sub(&prio_units, 1);
}

static inline int prio_init(ABT_pool pool, ABT_pool_config config)
{
    struct prio_pool *prio = calloc(1, sizeof(*prio));

    pthread_mutex_init(&prio->lock, NULL);
    pthread_cond_init(&prio->filled, NULL);
    for (int i = 0; i < 2; i++)
        prio->queues[i].tail = &prio->queues[i].head;
    atomic_fetch_add(&prio_pools, 1);
    return ABT_pool_set_data(pool, prio);
}

static inline int prio_free(ABT_pool pool)
{
    struct prio_pool *prio = prio_of(pool);

    pthread_cond_destroy(&prio->filled);
    pthread_mutex_destroy(&prio->lock);
    free(prio);
    atomic_fetch_sub(&prio_pools, 1);
    return ABT_SUCCESS;
}

static inline size_t prio_size(ABT_pool pool)
{
    struct prio_pool *prio = prio_of(pool);

    pthread_mutex_lock(&prio->lock);
    size_t size = prio->size;
    pthread_mutex_unlock(&prio->lock);
    return size;
}

static inline void prio_push(ABT_pool pool, ABT_unit handle)
{
    struct prio_pool *prio = prio_of(pool);
    struct prio_unit *unit = (struct prio_unit *)handle;

    pthread_mutex_lock(&prio->lock);
    struct prio_queue *queue = &prio->queues[unit->has_run ? 0 : 1];
    unit->has_run = true;
    atomic_store(&unit->in_pool, true);
    unit->next = NULL;
    *queue->tail = unit;
    queue->tail = &unit->next;
    prio->size++;
    pthread_cond_signal(&prio->filled);
    pthread_mutex_unlock(&prio->lock);
}

/* Takes the unit that *link points to out of its queue; lock held. */
static inline ABT_unit prio_take(struct prio_pool *prio, struct prio_queue *queue, struct prio_unit **link)
{
    struct prio_unit *unit = *link;

    if (!unit)
        return ABT_UNIT_NULL;
    *link = unit->next;
    if (queue->tail == &unit->next)
        queue->tail = link;
    atomic_store(&unit->in_pool, false);
    prio->size--;
    return (ABT_unit)unit;
}

static inline ABT_unit prio_take_first(struct prio_pool *prio)
{
    struct prio_queue *queue = &prio->queues[prio->pops++ % 4 == 0];

    if (!queue->head)
        queue = &prio->queues[queue == prio->queues];
    return prio_take(prio, queue, &queue->head);
}

static inline ABT_unit prio_pop(ABT_pool pool)
{
    struct prio_pool *prio = prio_of(pool);

    pthread_mutex_lock(&prio->lock);
    ABT_unit unit = prio_take_first(prio);
    pthread_mutex_unlock(&prio->lock);
    return unit;
}

static inline ABT_unit prio_pop_timedwait(ABT_pool pool, double until)
{
    struct prio_pool *prio = prio_of(pool);
    struct timespec ts = {.tv_sec = (time_t)until, .tv_nsec = (long)((until - (double)(time_t)until) * 1e9)};

    pthread_mutex_lock(&prio->lock);
    if (prio->size == 0)
        pthread_cond_timedwait(&prio->filled, &prio->lock, &ts);
    ABT_unit unit = prio_take_first(prio);
    pthread_mutex_unlock(&prio->lock);
    return unit;
}

#ifdef ABT_ENABLE_VER_20_API
static inline ABT_unit prio_pop_wait(ABT_pool pool, double secs)
{
    return prio_pop_timedwait(pool, ABT_get_wtime() + secs);
}
#endif

static inline ABT_bool prio_is_in_pool(ABT_unit unit)
{
    return atomic_load(&((struct prio_unit *)unit)->in_pool) ? ABT_TRUE : ABT_FALSE;
}

static inline int prio_remove(ABT_pool pool, ABT_unit unit)
{
    struct prio_pool *prio = prio_of(pool);
    int code = ABT_ERR_POOL;

    pthread_mutex_lock(&prio->lock);
    for (int i = 0; i < 2 && code; i++) {
        struct prio_queue *queue = &prio->queues[i];
        struct prio_unit **link = &queue->head;
        while (*link && *link != (struct prio_unit *)unit)
            link = &(*link)->next;
        if (prio_take(prio, queue, link) != ABT_UNIT_NULL)
            code = ABT_SUCCESS;
    }
    pthread_mutex_unlock(&prio->lock);
    return code;
}

/* Not automatic: the server frees it. What nobody asks for is left as it happens to be. */
static inline ABT_pool prio_make(void)
{
    ABT_pool_def def;
    ABT_pool pool;

    memset(&def, 0xa5, sizeof(def));
    def.access = ABT_POOL_ACCESS_MPMC;
    def.u_create_from_thread = prio_create_unit;
    def.u_free = prio_free_unit;
    def.u_is_in_pool = prio_is_in_pool;
    def.p_init = prio_init;
    def.p_get_size = prio_size;
    def.p_push = prio_push;
    def.p_pop = prio_pop;
#ifdef ABT_ENABLE_VER_20_API
    def.p_pop_wait = prio_pop_wait;
#endif
    def.p_pop_timedwait = prio_pop_timedwait;
    def.p_remove = prio_remove;
    def.p_free = prio_free;
    must(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool));
    return pool;
}

#endif
