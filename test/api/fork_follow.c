/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abt_fork.h: where a forker goes on that has waited for a stolen task. A task's ULT goes on where the last task that
 * it waited for has run, unless the user has pinned it or given it another pool. The user's own ULT stays.
 */
#include <abt_fork.h>
#include "common.h"

enum { STREAMS = 3, POOLS = 2 };
enum kind { PLAIN, PINNED, OTHER_POOL };

static ABT_xstream streams[STREAMS];
static ABT_pool pools[STREAMS][POOLS];
static atomic_bool first_runs, second_runs;
static ABT_thread first_ult;

/* Ends when its forker is blocked. Returns where it has run. */
ABTX_TASK(int, second)
{
    (void)abtx_here;
    atomic_store(&second_runs, true);
    wait_for(state_of(first_ult) == ABT_THREAD_STATE_BLOCKED);
    return own_rank();
}

struct places {
    int before, of_second, after; /* ranks */
    ABT_pool pool;                /* at the end */
};

static void choose(enum kind kind)
{
    if (kind == PINNED)
        must(ABT_thread_set_migratable(first_ult, ABT_FALSE));
    else if (kind == OTHER_POOL)
        must(ABT_self_set_associated_pool(pools[own_rank()][1]));
}

/* A stolen task, which waits for another one. A ULT that yields makes what it has forked public. */
ABTX_VOID_TASK(first, (enum kind, kind), (struct places *, places))
{
    first_ult = self();
    choose(kind);
    places->before = own_rank();
    ABTX_FORK(second, other);
    atomic_store(&first_runs, true);
    while (!atomic_load(&second_runs))
        must(ABT_thread_yield());
    places->of_second = ABTX_JOIN(second, other);
    places->after = own_rank();
    places->pool = last_pool_of(self());
}

ABTX_VOID_TASK(root, (enum kind, kind), (struct places *, places))
{
    ABTX_FORK(first, child, kind, places);
    while (!atomic_load(&first_runs))
        must(ABT_thread_yield());
    ABTX_JOIN(first, child);
}

static size_t num_units(void)
{
    size_t num = 0;
    for (int i = 1; i < STREAMS; i++)
        for (int k = 0; k < POOLS; k++)
            num += total_size_of(pools[i][k]);
    return num;
}

static void test(enum kind kind, const char *name)
{
    struct places places = {-1, -1, -1, ABT_POOL_NULL};
    atomic_store(&first_runs, false);
    atomic_store(&second_runs, false);
    ABTX_RUN(root, kind, &places);
    ok(places.before > 0 && places.of_second > 0 && places.before != places.of_second, "%s: two streams have stolen",
       name);
    is_int(places.after, kind == PLAIN ? places.of_second : places.before, "%s: where the forker goes on", name);
    ok(places.pool == pools[places.after][kind == OTHER_POOL], "%s: in which pool", name);
    is_int(own_rank(), 0, "%s: the user's ULT stays", name);
    wait_for(num_units() == 0);
    pass("%s: the pools count no unit any more", name);
}

int main(void)
{
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&streams[0]));
    for (int i = 1; i < STREAMS; i++) {
        for (int k = 0; k < POOLS; k++)
            must(ABT_pool_create_basic(ABT_POOL_FIFO, i == 1 ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC, ABT_TRUE,
                                       &pools[i][k]));
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, POOLS, pools[i], ABT_SCHED_CONFIG_NULL, &streams[i]));
    }
    must(ABTX_fork_start(STREAMS - 1, &streams[1]));
    for (int round = 0; round < 10; round++) {
        test(PLAIN, "a task");
        if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION))
            test(PINNED, "a pinned task");
        test(OTHER_POOL, "a task in a pool of the user's");
    }
    must(ABTX_fork_stop());
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
