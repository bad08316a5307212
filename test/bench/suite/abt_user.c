/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt_user.h"
#include "abt_team.h"

/* ---- A pool: a ring of units, which are the handles of the threads ---- */

enum { ROOM = 512 }; /* a power of two, more than any work has at once */

struct ring {
    unsigned first, end;
    ABT_thread threads[ROOM];
};

static struct ring *ring_of(ABT_pool pool)
{
    void *data;
    ABT_pool_get_data(pool, &data);
    return data;
}

static int init(ABT_pool pool, ABT_pool_config config)
{
    struct ring *ring = calloc(1, sizeof(*ring));
    return ring ? ABT_pool_set_data(pool, ring) : ABT_ERR_MEM;
}

static void push(ABT_pool pool, ABT_thread thread)
{
    struct ring *ring = ring_of(pool);
    if (ring->end - ring->first == ROOM)
        abort();
    ring->threads[ring->end++ % ROOM] = thread;
}

static ABT_thread pop(ABT_pool pool)
{
    struct ring *ring = ring_of(pool);
    return ring->first == ring->end ? ABT_THREAD_NULL : ring->threads[ring->first++ % ROOM];
}

/* By ABT_pool_user_def. */

static ABT_unit new_create_unit(ABT_pool pool, ABT_thread thread)
{
    return (ABT_unit)thread;
}

static void new_free_unit(ABT_pool pool, ABT_unit unit)
{
}

static ABT_bool new_is_empty(ABT_pool pool)
{
    const struct ring *ring = ring_of(pool);
    return ring->first == ring->end ? ABT_TRUE : ABT_FALSE;
}

static ABT_thread new_pop(ABT_pool pool, ABT_pool_context context)
{
    return pop(pool);
}

static void new_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    push(pool, (ABT_thread)unit);
}

static void new_free(ABT_pool pool)
{
    free(ring_of(pool));
}

/* By ABT_pool_def. */

static ABT_unit old_create(ABT_thread thread)
{
    return (ABT_unit)thread;
}

static void old_free_unit(ABT_unit *unit)
{
}

static size_t old_get_size(ABT_pool pool)
{
    const struct ring *ring = ring_of(pool);
    return ring->end - ring->first;
}

static void old_push(ABT_pool pool, ABT_unit unit)
{
    push(pool, (ABT_thread)unit);
}

static ABT_unit old_pop(ABT_pool pool)
{
    ABT_thread thread = pop(pool);
    return thread == ABT_THREAD_NULL ? ABT_UNIT_NULL : (ABT_unit)thread;
}

static int old_free(ABT_pool pool)
{
    free(ring_of(pool));
    return ABT_SUCCESS;
}

ABT_pool user_pool(enum user_def kind)
{
    ABT_pool_def old = {.access = ABT_POOL_ACCESS_PRIV,
                        .u_create_from_thread = old_create,
                        .u_free = old_free_unit,
                        .p_init = init,
                        .p_get_size = old_get_size,
                        .p_push = old_push,
                        .p_pop = old_pop,
                        .p_free = old_free};
    ABT_pool_user_def def = &old;
    ABT_pool_config config;
    ABT_pool pool;
    int automatic = ABT_TRUE;

    if (kind == USER_DEF_NEW) {
        CHECK(ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, new_push, &def));
        CHECK(ABT_pool_user_def_set_init(def, init));
        CHECK(ABT_pool_user_def_set_free(def, new_free));
    }
    CHECK(ABT_pool_config_create(&config));
    CHECK(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
    CHECK(ABT_pool_create(def, config, &pool));
    CHECK(ABT_pool_config_free(&config));
    if (kind == USER_DEF_NEW)
        CHECK(ABT_pool_user_def_free(&def));
    return pool;
}

/* ---- Schedulers ---- */

static ABT_thread next_of(ABT_pool first, ABT_pool second)
{
    ABT_thread thread;
    ABT_pool_pop_thread(first, &thread);
    if (thread == ABT_THREAD_NULL && second != ABT_POOL_NULL)
        ABT_pool_pop_thread(second, &thread);
    return thread;
}

static void run_loop(ABT_sched sched)
{
    enum { TURNS = 50 }; /* between two reads of requests, as the predefined ones do it by default */
    ABT_pool pools[2] = {ABT_POOL_NULL, ABT_POOL_NULL};
    ABT_bool stop = ABT_FALSE;
    int num;

    CHECK(ABT_sched_get_num_pools(sched, &num));
    CHECK(ABT_sched_get_pools(sched, num, 0, pools));
    while (!stop) {
        for (int turn = 0; turn < TURNS; turn++) {
            ABT_thread thread = next_of(pools[0], pools[1]);
            if (thread == ABT_THREAD_NULL)
                break;
            ABT_self_schedule(thread, ABT_POOL_NULL);
        }
        CHECK(ABT_xstream_check_events(sched));
        CHECK(ABT_sched_has_to_stop(sched, &stop));
    }
}

ABT_sched user_sched(int num, ABT_pool *pools)
{
    ABT_sched_def loop = {.type = ABT_SCHED_TYPE_ULT, .run = run_loop};
    ABT_sched_config config;
    ABT_sched sched;

    CHECK(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    CHECK(ABT_sched_create(&loop, num, pools, config, &sched));
    CHECK(ABT_sched_config_free(&config));
    return sched;
}
