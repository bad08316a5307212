/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that free themselves on many ESs while misuse is looked for: the ledger keeps back the freed ones, of which
 * there are always more than it keeps.
 */
#include "stress.h"

enum { NUM_ES = 16, AT_A_TIME = 300 };

static struct team team;
static atomic_long pending;

static void count(void *arg)
{
    atomic_fetch_sub(&pending, 1);
}

static void make_some(unsigned first)
{
    for (unsigned i = 0; i < AT_A_TIME; i++) {
        ABT_pool pool = team.pools[(first + i) % NUM_ES];
        atomic_fetch_add(&pending, 1);
        if (i % 2 == 0)
            must(ABT_task_create(pool, count, NULL, NULL));
        else
            must(ABT_thread_create(pool, count, NULL, ABT_THREAD_ATTR_NULL, NULL));
    }
}

static void make_many(void *arg)
{
    unsigned first = (unsigned)(uintptr_t)arg;
    for (double end = ABT_get_wtime() + tap_seconds(2); ABT_get_wtime() < end;) {
        make_some(first);
        while (atomic_load(&pending) > 10 * AT_A_TIME)
            must(ABT_thread_yield());
    }
}

int main(void)
{
    ABT_thread makers[NUM_ES];
    must(setenv("ABT_CHECK", "1", 1));
    stress_begin();
    team_begin(&team, NUM_ES, SHARED, ABT_SCHED_BASIC, ABT_POOL_FIFO);
    for (unsigned i = 0; i < NUM_ES; i++)
        must(ABT_thread_create(team.pools[i], make_many, (void *)(uintptr_t)i, ABT_THREAD_ATTR_NULL, &makers[i]));
    must(ABT_thread_free_many(NUM_ES, makers));
    while (atomic_load(&pending) > 0)
        must(ABT_thread_yield());
    team_end(&team);
    pass("all have ended");
    return done_testing();
}
