/* SPDX-License-Identifier: BSD-3-Clause */
/* What GLT calls of Qthreads, as its manual pages declare it: enough for the tests of GLT. The functions are in the
 * file beside. */
#ifndef QTHREAD_H
#define QTHREAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uintptr_t aligned_t;
typedef unsigned short qthread_shepherd_id_t;
typedef unsigned short qthread_worker_id_t;
typedef aligned_t (*qthread_f)(void *arg);
enum { QTHREAD_SUCCESS = 0 };

int qthread_initialize(void);
void qthread_finalize(void);
int qthread_fork_to(qthread_f f, const void *arg, aligned_t *ret, qthread_shepherd_id_t shepherd);
void qthread_yield(void);
int qthread_migrate_to(qthread_shepherd_id_t shepherd);
qthread_worker_id_t qthread_num_workers(void);
qthread_worker_id_t qthread_worker(qthread_shepherd_id_t *s);
void *qthread_get_tasklocal(unsigned int size);
int qthread_empty(const aligned_t *dest);
int qthread_fill(const aligned_t *dest);
int qthread_readFE(aligned_t *dest, const aligned_t *src);
int qthread_readFF(aligned_t *dest, const aligned_t *src);

#ifdef __cplusplus
}
#endif

#endif
