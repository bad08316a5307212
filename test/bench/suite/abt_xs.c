/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cross-section lookups, each one unit. Up to 8192 are made before any runs; then they run in the order in which they
 * were made, or, under a scheduler written for this, by ascending energy: neighbouring energies find their grid points
 * in the cache. A stream that has run out takes from its neighbours.
 */
#include "abt_team.h"

#include <pthread.h>
#include <stdatomic.h>
#include "xs.h"

enum { WINDOW = 8192 };

/* ---- A pool that gives units by ascending energy to its owner, and by descending energy to thieves ---- */

struct entry {
    double energy;
    ABT_thread unit;
};

struct by_energy {
    pthread_mutex_t lock; /* guards the rest */
    bool sorted;
    int first, end;
    struct entry entries[WINDOW];
};

static atomic_bool started; /* units may be taken */

static struct by_energy *data_of(ABT_pool pool)
{
    void *data;
    CHECK(ABT_pool_get_data(pool, &data));
    return data;
}

static int pool_init(ABT_pool pool, ABT_pool_config config)
{
    struct by_energy *p = calloc(1, sizeof(*p));
    if (!p)
        return ABT_ERR_MEM;
    pthread_mutex_init(&p->lock, NULL);
    return ABT_pool_set_data(pool, p);
}

static void pool_free(ABT_pool pool)
{
    free(data_of(pool));
}

static ABT_unit pool_create_unit(ABT_pool pool, ABT_thread thread)
{
    return (ABT_unit)thread;
}

static void pool_free_unit(ABT_pool pool, ABT_unit unit)
{
}

static ABT_bool pool_is_empty(ABT_pool pool)
{
    struct by_energy *p = data_of(pool);
    pthread_mutex_lock(&p->lock);
    bool empty = p->first == p->end;
    pthread_mutex_unlock(&p->lock);
    return empty ? ABT_TRUE : ABT_FALSE;
}

static void pool_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    struct by_energy *p = data_of(pool);
    void *arg;
    CHECK(ABT_thread_get_arg((ABT_thread)unit, &arg));
    pthread_mutex_lock(&p->lock);
    if (p->first == p->end)
        p->first = p->end = 0;
    if (p->end == WINDOW)
        abort();
    p->entries[p->end++] = (struct entry){((const struct xs_lookup *)arg)->energy, (ABT_thread)unit};
    p->sorted = false;
    pthread_mutex_unlock(&p->lock);
}

static int compare(const void *a, const void *b)
{
    double x = ((const struct entry *)a)->energy, y = ((const struct entry *)b)->energy;
    return (x > y) - (x < y);
}

static ABT_thread take(ABT_pool pool, bool steals)
{
    struct by_energy *p = data_of(pool);
    ABT_thread unit = ABT_THREAD_NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->sorted) {
        qsort(&p->entries[p->first], (size_t)(p->end - p->first), sizeof(p->entries[0]), compare);
        p->sorted = true;
    }
    if (p->first < p->end)
        unit = p->entries[steals ? --p->end : p->first++].unit;
    pthread_mutex_unlock(&p->lock);
    return unit;
}

static ABT_thread pool_pop(ABT_pool pool, ABT_pool_context context)
{
    return take(pool, (context & ABT_POOL_CONTEXT_OWNER_SECONDARY) != 0);
}

/* ---- The scheduler: the inbox first, where the ULTs are that make units; then its own units; then the neighbours'
 * ---- */

static ABT_thread next_unit(int num, ABT_pool *pools)
{
    ABT_thread unit;
    CHECK(ABT_pool_pop_thread(pools[0], &unit));
    for (int i = 1; unit == ABT_THREAD_NULL && i < num && atomic_load(&started); i++)
        unit = take(pools[i], i > 1);
    return unit;
}

