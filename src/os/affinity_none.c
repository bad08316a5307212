/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system binds no threads: each may run on any CPU. */
#include <errno.h>
#include <stdlib.h>
#include "os/affinity.h"

int abti_affinity_get(pthread_t thread, struct abti_cpuset *set)
{
    unsigned num = abti_affinity_num_online();
    int *cpus = malloc(num * sizeof(*cpus));
    (void)thread;
    if (!cpus)
        return -ENOMEM;
    for (unsigned i = 0; i < num; i++)
        cpus[i] = (int)i;
    *set = (struct abti_cpuset){.num = num, .cpus = cpus};
    return 0;
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
