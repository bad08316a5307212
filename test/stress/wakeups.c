/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No stream sleeps while a pool that it serves has a unit. Chains of pairs of units: one of a pair keeps its stream,
 * without giving way, until the other has run, on another stream, and has made the next pair. Each stream serves two
 * pools, or all of them, as thieves do, and each pool is served by more streams than are ever kept; most of
 * them sleep. A wake that is lost, or used up by who runs something else, stops a chain.
 */
#include "stress.h"

enum { NUM_ES = 10, NUM_POOLS = 4, NUM_CHAINS = 2, ROUNDS = 4, PAIRS = SCALED(200, 50, 20) };

static ABT_pool pools[NUM_POOLS];
static ABT_eventual ended;
static atomic_int pending;

/* Of a chain's pairs, one is about at a time; what is not atomic is handed on from one to the next. */
struct chain {
    struct rng rng;
    int pairs;
    atomic_int kept, let_go; /* so many streams, so far */
};

static void come_to_an_end(void)
{
    if (atomic_fetch_sub(&pending, 1) == 1)
        must(ABT_eventual_set(ended, NULL, 0));
}

static void keep(void *arg)
{
    struct chain *chain = arg;
    int n = atomic_fetch_add(&chain->kept, 1);
    for (unsigned i = 0; atomic_load(&chain->let_go) <= n; i++)
        if (i % 64 == 63)
            sched_yield();
    come_to_an_end();
}

static void create(ABT_pool pool, bool tasklet, void (*f)(void *), struct chain *chain)
{
    if (tasklet)
        must(ABT_task_create(pool, f, chain, NULL));
    else
        must(ABT_thread_create(pool, f, chain, ABT_THREAD_ATTR_NULL, NULL));
}

static void let_go(void *arg);

static void create_pair(struct chain *chain)
{
    ABT_pool first = pools[below(&chain->rng, NUM_POOLS)], second = pools[below(&chain->rng, NUM_POOLS)];
    bool keeper_first = one_in(&chain->rng, 2), tasklets = one_in(&chain->rng, 2);
    atomic_fetch_add(&pending, 2);
    create(first, tasklets, keeper_first ? keep : let_go, chain);
    create(second, tasklets, keeper_first ? let_go : keep, chain);
}

static void let_go(void *arg)
{
    struct chain *chain = arg;
    bool last = --chain->pairs == 0;
    atomic_fetch_add(&chain->let_go, 1);
    if (one_in(&chain->rng, 4)) /* by then all have gone to sleep */
        nap_us((long)below(&chain->rng, 100));
    if (!last)
        create_pair(chain);
    come_to_an_end();
}

/* How many streams are kept. */
static int run_chains(struct rng *rng)
{
    struct chain chains[NUM_CHAINS];
    int kept = 0;
    must(ABT_eventual_create(0, &ended));
    atomic_store(&pending, 1);
    for (int i = 0; i < NUM_CHAINS; i++) {
        chains[i] = (struct chain){.rng = {rng_next(rng)}, .pairs = PAIRS};
        create_pair(&chains[i]);
    }
    come_to_an_end();
    must(ABT_eventual_wait(ended, NULL));
    must(ABT_eventual_free(&ended));
    for (int i = 0; i < NUM_CHAINS; i++)
        kept += atomic_load(&chains[i].kept);
    return kept;
}

struct list {
    int pools[NUM_POOLS];
};

/* In ascending order: the last pool is not the first of anybody, who would be woken for it before all others. */
static void draw_list(struct rng *rng, struct list *list)
{
    list->pools[0] = (int)below(rng, NUM_POOLS - 1);
    list->pools[1] = list->pools[0] + 1 + (int)below(rng, (unsigned)(NUM_POOLS - 1 - list->pools[0]));
}

/* All of them, each stream in an order of its own. The last pool is nobody's first one here, either. */
static void draw_rings(struct rng *rng, struct list *lists)
{
    for (int i = 0; i < NUM_ES; i++) {
        int first = (int)below(rng, NUM_POOLS - 1);
        for (int k = 0; k < NUM_POOLS; k++)
            lists[i].pools[k] = (first + k) % NUM_POOLS;
    }
}