static void run_by_energy(ABT_sched sched)
{
    enum { TURNS = 50 };
    ABT_pool pools[SUITE_MAX_STREAMS + 1];
    ABT_bool stop = ABT_FALSE;
    int num;

    CHECK(ABT_sched_get_num_pools(sched, &num));
    CHECK(ABT_sched_get_pools(sched, num, 0, pools));
    while (!stop) {
        ABT_thread unit;
        for (int turn = 0; turn < TURNS && (unit = next_unit(num, pools)) != ABT_THREAD_NULL; turn++)
            CHECK(ABT_self_schedule(unit, ABT_POOL_NULL));
        CHECK(ABT_xstream_check_events(sched));
        CHECK(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void make_sched(int rank, ABT_sched_config config, ABT_sched *sched)
{
    ABT_sched_def loop = {.type = ABT_SCHED_TYPE_ULT, .run = run_by_energy};
    ABT_pool pools[SUITE_MAX_STREAMS + 1];

    pools[0] = team.inboxes[rank];
    for (int k = 0; k < team.num; k++)
        pools[1 + k] = team.pools[(rank + k) % team.num];
    CHECK(ABT_sched_create(&loop, 1 + team.num, pools, config, sched));
}

static void start_by_energy(void)
{
    ABT_pool_user_def def;
    ABT_pool_config pool_config;
    ABT_sched_config sched_config;

    team_begin();
    CHECK(ABT_pool_user_def_create(pool_create_unit, pool_free_unit, pool_is_empty, pool_pop, pool_push, &def));
    CHECK(ABT_pool_user_def_set_init(def, pool_init));
    CHECK(ABT_pool_user_def_set_free(def, pool_free));
    CHECK(ABT_pool_config_create(&pool_config));
    int automatic = ABT_TRUE;
    CHECK(ABT_pool_config_set(pool_config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
    for (int s = 0; s < team.num; s++) {
        CHECK(ABT_pool_create(def, pool_config, &team.pools[s]));
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &team.inboxes[s]));
    }
    CHECK(ABT_pool_config_free(&pool_config));
    CHECK(ABT_pool_user_def_free(&def));
    CHECK(ABT_sched_config_create(&sched_config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    for (int s = 0; s < team.num; s++) {
        ABT_sched sched;
        make_sched(s, sched_config, &sched);
        if (s > 0) {
            CHECK(ABT_xstream_create(sched, &team.streams[s]));
        } else {
            CHECK(ABT_xstream_self(&team.streams[0]));
            CHECK(ABT_xstream_set_main_sched(team.streams[0], sched));
        }
    }
    CHECK(ABT_sched_config_free(&sched_config));
}

/* ---- The work ---- */

enum { SEQUENTIAL, ULTS, TASKLETS, BY_ENERGY };

static struct {
    _Alignas(64) unsigned long checksum;
} tallies[SUITE_MAX_STREAMS];

static ABT_barrier barrier;

static void lookup(void *arg)
{
    unsigned long part = xs_do(arg);
    tallies[team_rank()].checksum += part; /* units of one stream run one after the other */
}

struct maker {
    const struct suite_work *work;
    int rank;
};

/* Makes the units of one stream's part of each window and waits for them. */
static void make(void *arg)
{
    const struct maker *m = arg;
    struct xs_lookup *lookups = xs_lookups((int)m->work->n);
    ABT_thread units[WINDOW];
    long num = xs_num_lookups();

    for (long begin = 0; begin < num; begin += WINDOW) {
        long size = num - begin < WINDOW ? num - begin : WINDOW;
        long first = begin + size * m->rank / team.num, end = begin + size * (m->rank + 1) / team.num;
        for (long i = first; i < end; i++) {
            ABT_pool pool = team.pools[m->rank];
            if (m->work->variant == ULTS)
                CHECK(ABT_thread_create(pool, lookup, &lookups[i], ABT_THREAD_ATTR_NULL, &units[i - first]));
            else
                CHECK(ABT_task_create(pool, lookup, &lookups[i], &units[i - first]));
        }
        if (m->work->variant >= BY_ENERGY) {
            CHECK(ABT_barrier_wait(barrier));
            atomic_store(&started, true);
        }
        for (long i = first; i < end; i++)
            CHECK(ABT_thread_free(&units[i - first]));
        if (m->work->variant >= BY_ENERGY) {
            CHECK(ABT_barrier_wait(barrier));
            atomic_store(&started, false);
            CHECK(ABT_barrier_wait(barrier));
        }
    }
}

static void batch(void *arg)
{
    const struct suite_work *work = arg;
    struct maker makers[SUITE_MAX_STREAMS];
    unsigned long sum = 0;

    if (work->variant == SEQUENTIAL) {
        struct xs_lookup *lookups = xs_lookups((int)work->n);
        for (long i = 0; i < xs_num_lookups(); i++)
            sum += xs_do(&lookups[i]);
    } else {
        for (int s = 0; s < team.num; s++)
            makers[s] = (struct maker){work, s};
        team_everywhere(make, makers, sizeof(makers[0]));
    }
    for (int s = 0; s < SUITE_MAX_STREAMS; s++) {
        sum += tallies[s].checksum;
        tallies[s].checksum = 0;
    }
    xs_expect(sum);
}

static void run(const struct suite_work *work)
{
    xs_make();
    if (work->variant >= BY_ENERGY)
        start_by_energy();
    else
        team_start(TEAM_PRIV);
    CHECK(ABT_barrier_create((uint32_t)team.num, &barrier));
    suite_run_long(batch, (void *)work, (double)xs_num_lookups());
    CHECK(ABT_barrier_free(&barrier));
    team_stop();
    xs_free();
}

#define BOTH(series, streams, variant)                                                                                 \
    {"xs-unsorted", series, streams, run, 0, variant},                                                                 \
    {                                                                                                                  \
        "xs-presorted", series, streams, run, 1, variant                                                               \
    }

const struct suite_work abt_xs_works[] = {
    BOTH("sequential", "1", SEQUENTIAL),
    BOTH("ULT", "*", ULTS),
    BOTH("tasklet", "*", TASKLETS),
    BOTH("tasklet, by energy", "*", BY_ENERGY),
};
const int abt_xs_num = sizeof(abt_xs_works) / sizeof(abt_xs_works[0]);
