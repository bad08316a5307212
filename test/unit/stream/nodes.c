/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two streams, each on a CPU that is a NUMA node for the library, create and free in private pools: of which node is
 * the memory of their units?
 */
#include <abt.h>
#include <stdlib.h>

#include "must.h"
#include "os/affinity.h"
#include "os/nodes.h"
#include "rt/rt.h"
#include "tap.h"
#include "watchdog.h"

enum { STREAMS = 2, UNITS = 256, ROUNDS = 200 };

static ABT_pool pools[STREAMS];
static int strange[STREAMS], outside[STREAMS];

/* How many of these units are not in memory of the node. */
static int count_strange(ABT_thread *units, uint32_t node)
{
    struct abti_slab *slab = &abti_rt.unit_slab;
    int num = 0;
    abti_spin_lock(&slab->lock);
    for (int i = 0; i < UNITS; i++) {
        for (size_t k = 0; k < slab->cells.num_extents; k++) {
            const struct abti_extent *extent = slab->cells.extents[k];
            if ((uintptr_t)units[i] - (uintptr_t)extent->chunk.base < extent->chunk.size)
                num += extent->node != node;
        }
    }
    abti_spin_unlock(&slab->lock);
    return num;
}

static void create_many(void *arg)
{
    long me = (long)arg;
    ABT_thread units[UNITS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_create(pools[me], do_nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
        outside[me] += abti_nodes_here() != (uint32_t)me;
        strange[me] += count_strange(units, (uint32_t)me);
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_free(&units[i]));
    }
}

/* A ULT of the stream itself, which alone may create in its private pool quickly. */
static void run_all(const struct abti_cpuset *cpus)
{
    ABT_xstream streams[STREAMS];
    ABT_thread threads[STREAMS];
    for (long i = 0; i < STREAMS; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pools[i]));
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pools[i], ABT_SCHED_CONFIG_NULL, &streams[i]));
        must(ABT_xstream_set_affinity(streams[i], 1, &cpus->cpus[i]));
    }
    for (long i = 0; i < STREAMS; i++)
        must(ABT_thread_create(pools[i], create_many, (void *)i, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_thread_free(&threads[i]));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
}

int main(void)
{
    struct abti_cpuset cpus = {0};
    char text[64];
    watchdog_begin(0);
    if (abti_affinity_get(pthread_self(), &cpus) != 0 || cpus.num < STREAMS)
        skip_all("nobody else runs at the same time");
    snprintf(text, sizeof(text), "%d,%d", cpus.cpus[0], cpus.cpus[1]);
    setenv("ABT_NUMA", text, 1);
    must(ABT_init(0, NULL));
    if (!can_bind())
        skip_all("streams are not bound to CPUs");
    is_int(abti_num_nodes, STREAMS, "two nodes");
    run_all(&cpus);
    for (int i = 0; i < STREAMS; i++) {
        int percent = strange[i] * 100 / (ROUNDS * UNITS);
        is_int(outside[i], 0, "stream %d stays in its node", i);
        ok(percent < 5, "%d %% of its units are of another node", percent);
    }
    must(ABT_finalize());
    is_int(unsetenv("ABT_NUMA"), 0, "without the variable");
    must(ABT_init(0, NULL));
    ok(abti_num_nodes >= 1, "the system's nodes count again");
    must(ABT_finalize());
    abti_cpuset_fini(&cpus);
    return done_testing();
}
