/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a scheduler of a few pools that parks its stream while all are empty. */
#ifndef TEST_PARKING_H
#define TEST_PARKING_H

#include "must.h"

static inline void run_parking(ABT_sched sched)
{
    enum { MOST = 2 };
    ABT_pool pools[MOST];
    ABT_bool stop = ABT_FALSE;
    int num;

    must(ABT_sched_get_num_pools(sched, &num));
    if (num > MOST)
        bail_out("%d pools", num);
    must(ABT_sched_get_pools(sched, num, 0, pools));
    while (!stop) {
        ABT_thread thread = ABT_THREAD_NULL;
        for (int i = 0; i < num && thread == ABT_THREAD_NULL; i++)
            must(ABT_pool_pop_thread(pools[i], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        if (thread == ABT_THREAD_NULL && !stop)
            must(ABTX_xstream_park_until(0, NULL, ABTX_FOREVER));
    }
}

#endif
