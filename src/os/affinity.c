/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/affinity.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
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