static void draw_lists(struct rng *rng, struct list *lists)
{
    enum { FEW = 2 };
    int servers[NUM_POOLS], fewest;
    do {
        memset(servers, 0, sizeof(servers));
        for (int i = 0; i < NUM_ES; i++) {
            draw_list(rng, &lists[i]);
            for (int k = 0; k < FEW; k++)
                servers[lists[i].pools[k]]++;
        }
        fewest = NUM_ES;
        for (int p = 0; p < NUM_POOLS; p++)
            fewest = servers[p] < fewest ? servers[p] : fewest;
    } while (fewest <= NUM_CHAINS);
}

static int run_round(struct rng *rng, ABT_sched_predef predef, ABT_pool_kind kind, int num_served)
{
    struct list lists[NUM_ES];
    ABT_xstream xstreams[NUM_ES];
    int kept;
    must(ABT_init(0, NULL));
    for (int i = 0; i < NUM_POOLS; i++)
        must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    if (num_served == NUM_POOLS)
        draw_rings(rng, lists);
    else
        draw_lists(rng, lists);
    for (int i = 0; i < NUM_ES; i++) {
        ABT_pool served[NUM_POOLS];
        for (int k = 0; k < num_served; k++)
            served[k] = pools[lists[i].pools[k]];
        must(ABT_xstream_create_basic(predef, num_served, served, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    }
    kept = run_chains(rng);
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_free(&xstreams[i]));
    must(ABT_finalize());
    return kept;
}

static void run_rounds(struct rng *rng, ABT_sched_predef predef, ABT_pool_kind kind, int num_served)
{
    int kept = 0;
    for (int r = 0; r < ROUNDS; r++)
        kept += run_round(rng, predef, kind, num_served);
    is_int(kept, ROUNDS * NUM_CHAINS * PAIRS, "%s over %s, %d pools for each", sched_name(predef), kind_name(kind),
           num_served);
}

/* --- As many ULTs as streams, which one call wakes. Each keeps its stream until all run --- */

static atomic_int num_in;

static void cross(void *arg)
{
    must(ABT_eventual_wait(ended, NULL));
    atomic_fetch_add(&num_in, 1);
    while (atomic_load(&num_in) < NUM_ES)
        sched_yield();
}

static void run_crowds(ABT_pool_kind kind)
{
    ABT_xstream xstreams[NUM_ES];
    ABT_thread ults[NUM_ES];
    size_t ready;

    must(ABT_init(0, NULL));
    must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]));
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, pools, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    for (int r = 0; r < ROUNDS; r++) {
        must(ABT_eventual_create(0, &ended));
        atomic_store(&num_in, 0);
        for (int i = 0; i < NUM_ES; i++)
            must(ABT_thread_create(pools[0], cross, NULL, ABT_THREAD_ATTR_NULL, &ults[i]));
        for (size_t total = 0; total != NUM_ES || ready > 0; nap_us(1000)) { /* the streams go to sleep meanwhile */
            must(ABT_pool_get_total_size(pools[0], &total));
            must(ABT_pool_get_size(pools[0], &ready));
        }
        must(ABT_eventual_set(ended, NULL, 0));
        must(ABT_thread_free_many(NUM_ES, ults));
        must(ABT_eventual_free(&ended));
    }
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_free(&xstreams[i]));
    must(ABT_finalize());
    is_int(atomic_load(&num_in), NUM_ES, "%s: one call wakes %d streams", kind_name(kind), NUM_ES);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(1);
    for (int k = 0; k < 3; k++)
        run_crowds(all_kinds[k]);
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < 3; k++)
            run_rounds(&rng, all_scheds[s], all_kinds[k], 2);
    }
    run_rounds(&rng, ABT_SCHED_RANDWS, ABT_POOL_RANDWS, NUM_POOLS);
    return done_testing();
}
