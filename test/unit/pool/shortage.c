/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that are short of stacks all the time, and take from one another what is free: there are a handful for all of
 * them. (test/fault/shortage.c does the same from the outside, but not under sanitizers.)
 */
#include "api/common.h"
#include "rt/rt.h"

enum { STREAMS = 5, BATCHES = 20, PER_BATCH = 40 };

static atomic_int chunks_left, runs;

static bool map_few(struct abti_chunk *chunk, size_t size, bool huge)
{
    if (atomic_fetch_sub(&chunks_left, 1) <= 0)
        return false;
    return abti_chunk_map(chunk, size, huge);
}

/* Keeps its stack for some time. */
static void yield_a_little(void *arg)
{
    for (int i = 0; i < (int)(intptr_t)arg % 7; i++)
        ABT_self_yield();
    atomic_fetch_add(&runs, 1);
}

static ABT_xstream make_stream(int i)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    ABT_xstream xstream;
    must(ABT_xstream_create_basic(predefs[i % 4], 0, NULL, ABT_SCHED_CONFIG_NULL, &xstream));
    return xstream;
}

/* One stream ends now and then, and is revived. */
static void run_batch(ABT_xstream *streams, int batch)
{
    static ABT_thread ults[STREAMS * PER_BATCH];
    for (int i = 0; i < STREAMS * PER_BATCH; i++) {
        ABT_pool pool = pool_of(streams[i % STREAMS]);
        must(ABT_thread_create(pool, yield_a_little, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    if (batch % 4 == 0) {
        must(ABT_xstream_join(streams[batch % STREAMS]));
        must(ABT_xstream_revive(streams[batch % STREAMS]));
    }
    must(ABT_thread_free_many(STREAMS * PER_BATCH, ults));
}

int main(void)
{
    ABT_xstream streams[STREAMS];
    setenv("ABT_THREAD_STACKSIZE", "4000000", 1); /* four to a chunk */
    must(ABT_init(0, NULL));
    abti_rt.stack_slab.cells.spec.map = map_few;
    atomic_store(&chunks_left, 1);
    for (int i = 0; i < STREAMS; i++)
        streams[i] = make_stream(i);
    for (int batch = 0; batch < BATCHES; batch++)
        run_batch(streams, batch);
    is_int(runs, BATCHES * STREAMS * PER_BATCH, "all ULTs have run, on %d stacks", (int)abti_rt.stack_slab.made);
    ok(atomic_load(&chunks_left) < 0, "there were too few");
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
