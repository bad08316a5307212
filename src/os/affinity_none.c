/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system binds no threads, and does not say where they may run. */
#include <errno.h>
#include "os/affinity.h"

int abti_affinity_get(pthread_t thread, struct abti_cpuset *set)
{
    (void)thread;
    (void)set;
    return -ENOSYS;
}

int abti_affinity_set(pthread_t thread, const int *cpus, size_t num)
{
    (void)thread;
    (void)cpus;
    (void)num;
    return -ENOSYS;
}

int abti_affinity_wrap(int cpu)
{
    int size = (int)abti_affinity_num_online();
    return cpu % size < 0 ? cpu % size + size : cpu % size;
}

unsigned abti_affinity_num_allowed(void)
{
    return abti_affinity_num_online();
}

int abti_affinity_here(void)
{
    return -1;
}

bool abti_affinity_has_one_node(void)
{
    return false;
}
