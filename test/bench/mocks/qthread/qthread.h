/* SPDX-License-Identifier: BSD-3-Clause */
/* What test/bench/peers/ults_qthreads.h uses of Qthreads, over libabt: to try the program without that library. */
#ifndef ABT_TEST_BENCH_MOCK_QTHREAD_H
#define ABT_TEST_BENCH_MOCK_QTHREAD_H

#include <stdint.h>

/* A word that is full or empty, and a lock. */
typedef uint64_t aligned_t;

int qthread_initialize(void);
void qthread_finalize(void);
int qthread_fork(aligned_t (*func)(void *), const void *arg, aligned_t *ended);
void qthread_yield(void);
int qthread_readFF(aligned_t *to, const aligned_t *from);
int qthread_readFE(aligned_t *to, const aligned_t *from);
int qthread_fill(const aligned_t *word);
int qthread_empty(const aligned_t *word);
int qthread_lock(const aligned_t *word);
int qthread_unlock(const aligned_t *word);

#endif
