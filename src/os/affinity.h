/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU sets of native threads, as the kernel keeps them. Sets grow as needed: there is no largest CPU number.
 * Functions that can fail return 0 or -errno.
 */
#ifndef ABTI_OS_AFFINITY_H
#define ABTI_OS_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>
#include <pthread.h>

#include "base/compiler.h"
#include "base/parse.h"

/* A set of CPU numbers, in ascending order. */
struct abti_cpuset {
    size_t num;
    int *cpus; /* malloc'ed; NULL when num is 0 */
};

/* Returns the number of CPUs that were online when it was first asked for, at least 1. */
unsigned abti_affinity_num_online(void);

/* Gives the CPUs that the thread may run on. The set is the caller's, which ends it with abti_cpuset_fini. */
int abti_affinity_get(pthread_t thread, struct abti_cpuset *set) ABTI_MUST_CHECK;

/* Returns the number of CPUs that the calling thread may run on; on very large machines that of all. */
unsigned abti_affinity_num_allowed(void);

/* Returns the CPU on which the calling thread runs now; -1: the system does not say. */
int abti_affinity_here(void);

/*
 * Whether the system says that the calling thread may have memory of one NUMA node only. It takes a hundredth of what
 * to read one of the system's files takes.
 */
bool abti_affinity_has_one_node(void);

/* Lets thread run on the num given CPUs only (any order, repetitions allowed). -EINVAL when none of them can be used.
 */
int abti_affinity_set(pthread_t thread, const int *cpus, size_t num) ABTI_MUST_CHECK;

/*
 * Gives the CPU set of an affinity entry: its ids count the members of `allowed`, modulo their number, so that the
 * result is never outside of `allowed`.
 */
int abti_affinity_entry(const struct abti_cpu_entry *entry, const struct abti_cpuset *allowed,
                        struct abti_cpuset *set) ABTI_MUST_CHECK;

/*
 * A CPU number as users give it: modulo the size of the system's CPU sets, so that it means some CPU, though maybe one
 * that does not exist.
 */
int abti_affinity_wrap(int cpu);

void abti_cpuset_fini(struct abti_cpuset *set);

#endif
