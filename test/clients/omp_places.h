/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places of an OpenMP runtime in the style of BOLT: each is a stream with a scheduler of its own and a user-defined
 * pool, from which idle places steal.
 */
#ifndef TEST_CLIENTS_OMP_PLACES_H
#define TEST_CLIENTS_OMP_PLACES_H

#include "client.h"

/* ---- The pool of a place: new units in front, others behind; thieves come from behind ---- */

struct place_unit {
    struct place_unit *next, *prev;
    ABT_thread thread;
};

struct place_pool {
    pthread_mutex_t lock;
    struct place_unit ends; /* of the ring */
    size_t size;
};

static atomic_int place_units, place_pools; /* alive */
static atomic_long stolen;

static inline struct place_pool *place_pool_of(ABT_pool pool)
{
    void *data;

    must(ABT_pool_get_data(pool, &data));
    return data;
}

static inline ABT_unit place_create_unit(ABT_pool pool, ABT_thread thread)
{
    struct place_unit *unit = calloc(1, sizeof(*unit));

    (void)pool;
    unit->thread = thread;
    atomic_fetch_add(&place_units, 1);
    return (ABT_unit)unit;
}

static inline void place_free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool;
    free(unit);
    atomic_fetch_sub(&place_units, 1);
}

static inline size_t place_size(ABT_pool pool)
{
    struct place_pool *p = place_pool_of(pool);

    pthread_mutex_lock(&p->lock);
    size_t size = p->size;
    pthread_mutex_unlock(&p->lock);
    return size;
}

static inline ABT_bool place_is_empty(ABT_pool pool)
{
    return place_size(pool) == 0 ? ABT_TRUE : ABT_FALSE;
}

static inline void place_push(ABT_pool pool, ABT_unit handle, ABT_pool_context context)
{
    const ABT_pool_context new_units = ABT_POOL_CONTEXT_OP_THREAD_CREATE | ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO |
                                       ABT_POOL_CONTEXT_OP_THREAD_REVIVE | ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO;
    struct place_pool *p = place_pool_of(pool);
    struct place_unit *unit = (struct place_unit *)handle;

    pthread_mutex_lock(&p->lock);
    struct place_unit *before = context & new_units ? &p->ends : p->ends.prev;
    unit->prev = before;
    unit->next = before->next;
    unit->next->prev = before->next = unit;
    p->size++;
    pthread_mutex_unlock(&p->lock);
}

static inline ABT_thread place_pop(ABT_pool pool, ABT_pool_context context)
{
    bool is_thief = context & ABT_POOL_CONTEXT_OWNER_SECONDARY;
    struct place_pool *p = place_pool_of(pool);
    ABT_thread thread = ABT_THREAD_NULL;

    pthread_mutex_lock(&p->lock);
    struct place_unit *unit = is_thief ? p->ends.prev : p->ends.next;
    if (unit != &p->ends) {
        unit->prev->next = unit->next;
        unit->next->prev = unit->prev;
        p->size--;
        thread = unit->thread;
        atomic_fetch_add(&stolen, is_thief);
    }
    pthread_mutex_unlock(&p->lock);
    return thread;
}

static inline int place_init(ABT_pool pool, ABT_pool_config config)
{
    struct place_pool *p = calloc(1, sizeof(*p));

    (void)config;
    pthread_mutex_init(&p->lock, NULL);
    p->ends.next = p->ends.prev = &p->ends;
    atomic_fetch_add(&place_pools, 1);
    return ABT_pool_set_data(pool, p);
}

static inline void place_free(ABT_pool pool)
{
    struct place_pool *p = place_pool_of(pool);

    pthread_mutex_destroy(&p->lock);
    free(p);
    atomic_fetch_sub(&place_pools, 1);
}

