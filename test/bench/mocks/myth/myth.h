/* SPDX-License-Identifier: BSD-3-Clause */
/* What test/bench/peers/ults_massivethreads.h uses of MassiveThreads, over libabt: to try the program without it. */
#ifndef ABT_TEST_BENCH_MOCK_MYTH_H
#define ABT_TEST_BENCH_MOCK_MYTH_H

#include <stdatomic.h>

typedef struct mock_thread *myth_thread_t;
typedef struct {
    atomic_int held;
} myth_mutex_t;
typedef struct {
    int unused;
} myth_cond_t;

int myth_init(void);
void myth_fini(void);
myth_thread_t myth_create(void *(*func)(void *), void *arg);
int myth_join(myth_thread_t thread, void **result);
void myth_yield(void);
int myth_mutex_init(myth_mutex_t *mutex, const void *attr);
int myth_mutex_lock(myth_mutex_t *mutex);
int myth_mutex_unlock(myth_mutex_t *mutex);
int myth_cond_init(myth_cond_t *cond, const void *attr);
int myth_cond_wait(myth_cond_t *cond, myth_mutex_t *mutex);
int myth_cond_signal(myth_cond_t *cond);

#endif
