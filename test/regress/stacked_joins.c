/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stacked scheduler does not end, and its automatic pool is not freed, before its ULTs have ended. (A ULT that joined
 * a unit of another pool went on at once where that unit ended, below another scheduler. Meanwhile its own scheduler,
 * which was taken by another stream, found no work. AddressSanitizer sees the use of the pool after that.)
 */
#include "regress.h"

enum { STREAMS = 2, ROUNDS = 20, NAPS = 20 };

static ABT_pool common, own[STREAMS]; /* of the streams of rank 1 and up */
static atomic_int frees, ends;

static void yield_twice(void *arg)
{
    must(ABT_thread_yield());
    must(ABT_thread_yield());
}

static void sleep_and_end(void *arg)
{
    must(ABT_thread_yield());
    nap_ms(2); /* the scheduler gets to the other stream meanwhile */
}

/* Joins a unit of the stream's own pool, stays awake for a while, and blocks once more. */
static void join_and_block(void *arg)
{
    int rank, before = atomic_load(&frees);
    ABT_thread thread;

    must(ABT_self_get_xstream_rank(&rank));
    must(ABT_thread_create(own[rank - 1], sleep_and_end, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    for (int i = 0; i < NAPS && atomic_load(&frees) == before; i++)
        nap_ms(1);
    if (atomic_load(&frees) != before)
        fail("the scheduler was freed while its ULT ran");
    must(ABT_thread_create(common, yield_twice, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    atomic_fetch_add(&ends, 1);
}

/* A scheduler with a loop of its own. */
static void run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_pool pool;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    while (!stop) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(pool, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        else
            must(ABT_thread_yield());
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static int free_sched(ABT_sched sched)
{
    atomic_fetch_add(&frees, 1);
    return ABT_SUCCESS;
}

static ABT_sched make_user_sched(ABT_pool *pool)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run, .free = free_sched};

    return automatic_sched(&def, 1, pool);
}

static void stack_one(bool is_user)
{
    int before = atomic_load(&frees);
    ABT_pool pool;
    ABT_sched sched;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    ABT_thread thread = ult_in(pool, join_and_block, NULL);
    if (is_user)
        sched = make_user_sched(&pool);
    else
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_pool_add_sched(common, sched));
    must(ABT_thread_free(&thread));
    while (is_user && atomic_load(&frees) == before)
        must(ABT_thread_yield());
}

int main(void)
{
    ABT_xstream streams[STREAMS];

    regress_begin();
    must(ABT_init(0, NULL));
    common = make_pool(ABT_POOL_ACCESS_MPMC);
    for (int i = 0; i < STREAMS; i++) {
        own[i] = make_pool(ABT_POOL_ACCESS_MPMC);
        ABT_pool pools[] = {own[i], common};
        streams[i] = make_es(2, pools);
    }
    for (int i = 0; i < ROUNDS; i++)
        stack_one(i % 2);
    is_int(ends, ROUNDS, "units of stacked schedulers join, and block again");
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    is_int(frees, ROUNDS / 2, "each scheduler ends after its units");
    must(ABT_finalize());
    return done_testing();
}
