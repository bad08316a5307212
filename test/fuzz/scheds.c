/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers of each definition, stacked, and replaced by others. */
#include "world.h"

/* ---- User-defined schedulers ------------------------------------------------------------------------------------- */

static int loop_init(ABT_sched sched, ABT_sched_config config)
{
    struct rng *rng = calloc(1, sizeof(*rng));

    return rng ? ABT_sched_set_data(sched, rng) : ABT_ERR_MEM;
}

static int loop_free(ABT_sched sched)
{
    void *data;

    must(ABT_sched_get_data(sched, &data));
    free(data);
    return ABT_SUCCESS;
}

/* By one of three ways to pop and run. False: the pool is empty. */
static bool loop_run_one(ABT_pool pool, unsigned way)
{
    ABT_unit unit;
    ABT_thread thread;

    if (way == 0) {
        must(ABT_pool_pop(pool, &unit));
        if (unit != ABT_UNIT_NULL)
            must(ABT_xstream_run_unit(unit, pool));
        return unit != ABT_UNIT_NULL;
    }
    must(ABT_pool_pop_thread(pool, &thread));
    if (thread != ABT_THREAD_NULL)
        must(ABT_self_schedule(thread, way == 1 ? pool : ABT_POOL_NULL));
    return thread != ABT_THREAD_NULL;
}

static void loop_run(ABT_sched sched)
{
    ABT_pool pools[MAX_POOLS];
    ABT_bool stops = ABT_FALSE;
    struct rng *rng;
    int num;

    must(ABT_sched_get_data(sched, (void **)&rng));
    must(ABT_sched_get_num_pools(sched, &num));
    must(ABT_sched_get_pools(sched, num, 0, pools));
    for (unsigned turn = 0; !stops; turn++) {
        bool found = false;
        unsigned first = below(rng, (unsigned)num);
        for (int i = 0; i < num && !found; i++)
            found = loop_run_one(pools[(first + (unsigned)i) % (unsigned)num], turn % 3);
        if (!found || turn % 8 == 0) {
            must(ABT_xstream_check_events(sched));
            must(ABT_sched_has_to_stop(sched, &stops));
        }
        if (!found && !stops)
            must(ABTX_xstream_park_until(0, NULL, ABTX_after(2000000)));
    }
}

static void sched_make_by(unsigned kind, int num, ABT_pool *pools, ABT_sched_config config, ABT_sched *sched)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                               ABT_SCHED_BASIC_WAIT};
    ABT_sched_def loop = {.type = ABT_SCHED_TYPE_ULT, .init = loop_init, .run = loop_run, .free = loop_free};

    if (kind == 0) {
        must(ABT_sched_create(&loop, num, pools, config, sched));
    } else {
        must(ABT_sched_create_basic(predefs[kind % 5], num, pools, config, sched));
    }
}

ABT_sched sched_make(struct rng *rng, int num, ABT_pool *pools, bool automatic)
{
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, (int)automatic, ABT_sched_basic_freq,
                                 1 + (int)below(rng, 60), ABT_sched_config_var_end));
    sched_make_by(below(rng, 8), num, pools, config, &sched);
    must(ABT_sched_config_free(&config));
    return sched;
}

/* ---- Stacked ----------------------------------------------------------------------------------------------------- */

/*
 * It stands behind all others: it yields while its units wait, and predefined schedulers serve their pools in order. A
 * stack of them is as deep as the actor's.
 */
static void stacked_play(struct actor *actor, bool leaves)
{
    ABT_pool pool;
    struct child *children[4];
    unsigned num = 1 + dice(actor, 4);

    must(ABT_pool_create_basic(chance(actor, 2) ? ABT_POOL_FIFO : ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE,
                               &pool));
    ABT_sched sched = sched_make(&actor->rng, 1, &pool, true);
    for (unsigned i = 0; i < num; i++) {
        children[i] = child_make(actor, chance(actor, 3));
        children[i]->actor.is_leaf = leaves;
        child_start(actor, children[i], pool);
    }
    must(ABT_pool_add_sched(last_pool(), sched));
    for (unsigned i = 0; i < num; i++)
        child_free(children[i]);
}

static void stacked_take(struct actor *actor)
{
    stacked_play(actor, true);
}

/* ---- Replaced ---------------------------------------------------------------------------------------------------- */

struct replacement {
    ABT_pool pool;
    ABT_sched sched;
};

static void replace_live(struct actor *actor, void *arg)
{
    struct replacement *replacement = arg;
    ABT_xstream self;

    must(ABT_self_get_xstream(&self));
    must(ABT_xstream_set_main_sched(self, replacement->sched));
}

/* A stream that gets another scheduler, over another pool, more than once. */
static void replace_take(struct actor *actor)
{
    struct replacement replacement;
    struct crew crew = {0};
    ABT_pool pools[4];
    ABT_xstream stream;
    unsigned num = 2 + dice(actor, 3);

    if (!own_stream_begin())
        return;
    for (unsigned i = 0; i < num; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, chance(actor, 3) ? ABT_POOL_ACCESS_MPSC : ABT_POOL_ACCESS_MPMC,
                                   ABT_FALSE, &pools[i]));
    must(ABT_xstream_create(sched_make(&actor->rng, 1, &pools[0], true), &stream));
    for (unsigned i = 1; i < num; i++) {
        replacement.sched = sched_make(&actor->rng, 1, &pools[i], true);
        crew_add_to(actor, &crew, replace_live, &replacement, pools[i - 1]);
        crew_join(actor, &crew);
        struct child *child = child_make(actor, chance(actor, 3));
        child_start(actor, child, pools[i]);
        child_free(child);
    }
    be_elsewhere(actor, stream);
    must(ABT_xstream_free(&stream));
    for (unsigned i = 0; i < num; i++)
        must(ABT_pool_free(&pools[i]));
    own_stream_end();
}

const struct step sched_steps[] = {
    {"stacked", stacked_take, 0},
    {"replace", replace_take, BY_ULT},
    {NULL, NULL, 0},
};
