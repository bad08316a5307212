/* SPDX-License-Identifier: BSD-3-Clause */
/* A watchdog and small helpers for the regression tests: most of the bugs were hangs. */
#ifndef TEST_REGRESS_H
#define TEST_REGRESS_H

#include <pthread.h>

#include "must.h"
#include "watchdog.h"

static inline void regress_begin(void)
{
    watchdog_begin(0);
}

static inline ABT_pool make_pool(ABT_pool_access access)
{
    ABT_pool pool;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &pool));
    return pool;
}

/* An ES that runs BASIC over the pools. */
static inline ABT_xstream make_es(int num, ABT_pool *pools)
{
    ABT_xstream es;

    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, num, pools, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

#endif