static inline ABT_pool place_make_pool(void)
{
    ABT_pool_user_def def;
    ABT_pool_config config;
    ABT_pool pool;
    int automatic = 1;

    must(ABT_pool_user_def_create(place_create_unit, place_free_unit, place_is_empty, place_pop, place_push, &def));
    must(ABT_pool_user_def_set_init(def, place_init));
    must(ABT_pool_user_def_set_free(def, place_free));
    must(ABT_pool_user_def_set_get_size(def, place_size));
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
    must(ABT_pool_create(def, config, &pool));
    must(ABT_pool_config_free(&config));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

/* ---- Places ---- */

static struct {
    int num_places;
    ABT_xstream xstreams[MAX_STREAMS + 1];
    ABT_sched scheds[MAX_STREAMS + 1];
    ABT_pool pools[MAX_STREAMS + 1];
    ABT_pool home; /* main's, which nobody else steals from */
} omp;

/* The first pool is the place's, the others' come after it. Main's home is the last one. */
static inline ABT_bool run_one(ABT_pool *pools, int i, bool is_thief)
{
    ABT_thread thread;
    ABT_unit unit;

    if (is_thief) {
        must(ABT_pool_pop_thread_ex(pools[i], &thread, ABT_POOL_CONTEXT_OWNER_SECONDARY));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, pools[0]));
        return thread != ABT_THREAD_NULL;
    }
    must(ABT_pool_pop(pools[i], &unit));
    if (unit != ABT_UNIT_NULL) {
        must(ABT_unit_set_associated_pool(unit, pools[i]));
        must(ABT_xstream_run_unit(unit, pools[i]));
    }
    return unit != ABT_UNIT_NULL;
}

static inline void place_run(ABT_sched sched)
{
    ABT_pool pools[MAX_STREAMS + 2];
    ABT_bool stop = ABT_FALSE;
    int rank, num_pools;

    must(ABT_xstream_self_rank(&rank));
    must(ABT_sched_get_num_pools(sched, &num_pools));
    must(ABT_sched_get_pools(sched, num_pools, 0, pools));
    for (unsigned round = (unsigned)rank; !stop; round++) {
        bool found = run_one(pools, 0, false);
        if (num_pools > omp.num_places)
            found |= run_one(pools, num_pools - 1, false);
        if (!found && omp.num_places > 1)
            found = run_one(pools, 1 + (int)(round % (unsigned)(omp.num_places - 1)), true);
        if (!found || round % 64 == 0) {
            must(ABT_xstream_check_events(sched));
            must(ABT_sched_has_to_stop(sched, &stop));
        }
        if (!found)
            nap_us(10);
    }
}

static inline void omp_start(int num_places)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = place_run};

    must(ABT_init(0, NULL));
    omp.num_places = num_places;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &omp.home));
    for (int i = 0; i < num_places; i++)
        omp.pools[i] = place_make_pool();
    for (int i = 0; i < num_places; i++) {
        ABT_pool pools[MAX_STREAMS + 2];
        for (int j = 0; j < num_places; j++)
            pools[j] = omp.pools[(i + j) % num_places];
        pools[num_places] = omp.home;
        must(ABT_sched_create(&def, num_places + (i == 0), pools, ABT_SCHED_CONFIG_NULL, &omp.scheds[i]));
        if (i > 0) {
            must(ABT_xstream_create(omp.scheds[i], &omp.xstreams[i]));
            continue;
        }
        must(ABT_xstream_self(&omp.xstreams[0]));
        must(ABT_self_set_associated_pool(omp.home)); /* the new scheduler has it, the old one does not */
        must(ABT_xstream_set_main_sched(omp.xstreams[0], omp.scheds[0]));
    }
}

/* The pools and the first scheduler go with the primary stream. */
static inline void omp_stop(void)
{
    for (int i = 1; i < omp.num_places; i++) {
        must(ABT_xstream_join(omp.xstreams[i]));
        must(ABT_xstream_free(&omp.xstreams[i]));
        must(ABT_sched_free(&omp.scheds[i]));
    }
    must(ABT_finalize());
}

#endif
