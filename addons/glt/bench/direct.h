/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs here call of GLT, written by hand in calls of abt.h: the direct form, which GLT is measured
 * against. */
#ifndef DIRECT_H
#define DIRECT_H

#include <abt.h>
#include <stdlib.h>

#define GLT_ult ABT_thread
#define GLT_tasklet ABT_task
#define GLT_mutex ABT_mutex

static int direct_threads;
static ABT_xstream direct_streams[64];
static ABT_pool direct_pools[64];

static inline void glt_init(int argc, char **argv)
{
    const char *threads = getenv("GLT_NUM_THREADS");

    direct_threads = threads != NULL ? atoi(threads) : 1;
    ABT_init(argc, argv);
    for (int i = 0; i < direct_threads; i++)
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &direct_pools[i]);
    ABT_xstream_self(&direct_streams[0]);
    ABT_xstream_set_main_sched_basic(direct_streams[0], ABT_SCHED_DEFAULT, 1, direct_pools);
    for (int i = 1; i < direct_threads; i++)
        ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &direct_pools[i], ABT_SCHED_CONFIG_NULL, &direct_streams[i]);
}

static inline void glt_finalize(void)
{
    for (int i = 1; i < direct_threads; i++)
        ABT_xstream_free(&direct_streams[i]);
    ABT_finalize();
}

static inline int glt_get_num_threads(void)
{
    return direct_threads;
}

static inline int glt_get_thread_num(void)
{
    int rank;

    ABT_xstream_self_rank(&rank);
    return rank;
}

#define glt_ult_malloc(number) ((ABT_thread *)malloc((size_t)(number) * sizeof(ABT_thread)))
#define glt_tasklet_malloc(number) ((ABT_task *)malloc((size_t)(number) * sizeof(ABT_task)))
#define glt_ult_create_to(function, arg, ult, dest)                                                                    \
    ABT_thread_create(direct_pools[dest], function, arg, ABT_THREAD_ATTR_NULL, ult)
#define glt_tasklet_create_to(function, arg, tasklet, dest) ABT_task_create(direct_pools[dest], function, arg, tasklet)
#define glt_ult_join ABT_thread_free
#define glt_tasklet_join ABT_task_free
#define glt_yield ABT_thread_yield
#define glt_mutex_create ABT_mutex_create
#define glt_mutex_free ABT_mutex_free
#define glt_mutex_lock ABT_mutex_lock
#define glt_mutex_unlock ABT_mutex_unlock
#define glt_get_wtime ABT_get_wtime

#endif
