/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools and schedulers as a user writes them: simple ones, to see what the interface for them costs. */
#ifndef ABT_TEST_BENCH_ABT_USER_H
#define ABT_TEST_BENCH_ABT_USER_H

#include <abt.h>
#include <stdbool.h>

enum user_def {
    USER_DEF_NEW, /* ABT_pool_user_def */
    USER_DEF_OLD, /* ABT_pool_def */
};

/* A FIFO for one stream that is freed with its last scheduler. */
ABT_pool user_pool(enum user_def kind);

/* A scheduler that serves one or two pools in this order. */
ABT_sched user_sched(int num, ABT_pool *pools);

#endif
