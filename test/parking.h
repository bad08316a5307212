/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a scheduler of two pools that parks its stream while both are empty. */
#ifndef TEST_PARKING_H
#define TEST_PARKING_H

#include "must.h"

static inline void run_parking(ABT_sched sched)
{
    ABT_pool pools[2];
    ABT_bool stop = ABT_FALSE;

    must(ABT_sched_get_pools(sched, 2, 0, pools));
    while (!stop) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(pools[0], &thread));
        if (thread == ABT_THREAD_NULL)
            must(ABT_pool_pop_thread(pools[1], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        if (thread == ABT_THREAD_NULL && !stop)
            must(ABTX_xstream_park_until(0, NULL, ABTX_FOREVER));
    }
}

#endif
