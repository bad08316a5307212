/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/atomic.h"

unsigned abti_affinity_num_online(void)
{
    static _Atomic(unsigned) known; /* the system reads files for it. relaxed: each thread finds the same */
    unsigned num = abti_load_relaxed(&known);
    if (num == 0) {
        long found = sysconf(_SC_NPROCESSORS_ONLN);
        num = found > 0 ? (unsigned)found : 1;
        abti_store_relaxed(&known, num);
    }
    return num;
}

/* Adds to `cpus`, which has room for all of `allowed`, the members of that which are marked in `marked`. */
static size_t collect_marked(const struct abti_cpuset *allowed, const bool *marked, int *cpus)
{
    size_t num = 0;
    for (size_t i = 0; i < allowed->num; i++) {
        if (marked[i])
            cpus[num++] = allowed->cpus[i];
    }
    return num;
}

static void mark_range(const struct abti_cpu_range *range, int64_t shift, bool *marked, int64_t modulus)
{
    for (int k = 0; k < range->num; k++) {
        int64_t id = ((int64_t)range->first + shift + (int64_t)k * range->stride) % modulus;
        marked[id < 0 ? id + modulus : id] = true;
    }
}

int abti_affinity_entry(const struct abti_cpu_entry *entry, const struct abti_cpuset *allowed, struct abti_cpuset *set)
{
    bool *marked = calloc(allowed->num, sizeof(*marked));
    int *cpus = malloc(allowed->num * sizeof(*cpus));

    if (!marked || !cpus) {
        free(marked);
        free(cpus);
        return -ENOMEM;
    }
    for (size_t i = 0; i < entry->num_ranges; i++)
        mark_range(&entry->ranges[i], entry->shift, marked, (int64_t)allowed->num);
    set->num = collect_marked(allowed, marked, cpus);
    set->cpus = cpus;
    free(marked);
    return 0;
}

void abti_cpuset_fini(struct abti_cpuset *set)
{
    free(set->cpus);
    set->cpus = NULL;
    set->num = 0;
}

/* --- What the kernel keeps --- */

/* No kernel knows more CPUs than this; numbers beyond are not CPUs, and the kernel ignores those too. */
#define AFFINITY_MAX_CPUS (1 << 20)

/* Up to here, which is what today's kernels can have at most on x86, a thread is bound without any memory. */
#define AFFINITY_FEW_CPUS 8192

/* No kernel has more NUMA nodes. */
#define AFFINITY_MAX_NODES 1024

/* Copies the members of mask, which has room for size * 8 CPUs. */
static int set_from_mask(const cpu_set_t *mask, size_t size, struct abti_cpuset *set)
{
    size_t num = (size_t)CPU_COUNT_S(size, mask);
    int *cpus = malloc(num * sizeof(*cpus));

    if (num && !cpus)
        return -ENOMEM;
    set->num = 0;
    set->cpus = cpus;
    for (int cpu = 0; set->num < num; cpu++) {
        if (CPU_ISSET_S((size_t)cpu, size, mask))
            cpus[set->num++] = cpu;
    }
    return 0;
}

int abti_affinity_get(pthread_t thread, struct abti_cpuset *set)
{
    int err = EINVAL;

    /* The kernel wants room for every CPU it could have and says EINVAL, not how many, when that is missing. */
    for (int cpus = 1024; err == EINVAL && cpus <= AFFINITY_MAX_CPUS; cpus *= 2) {
        size_t size = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *mask = CPU_ALLOC(cpus);
        if (!mask)
            return -ENOMEM;
        CPU_ZERO_S(size, mask);
        err = pthread_getaffinity_np(thread, size, mask);
        if (err == 0)
            err = -set_from_mask(mask, size, set);
        CPU_FREE(mask);
    }
    return -err;
}

int abti_affinity_set(pthread_t thread, const int *cpus, size_t num)
{
    cpu_set_t few[AFFINITY_FEW_CPUS / CPU_SETSIZE], *mask = few;
    int highest = 0;

    for (size_t i = 0; i < num; i++) {
        if (cpus[i] > highest && cpus[i] < AFFINITY_MAX_CPUS)
            highest = cpus[i];
    }
    size_t size = CPU_ALLOC_SIZE(highest + 1);
    if (size > sizeof(few))
        mask = CPU_ALLOC(highest + 1);
    if (!mask)
        return -ENOMEM;
    CPU_ZERO_S(size, mask);
    for (size_t i = 0; i < num; i++) {
        if (cpus[i] >= 0 && cpus[i] <= highest)
            CPU_SET_S((size_t)cpus[i], size, mask);
    }
    int err = pthread_setaffinity_np(thread, size, mask);
    if (mask != few)
        CPU_FREE(mask);
    return -err;
}

int abti_affinity_wrap(int cpu)
{
    long present = sysconf(_SC_NPROCESSORS_CONF);
    int size = CPU_SETSIZE;

    while (size < present && size < AFFINITY_MAX_CPUS)
        size *= 2;
    return cpu % size < 0 ? cpu % size + size : cpu % size;
}

unsigned abti_affinity_num_allowed(void)
{
    cpu_set_t few[AFFINITY_FEW_CPUS / CPU_SETSIZE] = {{{0}}};
    bool known = pthread_getaffinity_np(pthread_self(), sizeof(few), few) == 0;
    return known ? (unsigned)CPU_COUNT_S(sizeof(few), few) : abti_affinity_num_online();
}

int abti_affinity_here(void)
{
    return sched_getcpu();
}

/* The call by its number: its function is in another library than the C library, as is the flag. */
bool abti_affinity_has_one_node(void)
{
    enum { MEMS_ALLOWED = 1 << 2, BITS = 8 * sizeof(unsigned long) };
    unsigned long nodes[AFFINITY_MAX_NODES / BITS] = {0};
    int num = 0;

    if (syscall(SYS_get_mempolicy, NULL, nodes, (unsigned long)AFFINITY_MAX_NODES, NULL, (unsigned long)MEMS_ALLOWED))
        return false;
    for (size_t i = 0; i < AFFINITY_MAX_NODES / BITS; i++)
        num += __builtin_popcountl(nodes[i]);
    return num == 1;
}
