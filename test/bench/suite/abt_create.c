/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, join and free of many units, as the paper's figures 2 to 7 have it. Each stream makes its own. */
#include "abt_team.h"

#include <stdatomic.h>

struct maker {
    _Alignas(64) struct suite_samples samples;
    const struct suite_work *work;
    int num;
    ABT_pool pool;
    void (*func)(void *);
    ABT_thread_attr attr;
    ABT_thread *units;
    /* For create_many. */
    ABT_pool *pools;
    void (**funcs)(void *);
    void **args;
    atomic_long ran;
};

static atomic_int ready;

static void nothing(void *arg)
{
}

static void count(void *arg)
{
    struct maker *m = arg;
    atomic_fetch_add(&m->ran, 1);
}

/* ---- The batches: what the loops need is in registers, as in a program written for one case ---- */

static void ults(void *arg)
{
    const struct maker *m = arg;
    ABT_pool pool = m->pool;
    ABT_thread *units = m->units;
    ABT_thread_attr attr = m->attr;
    void (*func)(void *) = m->func;
    int num = m->num;
    for (int i = 0; i < num; i++)
        ABT_thread_create(pool, func, arg, attr, &units[i]);
    for (int i = 0; i < num; i++)
        ABT_thread_free(&units[i]);
}

static void many_ults(void *arg)
{
    struct maker *m = arg;
    ABT_thread_create_many(m->num, m->pools, m->funcs, m->args, m->attr, m->units);
    ABT_thread_join_many(m->num, m->units);
    ABT_thread_free_many(m->num, m->units);
}

static void tasklets(void *arg)
{
    const struct maker *m = arg;
    ABT_pool pool = m->pool;
    ABT_thread *units = m->units;
    void (*func)(void *) = m->func;
    int num = m->num;
    for (int i = 0; i < num; i++)
        ABT_task_create(pool, func, arg, &units[i]);
    for (int i = 0; i < num; i++)
        ABT_task_free(&units[i]);
}

static void revived_ults(void *arg)
{
    const struct maker *m = arg;
    ABT_pool pool = m->pool;
    ABT_thread *units = m->units;
    void (*func)(void *) = m->func;
    int num = m->num;
    for (int i = 0; i < num; i++)
        ABT_thread_revive(pool, func, arg, &units[i]);
    for (int i = 0; i < num; i++)
        ABT_thread_join(units[i]);
}

/* One at a time, which runs at once. */
static void ults_to(void *arg)
{
    const struct maker *m = arg;
    ABT_pool pool = m->pool;
    ABT_thread_attr attr = m->attr;
    void (*func)(void *) = m->func;
    int num = m->num;
    for (int i = 0; i < num; i++) {
        ABT_thread ult;
        ABT_thread_create_to(pool, func, arg, attr, &ult);
        ABT_thread_free(&ult);
    }
}

static void (*const batches[])(void *) = {ults, ults, many_ults, tasklets, revived_ults, ults_to};
enum { ULTS, UNMOVABLE, MANY, TASKLETS, REVIVED, CREATED_TO };

/* ---- A creator, one per stream ---- */

static void set_func(struct maker *m, void (*func)(void *))
{
    m->func = func;
    for (int i = 0; i < m->num; i++)
        m->funcs[i] = func;
}

static void measure(void *arg)
{
    struct maker *m = arg;
    int way = m->work->variant / 16;

    for (int i = 0; way == REVIVED && i < m->num; i++)
        CHECK(ABT_thread_create(m->pool, nothing, NULL, m->attr, &m->units[i]));
    for (int i = 0; way == REVIVED && i < m->num; i++)
        CHECK(ABT_thread_join(m->units[i]));

    set_func(m, count);
    batches[way](m);
    suite_expect(atomic_load(&m->ran), m->num, "the number of units that ran");
    set_func(m, nothing);

    /* All of them start together. */
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < team.num)
        CHECK(ABT_thread_yield());
    suite_measure(&m->samples, batches[way], m, m->num);
    for (int i = 0; way == REVIVED && i < m->num; i++)
        CHECK(ABT_thread_free(&m->units[i]));
}

static void *allocate(int num, size_t size)
{
    void *memory = calloc((size_t)num, size);
    if (!memory)
        exit(1);
    return memory;
}

static void run(const struct suite_work *work)
{
    static struct maker makers[SUITE_MAX_STREAMS];
    struct suite_samples samples[SUITE_MAX_STREAMS];

    team_start((enum team_layout)(work->variant % 16));
    for (int s = 0; s < team.num; s++) {
        struct maker *m = &makers[s];
        m->work = work;
        m->num = (int)work->n;
        m->pool = team.pools[s];
        m->units = allocate(m->num, sizeof(*m->units));
        m->pools = allocate(m->num, sizeof(*m->pools));
        m->funcs = allocate(m->num, sizeof(*m->funcs));
        m->args = allocate(m->num, sizeof(*m->args));
        for (int i = 0; i < m->num; i++) {
            m->pools[i] = m->pool;
            m->args[i] = m;
        }
        m->attr = ABT_THREAD_ATTR_NULL;
        if (work->variant / 16 == UNMOVABLE) {
            CHECK(ABT_thread_attr_create(&m->attr));
            CHECK(ABT_thread_attr_set_migratable(m->attr, ABT_FALSE));
        }
    }
    team_everywhere(measure, makers, sizeof(makers[0]));
    for (int s = 0; s < team.num; s++) {
        struct maker *m = &makers[s];
        samples[s] = m->samples;
        free(m->units);
        free(m->pools);
        free(m->funcs);
        free(m->args);
        if (m->attr != ABT_THREAD_ATTR_NULL)
            CHECK(ABT_thread_attr_free(&m->attr));
    }
    suite_report(samples, team.num);
    team_stop();
}

#define BOTH(series, way, layout)                                                                                      \
    {"create-256", series, "*", run, 256, 16 * (way) + (layout)},                                                      \
    {                                                                                                                  \
        "create-16384", series, "*", run, 16384, 16 * (way) + (layout)                                                 \
    }

const struct suite_work abt_create_works[] = {
    BOTH("ULT, private pool", ULTS, TEAM_PRIV),
    BOTH("ULT, MPMC pool", ULTS, TEAM_MPMC),
    BOTH("ULT, shared pool", ULTS, TEAM_SHARED),
    BOTH("ULT, RANDWS pool", ULTS, TEAM_RANDWS),
    BOTH("ULT, private pool, create_many", MANY, TEAM_PRIV),
    BOTH("ULT, private pool, not migratable", UNMOVABLE, TEAM_PRIV),
    BOTH("ULT, private pool, user's scheduler", ULTS, TEAM_USER),
    {"create-256", "ULT, user's scheduler and pool", "1", run, 256, 16 * ULTS + TEAM_USER_POOL},
    {"create-256", "ULT, user's scheduler and pool, older definition", "1", run, 256, 16 * ULTS + TEAM_OLD_USER_POOL},
    BOTH("tasklet, private pool", TASKLETS, TEAM_PRIV),
    BOTH("tasklet, MPMC pool", TASKLETS, TEAM_MPMC),
    BOTH("tasklet, shared pool", TASKLETS, TEAM_SHARED),
    {"revive-256", "ULT, private pool", "*", run, 256, 16 * REVIVED + TEAM_PRIV},
    {"create-to", "private pool", "*", run, 256, 16 * CREATED_TO + TEAM_PRIV},
};
const int abt_create_num = sizeof(abt_create_works) / sizeof(abt_create_works[0]);
