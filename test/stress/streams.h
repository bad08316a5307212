/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that share a pool and have one each, and whose handles go from thread to thread. */
#ifndef TEST_STRESS_STREAMS_H
#define TEST_STRESS_STREAMS_H

#include "stress.h"

enum { STREAMS = 6 };

static ABT_xstream streams[STREAMS];
static pthread_mutex_t stream_locks[STREAMS]; /* who uses a stream's handle */
static ABT_pool own_pools[STREAMS], shared_pool;

/* Starts the library, and makes each stream by a function of the program's. */
static inline void streams_begin(ABT_xstream (*make_stream)(int i, struct rng *rng))
{
    struct rng rng = rng_make(0);
    must(ABT_init(0, NULL));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &shared_pool));
    for (int i = 0; i < STREAMS; i++) {
        pthread_mutex_init(&stream_locks[i], NULL);
        must(ABT_pool_create_basic(i % 2 ? ABT_POOL_RANDWS : ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE,
                                   &own_pools[i]));
        streams[i] = make_stream(i, &rng);
    }
}

static inline void streams_end(void)
{
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_xstream_free(&streams[i]));
        must(ABT_pool_free(&own_pools[i]));
    }
    must(ABT_pool_free(&shared_pool));
    must(ABT_finalize());
}

#endif
