/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

struct world world;
FILE *nowhere;

ABT_pool any_pool(struct actor *actor)
{
    return world.pools[dice(actor, (unsigned)world.num_pools)];
}

ABT_pool last_pool(void)
{
    return world.pools[world.num_pools - 1];
}

ABT_pool open_pool(struct actor *actor)
{
    unsigned first = dice(actor, MAX_POOLS);

    for (unsigned i = 0; i < MAX_POOLS; i++)
        if (world.is_open[(first + i) % MAX_POOLS])
            return world.pools[(first + i) % MAX_POOLS];
    return ABT_POOL_NULL;
}

ABT_xstream any_stream(struct actor *actor)
{
    return world.streams[dice(actor, (unsigned)world.num_streams)];
}

bool own_stream_begin(void)
{
    if (atomic_fetch_add(&world.own_streams, 1) < MAX_OWN_STREAMS)
        return true;
    atomic_fetch_sub(&world.own_streams, 1);
    return false;
}

void own_stream_end(void)
{
    atomic_fetch_sub(&world.own_streams, 1);
}

/* ---- Begin ------------------------------------------------------------------------------------------------------- */

static bool query(ABT_info_query_kind kind)
{
    ABT_bool answer;

    must(ABT_info_query_config(kind, &answer));
    return answer == ABT_TRUE;
}

static bool is_checked(void)
{
    const char *check = getenv("ABT_CHECK");

    return check && strcmp(check, "no") != 0;
}

/* One for a single stream: ABT_CHECK reports that others push to it. Others are open to all. */
static bool pool_is_single(struct rng *rng, int i)
{
    return i > 0 && i + 1 < world.num_pools && !is_checked() && one_in(rng, 4);
}

static void pools_make(struct rng *rng)
{
    world.num_pools = 1 + (int)below(rng, MAX_POOLS);
    for (int i = 0; i < world.num_pools; i++) {
        ABT_pool_kind kind = one_in(rng, 2) ? ABT_POOL_FIFO : ABT_POOL_RANDWS;
        ABT_pool_access access = one_in(rng, 3) ? ABT_POOL_ACCESS_MPSC : ABT_POOL_ACCESS_PRIV;
        if (i == 0) {
            must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &world.pools[0]));
        } else if (pool_is_single(rng, i)) {
            must(ABT_pool_create_basic(kind, access, ABT_FALSE, &world.pools[i]));
        } else {
            world.pools[i] = pool_make(rng, i + 1 == world.num_pools);
            world.is_open[i] = true;
        }
    }
}

/*
 * Each pool has a stream. Their order is the same for all schedulers that serve pools in order, so that units which
 * yield until something happens can stand behind all others. The primary stream's scheduler is predefined.
 */
static void streams_make(struct rng *rng, int num_streams)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS};
    bool serves[MAX_STREAMS][MAX_POOLS] = {{true}};

    world.num_streams = num_streams ? num_streams : 1 + (int)below(rng, 4);
    expect(world.num_streams <= MAX_STREAMS);
    for (int i = 1; i < world.num_pools; i++) {
        serves[below(rng, (unsigned)world.num_streams)][i] = true;
        for (int s = 0; s < world.num_streams; s++)
            serves[s][i] |= world.is_open[i] && one_in(rng, 2);
    }
    must(ABT_self_get_xstream(&world.streams[0]));
    for (int s = 0; s < world.num_streams; s++) {
        ABT_pool pools[MAX_POOLS];
        int num = 0;
        for (int i = 0; i < world.num_pools; i++)
            if (serves[s][i])
                pools[num++] = world.pools[i];
        if (num == 0)
            must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[num++]));
        if (s == 0) {
            must(ABT_xstream_set_main_sched_basic(world.streams[0], predefs[below(rng, 4)], num, pools));
        } else {
            world.scheds[s] = sched_make(rng, num, pools, false);
            must(ABT_xstream_create(world.scheds[s], &world.streams[s]));
        }
    }
}

