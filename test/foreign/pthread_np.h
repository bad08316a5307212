/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_PTHREAD_NP_H
#define FOREIGN_PTHREAD_NP_H

#include <pthread.h>
#include <stddef.h>
#include <sys/cpuset.h>

int pthread_getaffinity_np(pthread_t thread, size_t size, cpuset_t *set);
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpuset_t *set);

#endif
