/* SPDX-License-Identifier: BSD-3-Clause */
/* FreeBSD's sets of CPUs have a fixed size. */
#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>
#include <sys/cpuset.h>
#include <pthread_np.h>
#include "os/affinity.h"

int abti_affinity_get(pthread_t thread, struct abti_cpuset *set)
{
    cpuset_t mask;
    int err = pthread_getaffinity_np(thread, sizeof(mask), &mask);
    if (err != 0)
        return -err;
    size_t num = (size_t)CPU_COUNT(&mask), found = 0;
    int *cpus = malloc(num * sizeof(*cpus));
    if (num && !cpus)
        return -ENOMEM;
    for (int cpu = 0; found < num; cpu++) {
        if (CPU_ISSET(cpu, &mask))
            cpus[found++] = cpu;
    }
    *set = (struct abti_cpuset){.num = num, .cpus = cpus};
    return 0;
}

int abti_affinity_set(pthread_t thread, const int *cpus, size_t num)
{
    cpuset_t mask;
    CPU_ZERO(&mask);
    for (size_t i = 0; i < num; i++) {
        if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
            CPU_SET(cpus[i], &mask);
    }
    if (CPU_COUNT(&mask) == 0)
        return -EINVAL;
    return -pthread_setaffinity_np(thread, sizeof(mask), &mask);
}

int abti_affinity_wrap(int cpu)
{
    return cpu % CPU_SETSIZE < 0 ? cpu % CPU_SETSIZE + CPU_SETSIZE : cpu % CPU_SETSIZE;
}

unsigned abti_affinity_num_allowed(void)
{
    cpuset_t mask;
    bool known = pthread_getaffinity_np(pthread_self(), sizeof(mask), &mask) == 0;
    return known ? (unsigned)CPU_COUNT(&mask) : abti_affinity_num_online();
}

int abti_affinity_here(void)
{
    return -1;
}

bool abti_affinity_has_one_node(void)
{
    return false;
}