static void objects_make(void)
{
    ABT_mutex_attr attr;

    for (int i = 0; i < NUM_MUTEXES; i++)
        must(ABT_mutex_create(&world.mutexes[i]));
    for (int i = 0; i < NUM_SPINS; i++)
        must(ABT_mutex_create(&world.spins[i]));
    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    must(ABT_mutex_create_with_attr(attr, &world.recursive));
    must(ABT_mutex_attr_free(&attr));
    for (int i = 0; i < NUM_RWLOCKS; i++)
        must(ABT_rwlock_create(&world.rwlocks[i]));
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_create(value_destroy, &world.keys[i]));
}

void world_begin(struct rng *rng, int num_streams)
{
    unsigned asks = is_checked() ? 0 : UNCHECKED;

    memset(&world, 0, sizeof(world));
    must(ABT_init(0, NULL));
    pools_make(rng);
    streams_make(rng, num_streams);
    objects_make();
    if (one_in(rng, 2))
        must(ABTX_fork_start(world.num_streams, world.streams));
    if (query(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL))
        asks |= CANCELS;
    if (query(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION))
        asks |= MIGRATES;
    world.is_bound = io_begin(rng) || one_in(rng, 2);
    steps_allow(asks);
}

/* ---- End --------------------------------------------------------------------------------------------------------- */

static void streams_free(void)
{
    for (int s = 1; s < world.num_streams; s++) {
        if (s % 2)
            must(ABT_xstream_join(world.streams[s]));
        must(ABT_xstream_free(&world.streams[s]));
        must(ABT_sched_free(&world.scheds[s]));
    }
}

static void count_check(struct guarded *count, const char *what)
{
    long added = atomic_load(&count->added);

    if (count->value != added)
        fuzz_fail("%s has counted %ld, not %ld", what, count->value, added);
}

static void objects_free(void)
{
    for (int i = 0; i < NUM_MUTEXES; i++) {
        count_check(&world.counts[i], "a mutex");
        must(ABT_mutex_free(&world.mutexes[i]));
    }
    for (int i = 0; i < NUM_SPINS; i++) {
        count_check(&world.spin_counts[i], "a mutex that spins");
        must(ABT_mutex_free(&world.spins[i]));
    }
    count_check(&world.recursive_count, "a recursive mutex");
    must(ABT_mutex_free(&world.recursive));
    for (int i = 0; i < NUM_RWLOCKS; i++) {
        count_check(&world.rw_counts[i], "a rwlock");
        expect(world.rw_counts[i].value == world.rw_copies[i]);
        must(ABT_rwlock_free(&world.rwlocks[i]));
    }
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_free(&world.keys[i]));
}

static void nothing_main(void *arg)
{
}

/*
 * All units have ended, but stacked schedulers may have to notice that theirs have. A unit of the same pool runs behind
 * them.
 */
static void pools_drain(void)
{
    for (int i = 0, tries = 0; i < world.num_pools; i++) {
        size_t size;
        must(ABT_pool_get_size(world.pools[i], &size));
        for (; size > 0; tries++) {
            ABT_thread thread;
            must(ABT_thread_create(world.pools[i], nothing_main, NULL, ABT_THREAD_ATTR_NULL, &thread));
            must(ABT_thread_free(&thread));
            must(ABT_pool_get_size(world.pools[i], &size));
            if (tries > 100000)
                fuzz_fail("pool %d keeps %zu units", i, size);
        }
    }
}

/* The primary stream gets another scheduler, since its pools go with it. */
void world_end(void)
{
    unnamed_wait_all();
    natives_reap();
    io_end();
    streams_free();
    objects_free();
    pools_drain();
    must(ABT_xstream_set_main_sched_basic(world.streams[0], ABT_SCHED_DEFAULT, 1, &world.pools[0]));
    for (int i = 1; i < world.num_pools; i++)
        must(ABT_pool_free(&world.pools[i]));
    must(ABT_finalize());
    long values = atomic_load(&world.values_made), gone = atomic_load(&world.values_gone);
    if (values != gone)
        fuzz_fail("%ld values of keys, %ld destroyed", values, gone);
    long units = atomic_load(&world.user_units_made), freed = atomic_load(&world.user_units_gone);
    if (units != freed)
        fuzz_fail("%ld units of user-defined pools, %ld freed", units, freed);
}
