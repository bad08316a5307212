/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/affinity.h"

#include <errno.h>
#include "base/assert.h"
#include "carrier/carrier.h"
#include "rt/rt.h"

/* Only ABT_init and ABT_finalize write this. */
static struct abti_cpuset allowed;

int abti_esaffinity_init(void)
{
    if (!abti_rt.config.affinity)
        return ABT_SUCCESS;
    int err = abti_affinity_get(pthread_self(), &allowed);
    if (err == -ENOMEM)
        return ABT_ERR_MEM;
    abti_rt.config.affinity = err == 0 && allowed.num > 0;
    if (!abti_rt.config.affinity)
        abti_cpuset_fini(&allowed);
    return ABT_SUCCESS;
}

void abti_esaffinity_fini(void)
{
    if (!abti_rt.config.affinity)
        return;
    /* The system may have taken these CPUs away: then it has chosen others. */
    (void)!abti_affinity_set(pthread_self(), allowed.cpus, allowed.num);
    abti_cpuset_fini(&allowed);
}

int abti_esaffinity_of(int rank, struct abti_cpuset *cpus)
{
    abti_assert(rank >= 0);
    *cpus = (struct abti_cpuset){.num = 0};
    if (!abti_rt.config.affinity)
        return ABT_SUCCESS;
    struct abti_cpu_range nth = {.first = rank, .num = 1, .stride = 1};
    struct abti_cpu_entry entry = {.ranges = &nth, .num_ranges = 1};
    if (abti_rt.config.cpu_list)
        entry = abti_cpu_list_entry(abti_rt.config.cpu_list, (uint64_t)rank);
    return abti_affinity_entry(&entry, &allowed, cpus) == 0 ? ABT_SUCCESS : ABT_ERR_MEM;
}

int abti_esaffinity_set(abti_es *es, const int *cpus, size_t num)
{
    abti_assert(num > 0 && cpus);
    int err = abti_affinity_set(es->thread, cpus, num);
    if (err == 0)
        abti_carriers_rebind(es);
    return err;
}

void abti_esaffinity_bind(abti_es *es, struct abti_cpuset *cpus)
{
    if (cpus->num > 0)
        (void)!abti_esaffinity_set(es, cpus->cpus, cpus->num);
    abti_cpuset_fini(cpus);
}

const struct abti_cpuset *abti_esaffinity_allowed(void)
{
    abti_assert(abti_rt.config.affinity && allowed.num > 0);
    return &allowed;
}
