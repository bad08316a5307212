/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that go on for as long as a process runs, near their limits: the event budget and the ids. */
#include <limits.h>
#include <stdint.h>

#include "must.h"
#include "run/sched.h"
#include "pool/pool.h"
#include "rt/rt.h"
#include "rt/self.h"

/* --- The event budget of a stream under a user's scheduler, which fills it never --- */

enum { UNITS = 8 };

static ABT_pool pool;
static int runs;

static void run(void *arg)
{
    runs++;
}

static void run_some(void)
{
    for (int i = 0; i < UNITS; i++) {
        ABT_thread unit;
        if (i % 2)
            must(ABT_task_create(pool, run, NULL, NULL));
        else
            must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_pool_pop_thread(pool, &unit));
        must(ABT_self_schedule(unit, ABT_POOL_NULL));
    }
}

static void user_run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    abti_es *es = abti_es_self;

    es->budget = 3;
    run_some();
    ok(es->budget >= -1, "a budget that nobody fills stays empty: %d", (int)es->budget);
    es->budget = INT32_MIN + 2;
    run_some();
    ok(es->budget <= 0, "and does not come out at the other end: %d", (int)es->budget);
    es->budget = -1;
    while (!stop) {
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void test_budget(void)
{
    ABT_sched_def def = {.run = user_run};
    ABT_xstream xstream;
    ABT_sched sched;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&pool));
    is_int(runs, 2 * UNITS, "all units have run");
}

/* --- Ids --- */

static void test_pool_ids(void)
{
    ABT_pool pools[3];
    int ids[3];

    abti_rt.next_pool_id = INT_MAX - 1;
    for (int i = 0; i < 3; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
        must(ABT_pool_get_id(pools[i], &ids[i]));
    }
    is_int(ids[0], INT_MAX - 1, "a pool's id");
    is_int(ids[1], INT_MAX, "the last one");
    is_int(ids[2], 0, "after that they begin again, since -1 is no id");
    for (int i = 0; i < 3; i++)
        must(ABT_pool_free(&pools[i]));
}

static void test_sched_ids(void)
{
    ABT_sched scheds[2];

    abti_rt.next_sched_id = INT_MAX;
    for (int i = 0; i < 2; i++)
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, ABT_SCHED_CONFIG_NULL, &scheds[i]));
    is_int(scheds[0]->id, INT_MAX, "the last id of a scheduler");
    is_int(scheds[1]->id, 0, "after which the first comes again");
    for (int i = 0; i < 2; i++)
        must(ABT_sched_free(&scheds[i]));
}

int main(void)
{
    must(ABT_init(0, NULL));
    test_budget();
    test_pool_ids();
    test_sched_ids();
    must(ABT_finalize());
    return done_testing();
}
